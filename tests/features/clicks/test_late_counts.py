"""Counts that a busy recorder writes late: whoever reads them finds them right, and no crash or failure loses one."""

import asyncio
import random
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path
from types import ModuleType

import pytest

from satchel.config import Settings
from satchel.data_copy import copy_data
from satchel.features.clicks.model import KINDS, NewClick, Period
from satchel.features.clicks.records import DATE_INDEX, LAST, SITE, count_key
from satchel.features.clicks.service.click_erase import erase_person
from satchel.features.clicks.service.click_list import clicks_of
from satchel.features.clicks.service.click_record import create_total, record
from satchel.features.clicks.service.context import Clicks
from satchel.features.clicks.service.counts import link_scope
from satchel.features.clicks.service.embedded import recorder, stored_counts
from satchel.features.clicks.service.embedded.recorder import EmbeddedRecorder
from satchel.features.clicks.service.embedded.stored_counts import MOST_STEPS, StoredCounts
from satchel.kernel.clock import ManualClock, iso
from satchel.kernel.errors import Unavailable
from satchel.stores.connect import bulk_of, open_tables
from satchel.stores.embedded.ephemeral_memory import MemoryEphemeral
from satchel.stores.ports.bulk import Step
from satchel.stores.ports.table import StartsWith, Tables
from satchel.stores.ports.whole_stores import ScansTables
from satchel.tables import CLICKS, COUNTS, TABLES
from tests.features.clicks.figures_check import check_figures
from tests.features.clicks.given import counting
from tests.features.hearing import heard_by

NOON = 1_900_000_000 - 1_900_000_000 % 86400 + 12 * 3600.0
DAY = date.fromisoformat(iso(NOON)[:10])
YESTERDAY = DAY - timedelta(days=1)
LATE_STEPS = 7
KEY = count_key(SITE, f"DAY:{DAY}")
STAT = {"userId": "STAT#DAILY", "createDateTime": DAY.isoformat()}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOON)


@pytest.fixture
async def clicks(tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Clicks]:
    # However slow this machine is.
    monkeypatch.setattr(recorder, "WRITTEN_WITHIN_SECONDS", 600.0)
    async with counting(tmp_path, clock) as clicks:
        await create_total(clicks)
        yield clicks


