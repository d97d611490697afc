"""Adds, changes and removes marks of one layer in one step, which gets the next sequence number of the layer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from satchel.features.scores.layer_records import LAYER, DoneMarks, LayerRow
from satchel.features.scores.layout import IMPORTED, LayoutChoice
from satchel.features.scores.mark import NewMark, StoredMark, read_mark, write_mark
from satchel.features.scores.model import MarkUnknown, PageGone
from satchel.features.scores.service import annotations
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.layer_change import find_own_layer
from satchel.features.scores.service.layout_view import with_anchors
from satchel.features.scores.service.mark_read import Marked
from satchel.features.scores.service.score_find import Found, Viewer
from satchel.features.scores.service.score_news import news_of
from satchel.stores.patterns.optimistic_update import StaleRead, optimistic_update
from satchel.stores.ports.expressions import attr

# So many of the last requests can be repeated.
_REMEMBERED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkChange:
    """What to do with the marks of a layer."""

    new: Sequence[NewMark] = ()
    changed: Mapping[int, NewMark] = field(default_factory=dict[int, NewMark])
    removed: Sequence[int] = ()
    # The layout on whose pages the marks stand.
    choice: LayoutChoice = IMPORTED


@dataclass(frozen=True, slots=True, kw_only=True)
class MarksChanged:
    """What came of it: the ids of new marks, and what others have to be told."""

    found: Found
    layer: LayerRow
    seq: int
    new_ids: list[int]
    written: list[Marked] = field(default_factory=list[Marked])
    removed: list[int] = field(default_factory=list[int])


@optimistic_update()
async def change_marks(
    scores: Scores, viewer: Viewer, public: str, layer_id: int, change: MarkChange, *, idempotency_key: str | None
) -> MarksChanged:
    """A repeated request with the same key does nothing more."""
    found, layer = await find_own_layer(scores, viewer, public, layer_id)
    done = next((each for each in layer.done if idempotency_key is not None and each.key == idempotency_key), None)
    if done is not None:
        new_ids = list(range(done.first_id, done.first_id + done.count))
        return MarksChanged(found=found, layer=layer, seq=done.seq, new_ids=new_ids)
    if found.row.locked_until > scores.now():
        raise StaleRead
    change = await _placed(scores, found, change, viewer)
    _check_pages(found, change)
    removed = await _own_marks(scores, found, layer, change)
    seq = layer.seq + 1
    new = [write_mark(each, layer_id, seq) for each in change.new]
    changed = {mark_id: write_mark(each, layer_id, seq) for mark_id, each in change.changed.items()}
    planned = annotations.plan(found.row, new=new, changed=changed, removed=removed)
    first_id = found.row.data.next_annotation
    remembered = [] if idempotency_key is None else [DoneMarks(idempotency_key, seq, first_id, len(new))]
    after = msgspec.structs.replace(
        layer,
        seq=seq,
        count=layer.count + len(new) - len(removed),
        done=[*layer.done, *remembered][-_REMEMBERED:],
    )
    as_read = attr("q") == layer.seq if layer.seq else (attr("o").exists() & attr("q").absent())
    news = news_of([after]) if new or changed else None
    beside = [LAYER.put(after, when=as_read), *([] if news is None else [news])]
    await annotations.write_annotations(scores, planned, beside=beside)
    new_ids = list(range(first_id, first_id + len(new)))
    texts = {**dict(zip(new_ids, new, strict=True)), **changed}
    return MarksChanged(
        found=found,
        layer=after,
        seq=seq,
        new_ids=new_ids,
        written=[Marked(mark_id, read_mark(text)) for mark_id, text in texts.items()],
        removed=sorted(removed),
    )


async def _placed(scores: Scores, found: Found, change: MarkChange, viewer: Viewer) -> MarkChange:
    """Marks on engraved pages, anchored in the music."""
    if not change.new and not change.changed:
        return change
    placed = await with_anchors(scores, found, [*change.new, *change.changed.values()], change.choice, viewer)
    new, changed = placed[: len(change.new)], placed[len(change.new) :]
    return replace(change, new=new, changed=dict(zip(change.changed, changed, strict=True)))


def _check_pages(found: Found, change: MarkChange) -> None:
    pages = {page.page_id for page in found.row.data.pages}
    for each in (*change.new, *change.changed.values()):
        if each.page_id not in pages:
            raise PageGone("This page was removed. Nothing was marked.", page_id=each.page_id)


async def _own_marks(scores: Scores, found: Found, layer: LayerRow, change: MarkChange) -> set[int]:
    """The marks to remove that are there. Raises if one of another layer is named, or a changed one is gone."""
    named = {*change.changed, *change.removed}
    entries = [entry for entry in found.row.data.annotations if entry.annotation_id in named]
    texts = await annotations.read_texts(scores, found.owner, found.score_id, entries)
    marks: dict[int, StoredMark] = {mark_id: read_mark(text) for mark_id, text in texts.items()}
    foreign = any(mark.layer_id != layer.layer_id for mark in marks.values())
    if foreign or not set(change.changed) <= set(marks):
        raise MarkUnknown("This layer has no such mark. Somebody may have removed it.")
    return set(marks) & set(change.removed)
