"""Engraved music laid out on pages in one of the ways that a reader may choose, and where in it each beat is."""

import re
from collections import OrderedDict
from dataclasses import dataclass, field
from math import hypot

from satchel.features.scores.mark import Anchor
from satchel.features.scores.model import ItemId, public_id, read_id
from satchel.kernel.linked import LayoutSize
from satchel.media.score_map import BarPlace, LayoutMap, StaffPlace
from satchel.media.score_pages import PageOptions

MAX_TRANSPOSE = 12
# Of staves, in per cent; 0 suits the number of parts.
_SCALES: dict[LayoutSize, int] = {"small": 50, "normal": 0, "large": 120}
# Pages are A4: so much higher than wide.
_ASPECT = 2**0.5
_MOST_CACHED, _MAX_CACHED_BYTES = 8, 1024 * 1024
_PAGE = re.compile(
    r"(?P<source>[0-9a-f-]{36})\.t(?P<by>-?[0-9]{1,2})\.p(?P<part>[0-9]{1,3})\.(?P<size>[a-z]+)\.(?P<page>[0-9]{1,3})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutChoice:
    """By how many semitones the music is moved, which part is shown (from 1; 0 is all), and how large it is."""

    transpose: int = 0
    part: int = 0
    size: LayoutSize = "normal"

    @property
    def name(self) -> str:
        return f"t{self.transpose}.p{self.part}.{self.size}"

    @property
    def options(self) -> PageOptions:
        return PageOptions(
            transpose=f"{self.transpose:+d}" if self.transpose else "",
            parts=(str(self.part),) if self.part else (),
            scale=_SCALES[self.size],
        )


# As an import lays music out.
IMPORTED = LayoutChoice()


@dataclass(frozen=True, slots=True)
class LayoutPage:
    """A page of a layout of a source, counted from 0. Clients have its address as that of an item."""

    source: ItemId
    choice: LayoutChoice
    number: int

    @property
    def address(self) -> str:
        return f"{public_id(self.source)}.{self.choice.name}.{self.number}"


def read_layout_page(address: str) -> LayoutPage | None:
    found = _PAGE.fullmatch(address)
    source = read_id(found["source"]) if found else None
    if found is None or source is None:
        return None
    size: LayoutSize | None = next((each for each in _SCALES if each == found["size"]), None)
    by = int(found["by"])
    if size is None or abs(by) > MAX_TRANSPOSE:
        return None
    choice = LayoutChoice(transpose=by, part=int(found["part"]), size=size)
    return LayoutPage(ItemId(source), choice, int(found["page"]))


@dataclass(frozen=True, slots=True)
class Spot:
    """A beat on a staff: the page, x of the beat, y of the staff's upper line, and the staff's height."""

    page: int
    x: int
    y: int
    height: int


@dataclass(frozen=True, slots=True)
class Layout:
    """A layout that was made. Parts are numbered as in the source, also if only one is shown."""

    choice: LayoutChoice
    map: LayoutMap
    _bars: dict[int, tuple[int, BarPlace]] = field(default_factory=dict[int, tuple[int, BarPlace]], repr=False)

    def __post_init__(self) -> None:
        for number, page in enumerate(self.map.pages):
            self._bars.update((bar.bar, (number, bar)) for bar in page.bars)

    def anchor_at(self, page: int, x: int, y: int) -> Anchor | None:
        """The place in the music that is nearest to a place on a page."""
        bars = self.map.pages[page].bars if 0 <= page < len(self.map.pages) else []
        nearest = min(
            ((_distance(bar, staff, x, y), bar, staff) for bar in bars for staff in bar.staves),
            key=lambda each: each[0],
            default=None,
        )
        if nearest is None:
            return None
        _, bar, staff = nearest
        beat, at = _beat_before(bar, x)
        place = [each.staff for each in bar.staves if each.part == staff.part].index(staff.staff)
        return Anchor(
            part=self._source_part(staff.part),
            staff=place,
            bar=bar.bar,
            beat=round(beat * 1000),
            dx=x - at,
            dy=y - staff.y,
        )

    def reaches(self, bar: int, x: int) -> bool:
        """Whether a place is left of the end of a bar."""
        place = self._bars.get(bar)
        return place is not None and x <= place[1].box[0] + place[1].box[2]

    def spot_of(self, anchor: Anchor) -> Spot | None:
        """Where a place in the music is. None if it is not in this layout."""
        page, bar = self._bars.get(anchor.bar, (0, None))
        if bar is None:
            return None
        staves = [each for each in bar.staves if self._source_part(each.part) == anchor.part]
        if not staves:
            return None
        staff = staves[min(anchor.staff, len(staves) - 1)]
        return Spot(page, _x_of_beat(bar, anchor.beat / 1000), staff.y, staff.h)

    def _source_part(self, shown: int) -> int:
        return self.choice.part - 1 if self.choice.part else shown


class LayoutCache:
    """The maps that were read last. A map never changes."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Layout] = OrderedDict()

    def get(self, key: str) -> Layout | None:
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def keep(self, key: str, layout: Layout, size_bytes: int) -> None:
        if size_bytes <= _MAX_CACHED_BYTES:
            self._kept[key] = layout
        while len(self._kept) > _MOST_CACHED:
            self._kept.popitem(last=False)


def _distance(bar: BarPlace, staff: StaffPlace, x: int, y: int) -> float:
    left, _, width, _ = bar.box
    across = max(left - x, 0, x - left - width)
    down = max(staff.y - y, 0, y - staff.y - staff.h) * _ASPECT
    return hypot(across, down)


def _beat_before(bar: BarPlace, x: int) -> tuple[float, int]:
    """The last beat that is left of a place, or the first one."""
    if not bar.beats:
        return 0.0, bar.box[0]
    return max((each for each in bar.beats if each[1] <= x), key=lambda each: each[1], default=bar.beats[0])


def _x_of_beat(bar: BarPlace, beat: float) -> int:
    """Between the beats that are shown: a part alone has other ones than all parts together."""
    left, _, width, _ = bar.box
    known = [*bar.beats] or [(0.0, left)]
    before = max((each for each in known if each[0] <= beat + 0.0005), key=lambda each: each[0], default=known[0])
    after = min((each for each in known if each[0] > beat), key=lambda each: each[0], default=None)
    if beat <= before[0]:
        return before[1]
    # How long the last note is, the map does not say: a quarter is a fair guess.
    end, edge = after or (before[0] + 1.0, left + width)
    return round(before[1] + (edge - before[1]) * min((beat - before[0]) / (end - before[0]), 1.0))
