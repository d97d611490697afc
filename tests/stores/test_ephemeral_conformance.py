"""What every ephemeral store does, each clause of the contract quoted by its name."""

import asyncio
import inspect
import re
import sys
from datetime import timedelta
from typing import Any

import pytest

from satchel.kernel.errors import Invalid, OutOfSpace, Unavailable
from satchel.stores.ports import ephemeral as contract
from satchel.stores.ports.ephemeral import (
    MAX_KEY_BYTES,
    MAX_VALUE_BYTES,
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
    WrongKind,
)
from tests.stores.harnesses_ephemeral import OUTLIVES_ITS_PROCESS, SMALL_BYTES, EphemeralHarness, pushed

pytest_plugins = ("tests.stores.fixtures_ephemeral",)

MOST = 2**63 - 1
LEAST = -(2**63)
SHORT = timedelta(milliseconds=60)
LONG = timedelta(hours=1)


def test_every_clause_of_the_contract_is_quoted_by_a_test() -> None:
    clauses = set(re.findall(r"^- (\*\w+\*):", inspect.getdoc(contract) or "", re.MULTILINE))
    tests = inspect.getmembers(sys.modules[__name__], inspect.isfunction)
    quoted = {clause for _, test in tests for clause in re.findall(r"\*\w+\*", test.__doc__ or "")}
    assert clauses == quoted


async def test_commands_run_together_are_answered_in_order(ephemeral: Ephemeral) -> None:
    """*atomic*"""
    answers = await ephemeral.together(Increment("n"), ListPush("l", b"x"), ListPop("l"), Increment("n"), Get("n"))
    assert answers == (1, 1, b"x", 2, b"2")
    assert await ephemeral.together() == ()


async def test_nobody_sees_a_part_of_what_is_done_together(
    ephemeral_harness: EphemeralHarness, ephemeral: Ephemeral
) -> None:
    """*atomic*"""
    await ephemeral.together(Put("a", b"0"), Put("b", b"0"))

    async def write(writer: int) -> None:
        for number in range(40):
            value = b"%d-%d" % (writer, number)
            await ephemeral.together(Put("a", value), ListPush("l", value), Put("b", value))

    async def read() -> None:
        for _ in range(100):
            a, pushes, b = await ephemeral.together(Get("a"), ListRange("l", 0, 0), Get("b"))
            assert a == b
            assert pushes in ([], [a])
            await asyncio.sleep(0)

    await asyncio.gather(*(write(writer) for writer in range(4)), read(), read())
    assert await ephemeral.run(ListSize("l")) == 160


KEYS_OF_EACH_KIND: dict[str, Command[Any]] = {
    "value": Put("k", b"1"),
    "hash": HashPut("k", {"f": b"1"}),
    "set": SetAdd("k", "f"),
    "list": ListPush("k", b"1"),
}
COMMANDS_FOR_EACH_KIND: dict[str, list[Command[Any]]] = {
    "value": [Get("k"), Increment("k")],
    "hash": [
        HashPut("k", {"g": b"2"}),
        HashGet("k", "f"),
        HashAll("k"),
        HashDelete("k", "f"),
        HashIncrement("k", "f"),
    ],
    "set": [SetAdd("k", "g"), SetRemove("k", "f"), SetHas("k", "f"), SetAll("k"), SetSize("k")],
    "list": [ListPush("k", b"2"), ListPop("k"), ListRange("k"), ListTrim("k", 0, 0), ListSize("k")],
}


@pytest.mark.parametrize("held", KEYS_OF_EACH_KIND)
async def test_a_command_for_another_kind_is_refused_and_changes_nothing(ephemeral: Ephemeral, held: str) -> None:
    """*kinds*"""
    await ephemeral.together(KEYS_OF_EACH_KIND[held], Expire("k", LONG))
    for kind, commands in COMMANDS_FOR_EACH_KIND.items():
        for command in commands:
            if kind != held:
                with pytest.raises(WrongKind):
                    await ephemeral.run(command)
    if held != "list":
        with pytest.raises(WrongKind):
            await ephemeral.wait_pop("k", LONG)
    assert await ephemeral.run(TimeToLive("k")) is not None
    looks: dict[str, Command[Any]] = {
        "value": Get("k"),
        "hash": HashAll("k"),
        "set": SetAll("k"),
        "list": ListRange("k"),
    }
    expected = {"value": b"1", "hash": {"f": b"1"}, "set": frozenset({"f"}), "list": [b"1"]}
    assert await ephemeral.run(looks[held]) == expected[held]
    for command in COMMANDS_FOR_EACH_KIND[held]:
        await ephemeral.run(command)


