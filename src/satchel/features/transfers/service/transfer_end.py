"""Take a transfer away from a receiver who has not taken it, with what has landed on their shelf unseen.

That is several steps, so a note stands until they are done, for who finishes them if we are cut off (`unfinished.py`).
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from satchel.features.transfers.model import PersonId
from satchel.features.transfers.records import POSTING, PostingRow, ReceiptRow, TransferRow
from satchel.features.transfers.service import history, receipts, transfer_contents
from satchel.features.transfers.service.context import FINISHED_WITHIN, Transfers
from satchel.kernel.clock import iso
from satchel.kernel.errors import SatchelError
from satchel.stores.patterns.optimistic_update import NEW
from satchel.stores.ports.table import ConditionFailed


@asynccontextmanager
async def noted(transfers: Transfers, transfer: TransferRow) -> AsyncGenerator[None]:
    """In a room nothing has landed anywhere."""
    if transfer.room_id:
        yield
        return
    note = PostingRow(
        transfer_id=transfer.transfer_id,
        sender_id=transfer.sent_by.person_id,
        receiver_ids=[PersonId(transfer.receiver_id)],
        due=iso(transfers.clock() + FINISHED_WITHIN.total_seconds()),
    )
    try:
        await transfers.tables.put(POSTING.table, POSTING.item(note), when=NEW)
    except ConditionFailed:
        # It is still being made, or being ended elsewhere: the note of that serves.
        yield
        return
    try:
        yield
    except SatchelError:
        await _forget(transfers, transfer)
        raise
    await _forget(transfers, transfer)


async def withdraw_from_all(transfers: Transfers, transfer: TransferRow) -> list[ReceiptRow]:
    """All receipts as they are after that."""
    step = receipts.withdrawn(transfers.now())
    after = [
        await receipts.change(transfers, transfer, each, step)
        for each in await history.receipts_of(transfers, transfer)
    ]
    for each in after:
        if each.state == "withdrawn":
            await take_from_shelf(transfers, transfer, each.person_id)
    return after


async def take_from_shelf(transfers: Transfers, transfer: TransferRow, person_id: PersonId) -> None:
    if not transfer.room_id:
        files = await history.files_of(transfers, transfer)
        await transfers.shelf.discard(
            person_id, [transfer_contents.saved_id(transfer.transfer_id, file.place) for file in files]
        )


async def _forget(transfers: Transfers, transfer: TransferRow) -> None:
    await transfers.tables.delete(POSTING.table, POSTING.key(transfer_id=transfer.transfer_id))
