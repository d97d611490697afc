"""The receiver's use cases: open, decline, download, save to the shelf, verify."""

import logging
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

import msgspec

from satchel.features.transfers.model import (
    ENDED,
    RECEIVED_FOLDER,
    ChallengeOver,
    FilesGone,
    HashDiffers,
    NotOffered,
    PersonId,
    TransferFile,
    TransferId,
)
from satchel.features.transfers.records import CHALLENGE, RECEIPT, ReceiptRow, TransferRow
from satchel.features.transfers.service import history, receipts, transfer_contents
from satchel.features.transfers.service.context import Transfers
from satchel.features.transfers.service.history import Involved
from satchel.features.transfers.service.transfer_end import noted, take_from_shelf
from satchel.kernel.coverage import Span
from satchel.kernel.errors import Forbidden, Gone, NotFound, SatchelError
from satchel.outbox import OUTBOX, OutboxRow
from satchel.stores.ports.ephemeral import Delete, Get, Put
from satchel.stores.ports.table import Write

CHALLENGE_BYTES = 32
# As long as it takes to download a large file over a slow line.
CHALLENGE_LASTS = timedelta(days=1)

# The slice that ends its answers.
TRANSFERS = "transfers"

_log = logging.getLogger("satchel.transfers")


class _Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of an answer whose last bytes go out."""

    transfer_id: TransferId
    person_id: PersonId
    place: int
    start: int
    end: int


async def open_transfer(transfers: Transfers, person_id: PersonId, transfer_id: TransferId) -> Involved:
    involved, receipt = await _received(transfers, person_id, transfer_id)
    after = await receipts.change(transfers, involved.transfer, receipt, receipts.opened(transfers.now()))
    return involved.after(after)


async def decline(transfers: Transfers, person_id: PersonId, transfer_id: TransferId) -> None:
    involved, receipt = await _received(transfers, person_id, transfer_id)
    async with noted(transfers, involved.transfer):
        await receipts.change(transfers, involved.transfer, receipt, receipts.declined(transfers.now()))
        await take_from_shelf(transfers, involved.transfer, person_id)
    await _note_contact(transfers, involved, known=False)


async def _note_contact(transfers: Transfers, involved: Involved, *, known: bool) -> None:
    """Who was accepted may send more. Who was declined has to ask."""
    transfer = involved.transfer
    if not transfer.room_id:
        await transfers.contacts.note(involved.person_id, transfer.sent_by.person_id, known=known)


async def note_opening(transfers: Transfers, person_id: PersonId, transfer_id: TransferId) -> None:
    """The receiver has opened one of the files on their shelf, so the transfer counts as opened."""
    with suppress(NotFound, Forbidden):
        await open_transfer(transfers, person_id, transfer_id)


async def note_folder(transfers: Transfers, person_id: PersonId, folder_id: str) -> None:
    """The receiver has used a folder of their shelf: what of it came by transfers counts as opened."""
    cursor: str | None = None
    while True:
        page = await history.list_waiting(transfers, person_id, cursor)
        for waiting in page.transfers:
            if waiting.receipt is None or not waiting.receipt.saved_at:
                continue
            saved = _saved_ids(waiting.transfer.transfer_id, await history.files_of(transfers, waiting.transfer))
            if await transfers.shelf.is_any_in(person_id, folder_id, saved):
                await note_opening(transfers, person_id, waiting.transfer.transfer_id)
        if (cursor := page.cursor) is None:
            return


async def find_content(
    transfers: Transfers, person_id: PersonId, transfer_id: TransferId, place: int
) -> tuple[Involved, TransferFile, str]:
    """A file of a transfer, and the key of its bytes."""
    involved = await history.find(transfers, person_id, transfer_id)
    file = await history.file_at(transfers, involved.transfer, place)
    if involved.receipt is not None:
        receipts.check_offered(involved.receipt)
    return involved, file, await transfer_contents.key_of(transfers, involved, file)


class Sending:
    """One answer with a file of a transfer. Downloads by the sender do not count."""

    def __init__(self, transfers: Transfers, involved: Involved, file: TransferFile) -> None:
        self._transfers = transfers
        self._involved = involved
        self._file = file
        self._entry_id = ""

    async def closing(self, span: Span) -> None:
        """The last of these bytes are about to go, so that a crash after them is known."""
        if self._involved.receipt is None:
            return
        answer = _Answer(
            transfer_id=self._involved.transfer.transfer_id,
            person_id=self._involved.person_id,
            place=self._file.place,
            start=span[0],
            end=span[1],
        )
        entry = self._transfers.outbox.entry(ended_by=TRANSFERS, answer=msgspec.to_builtins(answer))
        await self._transfers.outbox.write(entry)
        self._entry_id = entry.entry_id

    async def ended(self, span: Span) -> None:
        """These bytes went."""
        await _note_sent(self._transfers, self._involved, self._file, span, self._entry_id)


async def end_sending(transfers: Transfers, entry: OutboxRow) -> bool:
    """End an answer whose server died with the last bytes: they went."""
    answer = msgspec.convert(entry.answer, _Answer)
    with suppress(NotFound):
        involved = await history.find(transfers, answer.person_id, answer.transfer_id)
        file = await history.file_at(transfers, involved.transfer, answer.place)
        await _note_sent(transfers, involved, file, (answer.start, answer.end), entry.entry_id)
        return True
    await transfers.outbox.forget(entry.entry_id)
    return True


async def _note_sent(transfers: Transfers, involved: Involved, file: TransferFile, span: Span, entry_id: str) -> None:
    """Note which bytes went, and delete the entry of the outbox that says so, if there is one."""
    if involved.receipt is not None and (span[0] < span[1] or not file.size_bytes):
        now, count = transfers.now(), involved.transfer.file_count
        step = receipts.in_order(receipts.opened(now), receipts.went(now, file_count=count, file=file, span=span))
        done = [OUTBOX.delete(entry_id=entry_id)] if entry_id else []
        # Withdrawn during the download, from a person without a receipt: there is nothing to count.
        with suppress(NotOffered):
            await receipts.change(transfers, involved.transfer, involved.receipt, step, beside=done)
            return
    if entry_id:
        await transfers.outbox.forget(entry_id)


async def challenge(transfers: Transfers, person_id: PersonId, transfer_id: TransferId, place: int) -> str:
    """A challenge that only somebody with every byte of the file can answer. A new one takes the place of the last."""
    involved, receipt = await _received(transfers, person_id, transfer_id)
    await history.file_at(transfers, involved.transfer, place)
    receipts.check_offered(receipt)
    made = secrets.token_hex(CHALLENGE_BYTES)
    key = CHALLENGE(transfer_id=transfer_id, person_id=person_id, place=str(place))
    await transfers.ephemeral.run(Put(key, made.encode(), ttl=CHALLENGE_LASTS))
    return made


async def verify(transfers: Transfers, person_id: PersonId, transfer_id: TransferId, place: int, proof: str) -> None:
    """Compare the receiver's answer to the challenge with one made from the stored bytes."""
    involved, receipt = await _received(transfers, person_id, transfer_id)
    file = await history.file_at(transfers, involved.transfer, place)
    receipts.check_offered(receipt)
    asked = CHALLENGE(transfer_id=transfer_id, person_id=person_id, place=str(place))
    # Each can be answered once, whatever the answer is.
    made, _ = await transfers.ephemeral.together(Get(asked), Delete(asked))
    if made is None:
        raise ChallengeOver("This challenge is over. Ask for a new one.")
    key = await transfer_contents.key_of(transfers, involved, file)
    expected = await transfer_contents.proof_of(transfers, key, bytes.fromhex(made.decode()))
    if expected is None:
        raise FilesGone(transfer_contents.GONE)
    if not secrets.compare_digest(expected, proof.lower()):
        raise HashDiffers("The received file differs from the one that was sent. Download it again.", field="proof")
    now, count = transfers.now(), involved.transfer.file_count
    step = receipts.in_order(receipts.opened(now), receipts.proved(now, file_count=count, place=place))
    await receipts.change(transfers, involved.transfer, receipt, step)


