"""Record clicks where one writer stores everything: the clicks of many callers are stored and folded in one step.

Either a step is running or there is nothing to do. Clicks that come meanwhile go into the next step. So the busier the
server is, the more clicks share one wait for the disk. A crash leaves a step as a whole or not at all.

Steps that follow each other at once may leave the rows of counts to a later one (`stored_counts.py`). Whoever reads
them waits for that step, so figures never lag.
"""

import asyncio
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from satchel.features.clicks.events import OwnerNotifier, StatsChanged
from satchel.features.clicks.model import MAX_CLICKS_AT_ONCE, NewClick, Period, Recorded, shifted, stamp
from satchel.features.clicks.records import (
    ALL,
    COUNT,
    DAY_STAT,
    LAST,
    MONTH_STAT,
    ONE_SLOT,
    TOTAL_CLICKS,
    TOTAL_STAT,
    ClickRow,
    row_of,
)
from satchel.features.clicks.service.context import Rebuilt
from satchel.features.clicks.service.counts import DAY, OWNER_SCOPE, Place, seen_on, sorts_of
from satchel.features.clicks.service.embedded.people_mark import mark_people
from satchel.features.clicks.service.embedded.rebuild import rebuild
from satchel.features.clicks.service.embedded.stored_counts import Growth, StoredCounts, write_counts
from satchel.features.clicks.service.embedded.take_back import take_back
from satchel.features.clicks.service.idempotency import Batch, Call, Fresh, sent_item, stored_row
from satchel.kernel.clock import Clock, iso
from satchel.kernel.errors import SatchelError, Unavailable
from satchel.stores.ports.bulk import BulkWrites, Step
from satchel.stores.ports.table import Delete, Key, Tables
from satchel.tables import CLICKS, COUNTS

# Bounds how long one step keeps other writes waiting, and how many clicks wait.
LARGEST_STEP = MAX_CLICKS_AT_ONCE
LONGEST_QUEUE = 20 * LARGEST_STEP
# The sizes of the caches of markers and of used milliseconds. An empty cache costs time and nothing else.
MOST_KNOWN = 200_000
MOST_USED = 50_000
# After so many taken milliseconds in a row, the search for a free one takes larger steps.
NEIGHBOURS = 100
# Owners hear of figures when these are written.
WRITTEN_WITHIN_SECONDS = 1.0
# Rows that are written late begin so.
_LATE_COUNTS = tuple(shape.keys["PK"].render_prefix({}) for shape in (COUNT, LAST))
_LATE_STATS = tuple(shape.keys["userId"].render({}) for shape in (DAY_STAT, MONTH_STAT, TOTAL_STAT))

_NOBODY = frozenset[str]()

_Waiting = tuple[Call, asyncio.Future[list[Recorded]]]


