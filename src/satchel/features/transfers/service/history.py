"""Finds a transfer for its sender or receivers, and lists a person's history, the newest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from satchel.features.transfers.model import (
    MAX_ID_CHARACTERS,
    Direction,
    Party,
    PersonId,
    TransferFile,
    TransferId,
)
from satchel.features.transfers.records import (
    FILES,
    FILES_SHOWN,
    POINTER,
    RECEIPT,
    RECEIVED,
    SENT,
    TRANSFER,
    WAITING,
    PointerRow,
    ReceiptRow,
    TransferRow,
    chunk_of,
)
from satchel.features.transfers.service.context import Transfers
from satchel.features.transfers.service.receipts import first_receipt
from satchel.kernel.errors import NotFound
from satchel.stores.schema import Shape

Which = Literal["all", "sent", "received"]
WAITING_SHOWN = 20
_POINTERS: dict[Which, Shape[PointerRow]] = {"all": POINTER, "sent": SENT, "received": RECEIVED}
_UNKNOWN = "This transfer does not exist."


@dataclass(frozen=True, slots=True, kw_only=True)
class Involved:
    """A transfer as one of its parties sees it: the sender, or a receiver with a receipt."""

    transfer: TransferRow
    person_id: PersonId
    receipt: ReceiptRow | None = None

    @property
    def direction(self) -> Direction:
        return "sent" if self.receipt is None else "received"

    def after(self, receipt: ReceiptRow) -> "Involved":
        """As the receiver sees it after a change of their own receipt."""
        counts = self.transfer.counts
        if self.receipt is not None and self.receipt.version:
            counts[self.receipt.state] -= 1
        if receipt.version:
            counts[receipt.state] += 1
        return Involved(transfer=self.transfer.with_counts(counts), person_id=self.person_id, receipt=receipt)


@dataclass(frozen=True, slots=True)
class Listed:
    """A page of transfers, and the cursor of the next."""

    transfers: list[Involved]
    cursor: str | None


async def find(transfers: Transfers, person_id: PersonId, transfer_id: TransferId) -> Involved:
    """The transfer for this person. A transfer to a room is also for people who joined later."""
    if not 0 < len(transfer_id) <= MAX_ID_CHARACTERS:
        raise NotFound(_UNKNOWN)
    keys = [TRANSFER.key(transfer_id=transfer_id), RECEIPT.key(transfer_id=transfer_id, person_id=person_id)]
    item, receipt = await transfers.tables.get_many(TRANSFER.table, keys)
    if item is None:
        raise NotFound(_UNKNOWN)
    transfer = TRANSFER.read(item)
    if transfer.sent_by.person_id == person_id:
        return Involved(transfer=transfer, person_id=person_id)
    if transfer.hidden:
        raise NotFound(_UNKNOWN)
    if receipt is not None:
        return Involved(transfer=transfer, person_id=person_id, receipt=RECEIPT.read(receipt))
    return Involved(transfer=transfer, person_id=person_id, receipt=await _late_receipt(transfers, transfer, person_id))


async def list_history(
    transfers: Transfers, person_id: PersonId, which: Which, limit: int, cursor: str | None
) -> Listed:
    """A page of the history: one query and one batch, whatever its size. A filtered page is as full as any."""
    page = await _POINTERS[which].list(
        transfers.tables, person_id=person_id, descending=True, limit=limit, cursor=cursor
    )
    return Listed(await _read(transfers, page.records), page.cursor)


async def list_waiting(transfers: Transfers, person_id: PersonId, cursor: str | None = None) -> Listed:
    """What a person has received and not opened, the newest first."""
    page = await WAITING.list(
        transfers.tables, person_id=person_id, descending=True, limit=WAITING_SHOWN, cursor=cursor
    )
    return Listed(await _read(transfers, page.records), page.cursor)


async def files_of(transfers: Transfers, transfer: TransferRow) -> list[TransferFile]:
    """All files of a transfer, in the order of their places."""
    files = list(transfer.first_files)
    cursor: str | None = None
    while len(files) < transfer.file_count:
        page = await FILES.list(transfers.tables, transfer_id=transfer.transfer_id, cursor=cursor)
        files += [file for row in page.records for file in row.files]
        if (cursor := page.cursor) is None:
            break
    return files


async def files_from(transfers: Transfers, transfer: TransferRow, start: int, limit: int) -> list[TransferFile]:
    """So many files of a transfer from this place on, in the order of their places."""
    end = min(start + limit, transfer.file_count)
    chunks = sorted({chunk_of(place) for place in range(max(start, FILES_SHOWN), end)})
    keys = [FILES.key(transfer_id=transfer.transfer_id, chunk=chunk) for chunk in chunks]
    rows = [FILES.read(item) for item in await transfers.tables.get_many(FILES.table, keys) if item is not None]
    files = [*transfer.first_files, *(file for row in rows for file in row.files)]
    return [file for file in files if start <= file.place < end]


async def file_at(transfers: Transfers, transfer: TransferRow, place: int) -> TransferFile:
    files = transfer.first_files
    if FILES_SHOWN <= place < transfer.file_count:
        row = await FILES.get(transfers.tables, transfer_id=transfer.transfer_id, chunk=chunk_of(place))
        files = [] if row is None else row.files
    for file in files:
        if file.place == place:
            return file
    raise NotFound("This transfer has no such file.")


async def receipts_of(transfers: Transfers, transfer: TransferRow) -> list[ReceiptRow]:
    receipts: list[ReceiptRow] = []
    cursor: str | None = None
    while True:
        page = await RECEIPT.list(transfers.tables, transfer_id=transfer.transfer_id, limit=1000, cursor=cursor)
        receipts += page.records
        if (cursor := page.cursor) is None:
            return receipts


async def _late_receipt(transfers: Transfers, transfer: TransferRow, person_id: PersonId) -> ReceiptRow:
    """A receipt of a person who joined later. It is stored with their first action."""
    if not transfer.is_to_room or transfer.withdrawn_at:
        raise NotFound(_UNKNOWN)
    audience = await transfers.rooms.audience(transfer.room_id, person_id)
    for each in audience.people:
        if each.person_id == person_id:
            return first_receipt(transfer, Party(person_id, each.name, each.kind), transfers.now())
    raise NotFound(_UNKNOWN)


async def _read(transfers: Transfers, pointers: Sequence[PointerRow]) -> list[Involved]:
    """The transfers, without those that are being sent, or crashed while they were."""
    keys = [TRANSFER.key(transfer_id=each.transfer_id) for each in pointers]
    keys += [
        RECEIPT.key(transfer_id=each.transfer_id, person_id=each.person_id)
        for each in pointers
        if each.direction == "received"
    ]
    items = await transfers.tables.get_many(TRANSFER.table, keys)
    rows = [None if item is None else TRANSFER.read(item) for item in items[: len(pointers)]]
    receipts = {row.transfer_id: row for item in items[len(pointers) :] if item for row in [RECEIPT.read(item)]}
    return [
        Involved(transfer=row, person_id=each.person_id, receipt=receipts.get(each.transfer_id))
        for each, row in zip(pointers, rows, strict=True)
        if row is not None and (each.direction == "sent" or each.transfer_id in receipts)
    ]
