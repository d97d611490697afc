"""A recount puts right whatever was wrong, changes nothing that was right, and never guesses."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from satchel.features.clicks.model import Period, PeriodGone
from satchel.features.clicks.records import COUNT, ONE_SLOT, SITE, TOTAL_CLICKS, UNIQUE_USERS
from satchel.features.clicks.service.click_erase import erase_old_clicks, erase_person
from satchel.features.clicks.service.context import Clicks
from satchel.features.clicks.service.counts import link_scope, owner_scope, read_sum, thing_scope
from satchel.features.clicks.service.embedded.rebuild import rebuild
from satchel.features.clicks.service.embedded.recorder import EmbeddedRecorder
from satchel.kernel.clock import ManualClock
from satchel.kernel.errors import Conflict, Invalid
from satchel.stores.connect import bulk_of
from satchel.stores.ports.expressions import assign
from satchel.stores.ports.table import Item, Page
from satchel.tables import CLICKS, COUNTS
from tests.application import Caller, Satchel, running_satchel
from tests.features.clicks.given import Past, at, click, counting, happen
from tests.features.transfers.given import slug

SCOPES = (SITE, owner_scope("ann"), owner_scope("bob"), link_scope("l"), thing_scope("ann", "file:f"))
STATS = ("STAT#DAILY", "STAT#MONTHLY", "STAT#TOTAL")
MARCH, APRIL = Period.of_month(2030, 3), Period.of_month(2030, 4)
DAY = Period.of_day(date(2030, 3, 31))


async def figures(clicks: Clicks) -> list[Item]:
    """Every row of counts and statistics that there is for the scopes used here."""
    pages = [
        await clicks.tables.query(COUNTS, COUNT.keys["PK"].render({"scope": scope}), limit=1000) for scope in SCOPES
    ]
    pages += [await clicks.tables.query(CLICKS, stat) for stat in STATS]
    return [item for page in pages for item in page.items]


async def kept_times(clicks: Clicks, user_id: str) -> list[str]:
    return [item["createDateTime"] for item in (await clicks.tables.query(CLICKS, user_id)).items]


async def spoil(clicks: Clicks, scope: str, period: str, **wrong: int) -> None:
    key = COUNT.key(scope=scope, period=period, slot=ONE_SLOT)
    await clicks.tables.update(COUNTS, key, [assign(name, number) for name, number in wrong.items()])


def pasts() -> st.SearchStrategy[list[Past]]:
    made = st.builds(
        Past,
        when=st.integers(0, 5 * 24 * 4).map(lambda quarter: at("2030-03-29") + quarter * 900),
        user_id=st.sampled_from("abc"),
        kind=st.sampled_from(["open", "download"]),
        count=st.integers(1, 3),
        owner=st.sampled_from(["ann", "bob"]),
    )
    return st.lists(made, max_size=12)


@pytest.mark.slow
@given(
    past=pasts(),
    wrong=st.lists(st.tuples(st.sampled_from(SCOPES), st.integers(29, 31), st.integers(0, 99)), min_size=1, max_size=4),
)
@settings(max_examples=12)
def test_a_recount_puts_right_what_was_wrong_and_leaves_what_was_right(
    past: list[Past], wrong: list[tuple[str, int, int]]
) -> None:
    async def compare() -> None:
        clock = ManualClock(at("2030-03-29"))
        with TemporaryDirectory() as folder:
            async with counting(Path(folder), clock) as clicks:
                await happen(clicks, clock, past)
                right = await figures(clicks)
                for period in (DAY, MARCH, APRIL):
                    await clicks.recorder.rebuild(period)
                    assert await figures(clicks) == right
                known = {(item["PK"], item["SK"]) for item in right if "PK" in item}
                for scope, day, number in wrong:
                    for period in (f"DAY:2030-03-{day}", "MONTH:2030-03"):
                        if tuple(COUNT.key(scope=scope, period=period, slot=ONE_SLOT).values()) in known:
                            spoiled = {TOTAL_CLICKS: number, UNIQUE_USERS: number, "open": number}
                            await spoil(clicks, scope, period, **spoiled)
                    if tuple(COUNT.key(scope=scope, period="ALL", slot=ONE_SLOT).values()) in known:
                        await spoil(clicks, scope, "ALL", **{TOTAL_CLICKS: number})
                await clicks.recorder.rebuild(MARCH)
                await clicks.recorder.rebuild(APRIL)
                assert without_empty(await figures(clicks)) == without_empty(right)

    asyncio.run(compare())


def without_empty(rows: Sequence[Item]) -> list[Item]:
    """Scopes that have no click in the period cannot be found, and are left as they are."""
    return [row for row in rows if row.get(TOTAL_CLICKS)]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(at("2030-03-31T12:00"))


async def test_a_day_that_was_counted_wrongly_also_puts_its_month_and_the_total_right(
    tmp_path: Path, clock: ManualClock
) -> None:
    async with counting(tmp_path, clock) as clicks:
        await click(clicks, clock, at("2030-03-30T12:00"), "a")
        await click(clicks, clock, at("2030-03-31T11:00"), "a")
        await click(clicks, clock, at("2030-03-31T11:30"), "b")
        right = await figures(clicks)
        for period in (DAY.name, MARCH.name, "ALL"):
            await spoil(clicks, SITE, period, **{TOTAL_CLICKS: 77})
        rebuilt = await clicks.recorder.rebuild(DAY)
        assert (rebuilt.before.clicks, rebuilt.after.clicks, rebuilt.after.people) == (77, 2, 2)
        assert await figures(clicks) == right
        # Whoever was counted before is not counted anew.
        await click(clicks, clock, at("2030-03-31T12:00"), "b")
        assert (await read_sum(clicks.tables, SITE, DAY.name)).people == 2
        assert (await read_sum(clicks.tables, SITE)).clicks == 4


class Meanwhile:
    """Tables that let something happen whenever clicks of a day are read."""

    def __init__(self, clicks: Clicks, clock: ManualClock, times: int) -> None:
        self.tables = clicks.tables
        self.clicks, self.clock, self.times = clicks, clock, times

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tables, name)

    async def query(self, *asked: Any, index: str | None = None, **more: Any) -> Page:
        page = await self.tables.query(*asked, index=index, **more)
        if index is not None and self.times:
            self.times -= 1
            await click(self.clicks, self.clock, self.clock.now, f"newcomer {self.times}")
        return page


async def test_a_click_that_comes_during_a_recount_is_not_lost(tmp_path: Path, clock: ManualClock) -> None:
    async with counting(tmp_path, clock) as clicks:
        await click(clicks, clock, at("2030-03-31T11:00"), "a")
        bulk = bulk_of(clicks.tables)
        assert bulk is not None
        disturbed: Any = Meanwhile(clicks, clock, 2)
        assert isinstance(clicks.recorder, EmbeddedRecorder)
        await rebuild(replace(clicks, tables=disturbed), bulk, DAY, clicks.recorder.forget)
        day = await read_sum(clicks.tables, SITE, DAY.name)
        assert (day.clicks, day.people) == (3, 3)
        with pytest.raises(Conflict):
            disturbed.times = 100
            await rebuild(replace(clicks, tables=disturbed), bulk, DAY, clicks.recorder.forget)
        assert (await read_sum(clicks.tables, SITE, DAY.name)).clicks == 3 + 100 - disturbed.times


async def test_what_is_not_kept_any_more_is_refused_and_stays(tmp_path: Path, clock: ManualClock) -> None:
    async with counting(tmp_path, clock, kept_for=timedelta(days=30)) as clicks:
        await click(clicks, clock, at("2030-03-31T11:00"), "a")
        right = await figures(clicks)
        clock.now = at("2030-04-10")
        # Of March the first days have gone; the last can still be counted.
        with pytest.raises(PeriodGone):
            await clicks.recorder.rebuild(MARCH)
        await clicks.recorder.rebuild(DAY)
        clock.now = at("2030-05-01")
        with pytest.raises(PeriodGone):
            await clicks.recorder.rebuild(DAY)
        await erase_old_clicks(clicks)
        await clicks.tables.sweep()
        assert await figures(clicks) == right
    async with counting(tmp_path, clock) as clicks:
        with pytest.raises(PeriodGone):
            await clicks.recorder.rebuild(DAY)


async def test_clicks_from_before_a_shorter_time_was_set_go_as_well(tmp_path: Path) -> None:
    clock = ManualClock(at("2030-03-01"))
    async with counting(tmp_path, clock) as clicks:
        for day in ("2030-03-01T11:00", "2030-03-20T11:00", "2030-03-20T13:00", "2030-03-31T11:00"):
            await click(clicks, clock, at(day), "a")
        right = await figures(clicks)
    clock.now = at("2030-04-03T12:00")
    async with counting(tmp_path, clock, kept_for=timedelta(days=14)) as clicks:
        assert await erase_old_clicks(clicks) == 2
        assert await kept_times(clicks, "a") == ["2030-03-20T13:00:00.000Z", "2030-03-31T11:00:00.000Z"]
        clock.now = at("2030-04-05")
        assert [await erase_old_clicks(clicks), await erase_old_clicks(clicks)] == [1, 0]
        assert await kept_times(clicks, "a") == ["2030-03-31T11:00:00.000Z"]
        assert await figures(clicks) == right
    # A longer time brings none of them back, and takes no more of them.
    async with counting(tmp_path, clock, kept_for=timedelta(days=60)) as clicks:
        assert await erase_old_clicks(clicks) == 0
        with pytest.raises(PeriodGone):
            await clicks.recorder.rebuild(Period.of_day(date(2030, 3, 20)))


async def test_a_period_from_which_somebody_was_erased_is_refused_and_stays(tmp_path: Path, clock: ManualClock) -> None:
    async with counting(tmp_path, clock) as clicks:
        await click(clicks, clock, at("2030-03-30T11:00"), "b")
        await click(clicks, clock, at("2030-03-31T11:00"), "a")
        right = await figures(clicks)
        await erase_person(clicks, "a")
        for period in (DAY, MARCH):
            with pytest.raises(PeriodGone):
                await clicks.recorder.rebuild(period)
        await clicks.recorder.rebuild(Period.of_day(date(2030, 3, 30)))
        assert await figures(clicks) == right


async def test_an_empty_day_is_counted_as_nothing_and_leaves_no_row(tmp_path: Path, clock: ManualClock) -> None:
    async with counting(tmp_path, clock) as clicks:
        rebuilt = await clicks.recorder.rebuild(DAY)
        assert (rebuilt.before.clicks, rebuilt.after.clicks) == (0, 0)
        assert await figures(clicks) == []


@pytest.mark.parametrize("day", [date(1, 1, 1), date(9999, 12, 31)])
def test_a_day_at_the_end_of_time_is_refused(day: date) -> None:
    with pytest.raises(Invalid):
        Period.of_day(day)
    with pytest.raises(Invalid):
        Period.of_month(day.year, day.month)


async def test_an_administrator_counts_again_and_others_may_not(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    clicked = await bob("POST", "/clicks", json={})
    assert clicked.status_code == 201, clicked.text
    day = clicked.json()["clicks"][0]["createDateTime"][:10]
    for period in ({"day": day}, {"month": day[:7]}):
        answer = await ann("POST", "/clicks/rebuild", json=period)
        assert answer.json() == {"before": {"clicks": 1, "people": 1}, "after": {"clicks": 1, "people": 1}}
        assert (await bob("POST", "/clicks/rebuild", json=period)).status_code == 403
    for wrong in (
        {},
        {"day": day, "month": day[:7]},
        {"month": "0000-01"},
        {"month": "9999-12"},
        {"day": "9999-12-31"},
    ):
        assert (await ann("POST", "/clicks/rebuild", json=wrong)).status_code == 422, wrong


async def test_clicks_go_after_the_days_that_the_settings_give_them(tmp_path: Path) -> None:
    async with running_satchel(tmp_path, sign_up="open", clicks_kept=30) as satchel:
        ann = satchel.caller()
        await ann.sign_up("ann@example.org")
        clicked = await ann("POST", "/clicks", json={})
        day = clicked.json()["clicks"][0]["createDateTime"][:10]
        satchel.clock.advance(timedelta(days=31))
        await satchel.housekeep()
        await ann.sign_in("ann@example.org")
        assert (await ann("GET", "/clicks")).json()["clicks"] == []
        answer = await ann("POST", "/clicks/rebuild", json={"day": day})
        assert (answer.status_code, slug(answer)) == (409, "period-gone")
        assert (await ann("GET", f"/clicks/stats/days/{day}")).json()["totalClicks"] == 1