@dataclass(frozen=True, slots=True)
class _Marked:
    """Who is counted where. It may be cached once the step is durable, unless markers were deleted since.

    `generation` is how often markers had been deleted.
    """

    generation: int
    people: dict[Place, set[str]]


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The result of a step: for each call its clicks or its refusal, and the new figures of owners.

    `are_written` says whether the rows of all counts are.
    """

    answers: list[list[Recorded] | SatchelError]
    figures: dict[str, StatsChanged]
    marked: _Marked
    has_grown: bool
    are_written: bool


class _ClickWriter:
    """Stores and folds clicks within a step. It belongs to the writer's thread, and so do its caches."""

    def __init__(self, clock: Clock, kept_for: timedelta | None) -> None:
        self._clock = clock
        self._kept_for = kept_for
        self._generation = 0
        self._counts = StoredCounts()
        self._known: dict[Place, set[str]] = {}
        self._known_size = 0
        # By user and millisecond asked for: how many places from there the latest such click is stored.
        self._used: dict[tuple[str, int], int] = {}

    def write(self, step: Step, calls: Sequence[Call], durable: _Marked | None, *, late: bool) -> _Outcome:
        """Store the clicks of these calls and fold them; the rows of counts may be written `late`.

        `durable` has the markers of the last step, if it worked.
        """
        self._learn(durable)
        batch = Batch(step, calls, int(self._clock() * 1000))
        self._store(step, batch.fresh)
        sorts = sorts_of(map(stored_row, batch.fresh))
        unknown = self._unknown(seen_on(sorts))
        growth = Growth(
            {sort: (alike.total, alike.last) for sort, alike in sorts.items()},
            mark_people(step, unknown, self._clock()),
        )
        grown = self._counts.add(step, growth, late=late)
        return _Outcome(
            batch.recorded(),
            self._figures(step, grown),
            _Marked(self._generation, unknown),
            has_grown=bool(grown),
            are_written=self._counts.are_written,
        )

    def forget(self, step: Step) -> None:
        """Write what is not written, and keep nothing in memory: somebody else changes what is stored."""
        # From the store, since the last step may have failed.
        write_counts(step)
        self._generation += 1
        self._counts.clear()
        self._known.clear()
        self._known_size = 0

    def _learn(self, durable: _Marked | None) -> None:
        if durable is None:
            # The step before has failed, if there was one: its counts are not stored.
            self._counts.clear()
        if durable is None or durable.generation != self._generation:
            return
        if self._known_size > MOST_KNOWN:
            self._known.clear()
            self._known_size = 0
        for place, people in durable.people.items():
            self._known.setdefault(place, set()).update(people)
            self._known_size += len(people)

    def _store(self, step: Step, fresh: Sequence[Fresh]) -> None:
        if len(self._used) > MOST_USED:
            self._used.clear()
        for each in fresh:
            asked = each.click.user_id, each.at
            used = self._used.get(asked)
            self._used[asked] = places = 0 if used is None else used + 1
            each.row = row_of(each.click, stamp(shifted(each.at, places)), self._kept_for)
        stored = step.insert_new(CLICKS, [stored_row(each) for each in fresh])
        for each, is_stored in zip(fresh, stored, strict=True):
            if not is_stored:
                self._store_later(step, each)
        now = self._clock()
        sent = [
            sent_item(each.click, each.fingerprint, stored_row(each).created, now)
            for each in fresh
            if each.fingerprint is not None
        ]
        step.insert_new(COUNTS, sent)

    def _store_later(self, step: Step, each: Fresh) -> None:
        """Another click of this user has the same millisecond: take the next free one."""
        asked = each.click.user_id, each.at
        places, tried, stored = self._used[asked], 0, [False]
        while not stored[0]:
            tried += 1
            places += 1 << max(0, tried - NEIGHBOURS)
            each.row = row_of(each.click, stamp(shifted(each.at, places)), self._kept_for)
            stored = step.insert_new(CLICKS, [each.row])
        self._used[asked] = places

    def _unknown(self, seen: Mapping[Place, set[str]]) -> dict[Place, set[str]]:
        """Those of whom is not known that they are marked already."""
        return {place: people - self._known.get(place, _NOBODY) for place, people in seen.items()}

    def _figures(self, step: Step, grown: Collection[Place]) -> dict[str, StatsChanged]:
        """What the clicks of each owner come to, of those whose counts have grown."""
        today = iso(self._clock())[:10]
        figures: dict[str, StatsChanged] = {}
        for scope, period in grown:
            if period == ALL and scope.startswith(OWNER_SCOPE):
                total, day = (self._counts.count(step, (scope, each)) for each in (ALL, f"{DAY}{today}"))
                figures[scope.removeprefix(OWNER_SCOPE)] = StatsChanged(
                    total=total[TOTAL_CLICKS], today=day.get(TOTAL_CLICKS, 0), day=today
                )
        return figures


