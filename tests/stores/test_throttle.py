"""A bound on attempts that bites, tells how long to wait, and forgets."""

from datetime import timedelta

import pytest

from satchel.kernel.clock import ManualClock
from satchel.kernel.errors import TooMany
from satchel.stores.embedded.ephemeral_memory import MemoryEphemeral
from satchel.stores.patterns.throttle import Throttle, network_of


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def ephemeral(clock: ManualClock) -> MemoryEphemeral:
    return await MemoryEphemeral.open(clock=clock)


@pytest.fixture
def throttle(ephemeral: MemoryEphemeral) -> Throttle:
    return Throttle(ephemeral, "sign-in", limit=3, window=timedelta(minutes=5))


async def test_one_attempt_too_many_is_refused_with_the_time_to_wait(throttle: Throttle, clock: ManualClock) -> None:
    for _ in range(3):
        await throttle.count("ann")
        clock.advance(10)
    with pytest.raises(TooMany, match="in 5 minutes") as refused:
        await throttle.count("ann")
    assert refused.value.retry_after == 270


async def test_others_are_not_held_back(throttle: Throttle, ephemeral: MemoryEphemeral) -> None:
    for _ in range(3):
        await throttle.count("ann")
    await throttle.count("bob")
    await Throttle(ephemeral, "sign-up", 3, timedelta(minutes=5)).count("ann")


async def test_the_window_ends_though_somebody_keeps_trying(throttle: Throttle, clock: ManualClock) -> None:
    for _ in range(3):
        await throttle.count("ann")
    for _ in range(29):
        clock.advance(10)
        with pytest.raises(TooMany):
            await throttle.count("ann")
    clock.advance(10)
    await throttle.count("ann")


async def test_what_is_forgiven_is_forgotten(throttle: Throttle) -> None:
    for _ in range(3):
        await throttle.count("ann")
    await throttle.forgive("ann")
    await throttle.count("ann")


async def test_the_last_instant_of_a_window_still_says_one_second(throttle: Throttle, clock: ManualClock) -> None:
    for _ in range(3):
        await throttle.count("ann")
    clock.advance(299.9)
    with pytest.raises(TooMany, match="in 1 second") as refused:
        await throttle.count("ann")
    assert refused.value.retry_after == 1


@pytest.mark.parametrize(
    ("address", "subject"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", "unknown"),
        ("unix", "unknown"),
    ],
)
def test_an_address_counts_as_its_household(address: str, subject: str) -> None:
    assert network_of(address) == subject


async def test_to_check_is_no_attempt_and_is_refused_when_one_would_be(throttle: Throttle, clock: ManualClock) -> None:
    for _ in range(3):
        for _ in range(5):
            await throttle.check("ann")
        await throttle.count("ann")
    with pytest.raises(TooMany, match="in 5 minutes"):
        await throttle.check("ann")
    await throttle.check("bob")
    clock.advance(timedelta(minutes=5))
    await throttle.check("ann")
