"""Compares two states of a score, each a snapshot or now: pages and marks that were added, removed and changed."""

from dataclasses import dataclass, field
from typing import Literal

from satchel.features.scores.model import ItemId, OwnerId
from satchel.features.scores.records import PageEntry
from satchel.features.scores.service import snapshot_change, snapshot_content
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.mark_read import Marked, visible_layers, visible_marks
from satchel.features.scores.service.score_find import Found, Viewer, read_whole
from satchel.features.scores.service.snapshot_restore import same_mark

NOW = "now"
PageChange = Literal["added", "removed", "replaced", "moved"]
Change = Literal["added", "removed", "changed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreState:
    """A score at one moment, as one person sees it."""

    found: Found
    marks: list[Marked]
    authors: dict[int, OwnerId]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedPage:
    """A page that differs. It had and has an item, if it was and is there."""

    page_id: int
    change: PageChange
    before: ItemId | None
    after: ItemId | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedMark:
    """A mark that differs, and whose it is."""

    change: Change
    author: OwnerId
    before: Marked | None
    after: Marked | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What differs from one state to another."""

    title: tuple[str, str] | None
    pages: list[ChangedPage] = field(default_factory=list[ChangedPage])
    marks: list[ChangedMark] = field(default_factory=list[ChangedMark])


async def compare(scores: Scores, viewer: Viewer, public: str, one: str, other: str) -> Comparison:
    before, after = await _state(scores, viewer, public, one), await _state(scores, viewer, public, other)
    titles = (before.found.row.data.title, after.found.row.data.title)
    return Comparison(
        title=None if titles[0] == titles[1] else titles,
        pages=_pages(before.found.row.data.pages, after.found.row.data.pages),
        marks=_marks(before, after),
    )


async def _state(scores: Scores, viewer: Viewer, public: str, moment: str) -> ScoreState:
    if moment == NOW:
        whole = await read_whole(scores, viewer, public)
        authors = {layer.layer_id: layer.author for layer in visible_layers(whole.layers, viewer)}
        return ScoreState(found=whole.found, marks=visible_marks(whole, viewer), authors=authors)
    found, content = await snapshot_change.read_snapshot(scores, viewer, public, moment)
    return ScoreState(
        found=snapshot_content.as_found(found, content),
        marks=snapshot_content.kept_marks(found, content, viewer),
        authors={layer.layer_id: layer.author for layer in content.layers},
    )


def _pages(before: list[PageEntry], after: list[PageEntry]) -> list[ChangedPage]:
    """A page has moved if others that are in both states come before it in another order."""
    old, new = {page.page_id: page for page in before}, {page.page_id: page for page in after}
    kept_before = [page.page_id for page in before if page.page_id in new]
    kept_after = [page.page_id for page in after if page.page_id in old]
    moved = {one for one, other in zip(kept_before, kept_after, strict=True) if one != other}
    found: list[ChangedPage] = []
    for page_id in dict.fromkeys([*new, *old]):
        one, other = old.get(page_id), new.get(page_id)
        change: PageChange | None = None
        if one is None or other is None:
            change = "added" if one is None else "removed"
        elif one.item_id != other.item_id or one.rotation != other.rotation:
            change = "replaced"
        elif page_id in moved:
            change = "moved"
        if change is not None:
            items = (None if one is None else one.item_id, None if other is None else other.item_id)
            found.append(ChangedPage(page_id=page_id, change=change, before=items[0], after=items[1]))
    return found


def _marks(before: ScoreState, after: ScoreState) -> list[ChangedMark]:
    old, new = {each.mark_id: each for each in before.marks}, {each.mark_id: each for each in after.marks}
    authors = {**before.authors, **after.authors}
    added = [each for mark_id, each in new.items() if mark_id not in old]
    removed = [each for mark_id, each in old.items() if mark_id not in new]
    # A mark that was restored has another id, and is the same.
    for one in [*removed]:
        twin = next((each for each in added if same_mark(each.mark, one.mark)), None)
        if twin is not None:
            added.remove(twin)
            removed.remove(one)
    changed = [
        (old[mark_id], new[mark_id])
        for mark_id in old.keys() & new.keys()
        if not same_mark(old[mark_id].mark, new[mark_id].mark)
    ]
    return [
        *(ChangedMark(change="added", author=authors[each.mark.layer_id], before=None, after=each) for each in added),
        *(
            ChangedMark(change="removed", author=authors[each.mark.layer_id], before=each, after=None)
            for each in removed
        ),
        *(
            ChangedMark(change="changed", author=authors[other.mark.layer_id], before=one, after=other)
            for one, other in sorted(changed, key=lambda pair: pair[0].mark_id)
        ),
    ]
