"""Writes a transfer completely or not at all, then delivers it to its receivers.

A journal entry is written first and deleted last, so that `transfer_recovery` can finish it after a crash.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import msgspec

from satchel.features.transfers.model import MAX_FILES, NOWHERE, NotOffered, Party, RoomId, TransferFile, TransferId
from satchel.features.transfers.records import (
    FILES,
    FILES_PER_ROW,
    FILES_SHOWN,
    HIDDEN,
    KEY,
    NAMES_SHOWN,
    POINTER,
    POSTING,
    RECEIPT,
    RECEIVED,
    SENT,
    TRANSFER,
    WAITING,
    PointerRow,
    PostingRow,
    ReceiptRow,
    TransferRow,
    as_person,
    as_room,
    chunk_of,
    rows_of_files,
)
from satchel.features.transfers.service import history
from satchel.features.transfers.service.context import FINISHED_WITHIN, Transfers
from satchel.features.transfers.service.idempotency import SenderKey
from satchel.features.transfers.service.receipts import answered, change, first_receipt, pointer_to
from satchel.features.transfers.service.transfer_notify import tell_changed, tell_offered
from satchel.features.transfers.service.transfer_receive import Landing, land
from satchel.kernel.clock import iso
from satchel.kernel.errors import NotFound
from satchel.kernel.ids import new_id
from satchel.stores.patterns.optimistic_update import NEW
from satchel.stores.ports.table import Item, Key, Put, TransactionCancelled, Write

# By which a receiver finds a transfer, or does not.
_POINTERS = (POINTER, RECEIVED, WAITING, HIDDEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """What goes from whom to whom. `receiver` is one person or a room, `receivers` those who get a receipt now."""

    sender: Party
    receiver: str
    receiver_name: str
    receivers: Sequence[Party]
    files: Sequence[TransferFile]
    room_id: RoomId = NOWHERE
    note: str = ""
    asks_first: bool = False
    hidden: bool = False
    wants_answers: bool = False
    answers: str = ""
    answers_folder: str = ""
    # The objects of the files, by place, if the files are to be copied at once and fit.
    keys: Mapping[int, str] | None = None
    # What is written together with the transfer.
    beside: Sequence[Write] = ()

    @property
    def is_to_room(self) -> bool:
        return self.receiver == as_room(self.room_id)


@dataclass(frozen=True, slots=True)
class Posted:
    """A transfer that is written and has to be delivered."""

    transfer: TransferRow
    receipts: Sequence[ReceiptRow]
    files: Sequence[TransferFile]
    keys: Mapping[int, str] | None = None


async def write_down(transfers: Transfers, parcel: Parcel, key: SenderKey | None) -> Posted | None:
    """Write the transfer. After this it exists, whatever happens. None if the key became another one meanwhile."""
    transfer_id = TransferId(new_id(transfers.clock))
    transfer = _transfer(transfers, transfer_id, parcel)
    receipts = [
        msgspec.structs.replace(first_receipt(transfer, receiver, transfer.timestamp), version=1)
        for receiver in parcel.receivers
    ]
    posting = _posting(transfers, transfer, parcel)
    around = _around(transfer, parcel, receipts)
    # Last, because it alone makes the transfer visible.
    own: list[Write] = [*parcel.beside, TRANSFER.put(transfer, when=NEW)]
    if key is not None:
        own.append(KEY.put(key.row(transfer_id), when=NEW))
    whole = [POSTING.put(posting), *(Put(TRANSFER.table, item) for item in around), *own]
    is_small = len(whole) <= transfers.most_writes and len(parcel.files) <= FILES_SHOWN
    if not is_small:
        await transfers.tables.put(POSTING.table, POSTING.item(posting))
        await transfers.tables.write_many(TRANSFER.table, put=around)
    try:
        await transfers.tables.transact(whole if is_small else own)
    except TransactionCancelled:
        if not is_small:
            await take_away(transfers, posting)
        return None
    return Posted(transfer, receipts, parcel.files, parcel.keys)


async def take_away(transfers: Transfers, posting: PostingRow) -> None:
    """Delete all rows of a transfer that never became visible."""
    transfer_id, sender_id = posting.transfer_id, posting.sender_id
    keys: list[Key] = [
        FILES.key(transfer_id=transfer_id, chunk=chunk_of(place))
        for place in range(FILES_SHOWN, MAX_FILES, FILES_PER_ROW)
    ]
    keys += [shape.key(person_id=sender_id, transfer_id=transfer_id) for shape in (POINTER, SENT)]
    for person_id in posting.receiver_ids:
        keys.append(RECEIPT.key(person_id=person_id, transfer_id=transfer_id))
        keys += [
            shape.key(person_id=person_id, transfer_id=transfer_id) for shape in (POINTER, RECEIVED, WAITING, HIDDEN)
        ]
    await transfers.tables.write_many(TRANSFER.table, delete=keys)
    await transfers.tables.delete(POSTING.table, POSTING.key(transfer_id=transfer_id))


async def deliver(transfers: Transfers, posted: Posted) -> Posted:
    """As it is afterwards."""
    transfer = posted.transfer
    after = await bring(transfers, transfer, posted.receipts, posted.files, keys=posted.keys)
    counts = Counter(receipt.state for receipt in after)
    counted = transfer.with_counts({state: counts[state] for state in transfer.counts})
    return Posted(counted, after, posted.files, posted.keys)


async def bring(
    transfers: Transfers,
    transfer: TransferRow,
    receipts: Sequence[ReceiptRow],
    files: Sequence[TransferFile],
    *,
    keys: Mapping[int, str] | None = None,
) -> list[ReceiptRow]:
    """Deliver a written transfer, and delete its journal entry. Idempotent; `keys` are for the first time.

    The receipts as they are afterwards.
    """
    if transfer.room_id:
        await transfers.rooms.mark_handed(transfer.room_id, [file.file_id for file in files], transfer.transfer_id)
    done = POSTING.delete(transfer_id=transfer.transfer_id)
    # With the files of the only receiver nothing is left to do that a crash could cut off.
    last = [] if transfer.answers or len(receipts) != 1 else [done]
    landings = [Landing(receipt) for receipt in receipts]
    if transfer.shelf_folder and not transfer.asks_first:
        landings = [await land(transfers, transfer, each, files, keys=keys, beside=last) for each in receipts]
    if not transfer.hidden:
        await tell_offered(transfers, [receipt.person_id for receipt in receipts], transfer.transfer_id)
    await tell_changed(transfers, [transfer.sent_by.person_id], transfer.transfer_id)
    if transfer.answers:
        await _note_answer(transfers, transfer)
    if not any(landing.beside for landing in landings):
        await transfers.tables.delete(done.table, done.key)
    return [landing.receipt for landing in landings]


async def _note_answer(transfers: Transfers, transfer: TransferRow) -> None:
    """Record the answer for the person who asked, unless their transfer is gone."""
    with suppress(NotFound, NotOffered):
        asked = await history.find(transfers, transfer.sent_by.person_id, TransferId(transfer.answers))
        if asked.receipt is not None:
            step = answered(transfers.now(), transfer.transfer_id)
            await change(transfers, asked.transfer, asked.receipt, step)


def _posting(transfers: Transfers, transfer: TransferRow, parcel: Parcel) -> PostingRow:
    return PostingRow(
        transfer_id=transfer.transfer_id,
        sender_id=parcel.sender.person_id,
        receiver_ids=[receiver.person_id for receiver in parcel.receivers],
        due=iso(transfers.clock() + FINISHED_WITHIN.total_seconds()),
    )


def _transfer(transfers: Transfers, transfer_id: TransferId, parcel: Parcel) -> TransferRow:
    return TransferRow(
        transfer_id=transfer_id,
        sender=as_person(parcel.sender.person_id),
        sender_name=parcel.sender.name,
        sender_kind=parcel.sender.kind,
        receiver=parcel.receiver,
        receiver_name=parcel.receiver_name,
        timestamp=transfers.now(),
        file_names=[file.name for file in parcel.files[:NAMES_SHOWN]],
        file_count=len(parcel.files),
        size_bytes=sum(file.size_bytes for file in parcel.files),
        first_files=list(parcel.files[:FILES_SHOWN]),
        room_id=parcel.room_id,
        note=parcel.note,
        asks_first=parcel.asks_first,
        hidden=parcel.hidden,
        wants_answers=parcel.wants_answers,
        answers=parcel.answers,
        answers_folder=parcel.answers_folder,
        offered=len(parcel.receivers),
    )


def _around(transfer: TransferRow, parcel: Parcel, receipts: Sequence[ReceiptRow]) -> list[Item]:
    """All rows of a transfer besides its own."""
    sent = PointerRow(
        person_id=parcel.sender.person_id,
        transfer_id=transfer.transfer_id,
        direction="sent",
        timestamp=transfer.timestamp,
    )
    # Who has blocked the sender finds nothing, and the sender sees an offer that is not answered.
    found_by = (HIDDEN,) if parcel.hidden else (POINTER, RECEIVED, WAITING)
    received = [pointer_to(transfer, receiver) for receiver in parcel.receivers]
    return [
        *map(FILES.item, rows_of_files(transfer.transfer_id, parcel.files)),
        *map(RECEIPT.item, receipts),
        POINTER.item(sent),
        SENT.item(sent),
        *(shape.item(pointer) for pointer in received for shape in found_by),
    ]
