"""Ends a transfer for a receiver who has not received it, and removes its unopened files from their shelf.

That takes several steps. A journal entry exists until they are done, so that `transfer_recovery` can finish them after
a crash.
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
    """Keep a journal entry during the block. Not for what stays in a room: there is nothing on a shelf to remove."""
    if not transfer.shelf_folder:
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
        # It is still being made, or being ended elsewhere: that entry is enough.
        yield
        return
    try:
        yield
    except SatchelError:
        await _forget(transfers, transfer)
        raise
    await _forget(transfers, transfer)


async def withdraw_from_all(transfers: Transfers, transfer: TransferRow) -> list[ReceiptRow]:
    """Withdraw from all receivers. Returns all receipts."""
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
    if transfer.shelf_folder:
        files = await history.files_of(transfers, transfer)
        await transfers.shelf.discard(
            person_id, [transfer_contents.saved_id(transfer.transfer_id, file.place) for file in files]
        )


async def _forget(transfers: Transfers, transfer: TransferRow) -> None:
    await transfers.tables.delete(POSTING.table, POSTING.key(transfer_id=transfer.transfer_id))
