"""Record clicks where one writer stores everything: the clicks of many callers are stored and folded in one step.

Either a step is running or there is nothing to do. Clicks that come meanwhile go into the next step. So the busier the
server is, the more clicks share one wait for the disk. A crash leaves a step as a whole or not at all.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from satchel.features.clicks.events import OwnerNotifier, StatsChanged
from satchel.features.clicks.model import MAX_CLICKS_AT_ONCE, QUARTER, NewClick, Period, Recorded, shifted, stamp
from satchel.features.clicks.records import (
    ALL,
    ONE_SLOT,
    SITE,
    TOTAL_CLICKS,
    UNIQUE_USERS,
    ClickRow,
    count_key,
    row_of,
    stat_item,
)
from satchel.features.clicks.service.context import Rebuilt
from satchel.features.clicks.service.counts import OWNER_SCOPE, Place, Tally, tally
from satchel.features.clicks.service.embedded.people_mark import mark_people
from satchel.features.clicks.service.embedded.rebuild import rebuild
from satchel.features.clicks.service.embedded.stored_counts import StoredCounts
from satchel.features.clicks.service.embedded.take_back import take_back
from satchel.features.clicks.service.idempotency import Batch, Call, Fresh, sent_item, stored_row
from satchel.kernel.clock import Clock, iso
from satchel.kernel.errors import SatchelError, Unavailable
from satchel.stores.ports.bulk import BulkWrites, Step
from satchel.stores.ports.table import Item, Key, Tables
from satchel.tables import CLICKS, COUNTS

# Bounds how long one step keeps other writes waiting, and how many clicks wait.
LARGEST_STEP = MAX_CLICKS_AT_ONCE
LONGEST_QUEUE = 20 * LARGEST_STEP
# The sizes of the caches of markers and of used milliseconds. An empty cache costs time and nothing else.
MOST_KNOWN = 200_000
MOST_USED = 50_000
# After so many taken milliseconds in a row, the search for a free one takes larger steps.
NEIGHBOURS = 100

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
    """The result of a step: for each call its clicks or its refusal, and the new figures of owners."""

    answers: list[list[Recorded] | SatchelError]
    figures: dict[str, StatsChanged]
    marked: _Marked
    has_grown: bool


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

    def write(self, step: Step, calls: Sequence[Call], durable: _Marked | None) -> _Outcome:
        """Store the clicks of these calls and fold them; `durable` has the markers of the last step, if it worked."""
        self._learn(durable)
        batch = Batch(step, calls, int(self._clock() * 1000))
        self._store(step, batch.fresh)
        counted = tally(map(stored_row, batch.fresh))
        marked = self._mark(step, counted)
        figures = self._count(step, counted)
        return _Outcome(batch.recorded(), figures, marked, has_grown=bool(batch.fresh))

    def clear_known(self) -> None:
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

    def _mark(self, step: Step, counted: Tally) -> _Marked:
        """Mark the people of each day, and add those who are new to a period to its growth."""
        unknown = {place: people - self._known.get(place, set()) for place, people in counted.seen.items()}
        for place, new in mark_people(step, unknown, self._clock()).items():
            if new:
                counted.growth[place][UNIQUE_USERS] = new
        return _Marked(self._generation, unknown)

    def _count(self, step: Step, counted: Tally) -> dict[str, StatsChanged]:
        grown = self._counts.add(step, counted)
        for (scope, period), count in grown.items():
            if scope == SITE and not period.startswith(QUARTER):
                step.put(CLICKS, stat_item(period, count[TOTAL_CLICKS], count.get(UNIQUE_USERS, 0)))
        return self._figures(step, grown)

    def _figures(self, step: Step, grown: dict[Place, Item]) -> dict[str, StatsChanged]:
        today = iso(self._clock())[:10]
        figures: dict[str, StatsChanged] = {}
        for (scope, period), total in grown.items():
            if period == ALL and scope.startswith(OWNER_SCOPE):
                day = grown.get((scope, f"DAY:{today}")) or step.get(COUNTS, count_key(scope, f"DAY:{today}"))
                figures[scope.removeprefix(OWNER_SCOPE)] = StatsChanged(
                    total=total[TOTAL_CLICKS], today=day[TOTAL_CLICKS] if day else 0, day=today
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

    async def record(self, new: Sequence[NewClick], times: Sequence[int]) -> list[Recorded]:
        while self._queued_clicks >= LONGEST_QUEUE:
            self._room.clear()
            await self._room.wait()
        if self._closed:
            raise Unavailable("The server is stopping. Send the clicks again in a moment.")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[list[Recorded]] = loop.create_future()
        self._queue.append((Call(new, times), answer))
        self._queued_clicks += len(new)
        if self._working is None:
            self._working = loop.create_task(self._work())
        return await answer

    async def finish_lists(self) -> int:
        """A list is one step."""
        return 0

    async def rebuild(self, period: Period) -> Rebuilt:
        return await rebuild(self, self._bulk, period, self.forget)

    def forget(self) -> None:
        """Call this in a step that deletes markers or assigns counts: the writer reads them again."""
        self._writer.clear_known()

    async def take_back(self, clicks: Sequence[ClickRow], complete: float) -> int:
        def take(step: Step) -> int:
            self.forget()
            return take_back(step, clicks, complete)

        return await self._bulk.in_one_step(take)

    async def delete_markers(self, keys: Sequence[Key]) -> None:
        def delete(step: Step) -> None:
            for key in keys:
                step.delete(COUNTS, key)
            self.forget()

        await self._bulk.in_one_step(delete)

    async def close(self) -> None:
        self._closed = True
        if self._working is not None:
            await self._working
        await self._notifier.close()

    async def _work(self) -> None:
        try:
            # Callers that were just answered come back at once: let them join the next step.
            await asyncio.sleep(0)
            while self._queue:
                await self._step(self._next())
                await asyncio.sleep(0)
        finally:
            self._working = None

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

    async def _step(self, batch: Sequence[_Waiting]) -> None:
        calls = [call for call, _ in batch]
        durable, self._marked = self._marked, None
        try:
            outcome = await self._bulk.in_one_step(lambda step: self._writer.write(step, calls, durable))
        except Exception as error:  # noqa: BLE001 -- the callers of this step get it, and the next step goes on
            for _, answer in batch:
                if not answer.done():
                    answer.set_exception(error)
        else:
            self._marked = outcome.marked
            self._answer(batch, outcome)

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
