"""How every ephemeral store lets people wait for values and listen to channels."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta

import pytest

from satchel.kernel.errors import Unavailable
from satchel.stores.ports.ephemeral import (
    MAX_BEHIND_MESSAGES,
    MAX_VALUE_BYTES,
    Delete,
    Ephemeral,
    Exists,
    Get,
    Increment,
    ListPop,
    ListPush,
    ListRange,
    ListSize,
    Message,
    Publish,
    Put,
    SubscriptionLost,
    WrongKind,
)
from tests.stores.harnesses_ephemeral import EphemeralHarness, eventually, pushed, settle

pytest_plugins = ("tests.stores.fixtures_ephemeral",)

LONG = timedelta(seconds=30)
INSTANT = timedelta(milliseconds=30)


async def waiting(store: Ephemeral, key: str = "l", timeout: timedelta = LONG) -> "asyncio.Task[bytes | None]":
    """Somebody who waits, and surely longer than whoever comes next."""
    task = asyncio.create_task(store.wait_pop(key, timeout))
    await settle(store, key)
    return task


async def heard(messages: AsyncIterator[Message], count: int) -> list[bytes]:
    async with asyncio.timeout(20):
        return [(await anext(messages)).body for _ in range(count)]


# Waiting


async def test_a_value_that_is_there_is_taken_at_once_oldest_first(ephemeral: Ephemeral) -> None:
    await pushed(ephemeral, "l", b"1", b"2", b"3")
    assert await ephemeral.wait_pop("l", LONG) == b"1"
    assert await ephemeral.wait_pop("l", timedelta(0)) == b"2"
    assert await ephemeral.wait_pop("l", timedelta(seconds=-1)) == b"3"
    assert await ephemeral.run(Exists("l")) is False


async def test_a_wait_ends_with_what_is_pushed(ephemeral: Ephemeral) -> None:
    task = await waiting(ephemeral)
    assert await ephemeral.run(ListPush("l", b"1")) == 1
    assert await task == b"1"
    assert await ephemeral.run(ListSize("l")) == 0


async def test_a_wait_ends_without_a_value_after_its_time(ephemeral: Ephemeral) -> None:
    assert await ephemeral.wait_pop("l", INSTANT) is None
    assert await ephemeral.wait_pop("l", timedelta(0)) is None
    assert await ephemeral.wait_pop("l", timedelta(days=-1)) is None
    await ephemeral.run(ListPush("l", b"1"))
    assert await ephemeral.run(ListSize("l")) == 1


async def test_whoever_waits_longest_is_served_first(ephemeral: Ephemeral) -> None:
    tasks = [await waiting(ephemeral) for _ in range(4)]
    await pushed(ephemeral, "l", b"1", b"2")
    await ephemeral.together(ListPush("l", b"3"), ListPush("l", b"4"), ListPush("l", b"5"))
    assert await asyncio.gather(*tasks) == [b"1", b"2", b"3", b"4"]
    assert await ephemeral.run(ListRange("l")) == [b"5"]


async def test_a_pop_after_the_push_does_not_overtake_who_waits(ephemeral: Ephemeral) -> None:
    task = await waiting(ephemeral)
    _, popped = await asyncio.gather(ephemeral.run(ListPush("l", b"1")), ephemeral.run(ListPop("l")))
    assert (await task, popped) == (b"1", None)


async def test_what_is_pushed_and_popped_together_is_not_for_who_waits(ephemeral: Ephemeral) -> None:
    task = await waiting(ephemeral)
    assert await ephemeral.together(ListPush("l", b"1"), ListPop("l")) == (1, b"1")
    assert await ephemeral.together(ListPush("l", b"2"), Delete("l"), Put("l", b"text")) == (1, True, True)
    assert await ephemeral.together(Delete("l"), ListPush("l", b"3"), ListPush("l", b"4")) == (True, 1, 2)
    assert await task == b"3"


async def test_a_key_of_another_kind_is_refused_only_at_the_beginning_of_a_wait(ephemeral: Ephemeral) -> None:
    task = await waiting(ephemeral)
    await ephemeral.run(Put("l", b"text"))
    with pytest.raises(WrongKind):
        await ephemeral.wait_pop("l", LONG)
    await ephemeral.together(Delete("l"), ListPush("l", b"1"))
    assert await task == b"1"


async def test_a_cancelled_wait_takes_nothing_away(ephemeral: Ephemeral) -> None:
    first, second = await waiting(ephemeral), await waiting(ephemeral)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    await pushed(ephemeral, "l", b"1", b"2")
    assert await second == b"1"
    assert await ephemeral.run(ListRange("l")) == [b"2"]


async def test_a_wait_cancelled_in_the_moment_of_the_push_takes_nothing_away(ephemeral: Ephemeral) -> None:
    for number in range(40):
        value = b"%d" % number
        task = asyncio.create_task(ephemeral.wait_pop("l", LONG))
        await asyncio.sleep(random.choice([0, 0, 0.002]))
        push = asyncio.create_task(ephemeral.run(ListPush("l", value)))
        for _ in range(number % 8):
            await asyncio.sleep(0)
        task.cancel()
        got: bytes | None = None
        with suppress(asyncio.CancelledError):
            got = await task
        await push
        if got is None:
            await eventually(lambda: ephemeral.run(ListRange("l")), [value])
            await ephemeral.run(Delete("l"))
        else:
            assert got == value
            assert await ephemeral.run(ListRange("l")) == []


async def test_among_many_who_come_and_go_no_value_is_lost_or_doubled(ephemeral: Ephemeral) -> None:
    received: list[bytes] = []
    values = [b"%d" % number for number in range(150)]

    async def reader(patience: timedelta) -> None:
        while len(received) < len(values):
            if (value := await ephemeral.wait_pop("l", patience)) is not None:
                received.append(value)

    async def interrupted_reader() -> None:
        while len(received) < len(values):
            task = asyncio.create_task(ephemeral.wait_pop("l", INSTANT))
            await asyncio.sleep(random.uniform(0, 0.01))
            task.cancel()
            with suppress(asyncio.CancelledError):
                if (value := await task) is not None:
                    received.append(value)

    async def writer(mine: list[bytes]) -> None:
        for value in mine:
            await ephemeral.run(ListPush("l", value))
            await asyncio.sleep(random.uniform(0, 0.002))

    async with asyncio.timeout(60):
        readers = [reader(INSTANT), reader(timedelta(milliseconds=1)), interrupted_reader(), interrupted_reader()]
        await asyncio.gather(*readers, writer(values[::2]), writer(values[1::2]))
    assert sorted(received) == sorted(values)
    assert await ephemeral.run(Exists("l")) is False


async def test_many_who_wait_do_not_hold_up_the_others(ephemeral: Ephemeral) -> None:
    tasks = [asyncio.create_task(ephemeral.wait_pop(f"l{number}", LONG)) for number in range(200)]
    await settle(ephemeral, "l0")
    assert [await ephemeral.run(Increment("n")) for _ in range(50)] == list(range(1, 51))
    await asyncio.gather(*(ephemeral.run(ListPush(f"l{number}", b"%d" % number)) for number in range(200)))
    assert await asyncio.gather(*tasks) == [b"%d" % number for number in range(200)]


async def test_closing_ends_every_wait(ephemeral_harness: EphemeralHarness) -> None:
    store = await ephemeral_harness.open()
    tasks = [await waiting(store), await waiting(store, "other")]
    await store.close()
    for task in tasks:
        with pytest.raises(Unavailable):
            await task


# Listening


async def test_a_subscriber_hears_what_is_published_from_then_on_in_order(ephemeral: Ephemeral) -> None:
    await ephemeral.run(Publish("c", b"before"))
    async with ephemeral.subscribe("c", "ü", "c") as messages:
        for number in range(100):
            await ephemeral.run(Publish("c", b"%d" % number))
        await ephemeral.together(Publish("other", b"no"), Publish("ü", b"\x00\xff"))
        assert await heard(messages, 100) == [b"%d" % number for number in range(100)]
        assert await anext(messages) == Message("ü", b"\x00\xff")
    assert await ephemeral.run(Publish("c", b"after")) is None
    with pytest.raises(StopAsyncIteration):
        await anext(messages)


async def test_all_subscribers_hear_and_leaving_concerns_nobody_else(ephemeral: Ephemeral) -> None:
    async with ephemeral.subscribe("c") as stays:
        async with ephemeral.subscribe("c", "d") as goes:
            await ephemeral.run(Publish("c", b"1"))
            assert await heard(goes, 1) == [b"1"]
        await ephemeral.run(Publish("c", b"2"))
        async with ephemeral.subscribe("c", "d") as comes:
            await ephemeral.together(Publish("c", b"3"), Publish("d", b"4"))
            assert await heard(comes, 2) == [b"3", b"4"]
        assert await heard(stays, 3) == [b"1", b"2", b"3"]


async def test_a_message_comes_after_what_was_done_together_with_it(ephemeral: Ephemeral) -> None:
    async with ephemeral.subscribe("c") as messages:
        for number in range(30):
            value = b"%d" % number
            doing = asyncio.create_task(ephemeral.together(Publish("c", value), Put("k", value)))
            assert await heard(messages, 1) == [value]
            assert await ephemeral.run(Get("k")) == value
            await doing


async def test_a_message_is_sent_even_with_a_command_of_the_wrong_kind(ephemeral: Ephemeral) -> None:
    await ephemeral.run(Put("k", b"text"))
    async with ephemeral.subscribe("c") as messages:
        with pytest.raises(WrongKind):
            await ephemeral.together(Publish("c", b"1"), Increment("k"), Increment("n"))
        assert await heard(messages, 1) == [b"1"]
    assert await ephemeral.run(Get("n")) == b"1"


async def test_a_reader_that_stops_listening_for_a_while_misses_nothing(ephemeral: Ephemeral) -> None:
    async with ephemeral.subscribe("c") as messages:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(messages), INSTANT.total_seconds())
        await ephemeral.run(Publish("c", b"1"))
        assert await heard(messages, 1) == [b"1"]


async def test_a_reader_too_far_behind_is_told_and_others_are_not_concerned(ephemeral: Ephemeral) -> None:
    bodies = [b"%d" % number for number in range(MAX_BEHIND_MESSAGES)]
    async with ephemeral.subscribe("c") as fast, ephemeral.subscribe("c") as just, ephemeral.subscribe("c") as slow:
        await ephemeral.together(*(Publish("c", body) for body in bodies))
        assert await heard(fast, len(bodies)) == bodies
        assert await heard(just, 1) == bodies[:1]
        await ephemeral.run(Publish("c", b"one more"))
        assert await heard(fast, 1) == [b"one more"]
        assert await heard(just, len(bodies)) == [*bodies[1:], b"one more"]
        for _ in range(2):
            with pytest.raises(SubscriptionLost):
                await anext(slow)
    async with ephemeral.subscribe("c") as again:
        await ephemeral.run(Publish("c", b"again"))
        assert await heard(again, 1) == [b"again"]


async def test_a_reader_keeps_up_with_a_publisher_that_never_pauses(ephemeral: Ephemeral) -> None:
    async with ephemeral.subscribe("c") as messages:
        reading = asyncio.create_task(heard(messages, 3 * MAX_BEHIND_MESSAGES))
        for number in range(3 * MAX_BEHIND_MESSAGES):
            await ephemeral.run(Publish("c", b"%d" % number))
        assert (await reading)[-1] == b"%d" % (3 * MAX_BEHIND_MESSAGES - 1)


async def test_a_reader_behind_by_too_many_bytes_is_told_too(ephemeral: Ephemeral) -> None:
    async with ephemeral.subscribe("c") as slow, ephemeral.subscribe("c") as fast:
        for _ in range(9):
            await ephemeral.run(Publish("c", b"x" * MAX_VALUE_BYTES))
            await heard(fast, 1)
        with pytest.raises(SubscriptionLost):
            await anext(slow)


async def test_a_cancelled_subscription_leaves_the_others_alone(ephemeral: Ephemeral) -> None:
    async def subscribe() -> None:
        async with ephemeral.subscribe("c", "d"):
            pass

    async with ephemeral.subscribe("c") as messages:
        for ticks in range(6):
            task = asyncio.create_task(subscribe())
            for _ in range(ticks):
                await asyncio.sleep(0)
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await ephemeral.run(Publish("c", b"1"))
        assert await heard(messages, 1) == [b"1"]


async def test_closing_ends_every_subscription(ephemeral_harness: EphemeralHarness) -> None:
    store = await ephemeral_harness.open()
    async with store.subscribe("c") as messages:
        reading = asyncio.create_task(heard(messages, 1))
        await asyncio.sleep(0)
        await store.close()
        with pytest.raises(Unavailable):
            await reading
        with pytest.raises(Unavailable):
            await anext(messages)
