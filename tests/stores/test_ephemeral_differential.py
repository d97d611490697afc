"""Random commands on two stores at once, every answer compared: in process against Redis, durable against not.

The faults that were planted to see whether this finds anything are written up in docs/planted-faults.md.
"""

import asyncio
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from satchel.kernel.clock import ManualClock
from satchel.kernel.errors import SatchelError
from satchel.stores.distributed.ephemeral_redis import RedisEphemeral
from satchel.stores.embedded.ephemeral_memory import MemoryEphemeral
from satchel.stores.embedded.memory_entries import NEVER
from satchel.stores.embedded.memory_journal import _replay
from satchel.stores.embedded.memory_keyspace import Keyspace
from satchel.stores.ephemeral_rules import COLLECTION_BYTES, ELEMENT_BYTES, KEY_BYTES, text_bytes
from satchel.stores.ports.ephemeral import (
    Command,
    Delete,
    Ephemeral,
    Exists,
    Expire,
    Get,
    HashAll,
    HashDelete,
    HashGet,
    HashIncrement,
    HashPut,
    Increment,
    ListPop,
    ListPush,
    ListRange,
    ListSize,
    ListTrim,
    Publish,
    Put,
    SetAdd,
    SetAll,
    SetHas,
    SetRemove,
    SetSize,
    TimeToLive,
)

# Few keys, so that commands meet; the durable ones begin with "d".
KEYS = ("d", "dü\x00", "f")
DURABLE_KEYS = KEYS[:2]
BLINK = timedelta(milliseconds=4)

Keys: TypeAlias = st.SearchStrategy[str]
Kind: TypeAlias = Callable[[Keys], st.SearchStrategy[Command[Any]]]

# Some are long, so that it does not take many commands until the history of a durable key is long.
LONG = 2000
texts = st.sampled_from(["", "a", "ü", "b" * LONG])
numbers = st.sampled_from([b"0", b"7", b"-1", b"%d" % (2**63 - 1), b"%d" % -(2**63), b"%d" % 2**63, b"-0", b"01"])
values = st.one_of(numbers, st.sampled_from([b"", b"x", b"y" * LONG, b"z" * LONG]))
steps = st.one_of(st.integers(-3, 3), st.sampled_from([2**63 - 1, -(2**63)]))
places = st.one_of(st.integers(-4, 4), st.sampled_from([2**63 - 1, -(2**63)]))
# Time is the one thing in which the two may differ a little: real on Redis, set by hand here. So times to live are so
# long that they do not end by themselves, or over at once; a rule of its own lets keys end.
endless = st.integers(1000, 100_000).map(lambda seconds: timedelta(seconds=seconds))
ttls = st.one_of(endless, st.sampled_from([timedelta(0), timedelta(microseconds=-1), timedelta(days=-9)]))
seldom = st.sampled_from([False, False, False, True])

READS: list[Kind] = [
    lambda keys: st.builds(Exists, keys),
    lambda keys: st.builds(Get, keys),
    lambda keys: st.builds(HashAll, keys),
    lambda keys: st.builds(HashGet, keys, texts),
    lambda keys: st.builds(ListRange, keys, places, places),
    lambda keys: st.builds(ListSize, keys),
    lambda keys: st.builds(SetAll, keys),
    lambda keys: st.builds(SetHas, keys, texts),
    lambda keys: st.builds(SetSize, keys),
    lambda keys: st.builds(TimeToLive, keys),
    lambda _: st.builds(Publish, st.just("c"), values),
]
CHANGES: list[Kind] = [
    lambda keys: st.builds(Delete, keys),
    lambda keys: st.builds(Expire, keys, ttls, seldom),
    lambda keys: st.builds(HashDelete, keys, texts),
    lambda keys: st.builds(HashIncrement, keys, texts, steps),
    lambda keys: st.builds(HashPut, keys, st.dictionaries(texts, values, max_size=3)),
    lambda keys: st.builds(Increment, keys, steps),
    lambda keys: st.builds(ListPop, keys),
    lambda keys: st.builds(ListPush, keys, values),
    lambda keys: st.builds(ListTrim, keys, places, places),
    lambda keys: st.builds(Put, keys, values, st.one_of(st.none(), st.none(), ttls), seldom),
    lambda keys: st.builds(SetAdd, keys, texts),
    lambda keys: st.builds(SetRemove, keys, texts),
]