def some_click(number: int) -> NewClick:
    """One of three people on one of two links, on one of two days."""
    link = number % 2
    return NewClick(
        user_id=f"user-{number % 3}",
        at=iso(NOON - 86400 * (number // 2 % 2)),
        count=1 + number % 4,
        kind=KINDS[number % len(KINDS)],
        target=f"link-{link}",
        thing="file:1",
        owner=f"owner-{link}",
    )


async def keep_busy(clicks: Clicks, folder: Path, *, steps: int = 1 + LATE_STEPS) -> None:
    """Steps that follow each other at once; all but the first leave their counts to a later one."""
    for number in range(steps):
        await record(clicks, [some_click(number)])
    assert unwritten(folder) == steps - 1


def unwritten(folder: Path) -> int:
    """How many steps have not written their counts, read past the store so that nothing is written before."""
    with closing(sqlite3.connect(folder / "satchel.db")) as connection:
        ((table,),) = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE ?", (f"%:{COUNTS.name}",)
        ).fetchall()
        return connection.execute(f'SELECT count(*) FROM "{table}" WHERE pk = ?', (b"GROWTH",)).fetchone()[0]


def crashed_copy(folder: Path) -> Path:
    """What a crash at this moment would leave, in a folder of its own."""
    copy = folder / "crashed"
    copy.mkdir()
    with (
        closing(sqlite3.connect(folder / "satchel.db")) as here,
        closing(sqlite3.connect(copy / "satchel.db")) as there,
    ):
        here.backup(there)
    assert unwritten(copy) == unwritten(folder) > 0
    return copy


async def _get(tables: Tables) -> object:
    return (await tables.get(COUNTS, KEY) or {})["totalClicks"]


async def _get_many(tables: Tables) -> object:
    rows = await tables.get_many(COUNTS, [LAST.key(scope="nobody"), KEY])
    return (rows[1] or {})["totalClicks"]


async def _query(tables: Tables) -> object:
    (row,) = (await tables.query(COUNTS, KEY["PK"], StartsWith(f"DAY:{DAY}"))).items
    return row["totalClicks"]


async def _scan(tables: Tables) -> object:
    assert isinstance(tables, ScansTables)
    (row,) = [item for item in (await tables.scan(COUNTS, limit=1000)).items if KEY.items() <= item.items()]
    return row["totalClicks"]


async def _stat(tables: Tables) -> object:
    return (await tables.get(CLICKS, STAT) or {})["totalClicks"]


async def _stat_by_index(tables: Tables) -> object:
    (row,) = (await tables.query(CLICKS, f"DATE#{DAY}", StartsWith("STAT#"), index=DATE_INDEX)).items
    return row["totalClicks"]


@pytest.mark.parametrize("read", [_get, _get_many, _query, _scan, _stat, _stat_by_index])
async def test_whoever_reads_finds_every_acknowledged_click(
    clicks: Clicks, tmp_path: Path, read: Callable[[Tables], Awaitable[object]]
) -> None:
    await keep_busy(clicks, tmp_path)
    sent = [some_click(number) for number in range(1 + LATE_STEPS)]
    assert await read(clicks.tables) == sum(each.count for each in sent if (each.at or "") >= DAY.isoformat())
    assert unwritten(tmp_path) == 0
    await check_figures(clicks.tables, YESTERDAY, DAY)


async def test_reading_clicks_or_other_rows_waits_for_no_counts(clicks: Clicks, tmp_path: Path) -> None:
    await keep_busy(clicks, tmp_path)
    assert len((await clicks_of(clicks, "user-0", None, None, limit=10, cursor=None)).records) == 3
    assert await clicks.tables.get(COUNTS, {"PK": "COUNTER#none", "SK": "-"}) is None
    assert unwritten(tmp_path) == LATE_STEPS


async def test_counts_are_written_by_themselves_once_nothing_more_comes(clicks: Clicks, tmp_path: Path) -> None:
    await keep_busy(clicks, tmp_path)
    async with asyncio.timeout(10):
        while unwritten(tmp_path):
            await asyncio.sleep(0.01)


async def test_owners_hear_of_all_clicks(tmp_path: Path, clock: ManualClock) -> None:
    ephemeral = await MemoryEphemeral.open(clock=clock)
    async with (
        counting(tmp_path, clock, ephemeral=ephemeral) as clicks,
        heard_by(ephemeral, "owner-1") as hearing,
    ):
        sent = [some_click(number) for number in range(30)]
        for each in sent:
            await record(clicks, [each])
        heard = {"total": 0}
        async with asyncio.timeout(10):
            while heard["total"] < sum(each.count for each in sent if each.owner == "owner-1"):
                heard = await hearing.next()
        today = [each for each in sent if each.owner == "owner-1" and each.at == iso(NOON)]
        assert heard["today"] == sum(each.count for each in today)


async def test_many_at_once_are_counted_while_others_read(clicks: Clicks) -> None:
    chance = random.Random(1)

    async def send() -> None:
        for _ in range(30):
            await record(clicks, [some_click(chance.randrange(1000)) for _ in range(chance.randint(1, 5))])

    async def read() -> None:
        seen = 0
        for _ in range(30):
            count = (await clicks.tables.get(COUNTS, KEY) or {}).get("totalClicks", 0)
            assert count >= seen
            seen = count

    await asyncio.gather(*(send() for _ in range(20)), read(), read())
    await check_figures(clicks.tables, YESTERDAY, DAY)


async def test_no_more_steps_than_the_bound_are_unwritten(clicks: Clicks, tmp_path: Path) -> None:
    seen = set[int]()
    for number in range(2 * MOST_STEPS):
        await record(clicks, [some_click(number)])
        seen.add(unwritten(tmp_path))
    assert seen == set(range(MOST_STEPS + 1))
    await check_figures(clicks.tables, YESTERDAY, DAY)


@pytest.mark.parametrize(
    ("module", "bound"),
    [
        (stored_counts, "MOST_STEPS"),
        (stored_counts, "MOST_SORTS"),
        (stored_counts, "MOST_STEP_BYTES"),
        (recorder, "WRITTEN_WITHIN_SECONDS"),
    ],
)
async def test_beyond_a_bound_counts_are_written_at_once(
    clicks: Clicks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: ModuleType, bound: str
) -> None:
    monkeypatch.setattr(module, bound, 0)
    for number in range(10):
        await record(clicks, [some_click(number)])
        assert unwritten(tmp_path) == 0
    await check_figures(clicks.tables, YESTERDAY, DAY)


async def test_counts_that_are_no_longer_kept_in_memory_are_read_again(
    clicks: Clicks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_counts, "MOST_KEPT", 10)
    for _ in range(3):
        await keep_busy(clicks, tmp_path)
        await check_figures(clicks.tables, YESTERDAY, DAY)
        # Until the recorder is idle, so that it begins anew.
        await asyncio.sleep(0.01)


# Crashes and failures


async def _read_figures(clicks: Clicks) -> None:
    await clicks.tables.get(COUNTS, KEY)


async def _record_more(clicks: Clicks) -> None:
    for number in range(100, 105):
        await record(clicks, [some_click(number)])


async def _take_back(clicks: Clicks) -> None:
    # Not the newest: that a scope was clicked then is kept.
    oldest = (await clicks_of(clicks, "user-1", None, None, limit=10, cursor=None)).records[-1:]
    assert await clicks.recorder.take_back(oldest, 0) == 1


async def _rebuild(clicks: Clicks) -> None:
    await clicks.recorder.rebuild(Period.of_day(DAY))


async def _forget_in_vain(clicks: Clicks) -> None:
    """A step that fails after it has written what was unwritten."""

    def fail(step: Step) -> None:
        assert isinstance(clicks.recorder, EmbeddedRecorder)
        clicks.recorder.forget(step)
        raise ValueError("no")

    bulk = bulk_of(clicks.tables)
    assert bulk is not None
    with pytest.raises(ValueError, match="no"):
        await bulk.in_one_step(fail)


ACTS = [_read_figures, _record_more, _take_back, _rebuild, _forget_in_vain]


@pytest.mark.parametrize("act", ACTS)
async def test_what_a_crash_leaves_unwritten_is_counted_by_the_next_run(
    clicks: Clicks, tmp_path: Path, clock: ManualClock, act: Callable[[Clicks], Awaitable[None]]
) -> None:
    await keep_busy(clicks, tmp_path)
    copy = crashed_copy(tmp_path)
    async with counting(copy, clock) as again:
        await act(again)
        await record(again, [some_click(7)])
        assert len(await check_figures(again.tables, YESTERDAY, DAY)) > LATE_STEPS // 2
    assert unwritten(copy) == 0


@pytest.mark.parametrize("act", ACTS)
async def test_steps_that_change_counts_themselves_find_them_whole(
    clicks: Clicks, tmp_path: Path, act: Callable[[Clicks], Awaitable[None]]
) -> None:
    await keep_busy(clicks, tmp_path)
    await asyncio.gather(act(clicks), record(clicks, [some_click(8)]))
    await record(clicks, [some_click(9)])
    await record(clicks, [some_click(10)])
    await check_figures(clicks.tables, YESTERDAY, DAY)


async def test_erasing_a_person_loses_no_count(clicks: Clicks, tmp_path: Path) -> None:
    await keep_busy(clicks, tmp_path)
    before = sum(some_click(number).count for number in range(1 + LATE_STEPS))
    assert await erase_person(clicks, "user-0") == 3
    total = await clicks.tables.get(COUNTS, count_key(SITE, "ALL"))
    assert (total or {})["totalClicks"] == before


@pytest.mark.parametrize("failing", ["add", "write"])
async def test_after_a_step_that_fails_counts_are_as_they_are_stored(
    clicks: Clicks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    await keep_busy(clicks, tmp_path)
    fail = failing_after(getattr(StoredCounts, failing))
    with monkeypatch.context() as patched:
        patched.setattr(StoredCounts, failing, fail)
        if failing == "add":
            with pytest.raises(Unavailable):
                await record(clicks, [some_click(20)])
        # Nobody is told figures that are not so.
        with pytest.raises(Unavailable):
            await clicks.tables.get(COUNTS, KEY)
        assert unwritten(tmp_path) == LATE_STEPS
    for number in range(30, 33):
        await record(clicks, [some_click(number)])
    assert len(await check_figures(clicks.tables, YESTERDAY, DAY)) == 1 + LATE_STEPS + 3


async def test_a_step_that_changes_counts_finds_nothing_of_one_that_failed(
    clicks: Clicks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keep_busy(clicks, tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(StoredCounts, "add", failing_after(StoredCounts.add))
        with pytest.raises(Unavailable):
            await record(clicks, [some_click(20)])
    await _take_back(clicks)
    await check_figures(clicks.tables, YESTERDAY, DAY)


def failing_after(work: Callable[..., object]) -> Callable[..., None]:
    def fail(*given: object, **named: object) -> None:
        work(*given, **named)
        raise OSError("disk full")

    return fail


async def test_a_copy_of_a_busy_servers_data_has_every_count(
    clicks: Clicks, tmp_path: Path, clock: ManualClock
) -> None:
    await clicks.tables.create(*TABLES)
    await keep_busy(clicks, tmp_path)
    source = Settings(data=crashed_copy(tmp_path))
    target = Settings(data=tmp_path / "target")
    target.data.mkdir()
    done = await copy_data(source, target, tmp_path / "progress", clock, lambda _items, _bytes: None, finish=True)
    assert done.finished
    # Without a recorder, as another store would have it.
    tables = await open_tables(target, clock)
    try:
        assert len(await check_figures(tables, YESTERDAY, DAY)) == 1 + LATE_STEPS
        assert await tables.get(COUNTS, count_key(link_scope("link-1"), "ALL")) is not None
        assert not (await tables.query(COUNTS, "GROWTH")).items
    finally:
        await tables.close()