async def test_a_value_may_take_the_place_of_any_kind(ephemeral: Ephemeral) -> None:
    """*kinds*"""
    for command in KEYS_OF_EACH_KIND.values():
        await ephemeral.run(Delete("k"))
        await ephemeral.run(command)
        assert await ephemeral.run(Put("k", b"new")) is True
        assert await ephemeral.run(Get("k")) == b"new"


async def test_what_is_done_together_with_a_wrong_kind_still_happens(ephemeral: Ephemeral) -> None:
    """*kinds*"""
    await ephemeral.run(Put("v", b"text"))
    with pytest.raises(WrongKind):
        await ephemeral.together(Put("before", b"1"), SetAdd("v", "m"), Increment("v"), Put("after", b"2"))
    assert await ephemeral.together(Get("before"), Get("v"), Get("after")) == (b"1", b"text", b"2")


@pytest.mark.parametrize(
    ("fill", "empty"),
    [
        (HashPut("k", {"f": b"1"}), HashDelete("k", "f")),
        (SetAdd("k", "m"), SetRemove("k", "m")),
        (ListPush("k", b"1"), ListPop("k")),
        (ListPush("k", b"1"), ListTrim("k", 1, 0)),
    ],
)
async def test_losing_the_last_element_makes_a_key_absent_and_its_expiry_too(
    ephemeral: Ephemeral, fill: Command[Any], empty: Command[Any]
) -> None:
    """*vanishing*"""
    await ephemeral.run(fill)
    await ephemeral.run(Expire("k", LONG))
    await ephemeral.run(empty)
    assert await ephemeral.run(Exists("k")) is False
    await ephemeral.run(fill)
    assert await ephemeral.run(TimeToLive("k")) is None
    await ephemeral.run(empty)
    assert await ephemeral.run(Put("k", b"another kind")) is True


@pytest.mark.parametrize("key", KEYS_OF_EACH_KIND.values(), ids=KEYS_OF_EACH_KIND)
async def test_a_key_is_absent_from_the_instant_its_time_to_live_ends(
    ephemeral_harness: EphemeralHarness, ephemeral: Ephemeral, key: Command[Any]
) -> None:
    """*expiring*"""
    await ephemeral.run(key)
    assert await ephemeral.run(Expire("k", SHORT)) is True
    assert await ephemeral.run(Exists("k")) is True
    await ephemeral_harness.advance(SHORT.total_seconds())
    assert await ephemeral.together(Exists("k"), TimeToLive("k"), Delete("k")) == (False, None, False)
    assert await ephemeral.run(Expire("k", SHORT)) is False
    await ephemeral.run(key)
    assert await ephemeral.run(TimeToLive("k")) is None


async def test_what_has_ended_is_absent_for_every_command(
    ephemeral_harness: EphemeralHarness, ephemeral: Ephemeral
) -> None:
    """*expiring*"""

    async def ended(*keys: Command[Any]) -> None:
        await ephemeral.together(*keys, *(Expire(key, SHORT) for key in ("v", "h", "s", "l")))
        await ephemeral_harness.advance(SHORT.total_seconds())

    filled = (Put("v", b"7"), HashPut("h", {"f": b"7"}), SetAdd("s", "m"), ListPush("l", b"7"))
    await ended(*filled)
    assert await ephemeral.together(Get("v"), HashGet("h", "f"), HashAll("h"), SetHas("s", "m")) == (
        None,
        None,
        {},
        False,
    )
    assert await ephemeral.together(SetAll("s"), SetSize("s"), ListRange("l"), ListSize("l")) == (frozenset(), 0, [], 0)
    await ended(*filled)
    assert await ephemeral.together(HashDelete("h", "f"), SetRemove("s", "m"), ListPop("l")) == (False, False, None)
    await ended(*filled)
    assert await ephemeral.together(Increment("v"), HashPut("h", {"g": b"1"})) == (1, 1)
    assert await ephemeral.together(SetAdd("s", "m"), ListPush("l", b"1")) == (True, 1)
    assert await ephemeral.together(HashAll("h"), TimeToLive("h"), TimeToLive("v")) == ({"g": b"1"}, None, None)
    await ended(*filled)
    assert await ephemeral.run(Put("v", b"1", only_if_absent=True)) is True


