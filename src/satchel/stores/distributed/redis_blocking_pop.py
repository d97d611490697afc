"""Blocking pops, each on its own connection, that can be cancelled without losing a value that was just popped.

A `BRPOP` that is under way cannot be taken back by closing its connection: the server may have taken the value out
already, and it would be lost with the reply. So a wait that is cancelled is ended by the server (`CLIENT UNBLOCK`), its
reply is read to the end, and a value that it brings after all goes back to where it came from.
"""

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import cast

from redis.asyncio.connection import AbstractConnection, ConnectionPool
from redis.exceptions import ConnectionError as LostConnection
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as NoAnswer

from satchel.stores.distributed.redis_commands import Words
from satchel.stores.distributed.redis_connection import Line, read_reply
from satchel.stores.ephemeral_rules import milliseconds

# How often it is asked to end a wait that the server may not have begun yet.
_UNBLOCK_SECONDS = 0.02


class _Wait:
    """A blocking pop, from before it is sent until its connection is free again."""

    def __init__(self) -> None:
        self.sent = False
        # The name by which the server knows the connection, while it may be blocked.
        self.client: int | None = None
        # Held while the server is asked to end this wait: a connection must not be used again before it was, or the
        # next wait on it would be ended.
        self.unblocking = asyncio.Lock()


class Waiting:
    """Who of this process waits for values. More than the pool has connections for are refused."""

    def __init__(self, pool: ConnectionPool, reply_timeout: float, line: Line) -> None:
        self._pool = pool
        self._reply_timeout = reply_timeout
        self._line = line
        self._waits: set[_Wait] = set()
        self._endings: set[asyncio.Task[None]] = set()
        self._closed = False

    async def pop(self, key: str, timeout: timedelta) -> bytes | None:
        wait = _Wait()
        popping = asyncio.create_task(self._pop(wait, key, max(milliseconds(timeout), 0) / 1000))
        try:
            return await asyncio.shield(popping)
        except asyncio.CancelledError:
            # Cancelled once more, we return, but the unblocking continues.
            ending = asyncio.create_task(self._call_off(wait, popping, key))
            self._endings.add(ending)
            ending.add_done_callback(self._endings.discard)
            await asyncio.shield(ending)
            raise

    async def close(self) -> None:
        """End every wait; one that gets a value at the last moment keeps it."""
        self._closed = True
        with suppress(RedisError):
            while self._waits:
                for wait in list(self._waits):
                    await self._unblock(wait, "ERROR")
                await asyncio.sleep(_UNBLOCK_SECONDS)
        if self._endings:
            await asyncio.wait(self._endings)
        await self._pool.disconnect()

    async def _pop(self, wait: _Wait, key: str, seconds: float) -> bytes | None:
        self._waits.add(wait)
        try:
            async with asyncio.timeout(self._reply_timeout):
                connection = await self._pool.get_connection()
            try:
                async with asyncio.timeout(seconds + self._reply_timeout):
                    return await self._exchange(connection, wait, key, seconds)
            finally:
                wait.client = None
                async with wait.unblocking:
                    await self._pool.release(connection)
        except TimeoutError:
            raise NoAnswer("no reply") from None
        finally:
            self._waits.discard(wait)

    async def _exchange(self, connection: AbstractConnection, wait: _Wait, key: str, seconds: float) -> bytes | None:
        if self._closed:
            raise LostConnection("closed")
        wait.sent = True
        # To the server, waiting for no time is waiting for ever.
        said: Words = ("BRPOP", key, f"{seconds:.3f}") if seconds > 0 else ("RPOP", key)
        packed = connection.pack_commands([("CLIENT", "ID"), said])
        await connection.send_packed_command(packed, check_health=False)
        wait.client = await read_reply(connection)
        reply = await read_reply(connection)
        return reply[1] if seconds > 0 and reply is not None else reply

    async def _call_off(self, wait: _Wait, popping: asyncio.Task[bytes | None], key: str) -> None:
        try:
            while wait.sent and not popping.done():
                await self._unblock(wait, "TIMEOUT")
                await asyncio.wait((popping,), timeout=_UNBLOCK_SECONDS)
        except RedisError:
            # The server is gone, so it can neither be asked nor given anything back.
            pass
        if not popping.done():
            popping.cancel()
            await asyncio.wait((popping,))
        if not popping.cancelled() and popping.exception() is None and popping.result() is not None:
            with suppress(RedisError):
                await self._line.call(("RPUSH", key, cast("bytes", popping.result())))

    async def _unblock(self, wait: _Wait, how: str) -> None:
        async with wait.unblocking:
            if wait.client is not None:
                await self._line.call(("CLIENT", "UNBLOCK", wait.client, how))