async def save(transfers: Transfers, person_id: PersonId, transfer_id: TransferId, folder_id: str | None) -> list[str]:
    """Copy everything to the receiver's shelf. Returns the ids there. Idempotent."""
    involved, receipt = await _received(transfers, person_id, transfer_id)
    receipts.check_offered(receipt)
    receipt = await receipts.change(transfers, involved.transfer, receipt, receipts.opened(transfers.now()))
    opened = Involved(transfer=involved.transfer, person_id=person_id, receipt=receipt)
    files = await history.files_of(transfers, involved.transfer)
    await _take(transfers, opened, receipt, files, folder_id=folder_id)
    await _note_contact(transfers, opened, known=True)
    return _saved_ids(transfer_id, files)


@dataclass(frozen=True, slots=True)
class Landing:
    """The receipt of somebody to whose shelf files came or not, and whether the writes beside it were made."""

    receipt: ReceiptRow
    beside: bool = False


async def land(
    transfers: Transfers,
    transfer: TransferRow,
    receipt: ReceiptRow,
    files: Sequence[TransferFile],
    *,
    keys: Mapping[int, str] | None = None,
    beside: Sequence[Write] = (),
) -> Landing:
    """Put files on the receiver's shelf at once: by e-mail, or handed in. If that is full, the offer stands.

    For the first time, `keys` are the objects by place. The writes `beside` may go together with the files.
    """
    involved = Involved(transfer=transfer, person_id=receipt.person_id, receipt=receipt)
    try:
        return await _take(transfers, involved, receipt, files, keys=keys, beside=beside)
    except SatchelError as error:
        # The transfer exists: an error now would make the sender send it twice.
        _log.info("transfer %s waits for its receiver: %s", transfer.transfer_id, error.detail)
        return Landing(receipt)


