"""One pipelined connection to Redis for any number of tasks. Without it each command would need its own connection.

redis-py gives a connection to one command at a time. Here commands are sent as they come and answered in that order,
which at 32 tasks was measured to carry six times as many; and a task that is cancelled leaves the connection as it is,
because its reply is read all the same. Nothing is ever sent twice: whether a lost command happened is not known.
"""

import asyncio
import itertools
import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, cast

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as LostConnection
from redis.exceptions import RedisError, ResponseError
from redis.exceptions import TimeoutError as NoAnswer

from satchel.stores.distributed.redis_commands import Words

# Replies that have already arrived are read without waiting. After this many, other tasks get to run.
_REPLIES_IN_A_ROW = 100


async def read_reply(connection: AbstractConnection, *, disconnect_on_error: bool = True) -> Any:
    """The next reply, however long it takes; a refusal is raised."""
    return cast("Any", await connection.read_response(timeout=math.inf, disconnect_on_error=disconnect_on_error))


class Wire:
    """An open connection: what is sent goes out in order; what comes in is passed on, and so is its end."""

    def __init__(
        self, connection: AbstractConnection, heard: Callable[[Any], None], lost: Callable[[RedisError], None]
    ) -> None:
        self._connection = connection
        self._heard = heard
        self._lost = lost
        self._unsent: list[bytes] = []
        self._news = asyncio.Event()
        self._reading = asyncio.create_task(self._read())
        self._writing = asyncio.create_task(self._write())

    def send(self, commands: Iterable[Words]) -> None:
        self._unsent += self._connection.pack_commands(commands)
        self._news.set()

    async def close(self) -> None:
        self._reading.cancel()
        self._writing.cancel()
        await asyncio.wait((self._reading, self._writing))
        await self._connection.disconnect(nowait=True)

    async def _read(self) -> None:
        try:
            for count in itertools.count():
                try:
                    self._heard(await read_reply(self._connection, disconnect_on_error=False))
                except ResponseError as refusal:
                    self._heard(refusal)
                if count % _REPLIES_IN_A_ROW == 0:
                    await asyncio.sleep(0)
        except RedisError as error:
            self._writing.cancel()
            await self._connection.disconnect(nowait=True)
            self._lost(error)

    async def _write(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            unsent, self._unsent = self._unsent, []
            try:
                await self._connection.send_packed_command(unsent, check_health=False)
            except RedisError:
                # The connection is closed by this, which the reader hears and tells.
                return


class Conversation(ABC):
    """A wire that is opened when first needed, and again after it was lost.

    A reply that takes longer than `reply_timeout` seconds counts as the loss of the wire.
    """

    def __init__(self, connect: Callable[[], AbstractConnection], reply_timeout: float) -> None:
        self._make_connection = connect
        self._reply_timeout = reply_timeout
        self._wire: Wire | None = None
        self._opening: asyncio.Task[Wire] | None = None
        self._closed = False

    @abstractmethod
    def _hear(self, reply: Any) -> None: ...

    @abstractmethod
    def _lose(self, error: RedisError) -> None:
        """Fail all calls that have no reply yet."""

    async def _open_wire(self) -> Wire:
        if self._wire is not None:
            return self._wire
        if self._closed:
            raise LostConnection("closed")
        if self._opening is None:
            self._opening = asyncio.create_task(self._connect())
            self._opening.add_done_callback(_notice)
        return await asyncio.shield(self._opening)

    async def _connect(self) -> Wire:
        connection = self._make_connection()
        try:
            async with asyncio.timeout(self._reply_timeout):
                await connection.connect()
        except TimeoutError:
            await connection.disconnect(nowait=True)
            raise NoAnswer("no connection") from None
        finally:
            self._opening = None
        self._wire = Wire(connection, self._hear, self._forget_wire)
        return self._wire

    def _forget_wire(self, error: RedisError) -> None:
        self._wire = None
        self._lose(error)

    async def _give_up(self, wire: Wire, error: RedisError) -> None:
        if self._wire is wire:
            self._forget_wire(error)
            await wire.close()

    async def close(self) -> None:
        self._closed = True
        if self._opening is not None:
            await asyncio.wait((self._opening,))
        if self._wire is not None:
            await self._give_up(self._wire, LostConnection("closed"))


def _notice(opening: asyncio.Task[Wire]) -> None:
    """Look at a failure even if all who waited for it were cancelled; else asyncio complains that nobody did."""
    if not opening.cancelled():
        opening.exception()


class _Call:
    """Replies that somebody waits for."""

    __slots__ = ("_missing", "_replies", "answered")

    def __init__(self, count: int) -> None:
        self._missing = count
        self._replies: list[Any] = []
        self.answered: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()

    def add(self, reply: Any) -> bool:
        """Add a reply. Returns whether it was the last one."""
        self._replies.append(reply)
        self._missing -= 1
        if self._missing:
            return False
        if not self.answered.done():
            self.answered.set_result(self._replies)
        return True


class Line(Conversation):
    """Commands and their replies."""

    def __init__(self, connect: Callable[[], AbstractConnection], reply_timeout: float) -> None:
        super().__init__(connect, reply_timeout)
        self._calls: deque[_Call] = deque()

    async def call(self, *commands: Words) -> list[Any]:
        """The replies, refusals among them as values; raises `RedisError` when there is no connection."""
        wire = await self._open_wire()
        call = _Call(len(commands))
        self._calls.append(call)
        wire.send(commands)
        try:
            async with asyncio.timeout(self._reply_timeout):
                return await call.answered
        except TimeoutError:
            error = NoAnswer("no reply")
            await self._give_up(wire, error)
            raise error from None

    def _hear(self, reply: Any) -> None:
        if self._calls[0].add(reply):
            self._calls.popleft()

    def _lose(self, error: RedisError) -> None:
        calls, self._calls = self._calls, deque()
        for call in calls:
            if not call.answered.done():
                call.answered.set_exception(type(error)(*error.args))
