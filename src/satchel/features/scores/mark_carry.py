"""Carries marks from one layout of engraved music to another: each stands at its beat again, as large as its staff."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from satchel.features.scores.layout import Layout, Spot
from satchel.features.scores.mark import Anchor, NewMark, StoredMark, anchor_numbers, anchor_of
from satchel.features.scores.model import PAGE_EDGE
from satchel.kernel import ink

replace = msgspec.structs.replace
# A mark may leave its page a little.
_MARGIN = 1000


@dataclass(frozen=True, slots=True)
class _Carried:
    """Where a mark comes to stand: its page, counted from 0, its anchor, and how each of its points is moved."""

    page: int
    anchor: Anchor
    move: Callable[[int, int], tuple[int, int]]
    factor: float


def anchored(mark: NewMark, layout: Layout, page: int) -> Anchor | None:
    """Where in the music a mark is that stands on a page of a layout. None on a page without music."""
    return layout.anchor_at(page, *_corner(_points(mark.stroke), mark.x, mark.y))


def carried_new(mark: NewMark, page: int, old: Layout, new: Layout) -> tuple[int, NewMark] | None:
    """A mark that was drawn on one layout as it stands on another; its page there, counted from 0."""
    points = _points(mark.stroke)
    anchor = old.anchor_at(page, *_corner(points, mark.x, mark.y))
    found = None if anchor is None else _carried(anchor, points, page, old, new)
    if found is None:
        return None
    x, y = (0, 0) if mark.stroke else found.move(mark.x, mark.y)
    width, size = (_sized(each, found.factor) for each in (mark.width, mark.size))
    stroke = _moved_stroke(points, found)
    return found.page, replace(mark, x=x, y=y, stroke=stroke, width=width, size=size, anchor=found.anchor)


def carried_stored(mark: StoredMark, page: int, old: Layout, new: Layout) -> tuple[int, StoredMark] | None:
    """A stored mark as it stands on another layout. None if its place in the music is not there."""
    points = _points(mark.stroke)
    anchor = anchor_of(mark) or old.anchor_at(page, *_corner(points, mark.x, mark.top))
    found = None if anchor is None else _carried(anchor, points, page, old, new)
    if found is None:
        return None
    x, y = (0, 0) if mark.stroke else found.move(mark.x, mark.top)
    width, size = (_sized(each, found.factor) for each in (mark.width, mark.size))
    stroke, anchor = _moved_stroke(points, found), anchor_numbers(found.anchor)
    return found.page, replace(mark, x=x, top=y, stroke=stroke, width=width, size=size, anchor=anchor)


def _carried(anchor: Anchor, points: Sequence[ink.Point], page: int, old: Layout, new: Layout) -> _Carried | None:
    before, after = old.spot_of(anchor), new.spot_of(anchor)
    if before is None or after is None:
        return None
    # A staff of one line has no height.
    factor = after.height / before.height if before.height and after.height else 1.0
    x1, y1 = before.x + anchor.dx, before.y + anchor.dy
    x2, y2 = after.x + anchor.dx * factor, after.y + anchor.dy * factor
    across = _stretch(points, anchor, page, old, new, after, x2) or factor

    def move(x: int, y: int) -> tuple[int, int]:
        return _on_page(x2 + (x - x1) * across), _on_page(y2 + (y - y1) * factor)

    there = replace(anchor, dx=round(anchor.dx * factor), dy=round(anchor.dy * factor))
    return _Carried(after.page, there, move, factor)


def _stretch(
    points: Sequence[ink.Point], begins: Anchor, page: int, old: Layout, new: Layout, start: Spot, x: float
) -> float | None:
    """What reaches over several bars, such as a slur, ends at the beat where it ended, if that is in the same line."""
    if not points:
        return None
    left, right = min(points), max(points)
    # To look for its end takes all staves of the page, and few strokes leave their bar.
    ends = None if old.reaches(begins.bar, right[0]) else old.anchor_at(page, right[0], right[1])
    if ends is None or (ends.bar, ends.part) == (begins.bar, begins.part):
        return None
    after = new.spot_of(replace(ends, part=begins.part, staff=begins.staff))
    if after is None or (after.page, after.y) != (start.page, start.y) or right[0] <= left[0]:
        return None
    stretched = (after.x + ends.dx - x) / (right[0] - left[0])
    return stretched if stretched > 0 else None


def _points(stroke: str) -> list[ink.Point]:
    return ink.decode(stroke) if stroke else []


def _corner(points: Sequence[ink.Point], x: int, y: int) -> tuple[int, int]:
    """What of a mark is anchored: the left end of a stroke at half its height, or where it stands."""
    if not points:
        return x, y
    return min(point[0] for point in points), (min(p[1] for p in points) + max(p[1] for p in points)) // 2


def _moved_stroke(points: Sequence[ink.Point], found: _Carried) -> str:
    return ink.encode((*found.move(x, y), pressure) for x, y, pressure in points)


def _sized(size: int, factor: float) -> int:
    return min(max(round(size * factor), 1 if size else 0), PAGE_EDGE)


def _on_page(place: float) -> int:
    return min(max(round(place), -_MARGIN), PAGE_EDGE + _MARGIN)