def bursts(kinds: Sequence[Kind], keys: Sequence[str], shortest: int) -> st.SearchStrategy[list[Command[Any]]]:
    """Commands of a few kinds on one or two keys: all kinds on all keys too seldom have to do with each other."""

    def of(chosen: tuple[list[Kind], list[str]]) -> st.SearchStrategy[list[Command[Any]]]:
        few_kinds, few_keys = chosen
        each = st.one_of([kind(st.sampled_from(few_keys)) for kind in few_kinds])
        return st.lists(each, min_size=shortest, max_size=4 * shortest)

    few_kinds = st.lists(st.sampled_from(kinds), min_size=2, max_size=7, unique=True)
    few_keys = st.lists(st.sampled_from(keys), min_size=1, max_size=2, unique=True)
    return st.tuples(few_kinds, few_keys).flatmap(of)


keys = st.sampled_from(KEYS)
anything = bursts(READS + CHANGES, KEYS, 15)

Outcome: TypeAlias = tuple[Any, ...] | type[SatchelError]


async def outcome(store: Ephemeral, together: Sequence[Command[Any]]) -> Outcome:
    """The answers, or the class of the error."""
    try:
        if len(together) == 1:
            return (await store.run(together[0]),)
        return await store.together(*together)
    except SatchelError as error:
        return type(error)


async def popped(store: Ephemeral, key: str) -> Any:
    try:
        return await store.wait_pop(key, timedelta(0))
    except SatchelError as error:
        return type(error)


class Waited(NamedTuple):
    """How a wait by several went: who was served before and after the push, and what the push answered."""

    served_before: int
    served: list[Any]
    answers: Outcome


async def waited(
    store: Ephemeral,
    key: str,
    pushed: Sequence[bytes],
    waiters: int,
    expected: Waited | None = None,
    blocked: Callable[[int], Awaitable[None]] | None = None,
) -> Waited:
    """Let some wait, push, and cancel those who got nothing; what took no time in another store is waited for."""
    waits = [asyncio.create_task(store.wait_pop(key, timedelta(seconds=30))) for _ in range(waiters)]

    async def until(count: int) -> int:
        async with asyncio.timeout(20):
            while sum(wait.done() for wait in waits) < count:
                await asyncio.sleep(0.001)
        for _ in range(20):
            await asyncio.sleep(0)
        return sum(wait.done() for wait in waits)

    served_before = await until(expected.served_before if expected else 0)
    if blocked is not None:
        await blocked(waiters - served_before)
    answers = await outcome(store, [ListPush(key, value) for value in pushed])
    await until(len(expected.served) if expected else 0)
    for wait in waits:
        wait.cancel()
    ends = await asyncio.gather(*waits, return_exceptions=True)
    served = [type(end) if isinstance(end, SatchelError) else end for end in ends]
    served = [end for end in served if not isinstance(end, asyncio.CancelledError)]
    return Waited(served_before, sorted(served, key=repr), answers)


def everything() -> list[Command[Any]]:
    looks = (Exists, TimeToLive, Get, HashAll, SetAll, ListRange)
    return [look(key) for key in KEYS for look in looks]


async def state(store: Ephemeral) -> tuple[Outcome, ...]:
    """All that can be known of all keys."""
    return tuple([await outcome(store, [look]) for look in everything()])


def alike(here: Outcome, there: Outcome) -> bool:
    """Equal, but for the moment by which times to live may differ."""
    if isinstance(here, tuple) and isinstance(there, tuple):
        return len(here) == len(there) and all(map(_same, here, there))
    return here is there


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, timedelta) and isinstance(other, timedelta):
        return abs(one - other) < timedelta(seconds=60)
    return type(one) is type(other) and one == other


