"""Sets the pages of a score in one step: what is added, replaced, moved, renamed and removed is one change."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from satchel.features.scores.item_records import ITEMS, ItemEntry, ItemsRow
from satchel.features.scores.model import (
    MAX_PAGES,
    PAGES,
    Etag,
    ItemId,
    ItemUnknown,
    PageId,
    TooManyPages,
    check_page_name,
    read_id,
)
from satchel.features.scores.records import PageEntry, ScoreExtraRow
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.score_change import Changed, check_state, write_changed
from satchel.features.scores.service.score_find import Found, Viewer, find_score, unknown
from satchel.kernel.unfit import CombinationUnfit
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.ports.expressions import attr
from satchel.stores.ports.table import Check

replace = msgspec.structs.replace


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedPage:
    """A page as an editor wants it. Without an id it is new. Without a name it has that of before, or of its file."""

    page_id: int | None
    item_id: str
    name: str | None
    rotation: int | None


@optimistic_update()
async def set_pages(
    scores: Scores, viewer: Viewer, public: str, etag: Etag | None, wanted: Sequence[WantedPage]
) -> Found:
    found = await find_score(scores, viewer, public, "editor")
    check_state(scores, found.row, etag)
    items = await read_items(scores, found)
    return await write_changed(scores, found, _with_pages(found, items, wanted))


async def read_items(scores: Scores, found: Found) -> ItemsRow:
    items = await ITEMS.get(scores.tables, owner=found.owner, score_id=found.score_id)
    if items is None:
        raise unknown()
    return items


def still_there(items: ItemsRow) -> Check:
    """No item has come or gone since they were read."""
    same = (attr("ua") == items.changed_at) & (attr("c") == items.count) & (attr("t") == items.size_bytes)
    return Check(ITEMS.table, ITEMS.key(owner=items.owner, score_id=items.score_id), same)


def _with_pages(found: Found, items: ItemsRow, wanted: Sequence[WantedPage]) -> Changed:
    data = found.row.data
    if len(wanted) > MAX_PAGES:
        raise TooManyPages(f"A score has up to {MAX_PAGES} pages. Split it into several scores.")
    known = {page.page_id: page for page in data.pages}
    stored = {item.item_id: item for item in items.items}
    given = [each.page_id for each in wanted if each.page_id is not None]
    if len(set(given)) < len(given) or not set(given) <= set(known):
        raise CombinationUnfit("Name each page of this score once. A new page has no id.", field="pages")
    pages: list[PageEntry] = []
    next_page = data.next_page
    for each in wanted:
        item = stored.get(ItemId(read_id(each.item_id) or ""))
        if item is None or item.kind not in PAGES:
            raise ItemUnknown("This score has no such item. Upload the page first.", item_id=each.item_id)
        before = None if each.page_id is None else known[PageId(each.page_id)]
        page_id = PageId(next_page) if before is None else before.page_id
        next_page += before is None
        pages.append(_page(page_id, before, item, each))
    row = replace(found.row, data=replace(data, pages=pages, page_count=len(pages), next_page=next_page))
    kept = {page.page_id for page in pages}
    return Changed(row=row, extra=_on_pages(found.extra, kept), writes=[still_there(items)])


def _page(page_id: PageId, before: PageEntry | None, item: ItemEntry, wanted: WantedPage) -> PageEntry:
    name = wanted.name if wanted.name is not None else (item.name if before is None else before.name)
    rotation = wanted.rotation if wanted.rotation is not None else (0 if before is None else before.rotation)
    return PageEntry(
        page_id=page_id, item_id=item.item_id, kind=item.kind, name=check_page_name(name), rotation=rotation
    )


def _on_pages(extra: ScoreExtraRow, kept: set[PageId]) -> ScoreExtraRow:
    """Without what leads to a page that is gone. A part whose last page has gone plays from all, so it goes, too."""
    parts = [replace(part, page_ids=[page for page in part.page_ids if page in kept]) for part in extra.parts]
    had_pages = {part.part_id for part in extra.parts if part.page_ids}
    return replace(
        extra,
        movements=[each for each in extra.movements if each.page_id in kept],
        parts=[part for part in parts if part.page_ids or part.part_id not in had_pages],
        jumps=[each for each in extra.jumps if {each.page_id, each.to_page_id} <= kept],
    )
