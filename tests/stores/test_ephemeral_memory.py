"""What only the in-process store has to do: keep some keys on disk, and keep within its memory."""

import asyncio
import resource
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from satchel.kernel.clock import ManualClock
from satchel.kernel.errors import OutOfSpace, Unavailable
from satchel.stores.embedded.ephemeral_memory import MemoryEphemeral
from satchel.stores.ports.ephemeral import (
    Delete,
    Exists,
    Expire,
    Get,
    HashAll,
    HashIncrement,
    HashPut,
    Increment,
    ListPop,
    ListPush,
    ListRange,
    ListSize,
    Publish,
    Put,
    SetAdd,
    SetRemove,
    SetSize,
    TimeToLive,
    WrongKind,
)
from tests.stores.harnesses_ephemeral import eventually, settle

LONG = timedelta(hours=1)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ephemeral.db"


async def opened(path: Path, clock: ManualClock, **options: Any) -> MemoryEphemeral:
    return await MemoryEphemeral.open(clock=clock, path=path, durable=["room:", "invitation:"], **options)


async def reopened(store: MemoryEphemeral, path: Path, clock: ManualClock) -> MemoryEphemeral:
    await store.close()
    return await opened(path, clock)


def rows(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT key, command FROM history ORDER BY place").fetchall()


@contextmanager
def no_more_writing() -> Generator[None]:
    """Every write to a file fails."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def test_only_keys_with_a_durable_prefix_survive_also_when_run_together(path: Path, clock: ManualClock) -> None:
    store = await opened(path, clock)
    await store.together(Put("room:1", b"kept"), Put("seen:1", b"lost"), SetAdd("invitation:1", "ann"))
    assert await store.together(Get("room:1"), Get("seen:1")) == (b"kept", b"lost")
    again = await reopened(store, path, clock)
    assert await again.together(Get("room:1"), Get("seen:1"), SetSize("invitation:1")) == (b"kept", None, 1)
    await again.close()


async def test_nothing_is_seen_before_it_is_on_the_disk(path: Path, clock: ManualClock) -> None:
    store = await opened(path, clock)
    async with store.subscribe("c") as messages:
        commands = (Put("room:1", b"1"), Put("seen:1", b"1"), Publish("c", b"1"))
        writing = asyncio.create_task(store.together(*commands))
        hearing = asyncio.ensure_future(anext(messages))
        while not writing.done():
            seen = await store.together(Get("room:1"), Get("seen:1"))
            assert seen in ((None, None), (b"1", b"1"))
            assert (seen == (None, None)) or ("room:1", "Put") in rows(path)
            assert not hearing.done() or ("room:1", "Put") in rows(path)
            await asyncio.sleep(0)
        assert (await hearing).body == b"1"
    await store.close()


async def test_a_write_that_the_disk_refuses_changes_neither_memory_nor_disk(path: Path, clock: ManualClock) -> None:
    store = await opened(path, clock)
    await store.together(HashPut("room:1", {"n": b"1"}), ListPush("room:list", b"1"), Put("seen:1", b"1"))
    waiter = asyncio.create_task(store.wait_pop("room:empty", LONG))
    await settle(store, "room:empty")
    async with store.subscribe("c") as messages:
        with no_more_writing():
            refused = [
                store.together(HashPut("room:1", {"big": b"x" * 100_000}), Put("seen:1", b"2"), Publish("c", b"1")),
                store.run(HashIncrement("room:1", "n")),
                store.run(ListPush("room:empty", b"1")),
                store.wait_pop("room:list", LONG),
            ]
            for error in await asyncio.gather(*refused, return_exceptions=True):
                assert isinstance(error, Unavailable)
            assert await store.run(Get("seen:1")) == b"1"
            assert await store.run(HashAll("room:1")) == {"n": b"1"}
        assert await store.run(HashIncrement("room:1", "n")) == 2
        await store.run(ListPush("room:empty", b"2"))
        assert await waiter == b"2"
        await store.run(Publish("c", b"2"))
        assert (await anext(messages)).body == b"2"
    again = await reopened(store, path, clock)
    assert await again.together(HashAll("room:1"), ListRange("room:list")) == ({"n": b"2"}, [b"1"])
    await again.close()


async def test_one_who_waits_is_told_when_the_disk_refuses_to_hand_over(path: Path, clock: ManualClock) -> None:
    store = await opened(path, clock)
    await store.run(ListPush("room:1", b"1"))
    with no_more_writing():
        with pytest.raises(Unavailable):
            await store.wait_pop("room:1", LONG)
        assert await store.run(ListSize("room:1")) == 1
    assert await store.wait_pop("room:1", LONG) == b"1"
    await store.close()


async def test_what_was_handed_over_is_gone_and_what_was_given_back_is_there(path: Path, clock: ManualClock) -> None:
    store = await opened(path, clock)
    waiter = asyncio.create_task(store.wait_pop("room:1", LONG))
    await settle(store, "room:1")
    await store.run(ListPush("room:1", b"taken"))
    assert await waiter == b"taken"
    handed_over: list[bytes | None] = []
    for ticks in range(12):
        await store.run(ListPush("room:1", b"%d" % ticks))
        waiter = asyncio.create_task(store.wait_pop("room:1", LONG))
        for _ in range(ticks):
            await asyncio.sleep(0)
        waiter.cancel()
        with suppress(asyncio.CancelledError):
            handed_over.append(await waiter)
    expected = [each for each in (b"%d" % ticks for ticks in reversed(range(12))) if each not in handed_over]
    await eventually(lambda: store.run(ListRange("room:1")), expected)
    again = await reopened(store, path, clock)
    assert await again.run(ListRange("room:1")) == expected
    await again.close()


async def test_a_long_history_is_shortened_and_still_tells_the_same(path: Path, clock: ManualClock) -> None:
    store = await opened(path, clock)
    await store.run(SetAdd("room:set", "stays"))
    await store.run(Expire("room:set", LONG))
    changes = [
        Increment("room:n"),
        HashIncrement("room:hash", "f"),
        SetAdd("room:set", "x"),
        SetRemove("room:set", "x"),
    ]
    for turn in range(40):
        numbers = range(10 * turn, 10 * turn + 10)
        await store.together(*changes * 10, *(ListPush("room:list", b"%d" % number) for number in numbers))
        if turn:
            await store.together(*[ListPop("room:list")] * 10)
    assert len(rows(path)) < 600
    clock.advance(60)
    again = await reopened(store, path, clock)
    assert await again.together(Get("room:n"), HashAll("room:hash")) == (b"400", {"f": b"400"})
    assert await again.run(ListRange("room:list")) == [b"%d" % number for number in range(399, 389, -1)]
    assert await again.together(SetSize("room:set"), TimeToLive("room:set")) == (1, LONG - timedelta(minutes=1))
    await again.close()


async def test_what_is_gone_leaves_nothing_on_the_disk(path: Path, clock: ManualClock) -> None:
    store = await opened(path, clock)
    for number in range(30):
        await store.together(SetAdd(f"room:set{number}", "m"), ListPush(f"room:list{number}", b"1"))
        await store.together(Put(f"room:mortal{number}", b"1", LONG), Put(f"room:put{number}", b"1"))
        await store.run(SetRemove(f"room:set{number}", "m"))
        await store.together(ListPop(f"room:list{number}"), Delete(f"room:put{number}"))
    clock.advance(LONG)
    await store.run(Put("seen:1", b"any write clears away"))
    await store.run(Put("room:last", b"1"))
    again = await reopened(store, path, clock)
    await again.run(Put("room:last", b"2"))
    assert rows(path) == [("room:last", "Put")]
    await again.close()


async def test_asking_again_for_what_is_already_so_costs_no_write(path: Path, clock: ManualClock) -> None:
    store = await opened(path, clock)
    await store.together(SetAdd("room:1", "ann"), Put("room:2", b"1", LONG), HashPut("room:3", {"f": b"1"}))
    log = path.with_name(path.name + "-wal")
    before = (log.stat().st_mtime_ns, rows(path))
    assert await store.run(SetAdd("room:1", "ann")) is False
    assert await store.run(SetRemove("room:1", "bob")) is False
    assert await store.run(Put("room:2", b"2", only_if_absent=True)) is False
    assert await store.run(Expire("room:2", LONG, only_if_unset=True)) is False
    assert await store.together(ListPop("room:4"), Delete("room:4"), Expire("room:4", LONG)) == (None, False, False)
    with pytest.raises(WrongKind):
        await store.run(SetAdd("room:2", "ann"))
    assert (log.stat().st_mtime_ns, rows(path)) == before
    assert await store.together(SetRemove("room:1", "ann"), SetAdd("room:1", "ann")) == (True, True)
    again = await reopened(store, path, clock)
    assert await again.run(SetSize("room:1")) == 1
    await again.close()


async def test_a_clock_that_is_set_back_does_not_make_the_disk_disagree(path: Path, clock: ManualClock) -> None:
    store = await opened(path, clock)
    await store.together(Put("room:swept", b"5", LONG), Put("room:met", b"5", LONG), Put("room:asked", b"5", LONG))
    clock.advance(LONG)
    assert await store.run(Increment("room:met")) == 1
    assert await store.run(Delete("room:asked")) is False
    clock.advance(-LONG)
    assert await store.together(Increment("room:swept"), Increment("room:asked")) == (1, 1)
    again = await reopened(store, path, clock)
    assert await again.together(Get("room:swept"), Get("room:met"), Get("room:asked")) == (b"1", b"1", b"1")
    await again.close()


async def test_prefixes_no_longer_declared_are_left_alone(path: Path, clock: ManualClock) -> None:
    store = await opened(path, clock)
    await store.together(Put("room:1", b"1"), Put("invitation:1", b"1"))
    await store.close()
    narrow = await MemoryEphemeral.open(clock=clock, path=path, durable=["room:"])
    assert await narrow.together(Exists("room:1"), Exists("invitation:1")) == (True, False)
    await narrow.run(Put("invitation:1", b"not kept"))
    again = await reopened(narrow, path, clock)
    assert await again.together(Get("room:1"), Get("invitation:1")) == (b"1", b"1")
    await again.close()


async def test_a_file_that_cannot_be_understood_is_refused_in_a_sentence(path: Path, clock: ManualClock) -> None:
    store = await opened(path, clock)
    await store.run(Put("room:1", b"1"))
    await store.close()
    for change in ("UPDATE history SET command = 'Teleport'", "UPDATE history SET command = 'Put', body = X'FF'"):
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(change)
        with pytest.raises(Unavailable, match="written by another version"):
            await opened(path, clock)
    path.write_bytes(b"this is not a database at all, but quite long" * 100)
    with pytest.raises(Unavailable, match="damaged"):
        await opened(path, clock)


async def test_durable_keys_without_a_file_are_a_mistake_of_the_caller(clock: ManualClock) -> None:
    with pytest.raises(ValueError, match="need a file"):
        await MemoryEphemeral.open(clock=clock, durable=["room:"])


async def test_an_expiry_that_is_moved_again_and_again_takes_no_more_memory(clock: ManualClock) -> None:
    store = await MemoryEphemeral.open(clock=clock)
    await store.run(Put("other", b"1", LONG))
    for _ in range(5000):
        await store.run(Put("session", b"1", LONG))
        await store.run(Expire("other", LONG))
        clock.advance(1)
    assert len(store._fleeting._endings) < 300
    clock.advance(LONG)
    assert await store.together(Exists("session"), Exists("other")) == (False, False)


async def test_what_nobody_reads_again_is_cleared_away_by_others_writing(clock: ManualClock) -> None:
    store = await MemoryEphemeral.open(clock=clock)
    for number in range(2000):
        await store.run(Put(f"k{number}", b"x" * 1000, timedelta(seconds=10)))
        clock.advance(1)
    assert store._fleeting.used_bytes < 20 * 2000


async def test_durable_keys_count_as_memory_while_they_are_written(path: Path, clock: ManualClock) -> None:
    store = await opened(path, clock, max_bytes=50_000)
    puts = [store.run(Put(f"room:{number}", b"x" * 9_000)) for number in range(10)]
    answers = await asyncio.gather(*puts, return_exceptions=True)
    assert answers.count(True) == 5
    assert sum(isinstance(answer, OutOfSpace) for answer in answers) == 5
    assert await store.run(Delete("room:0")) is True
    assert await store.run(Put("room:10", b"x" * 9_000)) is True
    await store.close()
    larger = await opened(path, clock, max_bytes=1_000)
    assert await larger.run(Get("room:10")) == b"x" * 9_000
    with pytest.raises(OutOfSpace):
        await larger.run(Put("seen:1", b""))
    await larger.close()


async def test_the_last_eighth_is_for_what_is_essential(path: Path, clock: ManualClock) -> None:
    store = await MemoryEphemeral.open(
        clock=clock, path=path, durable=["room:"], max_bytes=80_000, is_essential=lambda key: key.startswith("limit:")
    )
    with pytest.raises(OutOfSpace):
        for number in range(1000):
            await store.run(Put(f"{'room' if number % 2 else 'seen'}:{number}", b"x" * 1000))
    # One that is not essential makes all of them wait.
    with pytest.raises(OutOfSpace):
        await store.together(Increment("limit:1"), Put("seen:n", b"x" * 1000))
    assert await store.together(Increment("limit:1"), Get("seen:0")) == (1, b"x" * 1000)
    with pytest.raises(OutOfSpace):
        for number in range(100):
            await store.run(Put(f"limit:{number}", b"x" * 1000))
    assert await store.run(Delete("seen:0")) is True
    await store.close()


async def test_what_was_accepted_before_closing_is_kept(path: Path, clock: ManualClock) -> None:
    store = await opened(path, clock)
    writes = [asyncio.create_task(store.run(Increment("room:n"))) for _ in range(100)]
    await asyncio.sleep(0)
    again = await reopened(store, path, clock)
    assert sorted(await asyncio.gather(*writes)) == list(range(1, 101))
    assert await again.run(Get("room:n")) == b"100"
    await again.close()
