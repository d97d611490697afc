"""What only the Redis store has to do: cope with a server that is elsewhere, and share it."""

import asyncio
import inspect
import os
import signal
import subprocess
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from redis import exceptions
from redis.asyncio import Redis

from satchel.kernel.errors import Invalid, Unavailable
from satchel.stores.distributed.ephemeral_redis import RedisEphemeral
from satchel.stores.distributed.redis_errors import REMEDIES, translated
from satchel.stores.ports.ephemeral import (
    MAX_VALUE_BYTES,
    Ephemeral,
    Exists,
    Get,
    Increment,
    ListPush,
    ListRange,
    Publish,
    Put,
    SubscriptionLost,
)
from tests.services import free_port, redis_server, running, tool
from tests.stores.harnesses_ephemeral import eventually, settle

pytestmark = pytest.mark.services
LONG = timedelta(seconds=30)


@pytest.fixture
async def store(redis_url: str) -> AsyncIterator[RedisEphemeral]:
    store = await RedisEphemeral.open(redis_url, prefix="test:", max_waiting=3)
    yield store
    await store.close()


@pytest.fixture
async def server(redis_url: str) -> AsyncIterator[Any]:
    """The same server, seen without our code; emptied before each test."""
    client = cast("Any", Redis).from_url(redis_url)
    await client.flushdb()
    yield client
    await client.aclose()


async def waiting(store: Ephemeral, key: str) -> "asyncio.Task[bytes | None]":
    task = asyncio.create_task(store.wait_pop(key, LONG))
    await settle(store, key)
    return task


def test_every_exception_of_the_library_has_a_meaning() -> None:
    classes = [kind for _, kind in inspect.getmembers(exceptions, inspect.isclass) if issubclass(kind, Exception)]
    theirs = {kind for kind in classes if kind.__module__ == exceptions.__name__}
    assert theirs == set(REMEDIES)
    for kind in theirs:
        error = translated(kind.__new__(kind))
        assert error.status in (409, 503, 507)
        assert error.detail.endswith(".")


async def test_keys_and_channels_are_prefixed(store: RedisEphemeral, redis_url: str, server: Any) -> None:
    other = await RedisEphemeral.open(redis_url, prefix="other:")
    async with store.subscribe("c") as messages:
        await other.together(Put("k", b"theirs"), Publish("c", b"theirs"))
        await store.together(Put("k", b"mine"), Publish("c", b"mine"))
        assert (await anext(messages)).body == b"mine"
    await other.close()
    assert await server.mget("test:k", "other:k") == [b"mine", b"theirs"]
    assert await store.run(Get("k")) == b"mine"


async def test_several_servers_share_keys_waits_and_channels(store: RedisEphemeral, redis_url: str) -> None:
    other = await RedisEphemeral.open(redis_url, prefix="test:")
    async with store.subscribe("c") as messages:
        task = await waiting(store, "shared")
        await other.together(ListPush("shared", b"1"), Put("k", b"2"), Publish("c", b"3"))
        assert (await task, await store.run(Get("k")), (await anext(messages)).body) == (b"1", b"2", b"3")
    await other.close()


async def test_what_nobody_listens_to_any_more_is_unsubscribed(store: RedisEphemeral, server: Any) -> None:
    async with store.subscribe("c", "d"):
        async with store.subscribe("c"):
            pass
        assert dict(await server.pubsub_numsub("test:c", "test:d")) == {b"test:c": 1, b"test:d": 1}
    await eventually(lambda: server.pubsub_channels("test:*"), [])


async def test_a_cancelled_command_leaves_the_line_in_order(store: RedisEphemeral) -> None:
    for number in range(50):
        cancelled = asyncio.create_task(store.together(Put("k", b"x" * 1000), Increment("n")))
        kept = asyncio.create_task(store.together(Put("k", b"%d" % number), Get("k")))
        await asyncio.sleep(0)
        cancelled.cancel()
        assert await kept == (True, b"%d" % number)
        await asyncio.wait((cancelled,))


async def test_who_waits_beyond_the_bound_is_refused_and_connections_are_used_again(
    store: RedisEphemeral, server: Any
) -> None:
    for _ in range(3):
        tasks = [await waiting(store, key) for key in "abc"]
        with pytest.raises(Unavailable, match="too many"):
            await store.wait_pop("d", LONG)
        tasks.pop().cancel()
        await store.together(*(ListPush(key, b"1") for key in "ab"))
        assert await asyncio.gather(*tasks) == [b"1", b"1"]
        await eventually(lambda: store.wait_pop("d", timedelta(0)), None)
    assert len(await server.client_list()) <= 3 + 3
    assert await store.run(Exists("c")) is False


async def test_a_wait_called_off_never_ends_another_that_uses_its_connection(
    store: RedisEphemeral, server: Any
) -> None:
    """The server is asked to end a wait by the number of its connection, which may be serving another by then."""
    first = await waiting(store, "first")
    large = [asyncio.create_task(store.run(Put(f"large{number}", b"x" * MAX_VALUE_BYTES))) for number in range(4)]
    await asyncio.sleep(0)
    first.cancel()
    for _ in range(5):
        await asyncio.sleep(0)
    # To end the wait was asked, but behind all that; in the meantime the wait is served.
    await server.lpush("test:first", b"1")
    second = asyncio.create_task(store.wait_pop("second", LONG))
    await asyncio.gather(*large)
    await asyncio.wait((first,))
    assert await store.run(ListRange("first")) == [b"1"]
    await store.run(ListPush("second", b"2"))
    assert await second == b"2"