class EmbeddedRecorder:
    """The `Recorder` of a store with one writer."""

    slots = (ONE_SLOT,)

    def __init__(
        self,
        tables: Tables,
        bulk: BulkWrites,
        clock: Clock,
        kept_for: timedelta | None,
        notifier: OwnerNotifier,
    ) -> None:
        self.tables = tables
        self.clock = clock
        self.kept_for = kept_for
        self._bulk = bulk
        self._notifier = notifier
        self._writer = _ClickWriter(clock, kept_for)
        self._marked: _Marked | None = None
        self._queue: deque[_Waiting] = deque()
        self._queued_clicks = 0
        self._room = asyncio.Event()
        self._working: asyncio.Task[None] | None = None
        self._closed = False
        # A crash may have left growth unwritten.
        self._are_counts_written = False
        self._written_at = 0.0
        self._readers: list[asyncio.Future[None]] = []
        bulk.before_reads(COUNTS, _LATE_COUNTS, self._settle)
        bulk.before_reads(CLICKS, _LATE_STATS, self._settle)

    async def record(
        self, new: Sequence[NewClick], times: Sequence[int], settles: Sequence[Delete] = ()
    ) -> list[Recorded]:
        recorded = await self._record(new, times)
        if settles:
            await self.tables.transact(settles)
        return recorded

    async def _record(self, new: Sequence[NewClick], times: Sequence[int]) -> list[Recorded]:
        while self._queued_clicks >= LONGEST_QUEUE:
            self._room.clear()
            await self._room.wait()
        if self._closed:
            raise Unavailable("The server is stopping. Send the clicks again in a moment.")
        answer: asyncio.Future[list[Recorded]] = asyncio.get_running_loop().create_future()
        self._queue.append((Call(new, times), answer))
        self._queued_clicks += len(new)
        self._start()
        return await answer

    async def finish_lists(self) -> int:
        """A list is one step."""
        return 0

    async def rebuild(self, period: Period) -> Rebuilt:
        return await rebuild(self, self._bulk, period, self.forget)

    def forget(self, step: Step) -> None:
        """Call this at the start of a step that deletes markers or assigns counts: the writer reads them again."""
        self._writer.forget(step)

    async def take_back(self, clicks: Sequence[ClickRow], complete: float) -> int:
        def take(step: Step) -> int:
            self.forget(step)
            return take_back(step, clicks, complete)

        return await self._bulk.in_one_step(take)

    async def delete_markers(self, keys: Sequence[Key]) -> None:
        def delete(step: Step) -> None:
            self.forget(step)
            for key in keys:
                step.delete(COUNTS, key)

        await self._bulk.in_one_step(delete)

    async def close(self) -> None:
        self._closed = True
        if self._working is not None:
            await self._working
        # What stays unwritten is stored, and the next run writes it.
        with suppress(SatchelError):
            await self._settle()
        await self._notifier.close()

    async def _settle(self) -> None:
        """Wait until the rows of all counts are written, as far as clicks were acknowledged."""
        if self._are_counts_written:
            return
        written = asyncio.get_running_loop().create_future()
        self._readers.append(written)
        self._start()
        await written

    def _start(self) -> None:
        if self._working is None:
            self._working = asyncio.get_running_loop().create_task(self._work())

    async def _work(self) -> None:
        is_busy = False
        try:
            # Callers that were just answered come back at once: let them join the next step.
            await asyncio.sleep(0)
            while self._queue or self._readers or (is_busy and not self._are_counts_written):
                batch = self._next()
                # The first step after a pause, and the last before one, write all rows.
                is_busy = await self._step(batch, late=is_busy and bool(batch) and self._may_wait())
                await asyncio.sleep(0)
        finally:
            self._working = None

    def _may_wait(self) -> bool:
        """Whether nobody misses it if the rows of counts are not written yet."""
        return not self._readers and asyncio.get_running_loop().time() - self._written_at < WRITTEN_WITHIN_SECONDS

    def _next(self) -> list[_Waiting]:
        """As many calls as fit into a step, at least one."""
        batch: list[_Waiting] = []
        size = 0
        while self._queue and (not batch or size + len(self._queue[0][0].new) <= LARGEST_STEP):
            batch.append(self._queue.popleft())
            size += len(batch[-1][0].new)
        self._queued_clicks -= size
        self._room.set()
        return batch

    async def _step(self, batch: Sequence[_Waiting], *, late: bool) -> bool:
        """Carry out one step, and tell all who wait for it; whether it worked."""
        calls = [call for call, _ in batch]
        durable, self._marked = self._marked, None
        # Its clicks can be read before we hear that it is done.
        self._are_counts_written = self._are_counts_written and not late
        try:
            outcome = await self._bulk.in_one_step(lambda step: self._writer.write(step, calls, durable, late=late))
        except Exception as error:  # noqa: BLE001 -- the callers of this step get it, and the next step goes on
            _refuse([*(answer for _, answer in batch), *self._readers], error)
            self._readers.clear()
            return False
        self._marked = outcome.marked
        self._are_counts_written = outcome.are_written
        if outcome.are_written:
            self._written_at = asyncio.get_running_loop().time()
            for reader in self._readers:
                if not reader.done():
                    reader.set_result(None)
            self._readers.clear()
        self._answer(batch, outcome)
        return True

    def _answer(self, batch: Sequence[_Waiting], outcome: _Outcome) -> None:
        for (_, answer), recorded in zip(batch, outcome.answers, strict=True):
            if answer.done():  # the caller has gone; the click is stored
                continue
            if isinstance(recorded, SatchelError):
                answer.set_exception(recorded)
            else:
                answer.set_result(recorded)
        if outcome.has_grown:
            self._notifier.notify(outcome.figures)


def _refuse(waiting: Iterable[asyncio.Future[Any]], error: Exception) -> None:
    for each in waiting:
        if not each.done():
            each.set_exception(error)
