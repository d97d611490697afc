"""What scores offer to other slices: scores that links lead to, whole or one part, as they are or as they were kept.

A visitor of a link sees published layers only.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from satchel.features.scores.item_records import ItemEntry, ItemsRow, item_key
from satchel.features.scores.layer_records import LayerRow
from satchel.features.scores.layout import LayoutChoice, LayoutPage, read_layout_page
from satchel.features.scores.model import (
    CONTENT_TYPES,
    Email,
    ItemId,
    ItemUnknown,
    LinkTarget,
    OwnerId,
    ScoreUnknown,
    SnapshotUnknown,
    public_id,
    read_id,
    read_link_target,
)
from satchel.features.scores.records import SCORE, SCORE_CARD, SCORE_EXTRA, Part, SnapshotEntry
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.layout_view import LaidScore, NotEngraved, find_layout_page, lay_out
from satchel.features.scores.service.mark_read import Marked, visible_layers, visible_marks
from satchel.features.scores.service.page_set import read_items
from satchel.features.scores.service.score_find import NOBODY, Found, Viewer, find_of, read_whole_of
from satchel.features.scores.service.score_list import Wanted, list_scores
from satchel.features.scores.service.score_play import PlayedScore, play_score
from satchel.features.scores.service.set_list_find import list_set_lists
from satchel.features.scores.service.snapshot_content import as_found, get_content, kept_marks, layer_rows
from satchel.features.scores.service.visitor_news import channel_of, hear_all, hear_part
from satchel.features.scores.service.visitor_view import VisitorView, for_visitor
from satchel.kernel.clock import iso
from satchel.kernel.linked import FILES_PAGE, Followed, LinkedFile, LinkedFiles, LinkedThing, WantedLayout
from satchel.kernel.searched import Finding, Findings, Seeker, Words
from satchel.stores.schema import Record, Shape

R = TypeVar("R", bound=Record)


# What a visitor is sent of a score, and what their player gets.
Outline = Callable[[Scores, VisitorView, ItemsRow], Awaitable[object]]
LayoutOutline = Callable[[Scores, VisitorView, LaidScore], Awaitable[object]]
Playback = Callable[[PlayedScore], object]


@dataclass(frozen=True, slots=True)
class LinkedScores:
    """Scores as link targets. Their files are the pages."""

    scores: Scores
    view: Outline
    lay: LayoutOutline
    play: Playback

    async def describe(self, owner_id: str, thing_id: str, *, counted: bool = False) -> LinkedThing | None:
        del counted
        target = read_link_target(thing_id)
        found = await self._find(owner_id, target)
        if target is None or found is None:
            return None
        return LinkedThing(name=_name(found, target), files=len(found.row.data.pages))

    async def names(self, owner_id: str, thing_ids: Sequence[str]) -> dict[str, str]:
        targets = {each: target for each in thing_ids if (target := read_link_target(each)) is not None}
        cards = await self._rows(SCORE_CARD, owner_id, targets.values())
        extras = await self._rows(SCORE_EXTRA, owner_id, filter(_is_part, targets.values()))
        mains = await self._rows(SCORE, owner_id, filter(_is_kept, targets.values()))
        names: dict[str, str] = {}
        for thing, target in targets.items():
            card, name = cards.get(target.score_id), None
            if card is not None and _is_part(target):
                extra = extras.get(target.score_id)
                name = None if extra is None else _part_name(card.title, extra.parts, target)
            elif card is not None and _is_kept(target):
                main = mains.get(target.score_id)
                name = None if main is None else _kept_name(card.title, main.snapshots, target)
            elif card is not None:
                name = card.title
            if name is not None:
                names[thing] = name
        return names

    async def files(self, owner_id: str, thing_id: str, cursor: str | None, limit: int = FILES_PAGE) -> LinkedFiles:
        """All at once: a score has a few hundred pages at most."""
        del cursor, limit
        found = await self._find(owner_id, read_link_target(thing_id))
        return LinkedFiles([] if found is None else await self._pages(found), None)

    async def file(self, owner_id: str, thing_id: str, file_id: str) -> LinkedFile | None:
        if (laid := read_layout_page(file_id)) is not None:
            return await self._laid_page(owner_id, thing_id, file_id, laid)
        found = await self._find(owner_id, read_link_target(thing_id)) if read_id(file_id) else None
        pages = [] if found is None else await self._pages(found)
        return next((page for page in pages if page.file_id == file_id), None)

    async def outline(self, owner_id: str, thing_id: str) -> object | None:
        """The score as its viewer shows it, with the marks that everybody sees."""
        shown = await self._shown(OwnerId(owner_id), thing_id)
        if shown is None:
            return None
        return await self.view(self.scores, shown, await read_items(self.scores, shown.found))

    async def layout(self, owner_id: str, thing_id: str, wanted: WantedLayout, address: str) -> object | None:
        """Only of music all of whose pages the link shows."""
        shown = await self._shown(OwnerId(owner_id), thing_id)
        if shown is None:
            return None
        choice = LayoutChoice(transpose=wanted.transpose, part=wanted.instrument, size=wanted.size)
        try:
            laid = await lay_out(self.scores, shown.found, choice, _visitor(address))
        except NotEngraved:
            return None
        return await self.lay(self.scores, shown, laid)

    async def playback(self, owner_id: str, thing_id: str, address: str) -> object | None:
        """Only of music all of whose pages the link shows."""
        found = await self._find(owner_id, read_link_target(thing_id))
        if found is None:
            return None
        try:
            return self.play(await play_score(self.scores, found, _visitor(address), for_visitor=True))
        except NotEngraved:
            return None

    async def followed(self, owner_id: str, thing_id: str) -> Followed | None:
        """A snapshot never changes."""
        target = read_link_target(thing_id)
        if target is None or target.snapshot_id is not None or await self._find(owner_id, target) is None:
            return None
        hear = hear_all if target.part_id is None else partial(hear_part, target.part_id)
        return Followed(channel_of(target.score_id), hear)

    async def _shown(self, owner: OwnerId, thing_id: str) -> VisitorView | None:
        """With the marks that a visitor sees."""
        target = read_link_target(thing_id)
        if target is None:
            return None
        try:
            found, layers, marks = await self._whole(owner, target)
        except (ScoreUnknown, SnapshotUnknown):
            return None
        if target.part_id is not None and _part_of(found, target) is None:
            return None
        return for_visitor(found, layers, marks, target)

    async def _laid_page(self, owner_id: str, thing_id: str, file_id: str, page: LayoutPage) -> LinkedFile | None:
        found = await self._find(owner_id, read_link_target(thing_id))
        if found is None:
            return None
        try:
            info = await find_layout_page(self.scores, found, page, for_visitor=True)
        except (ItemUnknown, NotEngraved):
            return None
        return LinkedFile(
            file_id=file_id,
            name=f"{page.number + 1:03d}.svg",
            folder="",
            key=info.key,
            size_bytes=info.size_bytes,
            sha256="",
            content_type=CONTENT_TYPES["s"],
            at=iso(info.modified.timestamp()),
            is_sheet=True,
        )

    async def _whole(self, owner: OwnerId, target: LinkTarget) -> tuple[Found, list[LayerRow], list[Marked]]:
        whole = await read_whole_of(self.scores, _owner(owner), owner, target.score_id)
        if target.snapshot_id is None:
            return whole.found, visible_layers(whole.layers, NOBODY), visible_marks(whole, NOBODY)
        content = await get_content(self.scores, owner, target.score_id, target.snapshot_id)
        layers = visible_layers(layer_rows(whole.found, content), NOBODY)
        return as_found(whole.found, content), layers, kept_marks(whole.found, content, NOBODY)

    async def _find(self, owner_id: str, target: LinkTarget | None) -> Found | None:
        """Without marks, which only the outline shows."""
        if target is None:
            return None
        owner = OwnerId(owner_id)
        try:
            found = await find_of(self.scores, _owner(owner), owner, target.score_id)
            if target.snapshot_id is not None:
                kept = {each.snapshot_id for each in found.row.snapshots}
                if target.snapshot_id not in kept:
                    return None
                content = await get_content(self.scores, owner, target.score_id, target.snapshot_id)
                return as_found(found, content)
        except (ScoreUnknown, SnapshotUnknown):
            return None
        if target.part_id is None:
            return found
        return None if _part_of(found, target) is None else for_visitor(found, [], [], target).found

    async def _rows(self, shape: Shape[R], owner_id: str, targets: Iterable[LinkTarget]) -> dict[str, R]:
        """By the ids of their scores."""
        ids = list(dict.fromkeys(target.score_id for target in targets))
        keys = [shape.key(owner=owner_id, score_id=each) for each in ids]
        items = await self.scores.tables.get_many(shape.table, keys) if keys else []
        return {each: shape.read(item) for each, item in zip(ids, items, strict=True) if item is not None}

    async def _pages(self, found: Found) -> list[LinkedFile]:
        items = await read_items(self.scores, found)
        known = {item.item_id: item for item in items.items}
        pages = dict.fromkeys(page.item_id for page in found.row.data.pages if page.item_id in known)
        return [_linked(items, known[item_id], number) for number, item_id in enumerate(pages, 1)]


def _owner(owner: OwnerId) -> Viewer:
    return Viewer(owner, Email(""))


def _visitor(address: str) -> Viewer:
    return replace(NOBODY, address=address)


def _part_of(found: Found, target: LinkTarget) -> Part | None:
    return next((part for part in found.extra.parts if part.part_id == target.part_id), None)


def _name(found: Found, target: LinkTarget) -> str:
    title = found.row.data.title
    if _is_part(target):
        return _part_name(title, found.extra.parts, target) or title
    return _kept_name(title, found.row.snapshots, target) or title


def _part_name(title: str, parts: Sequence[Part], target: LinkTarget) -> str | None:
    return next((f"{title} – {part.name}" for part in parts if part.part_id == target.part_id), None)


def _kept_name(title: str, kept: Sequence[SnapshotEntry], target: LinkTarget) -> str | None:
    return next((f"{title} ({each.name})" for each in kept if each.snapshot_id == target.snapshot_id), None)


def _is_part(target: LinkTarget) -> bool:
    return target.part_id is not None


def _is_kept(target: LinkTarget) -> bool:
    return target.snapshot_id is not None


def _linked(items: ItemsRow, item: ItemEntry, number: int) -> LinkedFile:
    ending = {"p": "png", "j": "jpg", "s": "svg"}.get(item.kind, "bin")
    return LinkedFile(
        file_id=public_id(ItemId(item.item_id)),
        name=f"{number:03d}.{ending}",
        folder="",
        key=item_key(items.owner, items.score_id, item.item_id, item.kind),
        size_bytes=item.size_bytes,
        sha256=item.sha256,
        content_type=CONTENT_TYPES[item.kind],
        at=iso(items.changed_at / 1000),
        is_sheet=True,
    )


@dataclass(frozen=True, slots=True)
class ScoreSearch:
    """Finds scores and set lists, one's own and those that are shared, for the search over everything."""

    scores: Scores

    async def find(self, seeker: Seeker, words: Words, limit: int) -> Findings:
        viewer = Viewer(OwnerId(seeker.user_id), Email(seeker.email))
        listed = await list_scores(self.scores, viewer, Wanted(words=words.written))
        found = [
            Finding(kind="score", id=public_id(each.card.score_id), name=each.card.title, detail=each.card.composer)
            for each in listed
        ]
        lists = [each.row for each in await list_set_lists(self.scores, viewer) if words.are_in(each.row.name)]
        of_lists = [Finding(kind="set-list", id=public_id(row.list_id), name=row.name) for row in lists]
        # Neither kind hides the other.
        half = limit - min(len(of_lists), limit // 2)
        return Findings([*found[:half], *of_lists[: limit - min(len(found), half)]])
