"""What statistics say equals a recount by brute force, in whichever zone somebody asks, and to whoever may know."""

import asyncio
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from satchel.features.clicks.service import stats_read
from satchel.features.clicks.service.click_erase import erase_old_clicks, erase_person
from satchel.features.clicks.service.context import Clicks
from satchel.features.clicks.service.counts import link_scope, owner_scope, thing_scope
from satchel.features.clicks.service.local_days import local_days, read_local_sums
from satchel.features.clicks.service.stats_read import read_days, read_months, read_summary, read_top
from satchel.features.clicks.service.unique_people import count_people
from satchel.kernel.clock import ManualClock, iso
from satchel.kernel.errors import Invalid
from tests.features.clicks.given import OWNER, Links, Past, Title, at, click, counting, happen, on_day, recounted

MINE = owner_scope(OWNER)
ZONES = (
    "UTC",
    "Asia/Kathmandu",
    "Australia/Eucla",
    "America/St_Johns",
    "Pacific/Chatham",
    "Africa/Casablanca",
    "Europe/Vienna",
)
KATHMANDU = ZoneInfo("Asia/Kathmandu")
UTC = ZoneInfo("UTC")
# Days on which clocks are turned: in Europe, in Newfoundland, on Chatham Island, in Morocco; and the turn of a year.
DAYS = ("2030-03-31", "2030-10-27", "2030-03-10", "2030-04-07", "2030-02-03", "2030-01-01")


@st.composite
def pasts(draw: st.DrawFn) -> tuple[date, list[Past]]:
    """Some clicks around a day, many of them at the edges of quarters."""
    day = date.fromisoformat(draw(st.sampled_from(DAYS)))
    midnight = at(day.isoformat())
    edges = st.integers(-3 * 96, 3 * 96).flatmap(
        lambda quarter: st.sampled_from([0, 0.001, 450, 899.999]).map(lambda after: quarter * 900 + after)
    )
    made = draw(
        st.lists(
            st.builds(
                Past,
                when=edges.map(lambda after: midnight + after),
                user_id=st.sampled_from("abc"),
                kind=st.sampled_from(["open", "download", "press"]),
                count=st.integers(1, 3),
            ),
            max_size=12,
            unique_by=lambda each: (each.when, each.user_id),
        )
    )
    return day, made


@pytest.mark.slow
@given(drawn=pasts(), zone=st.sampled_from(ZONES).map(ZoneInfo))
@settings(max_examples=15)
def test_days_months_and_totals_equal_a_recount_in_any_zone(drawn: tuple[date, list[Past]], zone: ZoneInfo) -> None:
    day, past = drawn

    async def compare() -> None:
        clock = ManualClock(at(day.isoformat()) - 4 * 86400)
        with TemporaryDirectory() as folder:
            async with counting(Path(folder), clock) as clicks:
                await happen(clicks, clock, past)
                first, last = day - timedelta(days=4), day + timedelta(days=4)
                # The second time, people come from what the first has kept.
                for _ in range(2):
                    days = await read_days(clicks, MINE, first, last, zone)
                    assert not days.people_pending
                    for each in days.days:
                        assert each.figures == recounted(on_day(past, date.fromisoformat(each.period), zone))
                months = await read_months(clicks, MINE, "2029-12", "2030-12")
                for month in months:
                    assert month.figures == recounted(one for one in past if iso(one.when)[:7] == month.period)
                assert (await read_summary(clicks, MINE, zone)).total == recounted(past)

    asyncio.run(compare())


@given(drawn=pasts(), zone=st.sampled_from(ZONES).map(ZoneInfo), after=st.integers(0, 5 * 86400))
@settings(max_examples=15)
def test_a_summary_equals_a_recount_at_any_moment(drawn: tuple[date, list[Past]], zone: ZoneInfo, after: int) -> None:
    day, past = drawn

    async def compare() -> None:
        clock = ManualClock(at(day.isoformat()) - 4 * 86400)
        with TemporaryDirectory() as folder:
            async with counting(Path(folder), clock) as clicks:
                await happen(clicks, clock, past)
                clock.advance(after)
                summary = await read_summary(clicks, MINE, zone)
                today = summary.today_is
                yesterday = today - timedelta(days=1)
                assert summary.today == recounted(on_day(past, today, zone))
                assert summary.yesterday == recounted(on_day(past, yesterday, zone))
                until = at(summary.so_far_until.removesuffix("Z"))
                so_far = recounted(one for one in on_day(past, yesterday, zone) if one.moment < until)
                assert summary.yesterday_so_far == replace(so_far, people=None)

    asyncio.run(compare())


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(at("2030-03-17T12:07:30"))