@pytest.mark.parametrize("address", ["http://localhost", "redis://h:port", "redis://h?nonsense=1", "redis://h?db=x"])
async def test_what_is_no_address_of_a_redis_is_said_to_be_none(address: str) -> None:
    with pytest.raises(Invalid, match="no address"):
        await RedisEphemeral.open(address)


async def test_an_unreachable_server_is_named_without_its_password() -> None:
    port = free_port()
    with pytest.raises(Unavailable) as caught:
        await RedisEphemeral.open(f"redis://user:secret@127.0.0.1:{port}/0")
    assert f"127.0.0.1:{port} cannot be used: it cannot be reached" in caught.value.detail
    assert "secret" not in caught.value.detail


async def test_a_wrong_password_is_said_to_be_wrong_and_the_right_one_opens() -> None:
    with redis_server("--requirepass", "right") as url:
        place = url.removeprefix("redis://")
        for wrong in (url, f"redis://:wrong@{place}"):
            with pytest.raises(Unavailable, match="refuses this user"):
                await RedisEphemeral.open(wrong)
        store = await RedisEphemeral.open(f"redis://:right@{place}")
        assert await store.run(Put("k", b"1")) is True
        await store.close()


async def test_a_server_that_only_reads_is_not_taken_for_a_full_one() -> None:
    with redis_server("--replicaof", f"127.0.0.1 {free_port()}") as url:
        store = await RedisEphemeral.open(url)
        with pytest.raises(Unavailable, match="give the address of the primary"):
            await store.run(Put("k", b"1"))
        with pytest.raises(Unavailable, match="give the address of the primary"):
            await store.together(Put("k", b"1"), Put("l", b"1"))
        assert await store.run(Get("k")) is None
        await store.close()


async def test_a_socket_file_and_another_database_work_too(tmp_path: Path) -> None:
    with redis_server("--unixsocket", str(tmp_path / "redis.sock")) as url:
        by_file = await RedisEphemeral.open(f"unix://{tmp_path / 'redis.sock'}?db=3")
        by_port = await RedisEphemeral.open(url.removesuffix("0") + "3")
        async with by_file.subscribe("c") as messages:
            task = await waiting(by_file, "l")
            await by_port.together(ListPush("l", b"1"), Publish("c", b"2"))
            assert (await task, (await anext(messages)).body) == (b"1", b"2")
        await by_file.close()
        await by_port.close()


async def test_a_server_that_goes_away_and_comes_back_is_used_again() -> None:
    port = free_port()
    with redis_server(port=port) as url:
        store = await RedisEphemeral.open(url)
        await store.run(Put("k", b"1"))
        task = await waiting(store, "l")
        subscription = store.subscribe("c")
        messages = await subscription.__aenter__()
    with pytest.raises(Unavailable):
        await task
    with pytest.raises(SubscriptionLost):
        await anext(messages)
    await subscription.__aexit__(None, None, None)
    for _ in range(2):
        with pytest.raises(Unavailable):
            await store.run(Get("k"))
        with pytest.raises(Unavailable):
            await store.wait_pop("l", LONG)
        with pytest.raises(Unavailable):
            async with store.subscribe("c"):
                pass
    with redis_server(port=port):
        assert await store.run(Get("k")) is None
        task = await waiting(store, "l")
        async with store.subscribe("c") as messages:
            await store.together(ListPush("l", b"1"), Publish("c", b"2"))
            assert (await task, (await anext(messages)).body) == (b"1", b"2")
    await store.close()


async def test_many_calls_at_the_moment_of_a_loss_all_end() -> None:
    with redis_server() as url:
        store = await RedisEphemeral.open(url)

        async def use() -> int:
            count = 0
            while True:
                try:
                    await store.together(Increment("n"), Put("k", b"x" * 10_000))
                except Unavailable:
                    return count
                count += 1

        tasks = [asyncio.create_task(use()) for _ in range(20)]
        await eventually(lambda: store.run(Exists("n")), True)
    assert all(count > 0 for count in await asyncio.gather(*tasks))
    await store.close()


async def test_a_server_that_hangs_is_given_up_after_a_while_and_used_again_later(tmp_path: Path) -> None:
    port = free_port()
    command = [tool("redis-server"), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)]
    with running(command, port) as process:
        store = await RedisEphemeral.open(f"redis://127.0.0.1:{port}/1", reply_timeout=timedelta(milliseconds=300))
        await store.run(Put("k", b"1"))
        _hang(process)
        with pytest.raises(Unavailable, match="does not answer"):
            await store.run(Get("k"))
        with pytest.raises(Unavailable, match="does not answer"):
            async with store.subscribe("c"):
                pass
        with pytest.raises(Unavailable, match="does not answer"):
            await store.wait_pop("l", timedelta(milliseconds=10))
        os.kill(process.pid, signal.SIGCONT)
        assert await store.run(Get("k")) == b"1"
        await store.run(ListPush("l", b"1"))
        assert await store.run(ListRange("l")) == [b"1"]
        await store.close()


def _hang(process: "subprocess.Popen[bytes]") -> None:
    os.kill(process.pid, signal.SIGSTOP)