async def test_putting_forgets_the_expiry_and_everything_else_keeps_it(ephemeral: Ephemeral) -> None:
    """*expiring*"""
    await ephemeral.run(Put("k", b"1", ttl=LONG))
    await ephemeral.run(Increment("k"))
    assert await ephemeral.run(TimeToLive("k")) is not None
    await ephemeral.run(Put("k", b"1"))
    assert await ephemeral.run(TimeToLive("k")) is None
    await ephemeral.together(HashPut("h", {"f": b"1"}), SetAdd("s", "m"), ListPush("l", b"1"), ListPush("l", b"2"))
    await ephemeral.together(*(Expire(key, LONG) for key in "hsl"))
    await ephemeral.together(HashPut("h", {"g": b"1"}), HashIncrement("h", "f"), HashDelete("h", "f"), SetAdd("s", "n"))
    await ephemeral.together(SetRemove("s", "m"), ListPush("l", b"3"), ListPop("l"), ListTrim("l", 0, 0))
    for key in "hsl":
        left = await ephemeral.run(TimeToLive(key))
        assert left is not None and timedelta(minutes=59) < left <= LONG


async def test_the_time_to_live_counts_down(ephemeral_harness: EphemeralHarness, ephemeral: Ephemeral) -> None:
    """*expiring*"""
    await ephemeral.run(Put("k", b"1", ttl=timedelta(milliseconds=150)))
    await ephemeral_harness.advance(0.05)
    left = await ephemeral.run(TimeToLive("k"))
    assert left is not None and timedelta(0) < left <= timedelta(milliseconds=100)


async def test_an_expiry_can_be_moved_or_left_alone(ephemeral_harness: EphemeralHarness, ephemeral: Ephemeral) -> None:
    """*expiring*"""
    await ephemeral.run(Put("k", b"1"))
    assert await ephemeral.run(Expire("k", SHORT, only_if_unset=True)) is True
    assert await ephemeral.run(Expire("k", LONG, only_if_unset=True)) is False
    assert await ephemeral.run(Expire("k", LONG)) is True
    await ephemeral_harness.advance(SHORT.total_seconds())
    assert await ephemeral.run(Get("k")) == b"1"
    assert await ephemeral.run(Expire("absent", LONG)) is False
    assert await ephemeral.run(Expire("absent", LONG, only_if_unset=True)) is False


@pytest.mark.parametrize("ttl", [timedelta(0), timedelta(microseconds=-1), timedelta(days=-900_000_000)])
async def test_a_time_that_is_not_positive_ends_a_key_at_once(ephemeral: Ephemeral, ttl: timedelta) -> None:
    """*expiring*"""
    await ephemeral.run(Put("k", b"1"))
    assert await ephemeral.together(Expire("k", ttl), Exists("k")) == (True, False)
    await ephemeral.run(Put("k", b"old"))
    assert await ephemeral.run(Put("k", b"new", ttl, only_if_absent=True)) is False
    assert await ephemeral.together(Put("k", b"new", ttl), Get("k")) == (True, None)


async def test_the_shortest_and_the_longest_time_are_kept(
    ephemeral_harness: EphemeralHarness, ephemeral: Ephemeral
) -> None:
    """*expiring*"""
    assert await ephemeral.run(Put("k", b"1", timedelta(microseconds=1))) is True
    await ephemeral_harness.advance(0.001)
    assert await ephemeral.run(Exists("k")) is False
    await ephemeral.run(Put("k", b"1", timedelta.max))
    left = await ephemeral.run(TimeToLive("k"))
    assert left is not None and left > timedelta(days=365 * 10_000)