async def test_yesterday_so_far_ends_when_clocks_showed_what_they_show_now(tmp_path: Path, clock: ManualClock) -> None:
    async with counting(tmp_path, clock) as clicks:
        for when in ("2030-03-16T11:00", "2030-03-16T12:07:29", "2030-03-16T12:07:31", "2030-03-16T23:00"):
            await click(clicks, clock, at(when))
        await click(clicks, clock, at("2030-03-17T09:00"))
        summary = await read_summary(clicks, MINE, UTC)
        assert (summary.today.clicks, summary.yesterday_so_far.clicks, summary.yesterday.clicks) == (1, 2, 4)
        assert summary.so_far_until == "2030-03-16T12:07:30.000Z"
        assert summary.last_at == "2030-03-17T09:00:00.000Z"
        # The same moment is in the afternoon in Kathmandu, where the click of 23:00 belongs to the next day.
        summary = await read_summary(clicks, MINE, KATHMANDU)
        assert (summary.today.clicks, summary.yesterday_so_far.clicks, summary.yesterday.clicks) == (2, 2, 3)


async def test_a_quarter_full_of_clicks_is_left_out_and_that_is_said(tmp_path: Path, clock: ManualClock) -> None:
    clock.now = at("2030-03-16T12:00")
    async with counting(tmp_path, clock) as clicks:
        await click(clicks, clock, at("2030-03-16T11:00"))
        many = stats_read.MOST_CLICKS_COMPARED + 1
        past = [Past(at("2030-03-16T12:01") + number / 1000, "u", "open") for number in range(many)]
        await happen(clicks, clock, past[:1000])
        await happen(clicks, clock, past[1000:2000])
        await happen(clicks, clock, past[2000:])
        clock.now = at("2030-03-17T12:07:30")
        summary = await read_summary(clicks, MINE, UTC)
        assert (summary.yesterday_so_far.clicks, summary.yesterday.clicks) == (1, many + 1)
        assert summary.so_far_until == "2030-03-16T12:00:00.000Z"


async def test_figures_of_one_scope_are_not_those_of_another(tmp_path: Path, clock: ManualClock) -> None:
    async with counting(tmp_path, clock) as clicks:
        await click(clicks, clock, clock.now - 60, "a")
        await click(clicks, clock, clock.now - 50, "b", target="m")
        await click(clicks, clock, clock.now - 40, "c", target="m", thing="file:g")
        await click(clicks, clock, clock.now - 30, "d", owner="bob", target="n")
        today = clock_day(clock)

        async def counted(scope: str) -> tuple[int, int | None]:
            (day,) = (await read_days(clicks, scope, today, today, KATHMANDU)).days
            return day.figures.clicks, day.figures.people

        assert await counted("SITE") == (4, 4)
        assert await counted(MINE) == (3, 3)
        assert await counted(link_scope("m")) == (2, 2)
        assert await counted(thing_scope(OWNER, "file:f")) == (2, 2)
        assert await counted(thing_scope("bob", "file:f")) == (1, 1)
        assert await counted(thing_scope("eve", "file:f")) == (0, 0)


def clock_day(clock: ManualClock) -> date:
    return date.fromisoformat(iso(clock.now)[:10])


async def crossing_midnight(clicks: Clicks, clock: ManualClock, *days: str) -> None:
    """On each day two people in Kathmandu, both on both sides of the UTC midnight in it."""
    for day in days:
        midnight = at(day)
        for user in "ab":
            await click(clicks, clock, midnight - 3600 + ord(user), user)
            await click(clicks, clock, midnight + 3600 + ord(user), user)


