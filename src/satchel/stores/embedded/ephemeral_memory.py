"""Short-lived state inside this process, so that a single server needs no Redis.

Commands on ordinary keys are atomic because they never await in between. Commands that change a durable key take effect
once they have reached the disk (`memory_durable.py`), in the order in which they did. Nobody sees a change that might
still be lost.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeGuard, TypeVar, cast, overload

from satchel.kernel.clock import Clock
from satchel.kernel.errors import OutOfSpace, Unavailable
from satchel.stores.embedded.memory_durable import Kept
from satchel.stores.embedded.memory_journal import History
from satchel.stores.embedded.memory_keyspace import CHANGES, Change, Keyspace, ListReturn
from satchel.stores.embedded.memory_waiters import Waiters
from satchel.stores.ephemeral_channels import Channels, Subscription
from satchel.stores.ephemeral_rules import Keyed, admit, check_key, takes_memory
from satchel.stores.ports.ephemeral import Command, ListPop, ListPush, ListSize, Message, Publish, WrongKind

T = TypeVar("T")
T1 = TypeVar("T1")
T2 = TypeVar("T2")
T3 = TypeVar("T3")

# What all keys take together.
MAX_BYTES = 112 * 1024 * 1024
# So much of it is for keys that are essential: whoever fills the rest keeps nobody from signing in or deleting.
_ESSENTIAL_SHARE = 8
# How many expired keys a command that needs memory deletes along the way.
_SWEPT_IN_PASSING = 16
_CLOSED = "The store of short-lived state has been closed. Start the server again."


class MemoryEphemeral:
    """The ephemeral store of a single process; made by `open`."""

    def __init__(self, clock: Clock, max_bytes: int, is_essential: Callable[[str], bool] = lambda _: True) -> None:
        self._clock = clock
        self._max_bytes = max_bytes
        self._is_essential = is_essential
        self._fleeting = Keyspace()
        self._durable: tuple[str, ...] = ()
        self._kept: Kept | None = None
        self._waiters = Waiters()
        self._channels = Channels()
        self._closed = False

    @classmethod
    async def open(
        cls,
        *,
        clock: Clock,
        path: Path | None = None,
        durable: Sequence[str] = (),
        max_bytes: int = MAX_BYTES,
        is_essential: Callable[[str], bool] = lambda _: True,
    ) -> "MemoryEphemeral":
        """A store in which keys beginning with one of `durable` survive a restart, kept in the SQLite file `path`."""
        store = cls(clock, max_bytes, is_essential)
        if durable:
            if path is None:
                raise ValueError("durable keys need a file to be kept in")
            store._durable = tuple(durable)
            history, keys = await History.open(path, store._durable)
            store._kept = Kept(keys, history, store._now, store._waiters)
        return store

    async def run(self, command: Command[T]) -> T:
        needed = admit(command)
        if needed and not self._has_room(needed):
            await self._make_room(needed, (command,))
        now = self._begin()
        if self._kept is not None and self._is_kept_change(command):
            (answer,) = await self._kept.submit([command], needed, partial(self._perform, (command,)))
            return answer
        (answer,) = self._perform((command,), now)
        if self._channels.crowded:
            await self._channels.let_them_read()
        return answer

    @overload
    async def together(self, a: Command[T1], b: Command[T2], /) -> tuple[T1, T2]: ...
    @overload
    async def together(self, a: Command[T1], b: Command[T2], c: Command[T3], /) -> tuple[T1, T2, T3]: ...
    @overload
    async def together(self, *commands: Command[Any]) -> tuple[Any, ...]: ...
    async def together(self, *commands: Command[Any]) -> tuple[Any, ...]:
        needed = sum(map(admit, commands))
        if needed and not self._has_room(needed):
            await self._make_room(needed, commands)
        now = self._begin()
        if self._kept is not None:
            changes = [command for command in commands if self._is_kept_change(command)]
            if changes:
                return await self._kept.submit(changes, needed, partial(self._perform, commands))
        answers = self._perform(commands, now)
        if self._channels.crowded:
            await self._channels.let_them_read()
        return answers

    async def keys(self, prefix: str) -> AsyncIterator[str]:
        """See `satchel.stores.ports.whole_stores`."""
        now = self._begin()
        spaces = [self._fleeting] if self._kept is None else [self._fleeting, self._kept.keys]
        for key in [key for space in spaces for key in space.starting(prefix, now)]:
            yield key

    async def wait_pop(self, key: str, timeout: timedelta) -> bytes | None:
        check_key(key)
        if self._size(key):
            value = await self._pop(key)
            if value is not None:
                return value
        waiter = self._waiters.join(key)
        if self._kept is not None and self._size(key):
            self._kept.hand_over(key)
        try:
            # The waiter itself is not cancelled with us: if it was just served, that would lose the value.
            await asyncio.wait((waiter,), timeout=max(timeout.total_seconds(), 0))
        except asyncio.CancelledError:
            self._requeue_result(key, waiter)
            raise
        finally:
            self._waiters.leave(key, waiter)
        return waiter.result() if waiter.done() else None

    @asynccontextmanager
    async def subscribe(self, *channels: str) -> AsyncGenerator[AsyncIterator[Message]]:
        self._begin()
        subscription = Subscription(channels)
        self._channels.join(subscription)
        try:
            yield subscription
        finally:
            self._channels.leave(subscription)

    async def close(self) -> None:
        self._closed = True
        self._waiters.fail_all(Unavailable(_CLOSED))
        self._channels.end_all(partial(Unavailable, _CLOSED))
        if self._kept is not None:
            await self._kept.close()

    def _now(self) -> int:
        return round(self._clock() * 1000)

    def _begin(self) -> int:
        """The instant at which a command happens."""
        if self._closed:
            raise Unavailable(_CLOSED)
        return self._now()

    def _has_room(self, needed_bytes: int, *, is_essential: bool = False) -> bool:
        """Whether there is memory for this much more. Along the way, some expired keys are deleted."""
        now = self._begin()
        if self._fleeting.next_ending <= now:
            self._fleeting.sweep(now, _SWEPT_IN_PASSING)
        used_bytes = self._fleeting.used_bytes
        if self._kept is not None:
            used_bytes += self._kept.used_bytes
            if self._kept.keys.next_ending <= now:
                self._kept.wake()
        kept_bytes = 0 if is_essential else self._max_bytes // _ESSENTIAL_SHARE
        return used_bytes + needed_bytes <= self._max_bytes - kept_bytes

    async def _make_room(self, needed_bytes: int, commands: Sequence[Command[Any]]) -> None:
        is_essential = all(self._is_essential(cast("Keyed", each).key) for each in commands if takes_memory(each))
        while not self._has_room(needed_bytes, is_essential=is_essential):
            now = self._begin()
            if self._kept is not None and self._kept.keys.next_ending <= now:
                await self._kept.work_off()
            elif self._fleeting.next_ending > now:
                raise OutOfSpace(
                    "The memory for short-lived state is full. Delete keys, wait until some expire, or raise the limit."
                )

    def _keyspace(self, key: str) -> Keyspace:
        return self._kept.keys if self._kept is not None and key.startswith(self._durable) else self._fleeting

    def _is_kept_change(self, command: Command[Any]) -> TypeGuard[Change]:
        return type(command) in CHANGES and cast("Keyed", command).key.startswith(self._durable)

    def _perform(self, commands: Sequence[Command[Any]], now: int) -> tuple[Any, ...]:
        answers: list[Any] = []
        refused: WrongKind | None = None
        for command in commands:
            try:
                answers.append(None if isinstance(command, Publish) else self._apply(command, now))
            except WrongKind as error:
                refused = refused or error
        for command in commands:
            if isinstance(command, Publish):
                self._channels.deliver(Message(command.channel, command.message))
            elif isinstance(command, ListPush):
                self._hand_over(command.key, now)
        if refused is not None:
            raise refused
        return tuple(answers)

    def _apply(self, command: Command[T], now: int) -> T:
        keyspace = self._fleeting if self._kept is None else self._keyspace(cast("Keyed", command).key)
        return keyspace.apply(command, now)

    def _size(self, key: str) -> int:
        return self._keyspace(key).apply(ListSize(key), self._begin())

    async def _pop(self, key: str) -> bytes | None:
        """`ListPop`, except that a cancelled call removes nothing."""
        if self._kept is None or not key.startswith(self._durable):
            return self._fleeting.apply(ListPop(key), self._now())
        pop = ListPop(key)
        popping = self._kept.submit([pop], 0, partial(self._kept.keys.apply, pop))
        try:
            return await asyncio.shield(popping)
        except asyncio.CancelledError:
            popping.add_done_callback(partial(self._requeue_result, key))
            raise

    def _hand_over(self, key: str, now: int) -> None:
        """Give pushed values to those who wait. For durable keys that is a change, which `Kept` writes."""
        if key not in self._waiters or self._keyspace(key) is not self._fleeting:
            return
        with suppress(WrongKind):
            while key in self._waiters and (value := self._fleeting.apply(ListPop(key), now)) is not None:
                self._waiters.serve(key, value)

    def _requeue_result(self, key: str, popped: "asyncio.Future[Any]") -> None:
        """Undo a pop whose caller was cancelled, unless it never happened."""
        if not popped.done() or popped.exception() is not None or popped.result() is None:
            return
        if self._kept is not None and key.startswith(self._durable):
            self._kept.requeue(key, popped.result())
            return
        with suppress(WrongKind):
            self._fleeting.apply(ListReturn(key, popped.result()), self._now())
        self._hand_over(key, self._now())
