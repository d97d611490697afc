"""The durable half of the in-process store: each change is written to disk first and applied afterwards.

Changes wait in a queue while the batch before them is being written. Nothing else ever changes these keys. So between
two batches memory equals the disk, and a batch that cannot be written is not applied.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from satchel.kernel.errors import SatchelError, Unavailable
from satchel.stores.embedded.memory_journal import History
from satchel.stores.embedded.memory_keyspace import Change, Keyspace, ListReturn
from satchel.stores.embedded.memory_waiters import Waiters
from satchel.stores.ports.ephemeral import ListPop, ListPush, ListSize, WrongKind

T = TypeVar("T")

# How many expired keys one batch deletes along the way.
_SWEPT_PER_BATCH = 1000


@dataclass(slots=True)
class _Deed:
    """Changes to write, and the callbacks for success and failure."""

    changes: Sequence[Change]
    do: Callable[[int], None]
    call_off: Callable[[SatchelError], None]


class Kept:
    """Keys that survive the process, and the only way to change them."""

    def __init__(self, keys: Keyspace, history: History, now: Callable[[], int], waiters: Waiters) -> None:
        self.keys = keys
        self._history = history
        self._now = now
        self._waiters = waiters
        self._queue: deque[_Deed] = deque()
        self._given_back: list[_Deed] = []
        self._under_way: list[_Deed] = []
        # Keys with both a value and somebody who waits for one.
        self._ready: set[str] = set()
        # Keys whose rows no longer are a good account of them: gone, or much changed. Done before anything else is
        # written of them, and not forgotten until it succeeds.
        self._rewrite = {key for key in history if key not in keys}
        self._reserved_bytes = 0
        self._wanted = False
        self._work: asyncio.Task[None] | None = None

    @property
    def used_bytes(self) -> int:
        return self.keys.used_bytes + self._reserved_bytes

    def submit(self, changes: Sequence[Change], needed_bytes: int, perform: Callable[[int], T]) -> asyncio.Future[T]:
        """Write the changes, then call `perform` with the instant at which they happen; its answer is the future's."""
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._reserved_bytes += needed_bytes

        def do(now: int) -> None:
            self._reserved_bytes -= needed_bytes
            try:
                result = perform(now)
            except SatchelError as error:
                _reject(answer, error)
            else:
                if not answer.done():
                    answer.set_result(result)

        def call_off(error: SatchelError) -> None:
            self._reserved_bytes -= needed_bytes
            _reject(answer, error)

        self._queue.append(_Deed(changes, do, call_off))
        self.wake()
        return answer

    def hand_over(self, key: str) -> None:
        """Check whether a waiting caller can get a value now."""
        self._ready.add(key)
        self.wake()

    def requeue(self, key: str, value: bytes) -> None:
        """A value was popped for somebody who no longer wants it. If that cannot be written it is tried again later."""
        change = ListReturn(key, value)

        def do(now: int) -> None:
            with suppress(WrongKind):
                self.keys.apply(change, now)

        deed = _Deed([change], do, lambda _: self._given_back.append(deed))
        self._given_back.append(deed)
        self.wake()

    def wake(self) -> None:
        """Make sure that a task works off the queue."""
        self._wanted = True
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._run())

    async def work_off(self) -> None:
        """Return when all queued changes are applied and all expired keys are deleted."""
        self.wake()
        if self._work is not None:
            await asyncio.wait((self._work,))

    async def close(self) -> None:
        """Finish what was accepted, then close the file."""
        await self.work_off()
        await self._history.close()

    async def _run(self) -> None:
        try:
            while self._wanted:
                self._wanted = False
                await self._write_and_do(self._now())
        finally:
            # Only an unforeseen error leaves anything here. Fail it, so that nobody waits for ever.
            for deed in (*self._under_way, *self._queue):
                deed.call_off(Unavailable("The store of short-lived state has failed. Restart the server."))

    async def _write_and_do(self, now: int) -> None:
        batch = self._under_way = self._next_batch(now)
        self._rewrite.update(self.keys.sweep(now, _SWEPT_PER_BATCH))
        rewrite = self._rewrite.copy()
        for key in rewrite:
            self.keys.find(key, now)
        changes = self._effective(batch, now)
        try:
            if changes or rewrite:
                await self._history.write(changes, now, rewrite=rewrite, recipe=self.keys.recipe)
        except SatchelError as error:
            for deed in batch:
                deed.call_off(error)
        else:
            self._rewrite -= rewrite
            for deed in batch:
                deed.do(now)
            for key in {change.key for deed in batch for change in deed.changes}:
                self._look_after(key)
        self._under_way = []
        if self._queue or self._ready or self.keys.next_ending <= now:
            self._wanted = True

    def _next_batch(self, now: int) -> list[_Deed]:
        batch, self._given_back = self._given_back, []
        for key in self._ready:
            with suppress(WrongKind):
                served = min(self.keys.apply(ListSize(key), now), self._waiters.count(key))
                batch += [self._serving(key)] * served
        self._ready.clear()
        while self._queue:
            deed = self._queue.popleft()
            batch.append(deed)
            # The longest-waiting caller gets the pushed value: a later pop must not overtake.
            if any(isinstance(change, ListPush) and change.key in self._waiters for change in deed.changes):
                break
        return batch

    def _serving(self, key: str) -> _Deed:
        """Pop a value for the longest-waiting caller."""

        def do(now: int) -> None:
            value = self.keys.apply(ListPop(key), now)
            if value is not None and not self._waiters.serve(key, value):
                self.requeue(key, value)

        return _Deed([ListPop(key)], do, partial(self._waiters.fail, key))

    def _effective(self, batch: Sequence[_Deed], now: int) -> list[Change]:
        """The changes that have an effect. A command that changes nothing costs no write."""
        changes: list[Change] = []
        changed: set[str] = set()
        for deed in batch:
            for change in deed.changes:
                if change.key in changed or not self.keys.is_idle(change, now):
                    changed.add(change.key)
                    changes.append(change)
        return changes

    def _look_after(self, key: str) -> None:
        """What a key needs after it was changed."""
        if key in self._waiters and key in self.keys:
            self._ready.add(key)
        if self._history.is_long(key) or (key in self._history and key not in self.keys):
            self._rewrite.add(key)


def _reject(answer: "asyncio.Future[T]", error: SatchelError) -> None:
    # Each caller gets an error of its own: one raised in several tasks would mix up their tracebacks.
    if not answer.done():
        answer.set_exception(type(error)(error.detail))
