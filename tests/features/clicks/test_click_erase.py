"""A person is forgotten wherever they were, and the sums stay."""

from datetime import date
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from satchel.features.clicks.model import NewClick, ReservedId
from satchel.features.clicks.records import IDEMPOTENCY, MARKER
from satchel.features.clicks.service.click_erase import erase_person
from satchel.features.clicks.service.click_record import record
from satchel.features.clicks.service.counts import owner_scope, read_sum
from satchel.features.clicks.service.stats_read import read_days
from satchel.kernel.clock import ManualClock
from satchel.tables import CLICKS, COUNTS
from tests.application import Caller, Satchel
from tests.features.clicks.given import OWNER, Past, at, click, counting, happen

KATHMANDU = ZoneInfo("Asia/Kathmandu")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(at("2030-03-31T12:00"))


async def test_clicks_marks_and_keys_go_and_sums_stay(tmp_path: Path, clock: ManualClock) -> None:
    async with counting(tmp_path, clock) as clicks:
        past = [Past(at("2030-03-30T12:00") + number, "eve", "open") for number in range(700)]
        await happen(clicks, clock, past)
        await click(clicks, clock, at("2030-03-31T11:30"), "bob")
        await record(clicks, [NewClick(user_id="eve", key="k")])
        before = await read_sum(clicks.tables, "SITE")
        assert await erase_person(clicks, "eve") == 701
        assert await read_sum(clicks.tables, "SITE") == before
        assert (await clicks.tables.query(CLICKS, "eve")).items == []
        for shape in (MARKER, IDEMPOTENCY):
            partition = shape.keys["PK"].render({"user_id": "eve"})
            assert (await clicks.tables.query(COUNTS, partition)).items == []
        assert len((await clicks.tables.query(CLICKS, "bob")).items) == 1
        assert await erase_person(clicks, "eve") == 0


async def test_who_comes_back_after_that_is_somebody_new(tmp_path: Path, clock: ManualClock) -> None:
    async with counting(tmp_path, clock) as clicks:
        await click(clicks, clock, clock.now, "eve")
        await erase_person(clicks, "eve")
        await click(clicks, clock, clock.now, "eve")
        everything = await read_sum(clicks.tables, "SITE")
        assert (everything.clicks, everything.people) == (2, 2)


async def test_people_of_a_local_day_are_not_counted_from_what_is_left(tmp_path: Path, clock: ManualClock) -> None:
    async with counting(tmp_path, clock) as clicks:
        for when, who in (("2030-03-30T23:00", "a"), ("2030-03-31T01:00", "a"), ("2030-03-31T02:00", "b")):
            await click(clicks, clock, at(when), who)
        await click(clicks, clock, at("2030-03-30T03:00"), "c")
        await erase_person(clicks, "a")
        day = date(2030, 3, 31)
        days = await read_days(clicks, owner_scope(OWNER), day, day, KATHMANDU)
        assert (days.days[0].figures.clicks, days.days[0].figures.people) == (3, None)
        assert not days.people_pending


async def test_statistics_are_nobody_who_could_be_erased(tmp_path: Path, clock: ManualClock) -> None:
    async with counting(tmp_path, clock) as clicks:
        await click(clicks, clock, clock.now, "eve")
        with pytest.raises(ReservedId):
            await erase_person(clicks, "STAT#TOTAL")
        assert len((await clicks.tables.query(CLICKS, "STAT#TOTAL")).items) == 1


async def test_people_erase_themselves_and_administrators_anybody(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    for caller in (ann, bob):
        assert (await caller("POST", "/clicks", json=[{}, {}])).status_code == 201
    assert (await bob("DELETE", f"/clicks/people/{ann.user_id}")).status_code == 403
    assert (await satchel.caller()("DELETE", f"/clicks/people/{ann.user_id}")).status_code == 401
    assert (await bob("DELETE", f"/clicks/people/{bob.user_id}")).json() == {"erased": 2}
    assert (await ann("DELETE", f"/clicks/people/{bob.user_id}")).json() == {"erased": 0}
    assert (await ann("GET", "/clicks/stats/total")).json()["totalClicks"] == 4
