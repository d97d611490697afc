"""Every zone has its days, each as long as its clocks make it, and no quarter of an hour is in two of them."""

from datetime import date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from satchel.features.clicks.model import check_day
from satchel.features.clicks.service.local_days import (
    LocalDay,
    find_zone,
    local_day_of,
    local_days,
    quarter_of,
    same_time_on,
)
from satchel.kernel.errors import Invalid

ZONES = (
    "UTC",
    "Asia/Kathmandu",
    "Australia/Eucla",
    "America/St_Johns",
    "Pacific/Chatham",
    "Africa/Casablanca",
    "Australia/Lord_Howe",
    "America/Nuuk",
    "America/Havana",
    "Africa/Cairo",
    "America/Santiago",
    "Pacific/Kiritimati",
    "Etc/GMT+12",
)
zones = st.sampled_from(ZONES).map(ZoneInfo)
days = st.dates(date(2024, 1, 1), date(2040, 12, 31))


def moment(written: str, zone: str) -> float:
    return datetime.fromisoformat(written).replace(tzinfo=ZoneInfo(zone)).timestamp()


@given(first=days, length=st.integers(1, 40), zone=zones)
@example(first=date(2030, 3, 1), length=40, zone=ZoneInfo("Africa/Cairo"))
@example(first=date(2030, 9, 1), length=40, zone=ZoneInfo("America/Havana"))
def test_days_follow_each_other_and_hold_exactly_the_moments_of_their_date(
    first: date, length: int, zone: ZoneInfo
) -> None:
    made = local_days(first, first + timedelta(days=length - 1), zone)
    assert [each.day for each in made] == [first + timedelta(days=number) for number in range(length)]
    for one, next_one in pairwise(made):
        assert one.end == next_one.first
    for each in made:
        assert local_day_of(each.starts, zone) == local_day_of(each.ends - 0.001, zone) == each.day
        assert local_day_of(each.starts - 0.001, zone) < each.day < local_day_of(each.ends, zone)


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Vienna", date(2030, 3, 31), 23),
        ("Europe/Vienna", date(2030, 10, 27), 25),
        ("America/St_Johns", date(2030, 3, 10), 23),
        ("Pacific/Chatham", date(2030, 4, 7), 25),
        ("Australia/Lord_Howe", date(2030, 4, 7), 24.5),
        ("Africa/Cairo", date(2030, 4, 26), 23),
        ("Africa/Casablanca", date(2030, 1, 6), 23),
        ("Asia/Kathmandu", date(2030, 3, 31), 24),
        ("Pacific/Apia", date(2011, 12, 30), 0),
    ],
)
def test_a_day_is_as_long_as_its_clocks_made_it(zone: str, day: date, hours: float) -> None:
    (made,) = local_days(day, day, ZoneInfo(zone))
    lasts = (made.ends - made.starts) / 3600
    if zone == "Africa/Casablanca":
        # Morocco turns its clocks around Ramadan, on days that are announced anew now and then.
        lengths = {each.end - each.first for each in local_days(date(2030, 1, 1), date(2030, 12, 31), ZoneInfo(zone))}
        assert lengths == {23 * 4, 24 * 4, 25 * 4}
    else:
        assert lasts == hours


def test_a_day_knows_the_utc_days_it_touches() -> None:
    (kathmandu,) = local_days(date(2030, 3, 17), date(2030, 3, 17), ZoneInfo("Asia/Kathmandu"))
    assert kathmandu.utc_days == [date(2030, 3, 16), date(2030, 3, 17)]
    assert kathmandu.first == quarter_of(date(2030, 3, 16), 73)
    (london,) = local_days(date(2030, 1, 17), date(2030, 1, 17), ZoneInfo("Europe/London"))
    assert london.utc_days == [date(2030, 1, 17)]


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2030-04-01T12:20:30", "2030-03-31T12:20:30"),
        # 02:30 was left out on the day before: an hour after midnight and a half had passed twice as fast.
        ("2030-04-01T02:30:00", "2030-03-31T03:30:00"),
        ("2030-10-28T00:10:00", "2030-10-27T00:10:00"),
    ],
)
def test_the_same_time_yesterday_is_what_the_wall_clock_showed(now: str, expected: str) -> None:
    zone = ZoneInfo("Europe/Vienna")
    today = datetime.fromisoformat(now).date()
    (yesterday,) = local_days(today - timedelta(days=1), today - timedelta(days=1), zone)
    assert same_time_on(yesterday, moment(now, "Europe/Vienna"), zone) == moment(expected, "Europe/Vienna")


def test_the_same_time_never_leads_out_of_a_day_that_began_late() -> None:
    zone = ZoneInfo("Africa/Cairo")
    (late,) = local_days(date(2030, 4, 26), date(2030, 4, 26), zone)
    assert isinstance(late, LocalDay)
    assert same_time_on(late, moment("2030-04-27T00:00:00", "Africa/Cairo"), zone) == late.starts


@pytest.mark.parametrize(
    "name", ["", "Mars/Olympus", "../../etc/passwd", "America", "a" * 5000, "UTC\0", "/etc/passwd"]
)
def test_a_name_that_is_no_zone_is_refused(name: str) -> None:
    with pytest.raises(Invalid):
        find_zone(name)


@pytest.mark.parametrize("day", [date(1, 1, 1), date(1969, 12, 31), date(9999, 12, 31)])
def test_days_at_the_end_of_time_are_refused(day: date) -> None:
    with pytest.raises(Invalid):
        check_day(day, "from")
