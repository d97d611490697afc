"""Recording clicks: none is lost or counted twice, and after any sequence every figure equals a recount."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from satchel.features.clicks.adapters import count_stated
from satchel.features.clicks.events import WATCHED_FOR
from satchel.features.clicks.model import (
    KINDS,
    ClickTooEarly,
    ClickTooLate,
    KeyReused,
    NewClick,
    ReservedId,
    milliseconds_of,
    stamp,
)
from satchel.features.clicks.records import (
    ALL,
    CLICK,
    MARKER,
    SITE,
    click_row,
    count_key,
    first_marker_item,
    marker_item,
)
from satchel.features.clicks.service.click_record import create_total, record
from satchel.features.clicks.service.context import Clicks
from satchel.features.clicks.service.counts import marker_expiry, periods_of
from satchel.features.clicks.service.embedded.stored_counts import StoredCounts
from satchel.kernel.clock import ManualClock, iso
from satchel.kernel.counted import Counted
from satchel.kernel.errors import Invalid, Unavailable
from satchel.stores.embedded.ephemeral_memory import MemoryEphemeral
from satchel.tables import CLICKS, COUNTS
from tests.features.clicks.figures_check import check_figures
from tests.features.clicks.given import counting
from tests.features.hearing import heard_by

NOON = 1_900_000_000 - 1_900_000_000 % 86400 + 12 * 3600.0
DAY = date.fromisoformat(iso(NOON)[:10])
BEFORE, AFTER = DAY - timedelta(days=5), DAY + timedelta(days=5)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOON)


@pytest.fixture
async def clicks(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Clicks]:
    async with counting(tmp_path, clock) as clicks:
        await create_total(clicks)
        yield clicks


async def press(clicks: Clicks, user_id: str = "user-123", **more: Any) -> str:
    (recorded,) = await record(clicks, [NewClick(user_id=user_id, **more)])
    return recorded.created


def later(milliseconds: int) -> str:
    return stamp(int(NOON * 1000) + milliseconds)


# Formats


async def test_a_click_and_its_statistics_are_stored_as_the_seed_has_them(clicks: Clicks) -> None:
    await press(clicks)
    day, month, now = DAY.isoformat(), DAY.isoformat()[:7], f"{DAY}T12:00:00.000Z"
    stored = [
        await clicks.tables.get(CLICKS, {"userId": user, "createDateTime": time})
        for user, time in (("user-123", now), ("STAT#DAILY", day), ("STAT#MONTHLY", month), ("STAT#TOTAL", "METADATA"))
    ]
    assert stored == [
        {
            "userId": "user-123",
            "createDateTime": now,
            "clickCount": 1,
            "dateKey": f"DATE#{day}",
            "recordSort": f"CLICK#{now}#user-123",
        },
        {
            "userId": "STAT#DAILY",
            "createDateTime": day,
            "totalClicks": 1,
            "uniqueUsers": 1,
            "dateKey": f"DATE#{day}",
            "recordSort": "STAT#DAILY",
        },
        {
            "userId": "STAT#MONTHLY",
            "createDateTime": month,
            "totalClicks": 1,
            "uniqueUsers": 1,
            "dateKey": f"MONTH#{month}",
            "recordSort": "STAT#MONTHLY",
        },
        {
            "userId": "STAT#TOTAL",
            "createDateTime": "METADATA",
            "totalClicks": 1,
            "dateKey": "STAT#TOTAL",
            "recordSort": "METADATA",
        },
    ]


async def test_the_total_is_there_from_the_start_and_stays_when_the_server_starts_again(clicks: Clicks) -> None:
    total = {"userId": "STAT#TOTAL", "createDateTime": "METADATA"}
    assert (await clicks.tables.get(CLICKS, total) or {})["totalClicks"] == 0
    await press(clicks, count=3)
    await create_total(clicks)
    assert (await clicks.tables.get(CLICKS, total) or {})["totalClicks"] == 3


@pytest.mark.parametrize("user_id", ["a#b", "100%", "ä ö", "user#", "#"])
async def test_any_readable_id_is_stored_as_it_is(clicks: Clicks, user_id: str) -> None:
    created = await press(clicks, user_id)
    stored = await clicks.tables.get(CLICKS, CLICK.key(user_id=user_id, created=created)) or {}
    assert stored == CLICK.item(click_row(user_id, created))
    assert stored["recordSort"] == f"CLICK#{created}#{user_id}"
    await press(clicks, user_id)
    assert (await check_figures(clicks.tables, DAY, DAY))[0]["userId"] == user_id
    marker = first_marker_item(user_id, "SITE", DAY.isoformat())
    assert MARKER.table.key_of(marker) == MARKER.key(user_id=user_id, period="ALL", scope="SITE")
    assert await clicks.tables.get(MARKER.table, MARKER.table.key_of(marker)) == marker


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("2025-10-02T10:30:00Z", "2025-10-02T10:30:00.000Z"),
        ("2025-10-02T10:30:00.1Z", "2025-10-02T10:30:00.100Z"),
        ("2025-10-02T10:30:00.123999Z", "2025-10-02T10:30:00.123Z"),
        ("2025-10-02T10:30:00.999999999Z", "2025-10-02T10:30:00.999Z"),
        ("2025-10-02T16:15:00.5+05:45", "2025-10-02T10:30:00.500Z"),
        ("2025-10-01T23:30:00-11:00", "2025-10-02T10:30:00.000Z"),
        ("20251002T103000Z", "2025-10-02T10:30:00.000Z"),
        ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
    ],
)
def test_times_of_any_precision_and_zone_become_24_characters_of_utc(written: str, stored: str) -> None:
    assert stamp(milliseconds_of(written)) == stored


@pytest.mark.parametrize("written", ["2025-10-02T10:30:00", "2025-10-02", "now", "", "2025-13-01T00:00:00Z", "٣"])
def test_a_time_without_zone_or_sense_is_refused(written: str) -> None:
    with pytest.raises(Invalid):
        milliseconds_of(written)


# Times


@pytest.mark.parametrize(
    ("seconds", "refusal"),
    [
        (-48 * 3600, None),
        (-48 * 3600 - 0.001, ClickTooLate),
        (-(10**9), ClickTooLate),
        (300, None),
        (300.001, ClickTooEarly),
        (10**9, ClickTooEarly),
    ],
)
async def test_a_click_may_be_two_days_late_and_five_minutes_early(
    clicks: Clicks, seconds: float, refusal: type[Exception] | None
) -> None:
    written = iso(NOON + seconds)
    if refusal is None:
        assert await press(clicks, at=written) == written
    else:
        with pytest.raises(refusal):
            await press(clicks, at=written)
    await check_figures(clicks.tables, BEFORE, AFTER)


@pytest.mark.parametrize("written", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
async def test_times_at_the_end_of_time_are_refused_as_any_other(clicks: Clicks, written: str) -> None:
    with pytest.raises((ClickTooLate, ClickTooEarly)):
        await press(clicks, at=written)


async def test_clicks_of_one_person_in_one_millisecond_are_all_kept(clicks: Clicks) -> None:
    together = await asyncio.gather(*(press(clicks) for _ in range(5)))
    assert sorted(together) == [later(n) for n in range(5)]
    assert await press(clicks, at=later(2)) == later(5)
    assert await press(clicks, "somebody else") == later(0)
    assert len(await check_figures(clicks.tables, DAY, DAY)) == 7


@pytest.mark.parametrize("edge", ["T23:59:59.998Z", "T10:14:59.999Z"])
async def test_clicks_of_the_last_millisecond_count_on_their_day_and_in_their_quarter(
    clicks: Clicks, edge: str
) -> None:
    at = f"{DAY - timedelta(days=1)}{edge}"
    lists = [[NewClick(user_id="u", at=at)] * 20, [NewClick(user_id="u", at=at)] * 29]
    created = [each.created for new in lists for each in await record(clicks, new)]
    created.append(await press(clicks, "u", at=at))
    assert len(set(created)) == 50
    assert {each[:15] for each in created} == {at[:15]}
    assert len(await check_figures(clicks.tables, BEFORE, AFTER)) == 50


async def test_what_was_stored_before_a_restart_is_not_overwritten(tmp_path: Path, clock: ManualClock) -> None:
    for start in (0, 3):
        async with counting(tmp_path, clock) as clicks:
            new = [NewClick(user_id="u", at=later(0)) for _ in range(3)]
            assert [each.created for each in await record(clicks, new)] == [later(start + n) for n in range(3)]
            await check_figures(clicks.tables, DAY, DAY)


async def test_a_long_run_of_taken_milliseconds_is_passed(tmp_path: Path, clock: ManualClock) -> None:
    async with counting(tmp_path, clock) as clicks:
        await record(clicks, [NewClick(user_id="u", at=later(n)) for n in range(300)])
    async with counting(tmp_path, clock) as clicks:
        assert await press(clicks, "u", at=later(0)) >= later(300)
        assert len(await check_figures(clicks.tables, DAY, DAY)) == 301


# What is refused


@pytest.mark.parametrize("count", [0, -1, 1_000_001, 10**40])
async def test_negative_and_huge_counts_are_refused(clicks: Clicks, count: int) -> None:
    with pytest.raises(Invalid):
        await press(clicks, count=count)


@pytest.mark.parametrize("user_id", ["", "x" * 201, "a\nb", "\x00", "\u202e"])
async def test_ids_that_nobody_could_read_are_refused(clicks: Clicks, user_id: str) -> None:
    with pytest.raises(Invalid):
        await press(clicks, user_id)


@pytest.mark.parametrize("user_id", ["STAT#TOTAL", "STAT#DAILY", "STAT#", "STAT#x"])
async def test_ids_of_statistics_are_refused(clicks: Clicks, user_id: str) -> None:
    with pytest.raises(ReservedId):
        await press(clicks, user_id)


async def test_if_one_of_a_list_is_refused_none_is_stored(clicks: Clicks) -> None:
    with pytest.raises(Invalid):
        await record(clicks, [NewClick(user_id="a"), NewClick(user_id="STAT#DAILY")])
    with pytest.raises(Invalid):
        await record(clicks, [NewClick(user_id="a")] * 1001)
    assert await check_figures(clicks.tables, DAY, DAY) == []


# Keys


async def test_a_click_that_comes_again_with_its_key_is_the_same_click(clicks: Clicks, clock: ManualClock) -> None:
    click = NewClick(user_id="u", key="k", count=3)
    first = await record(clicks, [click])
    clock.advance(timedelta(hours=47))
    assert [(each.created, each.repeated) for each in await record(clicks, [click])] == [(first[0].created, True)]
    assert await press(clicks, "another", key="k") == iso(clock())
    assert len(await check_figures(clicks.tables, BEFORE, AFTER)) == 2


async def test_a_key_in_one_list_or_in_many_at_once_counts_once(clicks: Clicks) -> None:
    click = NewClick(user_id="u", key="k")
    answers = [await record(clicks, [click, click])]
    answers += await asyncio.gather(*(record(clicks, [click, NewClick(user_id="u")]) for _ in range(5)))
    keyed = [each for answer in answers for each in answer[: 2 if answer is answers[0] else 1]]
    assert {each.created for each in keyed} == {later(0)}
    assert [each.repeated for each in keyed] == [False, *[True] * 6]
    assert len(await check_figures(clicks.tables, DAY, DAY)) == 6


@pytest.mark.parametrize("other", [{"count": 2}, {"label": "x"}, {"kind": "open"}, {"at": later(5)}, {"target": "l"}])
async def test_a_key_that_comes_with_another_click_is_refused_and_nothing_of_the_call_is_stored(
    clicks: Clicks, other: dict[str, Any]
) -> None:
    await press(clicks, "u", key="k")
    with pytest.raises(KeyReused):
        await record(clicks, [NewClick(user_id="u"), NewClick(user_id="u", key="k", **other)])
    with pytest.raises(KeyReused):
        await record(clicks, [NewClick(user_id="u", key="new"), NewClick(user_id="u", key="new", **other)])
    assert len(await check_figures(clicks.tables, DAY, DAY)) == 1


async def test_a_retry_is_known_by_its_key_when_its_time_is_long_past_and_never_counts_twice(
    clicks: Clicks, clock: ManualClock
) -> None:
    click = NewClick(user_id="u", key="k", at=iso(NOON + 299))
    await record(clicks, [click])
    for passed in (timedelta(hours=48, seconds=299), timedelta(days=4, hours=23)):
        clock.advance(passed)
        await clicks.tables.sweep()
        assert (await record(clicks, [click]))[0].repeated
    with pytest.raises(ClickTooLate):
        await record(clicks, [click, NewClick(user_id="u", at=iso(NOON))])
    clock.advance(timedelta(hours=1))
    with pytest.raises(ClickTooLate):
        await record(clicks, [click])
    assert len(await check_figures(clicks.tables, BEFORE, AFTER)) == 1


async def test_what_is_told_too_late_to_count_on_its_day_counts_now_and_once(
    clicks: Clicks, clock: ManualClock
) -> None:
    counted = Counted(user_id="u", kind="download", owner="o", at=iso(NOON), key="k")
    clock.advance(timedelta(days=3))
    for _ in range(2):
        await count_stated(clicks, counted)
        clock.advance(timedelta(hours=1))
    (click,) = await check_figures(clicks.tables, BEFORE, AFTER)
    assert click["createDateTime"] == iso(NOON + 3 * 86400)


# Figures


async def test_somebody_who_comes_on_three_days_is_one_person_of_the_month(clicks: Clicks, clock: ManualClock) -> None:
    for _ in range(3):
        await press(clicks, count=2)
        clock.advance(timedelta(days=1))
    await check_figures(clicks.tables, BEFORE, AFTER)


async def test_markers_that_name_no_day_are_believed(tmp_path: Path, clock: ManualClock) -> None:
    """Recorders wrote such markers before, and rebuilds on shared tables still do."""
    async with counting(tmp_path, clock) as clicks:
        await press(clicks, "u")
        day, month, _ = periods_of(DAY.isoformat())
        named = [marker_item("u", period, SITE, marker_expiry(period)) for period in (day, month, ALL)]
        await clicks.tables.write_many(COUNTS, put=named)
    async with counting(tmp_path, clock) as clicks:
        await press(clicks, "u")
        await check_figures(clicks.tables, DAY, DAY)
        clock.advance(timedelta(days=1))
        await press(clicks, "u")
        await check_figures(clicks.tables, DAY, AFTER)


async def test_somebody_who_comes_again_after_a_restart_is_one_person(tmp_path: Path, clock: ManualClock) -> None:
    for _ in range(3):
        for _ in range(2):
            async with counting(tmp_path, clock) as clicks:
                await press(clicks, "u")
                await press(clicks, "v")
        clock.advance(timedelta(days=1))
    async with counting(tmp_path, clock) as clicks:
        await check_figures(clicks.tables, BEFORE, AFTER)


async def test_a_step_that_fails_leaves_counts_as_they_are_stored(
    clicks: Clicks, monkeypatch: pytest.MonkeyPatch
) -> None:
    await press(clicks)
    with monkeypatch.context() as patched:
        patched.setattr(StoredCounts, "add", _fails_after(StoredCounts.add))
        with pytest.raises(Unavailable):
            await press(clicks, count=5)
    await press(clicks, "other")
    assert (await clicks.tables.get(COUNTS, count_key(SITE, ALL)) or {})["totalClicks"] == 2
    await check_figures(clicks.tables, DAY, DAY)


def _fails_after(add: Callable[..., Any]) -> Callable[..., Any]:
    def fail(*given: Any, **named: Any) -> None:
        add(*given, **named)
        raise OSError("disk full")

    return fail


async def test_retention_lets_clicks_go_and_keeps_the_figures(tmp_path: Path, clock: ManualClock) -> None:
    async with counting(tmp_path, clock, kept_for=timedelta(days=7)) as clicks:
        created = await press(clicks, "u")
        stored = await clicks.tables.get(CLICKS, CLICK.key(user_id="u", created=created)) or {}
        assert stored["expiresAt"] == NOON + 7 * 86400
        clock.advance(timedelta(days=7))
        await clicks.tables.sweep()
        assert await clicks.tables.get(CLICKS, CLICK.key(user_id="u", created=created)) is None
        day = await clicks.tables.get(CLICKS, {"userId": "STAT#DAILY", "createDateTime": DAY.isoformat()})
        assert day is not None
        assert (day["totalClicks"], day["uniqueUsers"]) == (1, 1)


async def test_whoever_shares_something_hears_what_it_comes_to_now(tmp_path: Path, clock: ManualClock) -> None:
    ephemeral = await MemoryEphemeral.open(clock=clock)
    async with counting(tmp_path, clock, ephemeral=ephemeral) as clicks, heard_by(ephemeral, "ann") as hearing:
        await press(clicks, "u", owner="ann", at=iso(NOON - 86400))
        assert await hearing.next() == {"type": "stats.changed", "total": 1, "today": 0, "day": DAY.isoformat()}
        for _ in range(10):
            await press(clicks, "u", owner="ann")
        # More often than somebody could see, only the newest is told.
        assert (await hearing.next())["total"] == 11


async def test_whoever_watches_the_whole_site_hears_of_it_until_they_look_no_more(
    tmp_path: Path, clock: ManualClock
) -> None:
    ephemeral = await MemoryEphemeral.open(clock=clock)
    async with counting(tmp_path, clock, ephemeral=ephemeral) as clicks, heard_by(ephemeral, "admin") as hearing:
        await clicks.watchers.add("admin")
        await press(clicks, "u", owner="ann")
        assert await hearing.next() == {"type": "stats.site-changed"}
        clock.advance(WATCHED_FOR)
        assert await clicks.watchers.present() == []


people = st.sampled_from(["ann", "bob", "c#d", "visitor:x"])
kinds = st.sampled_from(KINDS)
links = st.sampled_from([None, ("l1", "file:f", "ann"), ("l2", "file:f", "ann"), ("l3", "room:r", "bob")])


@st.composite
def new_clicks(draw: st.DrawFn) -> NewClick:
    target, thing, owner = draw(links) or (None, None, None)
    # Around the ends of days and months, and often at the same moment.
    moment = draw(st.sampled_from([None, -172_799_000, -86_400_000, -43_200_001, -43_200_000, -1, 0, 1, 299_999]))
    key = draw(st.sampled_from([None, None, "k1", "k2"]))
    return NewClick(
        user_id=draw(people),
        at=None if moment is None else later(moment),
        count=1 if key else draw(st.sampled_from([1, 1, 2, 1_000_000])),
        kind=draw(kinds),
        target=target,
        thing=thing,
        owner=owner,
        key=key,
    )


steps = st.lists(st.lists(st.lists(new_clicks(), max_size=4), min_size=1, max_size=6), max_size=4)


async def record_all(folder: Path, asked: list[list[list[NewClick]]]) -> None:
    """Each round at once, each by a server that has just been started."""
    for calls in asked:
        async with counting(folder, ManualClock(NOON)) as clicks:
            answers = await asyncio.gather(*(record(clicks, call) for call in calls), return_exceptions=True)
            assert {type(answer) for answer in answers} <= {list, KeyReused}
    async with counting(folder, ManualClock(NOON)) as clicks:
        await check_figures(clicks.tables, BEFORE, AFTER)


@pytest.mark.slow
@given(steps)
@settings(max_examples=25)
def test_after_any_sequence_of_records_every_figure_equals_a_recount(asked: list[list[list[NewClick]]]) -> None:
    with TemporaryDirectory() as folder:
        asyncio.run(record_all(Path(folder), asked))
