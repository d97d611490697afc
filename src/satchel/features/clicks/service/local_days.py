"""Days as people live them, in any time zone, and the clicks of each; without this every day would be a UTC day.

Clicks are counted by quarters of an hour in UTC. Every zone in use is a whole number of quarters away from UTC, also
those of :30 and :45. So a local day is a run of quarters, whether the clock changes in it or not. Quarters are numbered
from 1970 on.

The clicks of a local day are those of whole UTC days. Where it begins in the middle of one, only the smaller piece of
that UTC day is read quarter by quarter; the larger piece is the rest. So a zone costs a few small rows for each day,
and UTC costs none, however many clicks there were.
"""

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from satchel.features.clicks.service.counts import Sum, quarter_period, read_sums
from satchel.kernel.clock import iso
from satchel.kernel.unfit import ChoiceUnfit
from satchel.stores.ports.table import Tables

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

QUARTER_SECONDS = 15 * 60
QUARTERS_PER_DAY = 24 * 4
# In quarters; no zone has ever been farther away from UTC.
_FARTHEST = 16 * 4
ONE_DAY = timedelta(days=1)
_EPOCH = date(1970, 1, 1)
# How many reads of pieces run at once.
_CONCURRENT_READS = 16


@dataclass(frozen=True, slots=True)
class LocalDay:
    """A day in some zone: the quarters from `first` up to, but without, `end`; none if the zone skipped that day."""

    day: date
    first: int
    end: int

    @property
    def starts(self) -> float:
        return self.first * QUARTER_SECONDS

    @property
    def ends(self) -> float:
        return self.end * QUARTER_SECONDS

    @property
    def utc_days(self) -> list[date]:
        """The one to three UTC days in which its quarters lie."""
        first, last = self.first // QUARTERS_PER_DAY, max(self.first, self.end - 1) // QUARTERS_PER_DAY
        return [_EPOCH + timedelta(days=number) for number in range(first, last + 1)]


def find_zone(name: str) -> "ZoneInfo":
    """The zone of an IANA name such as `Asia/Kathmandu`."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # it brings modules that a start does without

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        # OSError: the name is that of a folder. ValueError: it is a path that leads out of the zones.
        raise ChoiceUnfit(
            f"There is no time zone called {name!r}. Use a name such as Europe/Vienna.", field="zone"
        ) from None


def quarter_of(day: date, number: int = 0) -> int:
    """The number, since 1970, of a quarter of this UTC day; its first by default."""
    return (day - _EPOCH).days * QUARTERS_PER_DAY + number


def local_day_of(moment: float, zone: "ZoneInfo") -> date:
    return datetime.fromtimestamp(moment, zone).date()


def local_days(first: date, last: date, zone: "ZoneInfo") -> list[LocalDay]:
    """The days from first to last, both included."""
    days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    bounds = [_begin(day, zone) for day in [*days, last + ONE_DAY]]
    return [LocalDay(day, bounds[place], bounds[place + 1]) for place, day in enumerate(days)]


def same_time_on(day: LocalDay, moment: float, zone: "ZoneInfo") -> float:
    """The moment of that day at which clocks showed the time of day that they show at `moment`."""
    then = datetime.combine(day.day, datetime.fromtimestamp(moment, zone).time(), tzinfo=zone)
    # A time that the day skipped must not lead out of the day.
    return min(max(then.timestamp(), day.starts), day.ends)


def _begin(day: date, zone: "ZoneInfo") -> int:
    """The first quarter of this day, or of the next if the zone skipped it. Where midnight is skipped, it is later."""
    midnight = quarter_of(day)
    nearby = range(midnight - _FARTHEST, midnight + _FARTHEST)
    return nearby[bisect_left(nearby, day, key=lambda quarter: local_day_of(quarter * QUARTER_SECONDS, zone))]


@dataclass(frozen=True, slots=True)
class LocalSum:
    """The clicks of one local day by kind; `parts` is how many of them lie in which UTC day."""

    by_kind: dict[str, int] = field(default_factory=dict[str, int])
    parts: dict[date, int] = field(default_factory=dict[date, int])

    @property
    def clicks(self) -> int:
        return sum(self.parts.values())

    def add(self, utc: date, by_kind: Mapping[str, int]) -> None:
        for kind, number in by_kind.items():
            if number > 0:
                self.by_kind[kind] = self.by_kind.get(kind, 0) + number
                self.parts[utc] = self.parts.get(utc, 0) + number


@dataclass(frozen=True, slots=True)
class LocalSums:
    """One sum for each local day, and the sums of the UTC days that they overlap."""

    days: list[LocalSum]
    utc_days: dict[date, Sum]


class _Piece(NamedTuple):
    """Quarters of a UTC day in one local day. `place` is that day's index, None if it was not asked for."""

    first: int
    end: int
    place: int | None

    @property
    def length(self) -> int:
        return self.end - self.first


