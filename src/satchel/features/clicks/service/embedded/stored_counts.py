"""Counts and latest times as the one writer that changes them keeps them in memory, and how they are stored.

A busy server would write the same rows in every step. So a step can store all of its growth as one small row, which is
as durable. The rows of the counts are written after some such steps, and before anybody reads them.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import TypeAlias

import msgspec

from satchel.features.clicks.model import QUARTER
from satchel.features.clicks.records import (
    GROWTH,
    LAST,
    SITE,
    TOTAL_CLICKS,
    UNIQUE_USERS,
    GrowthRow,
    count_key,
    stat_item,
)
from satchel.features.clicks.service.counts import Alike, Place, Sort, Tally
from satchel.stores.ports.bulk import BulkWrites, Step
from satchel.stores.ports.table import Item
from satchel.tables import CLICKS, COUNTS

# About 500 bytes each. An empty cache costs time and nothing else.
MOST_KEPT = 20_000
# How much may be unwritten: it bounds what a reader waits for, and what is read again after a crash.
MOST_STEPS = 32
MOST_SORTS = 1_000
MOST_STEP_BYTES = 128 * 1024

_PARTITION = GROWTH.keys["PK"].render({})


class Growth(msgspec.Struct, array_like=True, gc=False):
    """What counts grow by: sums and latest times of clicks that count alike, and how many people are new where."""

    sorts: dict[Sort, tuple[int, str]]
    people: dict[Place, int]

    def add(self, other: "Growth") -> None:
        for sort, (total, last) in other.sorts.items():
            known = self.sorts.get(sort)
            self.sorts[sort] = (total, last) if known is None else (known[0] + total, max(known[1], last))
        for place, number in other.people.items():
            self.people[place] = self.people.get(place, 0) + number

    def tally(self) -> Tally:
        """The same by scope and period, with the new people."""
        counted = Tally()
        counted.add_sorts({sort: Alike(total, set(), last) for sort, (total, last) in self.sorts.items()})
        for place, number in self.people.items():
            counted.growth[place][UNIQUE_USERS] = number
        return counted


# MessagePack has texts for keys, so pairs are stored.
_Stored: TypeAlias = tuple[list[tuple[Sort, tuple[int, str]]], list[tuple[Place, int]]]
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Stored).decode


class StoredCounts:
    """Adds to counts without reading them each time. It belongs to the writer's thread.

    Clear it when a step has failed, and when anybody else writes counts: it then reads again what is stored.
    """

    def __init__(self) -> None:
        # As their rows are.
        self._counts: dict[Place, Item] = {}
        self._last: dict[str, Item] = {}
        # What the rows lack, in how many steps that was stored, and whether what others have stored was read.
        self._unwritten = Growth({}, {})
        self._steps = 0
        self._is_read = False

    @property
    def are_written(self) -> bool:
        """Whether the rows of all counts are as they should be."""
        return self._is_read and not self._steps

    def clear(self) -> None:
        self._counts.clear()
        self._last.clear()
        self._unwritten = Growth({}, {})
        self._steps = 0
        self._is_read = False

    def add(self, step: Step, growth: Growth, *, late: bool) -> Collection[Place]:
        """Add what was counted; which counts have changed. If it is `late`, these may be none yet."""
        self._read_unwritten(step)
        self._unwritten.add(growth)
        return () if late and self._store(step, growth) else self.write(step)

    def count(self, step: Step, place: Place) -> Item:
        """The count as its row is. Without clicks, there is nothing in it but its key."""
        if (count := self._counts.get(place)) is None:
            key = count_key(*place)
            self._counts[place] = count = step.get(COUNTS, key) or dict(key)
        return count

    def write(self, step: Step) -> Collection[Place]:
        """Write the rows of all counts that have grown; which these are."""
        self._read_unwritten(step)
        if len(self._counts) > MOST_KEPT or len(self._last) > MOST_KEPT:
            self._counts.clear()
            self._last.clear()
        counted = self._unwritten.tally()
        grown = {place: self._grown(step, place, numbers) for place, numbers in counted.growth.items()}
        later = [row for scope, at in counted.last.items() if (row := self._later(step, scope, at)) is not None]
        step.put_all(COUNTS, [*grown.values(), *later])
        for (scope, period), count in grown.items():
            if scope == SITE and not period.startswith(QUARTER):
                step.put(CLICKS, stat_item(period, count[TOTAL_CLICKS], count.get(UNIQUE_USERS, 0)))
        for number in range(self._steps):
            step.delete(COUNTS, GROWTH.key(number=_name_of(number)))
        self._unwritten = Growth({}, {})
        self._steps = 0
        return grown

    def _store(self, step: Step, growth: Growth) -> bool:
        """Store this growth by itself; False if there is nothing to store, or too much would be unwritten."""
        if not growth.sorts or self._steps == MOST_STEPS or len(self._unwritten.sorts) > MOST_SORTS:
            return False
        stored: _Stored = [*growth.sorts.items()], [*growth.people.items()]
        if len(encoded := _encode(stored)) > MOST_STEP_BYTES:
            return False
        step.put(COUNTS, GROWTH.item(GrowthRow(number=_name_of(self._steps), growth=encoded)))
        self._steps += 1
        return True

    def _read_unwritten(self, step: Step) -> None:
        """Read what an earlier run, or a step before the last failure, has stored and not written."""
        if self._is_read:
            return
        for row in _stored_growth(step):
            sorts, people = _decode(row.growth)
            self._unwritten.add(Growth(dict(sorts), dict(people)))
            self._steps += 1
        self._is_read = True

    def _grown(self, step: Step, place: Place, numbers: Mapping[str, int]) -> Item:
        count = self.count(step, place)
        for name, number in numbers.items():
            count[name] = count.get(name, 0) + number
        return count

    def _later(self, step: Step, scope: str, at: str) -> Item | None:
        """The row with the latest time of a scope; None if the stored one is as late."""
        last = self._last.get(scope)
        if last is None:
            key = LAST.key(scope=scope)
            self._last[scope] = last = step.get(COUNTS, key) or {**key, "lastAt": ""}
        if last["lastAt"] >= at:
            return None
        last["lastAt"] = at
        return last


def write_counts(step: Step) -> None:
    """Write the rows of all counts from what is stored, whatever somebody has in memory."""
    StoredCounts().write(step)


async def write_late_counts(bulk: BulkWrites) -> None:
    """Write them where no recorder does, as in a copy of a running server's tables."""
    await bulk.in_one_step(write_counts)


def _stored_growth(step: Step) -> Iterator[GrowthRow]:
    cursor = None
    while True:
        page = step.query(COUNTS, _PARTITION, cursor=cursor)
        yield from map(GROWTH.read, page.items)
        if (cursor := page.cursor) is None:
            return


def _name_of(number: int) -> str:
    return f"{number:04}"