async def test_people_beyond_what_is_kept_are_unknown_unless_they_were_counted_before(
    tmp_path: Path, clock: ManualClock
) -> None:
    clock.now = at("2030-03-01")
    async with counting(tmp_path, clock, kept_for=timedelta(days=10)) as clicks:
        await crossing_midnight(clicks, clock, "2030-03-02", "2030-03-03")
        await read_days(clicks, MINE, date(2030, 3, 3), date(2030, 3, 3), KATHMANDU)
        clock.now = at("2030-03-20")
        days = await read_days(clicks, MINE, date(2030, 3, 2), date(2030, 3, 3), KATHMANDU)
        assert [(each.figures.clicks, each.figures.people) for each in days.days] == [(4, None), (4, 2)]
        assert not days.people_pending
        assert days.people_known_since == date(2030, 3, 11)
        # The days of UTC have rows of their own.
        days = await read_days(clicks, MINE, date(2030, 3, 1), date(2030, 3, 3), UTC)
        assert [each.figures.people for each in days.days] == [2, 2, 2]
        assert days.people_known_since is None
        await erase_old_clicks(clicks)
    # Keeping clicks for longer later does not bring any back.
    async with counting(tmp_path, clock) as clicks:
        days = await read_days(clicks, MINE, date(2030, 3, 2), date(2030, 3, 3), KATHMANDU)
        assert [each.figures.people for each in days.days] == [None, 2]
        assert days.people_known_since == date(2030, 3, 11)


async def test_so_many_clicks_are_read_for_one_answer_and_the_next_goes_on(tmp_path: Path, clock: ManualClock) -> None:
    clock.now = at("2030-03-01")
    async with counting(tmp_path, clock) as clicks:
        await crossing_midnight(clicks, clock, "2030-03-02", "2030-03-03")
        days = stats_read.days_between(date(2030, 3, 2), date(2030, 3, 3), KATHMANDU)
        sums = await read_local_sums(clicks.tables, MINE, days)

        async def asked(budget: int) -> tuple[list[int | None], bool]:
            people = await count_people(clicks, MINE, KATHMANDU, days, sums, budget=budget)
            return people.numbers, people.pending

        assert await asked(6) == ([None, 2], True)
        assert await asked(6) == ([2, 2], False)
        assert await asked(0) == ([2, 2], False)


async def test_a_day_with_too_many_clicks_stays_unknown_and_holds_up_no_other(
    tmp_path: Path, clock: ManualClock
) -> None:
    clock.now = at("2030-03-01")
    async with counting(tmp_path, clock) as clicks:
        await crossing_midnight(clicks, clock, "2030-03-02", "2030-03-03")
        await click(clicks, clock, clock.now + 1, "c")
        days = stats_read.days_between(date(2030, 3, 2), date(2030, 3, 3), KATHMANDU)
        sums = await read_local_sums(clicks.tables, MINE, days)
        first = await count_people(clicks, MINE, KATHMANDU, days, sums, budget=4)
        assert (first.numbers, first.pending) == ([None, None], True)
        then = await count_people(clicks, MINE, KATHMANDU, days, sums, budget=4)
        assert (then.numbers, then.pending) == ([2, None], False)
        # Whoever may read more finds out.
        more = await count_people(clicks, MINE, KATHMANDU, days, sums, budget=6)
        assert (more.numbers, more.pending) == ([2, 3], False)


async def test_a_late_click_is_seen_in_a_day_that_was_counted_before(tmp_path: Path, clock: ManualClock) -> None:
    clock.now = at("2030-03-01")
    async with counting(tmp_path, clock) as clicks:
        await crossing_midnight(clicks, clock, "2030-03-02")
        day = date(2030, 3, 2)
        assert (await read_days(clicks, MINE, day, day, KATHMANDU)).days[0].figures.people == 2
        clock.now = at("2030-03-03T12:00")
        await click(clicks, clock, at("2030-03-02T03:00"), "late")
        assert (await read_days(clicks, MINE, day, day, KATHMANDU)).days[0].figures.people == 3