async def read_local_sums(tables: Tables, scope: str, days: Sequence[LocalDay]) -> LocalSums:
    """The sums of consecutive days."""
    touched = days[0].utc_days[0], days[-1].utc_days[-1]
    sums = await read_sums(tables, scope, *(f"DAY:{utc}" for utc in touched))
    utc_days = {date.fromisoformat(period.removeprefix("DAY:")): each for period, each in sums.items()}
    found = [LocalSum() for _ in days]
    bounds = [*(day.first for day in days), days[-1].end]
    cut = {utc: _pieces(utc, bounds) for utc, one in utc_days.items() if one.clicks}
    smaller = [(utc, piece) for utc, pieces in cut.items() for piece in _all_but_largest(pieces)]
    read = await _read_pieces(tables, scope, [piece for _, piece in smaller])
    left = {utc: dict(utc_days[utc].named) for utc in cut}
    for (utc, piece), by_kind in zip(smaller, read, strict=True):
        for kind, number in by_kind.items():
            # A click may have come between the two reads.
            left[utc][kind] = max(0, left[utc].get(kind, 0) - number)
        if piece.place is not None:
            found[piece.place].add(utc, by_kind)
    for utc, pieces in cut.items():
        place = _largest(pieces).place
        if place is not None:
            found[place].add(utc, left[utc])
    return LocalSums(found, utc_days)


def _pieces(utc: date, bounds: Sequence[int]) -> list[_Piece]:
    """The whole UTC day, cut where a local day begins and where the last of them ends."""
    begin = quarter_of(utc)
    end = begin + QUARTERS_PER_DAY
    inside = bounds[bisect_right(bounds, begin) : bisect_left(bounds, end)]
    cuts = sorted({begin, *inside, end})
    places = [bisect_right(bounds, first) - 1 for first in cuts[:-1]]
    return [
        _Piece(first, last, place if 0 <= place < len(bounds) - 1 else None)
        for (first, last), place in zip(pairwise(cuts), places, strict=True)
    ]


def _largest(pieces: Sequence[_Piece]) -> _Piece:
    return max(pieces, key=lambda piece: piece.length)


def _all_but_largest(pieces: Sequence[_Piece]) -> list[_Piece]:
    largest = _largest(pieces)
    return [piece for piece in pieces if piece is not largest]


async def _read_pieces(tables: Tables, scope: str, pieces: Sequence[_Piece]) -> list[dict[str, int]]:
    found: list[dict[str, int]] = []
    for start in range(0, len(pieces), _CONCURRENT_READS):
        found += await asyncio.gather(
            *(_read_piece(tables, scope, piece) for piece in pieces[start : start + _CONCURRENT_READS])
        )
    return found


async def _read_piece(tables: Tables, scope: str, piece: _Piece) -> dict[str, int]:
    sums = await read_sums(tables, scope, _name_of(piece.first), _name_of(piece.end - 1))
    by_kind: dict[str, int] = {}
    for one in sums.values():
        for kind, number in one.named.items():
            by_kind[kind] = by_kind.get(kind, 0) + number
    return by_kind


def _name_of(quarter: int) -> str:
    return quarter_period(iso(quarter * QUARTER_SECONDS)[:16])