class InProcessAgainstRedis(RuleBasedStateMachine):
    """The store of a single process has to do what Redis does."""

    url: str

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.clock = ManualClock()
        self.memory, self.redis = self.runner.run(self._open())

    async def _open(self) -> tuple[Ephemeral, Ephemeral]:
        memory = await MemoryEphemeral.open(clock=self.clock)
        return memory, await RedisEphemeral.open(self.url, prefix=f"{uuid4().hex}:")

    async def _compare(self, *together: Command[Any]) -> None:
        here, there = await outcome(self.memory, together), await outcome(self.redis, together)
        assert alike(here, there), f"{together}: in process {here}, on Redis {there}"

    @rule(one_by_one=anything)
    def run(self, one_by_one: list[Command[Any]]) -> None:
        async def run() -> None:
            here = [await outcome(self.memory, [command]) for command in one_by_one]
            # Sent in this order on one connection, so done in this order.
            there = await asyncio.gather(*(outcome(self.redis, [command]) for command in one_by_one))
            assert all(map(alike, here, there)), f"{one_by_one}: in process {here}, on Redis {there}"

        self.runner.run(run())

    @rule(together=anything)
    def run_together(self, together: list[Command[Any]]) -> None:
        self.runner.run(self._compare(*together))

    @rule(key=keys)
    def wait_for_what_is_there(self, key: str) -> None:
        async def wait() -> None:
            here, there = await popped(self.memory, key), await popped(self.redis, key)
            assert here == there

        self.runner.run(wait())

    @rule(key=keys, pushed=st.lists(values, min_size=1, max_size=3), waiters=st.integers(1, 3))
    def wait_for_what_comes(self, key: str, pushed: list[bytes], waiters: int) -> None:
        async def wait() -> None:
            here = await waited(self.memory, key, pushed, waiters)
            there = await waited(self.redis, key, pushed, waiters, here, self._blocked)
            assert here == there

        self.runner.run(wait())

    async def _blocked(self, count: int) -> None:
        """Return when so many wait on the server."""
        assert isinstance(self.redis, RedisEphemeral)
        async with asyncio.timeout(20):
            while b"blocked_clients:%d\r" % count not in (await self.redis._line.call(("INFO", "clients")))[0]:
                await asyncio.sleep(0)

    @rule(key=keys, keep=st.booleans())
    def let_a_key_end(self, key: str, keep: bool) -> None:
        async def end() -> None:
            await self._compare(Expire(key, BLINK, only_if_unset=keep))
            await asyncio.sleep((BLINK + timedelta(milliseconds=4)).total_seconds())
            self.clock.advance(BLINK)
            await self._compare(Exists(key), TimeToLive(key))

        self.runner.run(end())

    @invariant()
    def all_keys_are_alike(self) -> None:
        self.runner.run(self._compare(*(look(key) for key in KEYS for look in (Exists, TimeToLive))))

    @invariant()
    def memory_is_counted_right(self) -> None:
        assert isinstance(self.memory, MemoryEphemeral)
        check_memory(self.memory._fleeting)

    def teardown(self) -> None:
        async def close() -> None:
            here, there = await state(self.memory), await state(self.redis)
            await self.memory.close()
            await self.redis.close()
            assert all(map(alike, here, there)), f"in process {here}, on Redis {there}"

        with self.runner:
            self.runner.run(close())