async def _take(
    transfers: Transfers,
    involved: Involved,
    receipt: ReceiptRow,
    files: Sequence[TransferFile],
    *,
    folder_id: str | None = None,
    keys: Mapping[int, str] | None = None,
    beside: Sequence[Write] = (),
) -> Landing:
    """Copy what is missing, and update the receipt. A copy has the same bytes: the store verifies them."""
    transfer, missing = involved.transfer, list(files)
    if keys is None:
        kept = await transfer_contents.saved_keys(transfers, involved, files)
        missing = [file for file in files if file.place not in kept]
    saved = receipts.planned(transfers, transfer, receipt, receipts.saved(transfers.now()))
    is_told = False
    if missing:
        try:
            together = [*saved.writes, *beside]
            is_told = await _copy(transfers, involved, missing, folder_id, keys=keys, beside=together)
        except SatchelError:
            current = await RECEIPT.get(
                transfers.tables, transfer_id=transfer.transfer_id, person_id=involved.person_id
            )
            await _discard_if_ended(transfers, current or receipt, missing)
            raise
    if is_told:
        await receipts.state(transfers, transfer, saved)
        return Landing(saved.new, beside=True)
    after = await receipts.change(transfers, transfer, receipt, receipts.saved(transfers.now()))
    await _discard_if_ended(transfers, after, missing)
    return Landing(after)


async def _discard_if_ended(transfers: Transfers, receipt: ReceiptRow, copied: Sequence[TransferFile]) -> None:
    """Delete the copies if the transfer has ended meanwhile, so that nothing of it is left."""
    if receipt.state in ENDED:
        await transfers.shelf.discard(receipt.person_id, _saved_ids(receipt.transfer_id, copied))
        receipts.check_offered(receipt)


async def _copy(
    transfers: Transfers,
    involved: Involved,
    files: Sequence[TransferFile],
    folder_id: str | None,
    *,
    keys: Mapping[int, str] | None,
    beside: Sequence[Write],
) -> bool:
    """Whether the writes beside were made, together with the copies."""
    is_first = keys is not None
    if keys is None:
        keys = await transfer_contents.keys_of(transfers, involved, files)
    if len(keys) < len(files):
        raise FilesGone(transfer_contents.GONE)
    if not is_first:
        await transfers.shelf.admit(involved.person_id, folder_id, sum(file.size_bytes for file in files))

    transfer = involved.transfer
    try:
        return await transfers.shelf.keep_all(
            involved.person_id,
            [transfer_contents.handed(transfer.transfer_id, file, keys[file.place]) for file in files],
            folder_id=folder_id,
            top=transfer.shelf_folder or RECEIVED_FOLDER,
            came_by=transfer.transfer_id,
            is_first=is_first,
            beside=beside,
        )
    except Gone as error:
        raise FilesGone(transfer_contents.GONE) from error


async def _received(transfers: Transfers, person_id: PersonId, transfer_id: TransferId) -> tuple[Involved, ReceiptRow]:
    involved = await history.find(transfers, person_id, transfer_id)
    if involved.receipt is None:
        raise Forbidden("You sent this. Only its receivers can do this.")
    return involved, involved.receipt


def _saved_ids(transfer_id: TransferId, files: Sequence[TransferFile]) -> list[str]:
    return [transfer_contents.saved_id(transfer_id, file.place) for file in files]
