"""Adds an uploaded file to the items of a score: bytes first, then the entry and all counters in one transaction."""

from dataclasses import dataclass

import msgspec

from satchel.features.scores.item_records import ITEM_SUMMARY, ITEMS, ItemEntry, ItemsRow, item_key, pictured
from satchel.features.scores.model import (
    LETTERS,
    MAX_ITEM_NAME,
    MAX_PAGES,
    PICTURED,
    Email,
    ItemId,
    NoPageFile,
    OwnerId,
    PageId,
    ScoreId,
    ScoresFull,
    StoredKind,
    TooManyItems,
    TooManyPages,
    one_line,
)
from satchel.features.scores.records import PageEntry
from satchel.features.scores.service import item_lock
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.page_set import still_there
from satchel.features.scores.service.score_change import Changed, check_state, write_changed
from satchel.features.scores.service.score_find import Viewer, find_of, unknown
from satchel.kernel.errors import Gone
from satchel.media.score_pages import HEAD_BYTES, source_kind
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.ports.expressions import add, assign, attr
from satchel.stores.ports.objects import ObjectMissing
from satchel.stores.ports.table import TransactionCancelled

# A row has 400 KB.
MAX_ITEMS = 500
replace = msgspec.structs.replace


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemUpload:
    """A complete upload. Its bytes are the object at `key`. The item's id is derived from that of the upload."""

    item_id: ItemId
    name: str
    key: str
    size_bytes: int
    sha256: str


async def keep_item(scores: Scores, owner: OwnerId, score_id: ScoreId, upload: ItemUpload) -> ItemEntry:
    """Repeating it for the same id finds the same item."""
    known = await ITEMS.get(scores.tables, owner=owner, score_id=score_id)
    if known is None:
        raise unknown()
    for entry in known.items:
        if entry.item_id == upload.item_id:
            await scores.objects.delete(upload.key)
            return entry
    try:
        kind = await _kind(scores, upload.key, upload.name)
        target = item_key(owner, score_id, upload.item_id, kind)
        await scores.objects.copy(upload.key, target)
    except ObjectMissing as error:
        raise Gone("The uploaded data is no longer stored. Upload the file again.") from error
    name = one_line(upload.name)[:MAX_ITEM_NAME]
    item = ItemEntry(item_id=upload.item_id, kind=kind, size_bytes=upload.size_bytes, name=name, sha256=upload.sha256)
    try:
        await enter_item(scores, owner, score_id, item)
    except (ScoresFull, TooManyItems):
        await scores.objects.delete(target)
        raise
    if kind in PICTURED:
        await scores.pictures.make([pictured(owner, score_id, item.item_id, kind)])
    await scores.objects.delete(upload.key)
    return item


@optimistic_update()
async def enter_item(scores: Scores, owner: OwnerId, score_id: ScoreId, item: ItemEntry) -> None:
    """Under the lock of the items, with the counters of the score and of the owner."""
    items = await item_lock.begin(scores, owner, score_id)
    if any(each.item_id == item.item_id for each in items.items):
        await item_lock.release(scores, items)
        return
    if items.count >= MAX_ITEMS:
        await item_lock.release(scores, items)
        raise TooManyItems(f"A score has up to {MAX_ITEMS} items. Delete those that no page shows.")
    try:
        await _commit(scores, items, item)
    except TransactionCancelled:
        await item_lock.release(scores, items)
        summary = await ITEM_SUMMARY.get(scores.tables, owner=owner)
        if scores.most_bytes and summary is not None and summary.size_bytes + item.size_bytes > scores.most_bytes:
            raise ScoresFull(
                "Your scores have no space left for this file. Delete items that you do not need.",
                quota=scores.most_bytes,
            ) from None
        raise


async def _commit(scores: Scores, items: ItemsRow, item: ItemEntry) -> None:
    now = scores.now()
    new = replace(items, items=[*items.items, item])
    room = attr("t") <= scores.most_bytes - item.size_bytes if scores.most_bytes else attr("t").exists()
    await scores.tables.transact(
        [
            item_lock.commit(scores, items, new),
            ITEM_SUMMARY.update(
                [add("t", item.size_bytes), add("c", 1), assign("ua", now)], when=room, owner=items.owner
            ),
        ]
    )


@optimistic_update()
async def append_page(scores: Scores, owner: OwnerId, score_id: ScoreId, item: ItemEntry) -> None:
    """Let an item be the last page, unless a page shows it already."""
    found = await find_of(scores, Viewer(owner, Email("")), owner, score_id, "owner")
    data = found.row.data
    if any(page.item_id == item.item_id for page in data.pages):
        return
    if len(data.pages) >= MAX_PAGES:
        raise TooManyPages(f"A score has up to {MAX_PAGES} pages. Split it into several scores.")
    check_state(scores, found.row, None)
    items = await ITEMS.get(scores.tables, owner=owner, score_id=score_id)
    if items is None or all(each.item_id != item.item_id for each in items.items):
        return
    page = PageEntry(page_id=PageId(data.next_page), item_id=item.item_id, kind=item.kind, name=item.name)
    row = replace(
        found.row,
        data=replace(data, pages=[*data.pages, page], page_count=data.page_count + 1, next_page=data.next_page + 1),
    )
    await write_changed(scores, found, Changed(row=row, extra=found.extra, writes=[still_there(items)]))


async def _kind(scores: Scores, key: str, name: str) -> StoredKind:
    async with scores.objects.read(key, length=HEAD_BYTES) as reading:
        head = b"".join([piece async for piece in reading])
    kind = source_kind(head, name)
    if kind is None:
        raise NoPageFile("A score is made of PNG, JPEG, PDF, MusicXML, MEI or ABC. Export the file as one of them.")
    return LETTERS[kind]