class DurableAgainstFleeting(RuleBasedStateMachine):
    """Keys that are kept on disk are those that another store, which never stops, has in memory."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.clock = ManualClock()
        # In memory if possible: the machine does not stop here, so it does not matter how long a disk takes to flush.
        self.folder = Path(
            tempfile.mkdtemp(prefix="satchel-durable-", dir=next(filter(os.path.isdir, ["/dev/shm"]), None))
        )
        self.lives = 0
        self.fleeting = self.runner.run(MemoryEphemeral.open(clock=self.clock))
        self.durable = self.runner.run(self._open())

    async def _open(self) -> MemoryEphemeral:
        self._path.parent.mkdir(exist_ok=True)
        return await MemoryEphemeral.open(clock=self.clock, path=self._path, durable=["d"])

    @property
    def _path(self) -> Path:
        return self.folder / str(self.lives) / "ephemeral.db"

    async def _compare(self, *batches: Sequence[Command[Any]]) -> None:
        kept = await asyncio.gather(*(outcome(self.durable, batch) for batch in batches))
        plain = [await outcome(self.fleeting, batch) for batch in batches]
        assert kept == plain, batches

    @rule(one_by_one=anything)
    def run(self, one_by_one: list[Command[Any]]) -> None:
        async def run() -> None:
            for command in one_by_one:
                await self._compare([command])
                self.the_disk_says_what_memory_holds()

        self.runner.run(run())

    @rule(together=anything)
    def run_together(self, together: list[Command[Any]]) -> None:
        self.runner.run(self._compare(together))

    @rule(batches=st.lists(bursts(CHANGES, DURABLE_KEYS, 2), min_size=2, max_size=10))
    def run_several_at_once(self, batches: list[list[Command[Any]]]) -> None:
        """They share transactions, and are still done in their order."""
        self.runner.run(self._compare(*batches))

    @rule(key=keys, pushed=st.lists(values, min_size=1, max_size=3), waiters=st.integers(1, 3))
    def wait_for_what_comes(self, key: str, pushed: list[bytes], waiters: int) -> None:
        async def wait() -> None:
            plain = await waited(self.fleeting, key, pushed, waiters)
            assert await waited(self.durable, key, pushed, waiters, plain) == plain
            assert self.durable._kept is not None
            await self.durable._kept.work_off()

        self.runner.run(wait())

    @rule(key=keys, off_by=st.sampled_from([-1, 0, 1]))
    def go_to_where_a_key_ends(self, key: str, off_by: int) -> None:
        async def go() -> None:
            left = await self.fleeting.run(TimeToLive(key))
            if left is not None:
                self.clock.advance(left + timedelta(milliseconds=off_by))

        self.runner.run(go())

    @rule(crash=st.booleans())
    def restart(self, crash: bool) -> None:
        async def again() -> None:
            before = self.durable
            if crash:
                # What the disk holds at this moment is what a killed process leaves behind.
                here = self._path.parent
                self.lives += 1
                shutil.copytree(here, self._path.parent, ignore=shutil.ignore_patterns("*-shm"))
                self.durable = await self._open()
            await before.close()
            if not crash:
                self.durable = await self._open()
            await self.fleeting.together(*(Delete(key) for key in KEYS if not key.startswith("d")))
            assert await state(self.durable) == await state(self.fleeting)

        self.runner.run(again())

    @invariant()
    def all_keys_are_equal(self) -> None:
        async def look() -> None:
            assert await state(self.durable) == await state(self.fleeting)

        self.runner.run(look())

    @invariant()
    def the_disk_says_what_memory_holds(self) -> None:
        """As after a restart, but without one: it would hide that something was missing until the key is rewritten."""
        kept = self.durable._kept
        assert kept is not None
        with closing(sqlite3.connect(self._path)) as connection:
            replayed, _ = _replay(self._path, ("d",), connection)
        forgotten = kept._rewrite - kept.keys._entries.keys()
        assert {key: entry for key, entry in replayed._entries.items() if key not in forgotten} == kept.keys._entries

    @invariant()
    def memory_is_counted_right(self) -> None:
        assert self.durable._kept is not None
        check_memory(self.durable._kept.keys)
        assert self.durable._kept.used_bytes == self.durable._kept.keys.used_bytes

    def teardown(self) -> None:
        with self.runner:
            try:
                self.restart(crash=True)
            finally:
                self.runner.run(self.durable.close())
                self.runner.run(self.fleeting.close())
                shutil.rmtree(self.folder)


def check_memory(keyspace: Keyspace) -> None:
    """The running totals are what counting everything anew gives."""
    total = mortal = 0
    for key, entry in keyspace._entries.items():
        size = KEY_BYTES + text_bytes(key)
        match entry.content:
            case bytes() as value:
                size += len(value)
            case dict() as fields:
                size += sum(ELEMENT_BYTES + text_bytes(field) + len(value) for field, value in fields.items())
            case set() as members:
                size += sum(ELEMENT_BYTES + text_bytes(member) for member in members)
            case values_:
                size += sum(ELEMENT_BYTES + len(value) for value in values_)
        if not isinstance(entry.content, bytes):
            size += COLLECTION_BYTES
            assert entry.content
        assert entry.size == size
        total += size
        mortal += entry.ends != NEVER
    assert (keyspace.used_bytes, keyspace._mortal) == (total, mortal)


@pytest.mark.services
def test_the_store_in_process_answers_as_redis_does(redis_url: str) -> None:
    InProcessAgainstRedis.url = redis_url
    run_state_machine_as_test(
        InProcessAgainstRedis,
        settings=settings(
            max_examples=20, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
        ),
    )


@pytest.mark.slow
def test_durable_keys_are_after_each_restart_what_they_were() -> None:
    run_state_machine_as_test(
        DurableAgainstFleeting,
        settings=settings(
            max_examples=15, stateful_step_count=25, deadline=None, suppress_health_check=[HealthCheck.too_slow]
        ),
    )
