"""A score in a layout that a reader has chosen: engraved pages are laid out so, and marks follow the music.

Pages of a layout have ids that no page of a score has. Whoever marks one of them marks the music at that place.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from satchel.features.scores.item_records import ItemEntry, ItemsRow, item_key, layout_key
from satchel.features.scores.layout import IMPORTED, Layout, LayoutChoice, LayoutPage
from satchel.features.scores.mark import NewMark
from satchel.features.scores.mark_carry import anchored, carried_new, carried_stored
from satchel.features.scores.model import RANKS, ItemId, ItemUnknown, PageGone, PageId, StoredKind
from satchel.features.scores.records import PageEntry
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.layout_make import get_layout
from satchel.features.scores.service.mark_read import Marked
from satchel.features.scores.service.page_set import read_items
from satchel.features.scores.service.page_source import ENGRAVED, SourcePage, source_pages
from satchel.features.scores.service.score_find import NOBODY, Found, Viewer
from satchel.kernel.errors import Invalid
from satchel.kernel.unfit import ChoiceUnfit
from satchel.media.score_map import BarPlace
from satchel.stores.ports.objects import ObjectInfo, ObjectMissing

replace = msgspec.structs.replace
# Pages of a score have lower ids.
_FIRST_PAGE, _PER_SOURCE = 1_000_000_000, 1000


class NotEngraved(Invalid):
    """Only music that was added as MusicXML, MEI or ABC can be laid out anew, transposed and played."""

    slug = "score-not-engraved"
    title = "This score has no engraved music"


@dataclass(frozen=True, slots=True, kw_only=True)
class LaidPage:
    """A page. `address` is what clients ask for as an item, if it is none."""

    page_id: PageId
    name: str
    rotation: int
    kind: StoredKind
    item_id: ItemId
    key: str
    address: str = ""


@dataclass(frozen=True, slots=True)
class LaidBar:
    """A bar on a page. Bars count from 0 over all of the score."""

    page_id: PageId
    bar: int
    place: BarPlace


@dataclass(frozen=True, slots=True)
class _Source:
    """A file of engraved music in the score: as it was imported, and as it is wanted."""

    entry: ItemEntry
    imported: Layout
    wanted: Layout


class LaidScore:
    """A score of which every engraved page is laid out as somebody wants."""

    def __init__(self, found: Found, items: ItemsRow, choice: LayoutChoice, sources: Sequence[_Source]) -> None:
        self._found, self._items, self._choice, self._sources = found, items, choice, sources
        self._made_of = source_pages(items, found.row.data.pages)
        self._places = {source.entry.item_id: place for place, source in enumerate(sources)}
        self._page_ids = {
            (made.source.item_id, made.number): page.page_id
            for page in found.row.data.pages
            if (made := self._made_of.get(page.item_id)) is not None
        }

    @property
    def choice(self) -> LayoutChoice:
        return self._choice

    @property
    def items(self) -> ItemsRow:
        return self._items

    @property
    def parts(self) -> list[str]:
        """The names of all parts of the first file."""
        return self._sources[0].imported.map.parts

    @property
    def is_whole(self) -> bool:
        """Whether all imported pages of the music are shown."""
        return all(
            (source.entry.item_id, number) in self._page_ids
            for source in self._sources
            for number in range(len(source.imported.map.pages))
        )

    def check_shown(self, *, for_visitor: bool = False) -> None:
        """All of the music is for those who may edit it. Others have it only if all of its pages are shown."""
        may_edit = RANKS[self._found.role] >= RANKS["editor"] and not for_visitor
        if not may_edit and not self.is_whole:
            raise NotEngraved("Not all pages of this music are shown, so that it cannot be laid out or played.")

    def sources(self) -> list[tuple[ItemEntry, int]]:
        """The files, and how many bars each has."""
        return [(source.entry, sum(len(page.bars) for page in source.imported.map.pages)) for source in self._sources]

    def pages(self) -> list[LaidPage]:
        """All pages. Those of a layout stand where the first page of their file stood."""
        pages: list[LaidPage] = []
        done: set[ItemId] = set()
        for page in self._found.row.data.pages:
            made = self._made_of.get(page.item_id)
            place = None if made is None else self._places.get(made.source.item_id)
            if made is None or place is None or self._choice == IMPORTED:
                pages.append(self._stored(page))
            elif made.source.item_id not in done:
                done.add(made.source.item_id)
                pages += [self._laid(place, number) for number in range(len(self._sources[place].wanted.map.pages))]
        return pages

    def bars(self) -> list[LaidBar]:
        found: list[LaidBar] = []
        before = 0
        for place, (source, (_, bars)) in enumerate(zip(self._sources, self.sources(), strict=True)):
            for number, page in enumerate(source.wanted.map.pages):
                page_id = self._page_id(place, number)
                if page_id is not None:
                    found += [LaidBar(page_id, before + bar.bar, bar) for bar in page.bars]
            before += bars
        return found

    async def marks(self, marks: Sequence[Marked]) -> list[Marked]:
        """Those that have a place here, where they stand here. Ten thousand take a while, so a thread moves them."""
        if self._choice == IMPORTED:
            return list(marks)
        return await asyncio.to_thread(self._moved_all, marks)

    def _moved_all(self, marks: Sequence[Marked]) -> list[Marked]:
        by_page = {page.page_id: self._made_of.get(page.item_id) for page in self._found.row.data.pages}
        return [found for each in marks if (found := self._moved(each, by_page)) is not None]

    def unlaid(self, mark: NewMark) -> NewMark:
        """A mark on a page of this layout as the score stores it: on the imported page, with its anchor."""
        place, number = divmod(mark.page_id - _FIRST_PAGE, _PER_SOURCE)
        if place < 0:
            return self._anchored(mark)
        if self._choice == IMPORTED or place >= len(self._sources):
            raise PageGone("This page is of another layout. Read it again.", page_id=mark.page_id)
        source = self._sources[place]
        found = carried_new(mark, number, source.wanted, source.imported)
        page_id = None if found is None else self._page_ids.get((source.entry.item_id, found[0]))
        if found is None or page_id is None:
            raise PageGone("The page with this bar was removed. Nothing was marked.", page_id=mark.page_id)
        return replace(found[1], page_id=page_id)

    def _anchored(self, mark: NewMark) -> NewMark:
        page = next((each for each in self._found.row.data.pages if each.page_id == mark.page_id), None)
        made = None if page is None else self._made_of.get(page.item_id)
        place = None if made is None else self._places.get(made.source.item_id)
        if made is None or place is None:
            return mark
        return replace(mark, anchor=anchored(mark, self._sources[place].imported, made.number))

    def _moved(self, each: Marked, by_page: Mapping[PageId, SourcePage | None]) -> Marked | None:
        made = by_page.get(each.mark.page_id)
        place = None if made is None else self._places.get(made.source.item_id)
        if made is None or place is None:
            return each
        source = self._sources[place]
        found = carried_stored(each.mark, made.number, source.imported, source.wanted)
        if found is None:
            return None
        return Marked(each.mark_id, replace(found[1], page_id=_laid_id(place, found[0])))

    def _page_id(self, place: int, number: int) -> PageId | None:
        if self._choice != IMPORTED:
            return _laid_id(place, number)
        return self._page_ids.get((self._sources[place].entry.item_id, number))

    def _stored(self, page: PageEntry) -> LaidPage:
        return LaidPage(
            page_id=page.page_id,
            name=page.name,
            rotation=page.rotation,
            kind=page.kind,
            item_id=page.item_id,
            key=item_key(self._items.owner, self._items.score_id, page.item_id, page.kind),
        )

    def _laid(self, place: int, number: int) -> LaidPage:
        source = self._sources[place]
        choice, item_id = source.wanted.choice, source.entry.item_id
        return LaidPage(
            page_id=_laid_id(place, number),
            name=str(number + 1),
            rotation=0,
            kind="s",
            item_id=item_id,
            key=layout_key(self._items.owner, self._items.score_id, item_id, f"{choice.name}/{number}.svg"),
            address=LayoutPage(item_id, choice, number).address,
        )


async def lay_out(scores: Scores, found: Found, choice: LayoutChoice, viewer: Viewer = NOBODY) -> LaidScore:
    """Raises `NotEngraved` if there is nothing to lay out, or if a layout would show pages that were removed."""
    items = await read_items(scores, found)
    made_of = source_pages(items, found.row.data.pages)
    entries = {
        made.source.item_id: made.source
        for page in found.row.data.pages
        if (made := made_of.get(page.item_id)) is not None and made.source.kind in ENGRAVED
    }
    if not entries:
        raise NotEngraved("Only music that was added as MusicXML, MEI or ABC can be laid out, transposed and played.")
    imported = [(entry, await get_layout(scores, items, entry, IMPORTED)) for entry in entries.values()]
    plain = LaidScore(found, items, IMPORTED, [_Source(entry, layout, layout) for entry, layout in imported])
    if choice == IMPORTED:
        return plain
    plain.check_shown()
    parts = imported[0][1].map.parts
    if choice.part > len(parts):
        raise ChoiceUnfit(f"This music has {len(parts)} parts. Choose one of them.", field="part")
    sources: list[_Source] = []
    for entry, layout in imported:
        number = _part_in(layout.map.parts, parts, choice.part)
        own = LayoutChoice(transpose=choice.transpose, part=number, size=choice.size)
        sources.append(_Source(entry, layout, await get_layout(scores, items, entry, own, viewer)))
    return LaidScore(found, items, choice, sources)


async def find_layout_page(scores: Scores, found: Found, page: LayoutPage, *, for_visitor: bool = False) -> ObjectInfo:
    """The image of a page of a layout that is kept. Only of music that is shown; a layout shows all of it."""
    items = await read_items(scores, found)
    made_of = source_pages(items, found.row.data.pages).values()
    if all(made.source.item_id != page.source for made in made_of):
        raise ItemUnknown("This score has no such item.")
    (await lay_out(scores, found, IMPORTED)).check_shown(for_visitor=for_visitor)
    key = layout_key(found.owner, found.score_id, page.source, f"{page.choice.name}/{page.number}.svg")
    try:
        return await scores.objects.head(key)
    except ObjectMissing:
        raise ItemUnknown("This layout is no longer kept. Read the layout again.") from None


async def with_anchors(
    scores: Scores, found: Found, marks: Sequence[NewMark], choice: LayoutChoice, viewer: Viewer
) -> list[NewMark]:
    """Marks as they are stored: each one on an engraved page has its place in the music."""
    kinds = {page.page_id: page.kind for page in found.row.data.pages}
    if choice == IMPORTED and all(kinds.get(PageId(mark.page_id)) != "s" for mark in marks):
        return list(marks)
    try:
        laid = await lay_out(scores, found, choice, viewer)
    except NotEngraved:
        # The file is gone, and the pages stay.
        if choice != IMPORTED:
            raise
        return list(marks)
    return [laid.unlaid(mark) for mark in marks]


def _part_in(names: Sequence[str], of_first: Sequence[str], number: int) -> int:
    """A part of the first file in another one, which may have its parts in another order; 0 if it is not there.

    Of several with one name, the second here is the second there.
    """
    if not number:
        return 0
    name = of_first[number - 1]
    among = of_first[: number - 1].count(name)
    same = [place for place, each in enumerate(names, 1) if each == name]
    return same[among] if among < len(same) else 0


def _laid_id(place: int, number: int) -> PageId:
    return PageId(_FIRST_PAGE + place * _PER_SOURCE + number)
