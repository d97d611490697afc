"""Short-lived state in Redis or Valkey, so that several servers share rooms, counters and messages.

It asks for Redis 7.0 or later, or any Valkey; one server (or a primary with replicas), not a cluster. What happens when
its memory is full is the server's own setting: with `maxmemory-policy noeviction` it refuses, as the contract says.
"""

import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, TypeVar, overload
from urllib.parse import urlsplit

from redis.asyncio.connection import Connection, ConnectionPool, parse_url
from redis.exceptions import OutOfMemoryError, RedisError

from satchel.kernel.errors import Invalid, Unavailable
from satchel.stores.distributed.redis_blocking_pop import Waiting
from satchel.stores.distributed.redis_commands import Words, answer, in_a_script, words
from satchel.stores.distributed.redis_connection import Line
from satchel.stores.distributed.redis_errors import translated
from satchel.stores.distributed.redis_listener import Listener
from satchel.stores.ephemeral_channels import Subscription
from satchel.stores.ephemeral_rules import admit, check_key
from satchel.stores.ports.ephemeral import Command, Message
from satchel.stores.ports.store_facts import Keeping

T = TypeVar("T")
T1 = TypeVar("T1")
T2 = TypeVar("T2")
T3 = TypeVar("T3")

_CLOSED = "The store of short-lived state has been closed. Start the server again."


class RedisEphemeral:
    """The ephemeral store that several processes share; made by `open`."""

    def __init__(self, pool: ConnectionPool, prefix: str, reply_timeout: float) -> None:
        self._prefix = prefix
        self._line = Line(pool.make_connection, reply_timeout)
        self._listener = Listener(pool.make_connection, reply_timeout, prefix)
        self._waiting = Waiting(pool, reply_timeout, self._line)
        self._closed = False

    @classmethod
    async def open(
        cls, url: str, *, prefix: str = "", reply_timeout: timedelta = timedelta(seconds=10), max_waiting: int = 1000
    ) -> "RedisEphemeral":
        """Connect to `redis://host:port/db` (or rediss://, unix://); `prefix` begins every key and channel there.

        A server that does not answer within `reply_timeout` counts as unreachable. `wait_pop` needs one connection per
        waiting call. More than `max_waiting` are refused.
        """
        store = cls(_pool(url, max_waiting), prefix, reply_timeout.total_seconds())
        try:
            await store._line.call(("PING",))
        except RedisError as error:
            await store.close()
            place = urlsplit(url)
            raise translated(error, f"The Redis at {place.hostname or place.path}:{place.port or 6379}") from error
        return store

    async def run(self, command: Command[T]) -> T:
        admit(command)
        (reply,) = await self._call(words(command, self._prefix))
        return answer(command, _accepted(reply))

    @overload
    async def together(self, a: Command[T1], b: Command[T2], /) -> tuple[T1, T2]: ...
    @overload
    async def together(self, a: Command[T1], b: Command[T2], c: Command[T3], /) -> tuple[T1, T2, T3]: ...
    @overload
    async def together(self, *commands: Command[Any]) -> tuple[Any, ...]: ...
    async def together(self, *commands: Command[Any]) -> tuple[Any, ...]:
        needed = sum(map(admit, commands))
        said = [words(command, self._prefix) for command in commands]
        *queued, done = await self._call(("MULTI",), *said, ("EXEC",))
        refusal = next((reply for reply in queued if isinstance(reply, RedisError)), None)
        if isinstance(refusal, OutOfMemoryError) and not needed:
            (done,) = await self._call(in_a_script(said))
        elif refusal is not None:
            # It says better what is wrong than the refusal of the whole, which follows from it.
            raise translated(refusal) from refusal
        return tuple(
            answer(command, _accepted(reply)) for command, reply in zip(commands, _accepted(done), strict=True)
        )

    async def wait_pop(self, key: str, timeout: timedelta) -> bytes | None:
        check_key(key)
        self._check_open()
        try:
            return await self._waiting.pop(self._prefix + key, timeout)
        except RedisError as error:
            raise translated(error) from error

    @asynccontextmanager
    async def subscribe(self, *channels: str) -> AsyncGenerator[AsyncIterator[Message]]:
        subscription = Subscription(channels)
        self._check_open()
        try:
            await self._listener.join(subscription)
        except RedisError as error:
            raise translated(error) from error
        try:
            yield subscription
        finally:
            self._listener.leave(subscription)

    async def keys(self, prefix: str) -> AsyncIterator[str]:
        """See `satchel.stores.ports.whole_stores`."""
        # So that nothing in it counts as a pattern.
        literal = re.sub(r"([*?\[\]\\])", r"\\\1", self._prefix + prefix)
        seen: set[str] = set()
        cursor = b"0"
        while True:
            (reply,) = await self._call(("SCAN", cursor, "MATCH", f"{literal}*", "COUNT", "1000"))
            cursor, found = _accepted(reply)
            for key in found:
                name = key.decode().removeprefix(self._prefix)
                if name not in seen:
                    seen.add(name)
                    yield name
            if cursor == b"0":
                return

    async def time(self) -> float | None:
        (reply,) = await self._call(("TIME",))
        seconds, micros = map(int, _accepted(reply))
        return seconds + micros / 1_000_000

    async def keeping(self) -> Keeping:
        """Some hosts let nobody ask for the configuration, so replicas count as keeping, too."""
        persistence, memory, replication, saved = await self._call(
            ("INFO", "persistence"), ("INFO", "memory"), ("INFO", "replication"), ("CONFIG", "GET", "save")
        )
        survives = (
            _info(persistence).get("aof_enabled") == "1" or _info(replication).get("connected_slaves", "0") != "0"
        )
        if not survives:
            survives = None if isinstance(saved, RedisError) else bool(saved[1])
        return Keeping(survives, _info(memory).get("maxmemory_policy"))

    async def close(self) -> None:
        self._closed = True
        self._listener.channels.end_all(_closed)
        await self._waiting.close()
        await self._listener.close()
        await self._line.close()

    def _check_open(self) -> None:
        if self._closed:
            raise _closed()

    async def _call(self, *commands: Words) -> list[Any]:
        self._check_open()
        try:
            return await self._line.call(*commands)
        except RedisError as error:
            raise translated(error) from error


def _closed() -> Unavailable:
    return Unavailable(_CLOSED)


def _accepted(reply: Any) -> Any:
    if isinstance(reply, RedisError):
        raise translated(reply) from reply
    return reply


def _info(reply: Any) -> dict[str, str]:
    """The lines `name:value` of an answer; nothing if it was refused."""
    if isinstance(reply, RedisError):
        return {}
    lines = reply.decode().splitlines()
    return {name: value for name, _, value in (line.partition(":") for line in lines)}


def _pool(url: str, max_connections: int) -> ConnectionPool:
    """Connections to the address, set up as we need them whatever options it carries."""
    try:
        options: dict[str, Any] = {"connection_class": Connection, **parse_url(url)}
        # The replies are read as version 2 of the protocol gives them; the time they may take is watched by ourselves.
        options |= {"protocol": 2, "socket_timeout": None, "socket_connect_timeout": None}
        options |= {"decode_responses": False, "driver_info": None}
        pool = ConnectionPool(**options, max_connections=max_connections)
        pool.make_connection()
    except (ValueError, TypeError) as error:
        raise Invalid(
            f"{url.partition('@')[2] or url} is no address of a Redis ({error}). It looks like redis://127.0.0.1:6379/0."
        ) from error
    return pool