async def test_links_and_things_are_ranked_by_how_often_they_were_opened(tmp_path: Path, clock: ManualClock) -> None:
    links = Links(
        given={
            OWNER: [
                Title("l", "For Bob", "file:f", "a.txt"),
                Title("m", "For Eve", "file:f", "a.txt"),
                Title("n", "Never", "file:g", "b.txt"),
                Title("o", "Photos", "folder:d", "Photos"),
            ]
        }
    )
    async with counting(tmp_path, clock, links=links) as clicks:
        old = clock.now - 30 * 86400
        clock.now = old
        for number in range(3):
            await click(clicks, clock, old + number, "a")
        await click(clicks, clock, old + 10, "b", target="o", thing="folder:d")
        now = clock.now + 30 * 86400
        await click(clicks, clock, now, "a", target="m")
        await click(clicks, clock, now + 1, "b", target="m")
        await click(clicks, clock, now + 2, "b", "download", target="m")
        await click(clicks, clock, now + 3, "x", owner="bob", target="p", thing="file:f")

        whole = await read_top(clicks, OWNER, None, UTC)
        shown = [(each.scope, each.name, each.figures.kinds["open"], each.figures.people) for each in whole.links]
        assert shown == [("link:l", "For Bob", 3, 1), ("link:m", "For Eve", 2, 2), ("link:o", "Photos", 1, 1)]
        assert whole.links[1].figures.kinds["download"] == 1
        assert whole.links[1].last_at == iso(now + 2)
        things = [(each.scope, each.name, each.figures.kinds["open"], each.figures.people) for each in whole.things]
        assert things == [("thing:file:f", "a.txt", 5, 2), ("thing:folder:d", "Photos", 1, 1)]

        today = clock_day(clock)
        recent = await read_top(clicks, OWNER, (today, today), KATHMANDU)
        assert [(each.scope, each.figures.kinds["open"], each.figures.people) for each in recent.links] == [
            ("link:m", 2, 2)
        ]
        assert [(each.scope, each.figures.people) for each in recent.things] == [("thing:file:f", 2)]


async def test_of_a_range_everybody_counts_once_whenever_they_came(tmp_path: Path, clock: ManualClock) -> None:
    async with counting(tmp_path, clock, links=Links({OWNER: [Title("l", "a", "file:f", "a")]})) as clicks:
        (day,) = local_days(date(2030, 4, 10), date(2030, 4, 10), KATHMANDU)
        for when, who in [(day.starts - 1, "before"), (day.starts, "a"), (day.ends - 1, "b"), (day.ends, "a")]:
            await click(clicks, clock, when, who)
        await click(clicks, clock, day.ends + 3 * 86400, "c")

        async def people(first: int, last: int) -> int | None:
            days = date(2030, 4, first), date(2030, 4, last)
            (link,) = (await read_top(clicks, OWNER, days, KATHMANDU)).links
            return link.figures.people

        assert [await people(*days) for days in ((9, 9), (10, 10), (10, 11), (9, 14), (11, 30))] == [1, 2, 2, 4, 2]
        await erase_person(clicks, "before")
        assert [await people(*days) for days in ((9, 14), (11, 30))] == [None, 2]


async def test_of_a_range_with_too_many_clicks_to_read_nobody_says_how_many_people(
    tmp_path: Path, clock: ManualClock
) -> None:
    async with counting(tmp_path, clock, links=Links({OWNER: [Title("l", "a", "file:f", "a")]})) as clicks:
        await happen(clicks, clock, [Past(clock.now, "a", "open"), Past(clock.now, "b", "open", count=50_000)])
        today = clock_day(clock)
        (link,) = (await read_top(clicks, OWNER, (today, today), UTC)).links
        assert (link.figures.kinds["open"], link.figures.people) == (50_001, None)


@pytest.mark.parametrize(
    ("first", "last"),
    [(date(2030, 1, 2), date(2030, 1, 1)), (date(2030, 1, 1), date(2031, 2, 5)), (date(1, 1, 1), date(1, 1, 1))],
)
async def test_days_the_wrong_way_round_or_too_many_are_refused(
    tmp_path: Path, clock: ManualClock, first: date, last: date
) -> None:
    async with counting(tmp_path, clock) as clicks:
        with pytest.raises(Invalid):
            await read_days(clicks, MINE, first, last, UTC)


async def test_a_day_that_a_zone_left_out_is_empty(tmp_path: Path, clock: ManualClock) -> None:
    async with counting(tmp_path, clock) as clicks:
        days = await read_days(clicks, MINE, date(2011, 12, 30), date(2011, 12, 30), ZoneInfo("Pacific/Apia"))
        assert [(each.figures.clicks, each.figures.people) for each in days.days] == [(0, 0)]
