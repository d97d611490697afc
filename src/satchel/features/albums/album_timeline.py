"""Which album leads at which time, and what changes when albums change: pure rules, tested against brute force.

Every media is in exactly one *home* album, which its date decides. Of the albums that cover a date the first in this
order leads: the shorter one, the one that starts earlier, the one that ends earlier, the one whose name sorts last, the
one with the smaller id. Ids differ, so the order is total.
"""

import heapq
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from satchel.features.albums.model import END, Album, AlbumId, LocalTime


@dataclass(frozen=True, slots=True)
class Segment:
    """A time, its end excluded, and the album that leads in it."""

    start: LocalTime
    end: LocalTime
    album_id: AlbumId


@dataclass(frozen=True, slots=True)
class Shift:
    """A time that passes from one album to another. None is where no album is."""

    start: LocalTime
    end: LocalTime
    source: AlbumId | None
    target: AlbumId | None


class Timeline:
    """Which album leads at which time."""

    def __init__(self, albums: Iterable[Album]) -> None:
        self.segments = list(_sweep(ranked(albums)))
        self._starts = [segment.start for segment in self.segments]

    def home(self, moment: LocalTime) -> AlbumId | None:
        """The album that a media of this time belongs to."""
        place = bisect_right(self._starts, moment) - 1
        if place < 0 or moment >= self.segments[place].end:
            return None
        return self.segments[place].album_id


def ranked(albums: Iterable[Album]) -> list[Album]:
    """The one that leads where all of them overlap comes first."""
    # Sorts keep the order of what is equal, so the last criterion comes first. A name cannot be negated, a sort can.
    by_id = sorted(albums, key=lambda album: album.album_id)
    by_name = sorted(by_id, key=lambda album: album.name, reverse=True)
    return sorted(by_name, key=lambda album: (album.duration, album.start, album.end))


def shifts(before: Timeline, after: Timeline) -> list[Shift]:
    """What passes from which album to which, in order. Neighbours of the same kind are one."""
    found: list[Shift] = []
    bounds = sorted({bound for line in (before, after) for each in line.segments for bound in (each.start, each.end)})
    for start, end in pairwise(bounds):
        source, target = before.home(start), after.home(start)
        if source == target:
            continue
        if found and found[-1].end == start and (found[-1].source, found[-1].target) == (source, target):
            found[-1] = Shift(found[-1].start, end, source, target)
        else:
            found.append(Shift(start, end, source, target))
    return found


def _sweep(albums: Sequence[Album]) -> Iterator[Segment]:
    """Go through all starts and ends in order, and hold the albums that are open, the leading one on top."""
    starts = sorted(range(len(albums)), key=lambda rank: albums[rank].start)
    bounds = sorted({bound for album in albums for bound in (album.start, album.end)})
    open_ranks: list[int] = []
    next_start = 0
    current: Segment | None = None
    for here, there in pairwise([*bounds, END]):
        while next_start < len(starts) and albums[starts[next_start]].start <= here:
            heapq.heappush(open_ranks, starts[next_start])
            next_start += 1
        while open_ranks and albums[open_ranks[0]].end <= here:
            heapq.heappop(open_ranks)
        leader = albums[open_ranks[0]].album_id if open_ranks else None
        if current is not None and leader == current.album_id:
            current = Segment(current.start, there, current.album_id)
            continue
        if current is not None:
            yield current
        current = None if leader is None else Segment(here, there, leader)
    if current is not None:
        yield current
