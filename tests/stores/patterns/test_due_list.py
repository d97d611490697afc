"""What is due is found when its time has come, by one of those who look, and the rest is not looked at."""

from datetime import timedelta

import pytest

from satchel.kernel.clock import Clock, ManualClock
from satchel.stores.patterns.due_list import DueList
from satchel.stores.ports.ephemeral import Ephemeral, Get
from satchel.stores.schema import EphemeralKey

pytest_plugins = ("tests.stores.fixtures_ephemeral",)

SPANS = EphemeralKey("due:{span}", "set", owner="tests", about="An example")
CURSOR = EphemeralKey("due-cursor", "value", owner="tests", about="An example")
LASTS, REACH = timedelta(seconds=5), timedelta(seconds=60)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def listed(ephemeral: Ephemeral, clock: Clock) -> DueList:
    return DueList(ephemeral=ephemeral, clock=clock, spans=SPANS, cursor=CURSOR, lasts=LASTS, reach=REACH)


@pytest.fixture
def due_list(ephemeral: Ephemeral, clock: ManualClock) -> DueList:
    return listed(ephemeral, clock)


async def names(due_list: DueList) -> list[str]:
    return [due.name for due in await due_list.look()]


async def test_a_name_is_found_once_its_time_has_come_and_until_it_is_taken_out(
    due_list: DueList, ephemeral: Ephemeral, clock: ManualClock
) -> None:
    for seconds, name in ((60, "later"), (20, "soon"), (-100, "overdue")):
        await ephemeral.run(due_list.adding(name, clock() + seconds))
    assert await names(due_list) == ["overdue"]
    clock.advance(20)
    first, second = await due_list.look()
    assert (first.name, second.name) == ("overdue", "soon")
    assert await ephemeral.run(due_list.removing(first))
    assert not await ephemeral.run(due_list.removing(first))
    assert await names(due_list) == ["soon"]
    clock.advance(10_000)
    assert await names(due_list) == ["soon", "later"]


async def test_what_is_passed_is_not_read_again_however_long_nobody_looked(
    due_list: DueList, ephemeral: Ephemeral, clock: ManualClock
) -> None:
    await names(due_list)
    await ephemeral.run(due_list.adding("last", clock() + 20_000))
    clock.advance(20_100)
    assert await names(due_list) == ["last"]
    (due,) = await due_list.look()
    await ephemeral.run(due_list.removing(due))
    assert await names(due_list) == []
    assert await ephemeral.run(Get(CURSOR())) == str(due_list.span_of(clock()) - 2).encode()


async def test_a_server_whose_clock_is_a_little_behind_is_not_missed(
    due_list: DueList, ephemeral: Ephemeral, clock: ManualClock
) -> None:
    for _ in range(3):
        await names(due_list)
        clock.advance(LASTS)
    behind = listed(ephemeral, lambda: clock() - LASTS.total_seconds())
    await ephemeral.run(behind.adding("here", clock() - 100))
    assert await names(due_list) == ["here"]
