"""The ephemeral stores that one suite runs against, and what each can be held to."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

import pytest

from satchel.kernel.clock import ManualClock
from satchel.stores.distributed.ephemeral_redis import RedisEphemeral
from satchel.stores.embedded.ephemeral_memory import MemoryEphemeral
from satchel.stores.ports.ephemeral import Ephemeral, Exists, ListPush
from tests.services import redis_server

# What a store can be held to beyond the contract.
OUTLIVES_ITS_PROCESS = "outlives_its_process"

SMALL_BYTES = 2 * 1024 * 1024


class EphemeralHarness(Protocol):
    """One store that can be opened again and again, and a time that tests can let pass."""

    promises: frozenset[str]

    async def open(self) -> Ephemeral:
        """The same keys each time, where that is promised."""
        ...

    def open_small(self) -> AbstractAsyncContextManager[Ephemeral]:
        """A store that has memory for little more than `SMALL_BYTES`."""
        ...

    async def advance(self, seconds: float) -> None: ...


class MemoryHarness:
    """In process, with all keys durable or none."""

    def __init__(self, folder: Path, *, durable: bool) -> None:
        self._clock = ManualClock()
        self._path = folder / "ephemeral.db"
        self._durable = ("",) if durable else ()
        self.promises = frozenset({OUTLIVES_ITS_PROCESS}) if durable else frozenset[str]()

    async def open(self) -> Ephemeral:
        return await MemoryEphemeral.open(clock=self._clock, path=self._path, durable=self._durable)

    @asynccontextmanager
    async def open_small(self) -> AsyncGenerator[Ephemeral]:
        store = await MemoryEphemeral.open(
            clock=self._clock, path=self._path, durable=self._durable, max_bytes=SMALL_BYTES
        )
        try:
            yield store
        finally:
            await store.close()

    async def advance(self, seconds: float) -> None:
        self._clock.advance(seconds)


class RedisHarness:
    """A real server, on which time passes as it does everywhere."""

    promises = frozenset[str]()

    def __init__(self, url: str) -> None:
        self._url = url
        self._prefix = f"{uuid4().hex}:"

    async def open(self) -> Ephemeral:
        return await RedisEphemeral.open(self._url, prefix=self._prefix)

    @asynccontextmanager
    async def open_small(self) -> AsyncGenerator[Ephemeral]:
        async with AsyncExitStack() as stack:
            url = stack.enter_context(redis_server("--maxmemory", str(SMALL_BYTES)))
            store = await RedisEphemeral.open(url)
            stack.push_async_callback(store.close)
            yield store

    async def advance(self, seconds: float) -> None:
        # Redis ends a key with the first tick of its millisecond clock after the time to live.
        await asyncio.sleep(seconds + 0.002)


def _memory(request: pytest.FixtureRequest) -> EphemeralHarness:
    return MemoryHarness(request.getfixturevalue("tmp_path"), durable=False)


def _durable_memory(request: pytest.FixtureRequest) -> EphemeralHarness:
    return MemoryHarness(request.getfixturevalue("tmp_path"), durable=True)


def _redis(request: pytest.FixtureRequest) -> EphemeralHarness:
    return RedisHarness(request.getfixturevalue("redis_url"))


HARNESSES = [
    pytest.param(_memory, id="memory"),
    pytest.param(_durable_memory, id="durable-memory"),
    pytest.param(_redis, id="redis", marks=pytest.mark.services),
]


async def eventually(look: Callable[[], Awaitable[Any]], expected: Any, within_seconds: float = 5.0) -> None:
    """Look until what is expected is found; at the end fail with what was found instead."""
    deadline = asyncio.get_running_loop().time() + within_seconds
    while (found := await look()) != expected and asyncio.get_running_loop().time() < deadline:
        await asyncio.sleep(0.005)
    assert found == expected


async def settle(store: Ephemeral, key: str) -> None:
    """Let those who just began to wait for `key` really wait, as far as anybody outside can make sure."""
    for _ in range(3):
        await store.run(Exists(key))
        await asyncio.sleep(0.02)


async def pushed(store: Ephemeral, key: str, *values: bytes) -> None:
    for value in values:
        await store.run(ListPush(key, value))
