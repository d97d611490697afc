"""Strokes carried to another layout: how they are stretched, and how often the staves of a page are searched."""

from satchel.features.scores.layout import IMPORTED, Layout
from satchel.features.scores.mark import Anchor, StoredMark, anchor_numbers
from satchel.features.scores.mark_carry import carried_stored
from satchel.features.scores.model import PageId
from satchel.kernel import ink
from satchel.media.score_map import BarPlace, LayoutMap, PageMap, StaffPlace


class Searched(Layout):
    """Says how often somebody looked for a place on its pages."""

    searches = 0

    def anchor_at(self, page: int, x: int, y: int) -> Anchor | None:
        Searched.searches += 1
        return super().anchor_at(page, x, y)


def line(width: int) -> LayoutMap:
    """Two bars of one staff, each so wide."""
    bars = [
        BarPlace(
            bar=number,
            number=str(number + 1),
            box=(number * width, 1000, width, 100),
            staves=[StaffPlace(part=0, staff=1, y=1000, h=100)],
            beats=[(0.0, number * width)],
        )
        for number in range(2)
    ]
    return LayoutMap(parts=["Flute"], pages=[PageMap(bars=bars)])


def carried(right: int) -> list[int]:
    """Where a stroke from 0 to there is on a line that is twice as wide."""
    stroke = ink.encode([(0, 1000, 128), (right, 1000, 128)])
    anchor = anchor_numbers(Anchor(part=0, bar=0))
    mark = StoredMark(layer_id=1, page_id=PageId(1), seq=1, stroke=stroke, anchor=anchor)
    found = carried_stored(mark, 0, Searched(IMPORTED, line(1000)), Layout(IMPORTED, line(2000)))
    assert found is not None
    return [x for x, _, _ in ink.decode(found[1].stroke)]


def test_only_strokes_that_leave_their_bar_are_searched_for_their_end() -> None:
    Searched.searches = 0
    assert (carried(900), Searched.searches) == ([0, 900], 0)
    assert (carried(1500), Searched.searches) == ([0, 2500], 1)
