"""A range of days: people counted exactly or by a sketch that says how far off it may be, and where they came from."""

from datetime import date, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from satchel.features.clicks.model import GUEST, NewClick
from satchel.features.clicks.records import DAY_DIGEST, SITE
from satchel.features.clicks.service.click_erase import ClickHoldings, erase_old_clicks, erase_person
from satchel.features.clicks.service.click_record import record
from satchel.features.clicks.service.context import Clicks
from satchel.features.clicks.service.counts import owner_scope
from satchel.features.clicks.service.range_read import RangeFigures, read_range
from satchel.kernel.clock import ManualClock, iso
from satchel.kernel.departure import Leaver
from tests.application import Caller, Satchel
from tests.features.clicks.given import OWNER, at, counting
from tests.features.links.given import given as given_link
from tests.features.links.visiting import visitor
from tests.features.shelf.given import uploaded

UTC = ZoneInfo("UTC")
KATHMANDU = ZoneInfo("Asia/Kathmandu")
FIRST, LAST = date(2030, 3, 1), date(2030, 3, 3)
MINE = owner_scope(OWNER)


async def clicked(clicks: Clicks, clock: ManualClock, day: date, people: range, **more: str) -> None:
    """One opening by each of so many people, through the day."""
    for number in people:
        moment = at(day.isoformat()) + number * 60
        clock.now = max(clock.now, moment)
        click = NewClick(user_id=f"visitor:{number}", at=iso(moment), kind="open", owner=OWNER, **more)  # type: ignore[arg-type]
        await record(clicks, [click])


async def read_whole(clicks: Clicks, scope: str, zone: ZoneInfo = UTC, *, budget: int = 50_000) -> RangeFigures:
    """Asked again as long as there is more to be found out."""
    for _ in range(200):
        found = await read_range(clicks, scope, FIRST, LAST, zone, budget=budget)
        if not found.pending:
            return found
        assert found.people is None
    raise AssertionError("it never came to an end")


async def test_whoever_comes_on_several_days_is_one_of_the_people(tmp_path: Path) -> None:
    clock = ManualClock(at("2030-02-27"))
    async with counting(tmp_path, clock) as clicks:
        await clicked(clicks, clock, date(2030, 2, 27), range(5))
        await clicked(clicks, clock, FIRST, range(10), device="phone", referrer="chat.example")
        await clicked(clicks, clock, LAST, range(5, 20), device="computer")
        found = await read_whole(clicks, MINE)
        assert (found.figures.clicks, found.before.clicks) == (25, 5)
        assert found.people is not None
        assert (found.people.number, found.people.low, found.people.high) == (20, 20, 20)
        assert found.hosts == [("chat.example", 10)]
        assert found.devices == {"phone": 10, "tablet": 0, "computer": 15}
        assert (await read_whole(clicks, owner_scope("bob"))).people == found.people.__class__(number=0, low=0, high=0)


@pytest.mark.parametrize("zone", [UTC, KATHMANDU], ids=str)
async def test_too_many_clicks_are_sketched_day_by_day_over_several_answers(tmp_path: Path, zone: ZoneInfo) -> None:
    clock = ManualClock(at("2030-02-27"))
    async with counting(tmp_path, clock) as clicks:
        await clicked(clicks, clock, FIRST, range(300), device="phone", referrer="chat.example")
        await clicked(clicks, clock, LAST, range(200, 400), device="tablet")
        exact = await read_whole(clicks, MINE, zone)
        sketched = await read_whole(clicks, MINE, zone, budget=100)
        assert exact.people is not None
        assert sketched.people is not None
        assert sketched.people.low <= exact.people.number <= sketched.people.high
        assert abs(sketched.people.number - exact.people.number) <= exact.people.number / 20
        assert (sketched.hosts, sketched.devices) == (exact.hosts, exact.devices)
        # What is kept is not read again, and another click is seen.
        assert not (await read_range(clicks, MINE, FIRST, LAST, zone, budget=0)).pending
        await clicked(clicks, clock, LAST, range(500, 501), device="tablet")
        again = await read_whole(clicks, MINE, zone, budget=100)
        assert again.devices["tablet"] == sketched.devices["tablet"] + 1
        assert (await read_whole(clicks, SITE, zone, budget=100)).figures.clicks == again.figures.clicks


async def test_guests_who_only_say_that_they_clicked_are_nobody_of_the_site(tmp_path: Path) -> None:
    clock = ManualClock(at("2030-02-27"))
    async with counting(tmp_path, clock) as clicks:
        await clicked(clicks, clock, FIRST, range(200))
        said = [NewClick(user_id=f"{GUEST}{number}", at=iso(at(FIRST.isoformat()))) for number in range(50)]
        await record(clicks, said)
        # The last of these is enough for what counts, and not for what has to be read.
        for budget in (50_000, 50, 220):
            found = await read_whole(clicks, SITE, budget=budget)
            assert found.people is not None
            assert found.people.low <= 200 <= found.people.high


async def test_what_is_kept_of_days_goes_with_the_account(tmp_path: Path) -> None:
    clock = ManualClock(at("2030-02-27"))
    async with counting(tmp_path, clock) as clicks:
        await clicked(clicks, clock, FIRST, range(300))
        await read_whole(clicks, MINE, KATHMANDU, budget=100)
        assert (await DAY_DIGEST.list(clicks.tables, scope=MINE)).records
        await ClickHoldings(clicks).delete(Leaver(user_id=OWNER, email="ann@example.org"))
        assert (await DAY_DIGEST.list(clicks.tables, scope=MINE)).records == []


async def test_where_clicks_are_gone_people_are_not_told(tmp_path: Path) -> None:
    clock = ManualClock(at("2030-02-27"))
    async with counting(tmp_path, clock) as clicks:
        await clicked(clicks, clock, FIRST, range(3))
        await erase_person(clicks, "visitor:1")
        for budget in (50_000, 1):
            found = await read_whole(clicks, MINE, budget=budget)
            assert (found.figures.clicks, found.people) == (3, None)
    async with counting(tmp_path / "other", clock, kept_for=timedelta(days=10)) as clicks:
        await clicked(clicks, clock, LAST, range(3))
        clock.advance(timedelta(days=10))
        await erase_old_clicks(clicks)
        found = await read_whole(clicks, MINE)
        assert found.people is None
        assert found.known_since is not None


async def test_an_opening_says_where_from_and_with_what_and_nothing_more(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"one")
    link = await given_link(ann, "file", file.file_id)
    someone = visitor(satchel, link)
    came_from = {"referrer": "https://chat.example/rooms/7?secret=1"}
    assert (await someone("POST", "/enter", json=came_from)).status_code == 200
    found = (await ann("GET", f"/stats/link:{link['link_id']}/range")).json()
    assert found["hosts"] == [{"host": "chat.example", "visits": 1}]
    assert sum(found["devices"].values()) == 1
    assert found["different_people"] == {"number": 1, "low": 1, "high": 1}
    assert found["before"]["clicks"] == 0
    assert (await ann("GET", "/stats/link:other/range")).status_code == 404