@pytest.mark.parametrize("key", ["k", "k" * MAX_KEY_BYTES, "ü" * (MAX_KEY_BYTES // 2), "a:b#c d\n\x00\x7f𝄞"])
async def test_keys_of_up_to_1024_bytes_are_fine(ephemeral: Ephemeral, key: str) -> None:
    """*bounded*"""
    await ephemeral.run(Put(key, b"1"))
    assert await ephemeral.run(Get(key)) == b"1"


@pytest.mark.parametrize("key", ["", "k" * (MAX_KEY_BYTES + 1), "ü" * (MAX_KEY_BYTES // 2 + 1), "\ud800"])
async def test_other_keys_are_refused(ephemeral: Ephemeral, key: str) -> None:
    """*bounded*"""
    commands: list[Command[Any]] = [Put(key, b"1"), Get(key), Delete(key), ListRange(key), Publish(key, b"1")]
    for command in commands:
        with pytest.raises(Invalid):
            await ephemeral.run(command)
    with pytest.raises(Invalid):
        await ephemeral.wait_pop(key, LONG)
    with pytest.raises(Invalid):
        async with ephemeral.subscribe(key):
            pass


async def test_values_of_up_to_8_mib_are_fine_and_more_is_refused(ephemeral: Ephemeral) -> None:
    """*bounded*"""
    most, more = b"x" * MAX_VALUE_BYTES, b"x" * (MAX_VALUE_BYTES + 1)
    await ephemeral.together(Put("v", most), HashPut("h", {"f": most}), ListPush("l", most))
    assert await ephemeral.together(Get("v"), HashGet("h", "f"), ListPop("l")) == (most, most, most)
    too_much: list[Command[Any]] = [Put("v", more), HashPut("h", {"f": more}), ListPush("l", more), Publish("c", more)]
    too_much += [SetAdd("s", more.decode()), HashPut("h", {more.decode(): b""}), SetAdd("s", "\udfff")]
    for command in too_much:
        with pytest.raises(Invalid):
            await ephemeral.run(command)
    assert await ephemeral.together(Get("v"), Exists("l"), Exists("s")) == (most, False, False)


async def test_numbers_beyond_64_bits_and_empty_requests_are_refused(ephemeral: Ephemeral) -> None:
    """*bounded*"""
    refused: list[Command[Any]] = [Increment("k", MOST + 1), HashIncrement("k", "f", LEAST - 1), HashPut("k", {})]
    refused += [ListRange("k", 0, MOST + 1), ListTrim("k", LEAST - 1, 0)]
    for command in refused:
        with pytest.raises(Invalid):
            await ephemeral.run(command)
    with pytest.raises(Invalid):
        async with ephemeral.subscribe():
            pass


async def test_one_refused_command_keeps_all_of_them_from_happening(ephemeral: Ephemeral) -> None:
    """*bounded*"""
    with pytest.raises(Invalid):
        await ephemeral.together(Put("a", b"1"), Put("", b"2"))
    assert await ephemeral.run(Exists("a")) is False


async def test_a_full_store_refuses_what_needs_memory_but_reads_and_deletes(
    ephemeral_harness: EphemeralHarness,
) -> None:
    """*bounded*"""
    async with ephemeral_harness.open_small() as store:
        stored = 0
        with pytest.raises(OutOfSpace):
            while stored * 10_000 < SMALL_BYTES:
                await store.run(Put(f"k{stored}", b"x" * 10_000))
                stored += 1
        growing: list[Command[Any]] = [ListPush("l", b"x" * 10_000), HashPut("h", {"f": b"x" * 10_000})]
        for command in (*growing, SetAdd("s", "m" * 10_000)):
            with pytest.raises(OutOfSpace):
                await store.run(command)
        with pytest.raises(OutOfSpace):
            await store.together(Delete("k0"), Put("a", b"x" * 10_000), Put("b", b"x" * 100_000))
        assert await store.together(Exists("k0"), Exists("a")) == (True, False)
        assert await store.run(Get("k1")) == b"x" * 10_000
        assert await store.run(Expire("k1", LONG)) is True
        for number in range(stored):
            assert await store.run(Delete(f"k{number}")) is True
        assert await store.run(Put("k", b"x" * 10_000)) is True


async def test_what_nobody_reads_any_more_makes_room(ephemeral_harness: EphemeralHarness) -> None:
    """*bounded*"""
    async with ephemeral_harness.open_small() as store:
        for turn in range(5):
            for number in range(60):
                await store.run(Put(f"k{turn}-{number}", b"x" * 10_000, SHORT))
            await ephemeral_harness.advance(SHORT.total_seconds() + 0.2)


async def test_what_is_durable_survives_a_restart(ephemeral_harness: EphemeralHarness) -> None:
    """*kept*"""
    store = await ephemeral_harness.open()
    await store.together(Put("v", b"1"), HashPut("h", {"f": b"1"}), SetAdd("s", "m"), Put("mortal", b"1", SHORT))
    await pushed(store, "l", b"1", b"2", b"3")
    await store.together(ListPop("l"), Increment("v"), Expire("h", LONG), Put("gone", b"1"))
    await store.run(Delete("gone"))
    await store.close()
    await ephemeral_harness.advance(SHORT.total_seconds())
    again = await ephemeral_harness.open()
    if OUTLIVES_ITS_PROCESS in ephemeral_harness.promises:
        assert await again.together(Get("v"), HashAll("h"), SetAll("s")) == (b"2", {"f": b"1"}, frozenset({"m"}))
        assert await again.together(ListRange("l"), Exists("mortal"), Exists("gone")) == ([b"3", b"2"], False, False)
        left = await again.run(TimeToLive("h"))
        assert left == LONG - SHORT
    await again.close()


async def test_a_closed_store_says_that_it_is_unavailable(ephemeral_harness: EphemeralHarness) -> None:
    """*failing*"""
    store = await ephemeral_harness.open()
    await store.close()
    await store.close()
    with pytest.raises(Unavailable):
        await store.run(Get("k"))
    with pytest.raises(Unavailable):
        await store.together(Put("k", b"1"), Put("l", b"1"))
    with pytest.raises(Unavailable):
        await store.wait_pop("k", LONG)
    with pytest.raises(Unavailable):
        async with store.subscribe("c"):
            pass
