"""Recovery: finishes what a crash interrupted while a transfer was made or ended.

A journal entry is written before anything of a transfer, and deleted last. If the transfer's own row exists, recovery
delivers it to its receivers. Otherwise it deletes all of its rows. An entry exists while a transfer is withdrawn or
declined, too, so that its files are surely removed from the shelf.
"""

from satchel.features.transfers.model import ENDED, TransferId
from satchel.features.transfers.records import POSTING, POSTING_INDEX, POSTING_SORT, TRANSFER, PostingRow
from satchel.features.transfers.service import history
from satchel.features.transfers.service.context import Transfers
from satchel.features.transfers.service.transfer_end import take_from_shelf, withdraw_from_all
from satchel.features.transfers.service.transfer_write import bring, take_away
from satchel.stores.ports.table import Range


async def sweep_unfinished(transfers: Transfers) -> int:
    """Finish the operations that are overdue. Returns how many."""
    page = await transfers.tables.query(POSTING.table, POSTING_SORT, Range(high=transfers.now()), index=POSTING_INDEX)
    for item in await transfers.tables.get_many(POSTING.table, [POSTING.table.key_of(item) for item in page.items]):
        if item is not None:
            await _finish(transfers, POSTING.read(item))
    return len(page.items)


async def finish(transfers: Transfers, transfer_id: TransferId) -> None:
    """Finish a transfer that exists, for a sender who asks again: a crash may have left it half delivered."""
    posting = await POSTING.get(transfers.tables, transfer_id=transfer_id)
    if posting is not None:
        await _finish(transfers, posting)


async def _finish(transfers: Transfers, posting: PostingRow) -> None:
    transfer = await TRANSFER.get(transfers.tables, transfer_id=posting.transfer_id)
    if transfer is None:
        await take_away(transfers, posting)
    elif transfer.withdrawn_at:
        await withdraw_from_all(transfers, transfer)
        await transfers.tables.delete(POSTING.table, POSTING.key(transfer_id=posting.transfer_id))
    else:
        stored = await history.receipts_of(transfers, transfer)
        for receipt in stored:
            if receipt.state in ENDED:
                await take_from_shelf(transfers, transfer, receipt.person_id)
        unsaved = [each for each in stored if not each.saved_at and each.state not in ENDED]
        await bring(transfers, transfer, unsaved, await history.files_of(transfers, transfer))
