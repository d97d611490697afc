"""Deletes an item that nothing shows: its entry and counters in one transaction, then its bytes."""

import logging

import msgspec

from satchel.features.scores.item_records import IMPORT, ITEM_SUMMARY, ItemEntry, ItemsRow, item_key
from satchel.features.scores.model import MAX_SNAPSHOTS, PAGES, ItemId, ItemInUse, ItemUnknown, read_id
from satchel.features.scores.records import SCORE, SNAPSHOT
from satchel.features.scores.service import item_lock
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.layout_make import forget_layouts
from satchel.features.scores.service.page_set import read_items
from satchel.features.scores.service.score_find import Found, Viewer, find_score
from satchel.kernel.errors import SatchelError
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.ports.expressions import add, assign, attr
from satchel.stores.ports.table import Check, TransactionCancelled

_log = logging.getLogger("satchel.scores")


async def delete_item(scores: Scores, viewer: Viewer, public: str, item: str) -> None:
    """`ItemInUse` if a page or a snapshot shows it."""
    item_id = ItemId(read_id(item) or "")
    found, entry = await _delete(scores, viewer, public, item_id)
    key = item_key(found.owner, found.score_id, entry.item_id, entry.kind)
    try:
        await scores.pictures.delete([key])
        await scores.objects.delete(key)
        if entry.kind not in PAGES:
            await forget_layouts(scores, await read_items(scores, found), entry.item_id)
    except SatchelError as error:
        # The garbage collection finds it.
        _log.warning("the bytes of a deleted item are still there: %s", error.detail)


@optimistic_update()
async def _delete(scores: Scores, viewer: Viewer, public: str, item_id: ItemId) -> tuple[Found, ItemEntry]:
    found = await find_score(scores, viewer, public, "editor")
    locked = await item_lock.begin(scores, found.owner, found.score_id)
    try:
        return found, await _delete_locked(scores, found, locked, item_id)
    except (SatchelError, TransactionCancelled):
        await item_lock.release(scores, locked)
        raise


async def _delete_locked(scores: Scores, found: Found, locked: ItemsRow, item_id: ItemId) -> ItemEntry:
    entry = next((each for each in locked.items if each.item_id == item_id), None)
    if entry is None:
        raise ItemUnknown("This score has no such item.")
    if any(page.item_id == item_id for page in found.row.data.pages):
        raise ItemInUse("A page shows this item. Remove the page first.")
    if await is_pinned(scores, found, item_id):
        raise ItemInUse("A snapshot shows this item. Delete the snapshot first.")
    left = msgspec.structs.replace(locked, items=[each for each in locked.items if each.item_id != item_id])
    # No more pages are made of a file that is gone.
    gone = IMPORT.delete(owner=found.owner, score_id=found.score_id, item_id=item_id)
    less = [add("t", -entry.size_bytes), add("c", -1), assign("ua", scores.now())]
    await scores.tables.transact(
        [
            item_lock.commit(scores, locked, left),
            ITEM_SUMMARY.update(less, owner=found.owner),
            # No page has come to show it since we looked.
            Check(SCORE.table, SCORE.key(owner=found.owner, score_id=found.score_id), attr("e") == found.row.etag),
            *([] if entry.kind in PAGES else [gone]),
        ]
    )
    return entry


async def is_pinned(scores: Scores, found: Found, item_id: ItemId) -> bool:
    """Whether a snapshot shows it."""
    shown = await SNAPSHOT.list(scores.tables, owner=found.owner, score_id=found.score_id, limit=2 * MAX_SNAPSHOTS)
    return any(item_id in each.item_ids for each in shown.records)
