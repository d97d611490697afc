"""Record clicks where one writer stores everything: those of many callers go into one step together.

A step is under way or there is nothing to do. What comes meanwhile goes into the next one; so the busier it is, the
more clicks share the wait for the disk.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from datetime import timedelta

from satchel.features.clicks.events import Teller
from satchel.features.clicks.model import MAX_CLICKS_AT_ONCE, KeyReused, NewClick, Recorded
from satchel.features.clicks.service.idempotency import Call
from satchel.features.clicks.service.storing import Ledger, Marked, Outcome
from satchel.kernel.clock import Clock
from satchel.kernel.errors import Unavailable
from satchel.stores.ports.bulk import BulkWrites

# Bounds how long one step keeps other writes waiting, and how many clicks wait.
LARGEST_STEP = MAX_CLICKS_AT_ONCE
LONGEST_QUEUE = 20 * LARGEST_STEP

_Waiting = tuple[Call, asyncio.Future[list[Recorded]]]


class GroupRecorder:
    """The `Recorder` of a store with one writer."""

    def __init__(self, bulk: BulkWrites, clock: Clock, teller: Teller, kept_for: timedelta | None) -> None:
        self._bulk = bulk
        self._teller = teller
        self._ledger = Ledger(clock, kept_for)
        self._marked: Marked | None = None
        self._queue: deque[_Waiting] = deque()
        self._queued_clicks = 0
        self._room = asyncio.Event()
        self._working: asyncio.Task[None] | None = None
        self._closed = False
        self.forget_known = self._ledger.forget_known

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

    async def close(self) -> None:
        """Finish what was accepted."""
        self._closed = True
        if self._working is not None:
            await self._working
        await self._teller.close()

    async def _work(self) -> None:
        try:
            # Whoever has just been answered comes back at once: let them come first.
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
            outcome = await self._bulk.in_one_step(lambda step: self._ledger.enter(step, calls, durable))
        except Exception as error:  # noqa: BLE001 -- it belongs to those who wait, and those after them go on
            for _, answer in batch:
                if not answer.done():
                    answer.set_exception(error)
        else:
            self._marked = outcome.marked
            self._answer(batch, outcome)

    def _answer(self, batch: Sequence[_Waiting], outcome: Outcome) -> None:
        for (_, answer), recorded in zip(batch, outcome.answers, strict=True):
            if answer.done():  # whoever waited has gone; the click is stored
                continue
            if isinstance(recorded, KeyReused):
                answer.set_exception(recorded)
            else:
                answer.set_result(recorded)
        if outcome.has_grown:
            self._teller.note(outcome.figures)
