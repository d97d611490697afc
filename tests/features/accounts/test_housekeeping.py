"""House is kept, and whoever runs the server can see that it is."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from satchel.backup_schedule import BackupSchedule
from satchel.chores import DOUBTED_FOR, Chore, ChoreDone, Housekeeper, repeat
from satchel.config import Settings
from satchel.features.accounts.service.context import SESSION_LIFETIME
from satchel.kernel.clock import ManualClock, iso, system_clock
from satchel.kernel.errors import Unavailable
from satchel.slices import DURABLE_KEYS
from satchel.stores.connect import open_ephemeral
from tests.application import Caller, Satchel, running_satchel
from tests.edge.live.given import eventually

EVERY = timedelta(minutes=10)


async def three() -> int:
    return 3


async def fail() -> int:
    raise OSError("the disk is gone")


CHORES = [Chore("first", fail), Chore("second", three)]


@pytest.fixture
async def keeper(tmp_path: Path) -> AsyncGenerator[Housekeeper]:
    clock = ManualClock()
    ephemeral = await open_ephemeral(Settings(data=tmp_path), clock)
    yield Housekeeper(ephemeral, clock, EVERY)
    await ephemeral.close()


async def test_an_administrator_sees_when_house_was_kept_and_what_was_taken_away(satchel: Satchel, ann: Caller) -> None:
    satchel.clock.advance(SESSION_LIFETIME * 2)
    await satchel.housekeep()
    await ann.sign_in("ann@example.org")
    shown = (await ann("GET", "/administration/housekeeping")).json()
    assert shown["every_seconds"] == 600
    assert shown["last"]["started_at"] == shown["last"]["ended_at"] == iso(satchel.clock())
    removed = {chore["name"]: chore["removed"] for chore in shown["last"]["chores"]}
    assert removed.pop("expired sessions") == 1
    # A stream had the format of the tables, written when the server first started.
    assert removed.pop("expired records and changes") == 1
    assert not any(removed.values())
    assert not any(chore["failed"] for chore in shown["last"]["chores"])


async def test_a_chore_that_fails_is_said_to_and_the_others_are_done(
    keeper: Housekeeper, caplog: pytest.LogCaptureFixture
) -> None:
    assert await keeper.last() is None
    sweep = await keeper.sweep(CHORES)
    assert sweep.chores == [
        ChoreDone(name="first", removed=0, failed=True),
        ChoreDone(name="second", removed=3, failed=False),
    ]
    assert await keeper.last() == sweep
    assert "put off: first" in caplog.text


async def test_the_last_round_is_known_after_a_restart(tmp_path: Path) -> None:
    clock = ManualClock()
    settings = Settings(data=tmp_path)
    before = await open_ephemeral(settings, clock, DURABLE_KEYS)
    sweep = await Housekeeper(before, clock, EVERY).sweep(CHORES)
    await before.close()
    after = await open_ephemeral(settings, clock, DURABLE_KEYS)
    assert await Housekeeper(after, clock, EVERY).last() == sweep
    await after.close()


async def test_what_is_repeated_goes_on_after_it_has_failed() -> None:
    rounds: list[int] = []
    enough = asyncio.Event()

    async def do() -> None:
        rounds.append(len(rounds))
        if len(rounds) == 3:
            enough.set()
        raise OSError("the disk is gone")

    task = asyncio.create_task(repeat(do, timedelta(0)))
    await asyncio.wait_for(enough.wait(), 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert rounds[:3] == [0, 1, 2]


async def test_a_clock_that_is_far_ahead_at_the_start_sweeps_nothing_away_until_it_has_stayed_so(
    tmp_path: Path,
) -> None:
    clock, uptime = ManualClock(), ManualClock(5.0)
    ephemeral = await open_ephemeral(Settings(data=tmp_path), clock)
    await Housekeeper(ephemeral, clock, EVERY).sweep(CHORES)
    right = clock.now
    clock.advance(timedelta(days=60))
    keeper = Housekeeper(ephemeral, clock, EVERY, uptime=uptime)
    last = await keeper.last()
    for _ in range(2):
        assert {(each.removed, each.failed) for each in (await keeper.sweep(CHORES)).chores} == {(0, True)}
        uptime.advance(DOUBTED_FOR - timedelta(seconds=1))
    assert await keeper.last() == last
    assert any(each.removed for each in (await keeper.sweep(CHORES)).chores)
    set_right = Housekeeper(ephemeral, clock, EVERY, uptime=uptime)
    clock.now = right
    assert any(each.removed for each in (await set_right.sweep(CHORES)).chores)
    await ephemeral.close()


@pytest.mark.slow
async def test_a_server_makes_backups_when_they_are_due_and_says_when_it_cannot(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data", backup_to=str(tmp_path / "backups"), backup_keep=1)
    async with running_satchel(settings.data):
        schedule = BackupSchedule(settings, system_clock)
        assert await schedule.begin_if_due() == 0
        await eventually(lambda: any(tmp_path.glob("backups/backups/*")))
        # Nothing is due for a day. Then there is another one, and the older one goes.
        assert await BackupSchedule(settings, system_clock).begin_if_due() == 0
        later = BackupSchedule(settings, lambda: system_clock() + 24 * 3600)
        while not await later.begin_if_due():
            await asyncio.sleep(0.05)
        (tmp_path / "file").write_text("in the way")
        failing = BackupSchedule(replace(settings, backup_to=str(tmp_path / "file")), system_clock)
        with pytest.raises(Unavailable, match="No backup was made"):
            while not await failing.begin_if_due():
                await asyncio.sleep(0.05)
