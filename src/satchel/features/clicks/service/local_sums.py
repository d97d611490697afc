"""What local days come to: whole UTC days, and where a local day begins in the middle of one, the smaller piece of it.

Only that piece is read quarter by quarter; the larger one is what is left of the day. So a zone costs some small rows
for each day, and UTC nothing, however many clicks there were.
"""

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import pairwise
from typing import NamedTuple

from satchel.features.clicks.service.counts import Sum, read_sums
from satchel.features.clicks.service.folding import quarter_period
from satchel.features.clicks.service.local_days import QUARTER_SECONDS, QUARTERS_PER_DAY, LocalDay, quarter_of
from satchel.kernel.clock import iso
from satchel.stores.ports.table import Tables

_ABREAST = 16


@dataclass(frozen=True, slots=True)
class LocalSum:
    """What one local day comes to by kind; `parts` is how many of its clicks lie in which UTC day."""

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
    """One sum for each local day, and the sums of the UTC days that these touch."""

    days: list[LocalSum]
    utc_days: dict[date, Sum]


class _Piece(NamedTuple):
    """Quarters of a UTC day that belong to one local day, by its place; or to none that was asked for."""

    first: int
    end: int
    place: int | None

    @property
    def length(self) -> int:
        return self.end - self.first


async def read_local_sums(tables: Tables, scope: str, days: Sequence[LocalDay]) -> LocalSums:
    """Of days that follow each other."""
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
            # A click may have come between the two questions.
            left[utc][kind] = max(0, left[utc].get(kind, 0) - number)
        if piece.place is not None:
            found[piece.place].add(utc, by_kind)
    for utc, pieces in cut.items():
        place = _largest(pieces).place
        if place is not None:
            found[place].add(utc, left[utc])
    return LocalSums(found, utc_days)


def _pieces(utc: date, bounds: Sequence[int]) -> list[_Piece]:
    """The whole UTC day, cut wherever one of the local days begins or the last of them ends."""
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
    for start in range(0, len(pieces), _ABREAST):
        found += await asyncio.gather(
            *(_read_piece(tables, scope, piece) for piece in pieces[start : start + _ABREAST])
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
