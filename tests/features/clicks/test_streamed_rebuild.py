"""That days can be counted again while clicks keep coming through the stream."""

from datetime import date, timedelta

import pytest

from satchel.features.clicks.model import Period, PeriodGone
from satchel.features.clicks.records import COUNT, click_row
from satchel.features.clicks.service.streamed import rebuild as streamed_rebuild
from satchel.features.clicks.service.streamed.publication import publish, publisher_lease
from satchel.features.clicks.service.streamed.rebuild import (
    count_doubtful_days,
    doubt_lost_days,
)
from satchel.features.clicks.service.streamed.stream_fold import Fold
from satchel.kernel.clock import iso
from satchel.kernel.errors import Conflict
from satchel.stores.consumer import POSITIONS, HeldAlone
from satchel.stores.patterns.lease import TableLease
from satchel.stores.ports.expressions import add, assign
from satchel.stores.ports.table import PositionLost
from satchel.tables import CLICKS, COUNTS
from tests.features.clicks.streams import (
    NOW,
    Log,
    Store,
    counted,
    expected,
    fold_all,
    some_clicks,
    statistics,
    store_clicks,
)

pytestmark = pytest.mark.services
TODAY = Period.of_day(date(2030, 4, 1))
AT_ONCE = timedelta(0)


def folding(store: Store) -> Fold:
    return Fold(store.tables, store.clock, most_writes=store.most_writes)


def lease(store: Store, holder: str = "one") -> TableLease:
    return publisher_lease(store.tables, store.clock, holder)


async def rebuild(store: Store, period: Period, **options: timedelta | None) -> None:
    log = Log(store.tables, store.clock, **options)
    await streamed_rebuild.rebuild(log, period, most_writes=store.most_writes, settling=AT_ONCE)


@pytest.mark.parametrize("period", [TODAY, TODAY.month])
async def test_a_period_that_was_wrong_is_right_after_it_was_counted_again(store: Store, period: Period) -> None:
    clicks = some_clicks(20, links=False)
    await store_clicks(store, clicks)
    await fold_all(store.consumer(), folding(store))
    wrong = COUNT.key(scope="SITE", period=TODAY.name, slot="05")
    await store.tables.update(COUNTS, wrong, [add("totalClicks", 1000), add("press99", 7), add("uniqueUsers", 5)])
    await rebuild(store, period)
    assert await counted(store, clicks) == expected(clicks)
    await publish(store.tables, lease(store))
    today = next(row for row in await statistics(store) if row["createDateTime"] == "2030-04-01")
    assert today["totalClicks"] == expected(clicks)["SITE", TODAY.name]["totalClicks"]


async def test_a_day_that_was_never_folded_is_found_in_its_clicks(store: Store) -> None:
    clicks = some_clicks(12, links=False)
    await store_clicks(store, clicks)
    consumer = store.consumer()
    (shard,) = await store.tables.shards(CLICKS)
    changes = await consumer.following()
    position = {"consumer": "qit-db-local/clicks", "shard": shard.id, "after": changes[-1].position}
    await store.tables.put(POSITIONS, {**position, "movedAt": int(NOW)})
    await rebuild(store, TODAY)
    await rebuild(store, Period.of_day(date(2030, 3, 31)))
    assert await counted(store, clicks) == expected(clicks)


async def test_a_month_that_is_counted_again_gets_no_row_for_a_day_without_clicks(store: Store) -> None:
    click = click_row("ann", iso(NOW - 3 * 86400))
    await store_clicks(store, [click])
    await fold_all(store.consumer(), folding(store))
    await rebuild(store, Period.of_month(2030, 3))
    await publish(store.tables, lease(store))
    days = [row["createDateTime"] for row in await statistics(store) if row["userId"] == "STAT#DAILY"]
    assert days == ["2030-03-29"]


async def test_clicks_of_days_long_past_count_people_only_after_a_recount(store: Store) -> None:
    old = [click_row(f"p{number % 3}", iso(NOW - 90 * 86400 + number)) for number in range(9)]
    recent = [click_row(f"p{number % 3}", iso(NOW - 10 * 86400 + number)) for number in range(6)]
    for clicks in (old[:5], recent, old[5:]):
        await store_clicks(store, clicks)
        await fold_all(store.consumer(), folding(store))
    found = await counted(store, [*old, *recent])
    assert found["SITE", f"DAY:{old[0].created[:10]}"] == {"totalClicks": 9, "press": 9}
    assert found["SITE", "ALL"]["uniqueUsers"] == 3
    log = Log(store.tables, store.clock)
    assert await count_doubtful_days(log, most_writes=store.most_writes, settling=AT_ONCE) == 2
    assert await counted(store, [*old, *recent]) == expected([*old, *recent])
    assert await count_doubtful_days(log, most_writes=store.most_writes, settling=AT_ONCE) == 0


async def test_clicks_that_come_while_a_day_is_counted_again_are_neither_lost_nor_doubled(store: Store) -> None:
    clicks = some_clicks(12, links=False)
    await store_clicks(store, clicks)
    await fold_all(store.consumer(), folding(store))

    async def click_more() -> None:
        click = click_row(f"late{len(clicks)}", iso(NOW - len(clicks)))
        clicks.append(click)
        await store_clicks(store, [click])
        # Somebody who works on meanwhile finds that the stream is held.
        assert await store.consumer("other").consume(folding(store)) == 0

    store.tables.around_reading = click_more
    await rebuild(store, TODAY)
    store.tables.around_reading = None
    await fold_all(store.consumer(), folding(store))
    assert len(clicks) == 14
    assert await counted(store, clicks) == expected(clicks)


async def test_a_rebuild_whose_stream_was_taken_over_writes_nothing_more(store: Store) -> None:
    clicks = some_clicks(6, links=False)
    await store_clicks(store, clicks)
    await fold_all(store.consumer(), folding(store))

    async def take_over() -> None:
        with pytest.raises(HeldAlone):
            await rebuild(store, TODAY)
        (shard,) = await store.tables.shards(CLICKS)
        key = {"consumer": "qit-db-local/clicks", "shard": shard.id}
        await store.tables.update(POSITIONS, key, [assign("holder", "other")])

    store.tables.before_writing = take_over
    with pytest.raises(Conflict):
        await rebuild(store, TODAY)
    assert await counted(store, clicks) == expected(clicks)


async def test_days_whose_clicks_have_expired_are_not_counted_again(store: Store) -> None:
    clicks = some_clicks(6, links=False)
    await store_clicks(store, clicks)
    with pytest.raises(PeriodGone):
        await rebuild(store, Period.of_day(date(2030, 3, 1)), kept_for=timedelta(days=7))
    await fold_all(store.consumer(), folding(store))
    assert await counted(store, clicks) == expected(clicks)


async def test_days_that_the_stream_has_lost_clicks_of_are_counted_again(store: Store) -> None:
    clicks = some_clicks(12, links=False)
    await store_clicks(store, clicks)
    await fold_all(store.consumer(), folding(store))
    lost = some_clicks(8, links=False, seed=5)
    await store_clicks(store, lost)
    # As if these had been in a part that is gone, and nothing else had come.
    (shard,) = await store.tables.shards(CLICKS)
    consumer = store.consumer()
    changes = await consumer.following()
    key = {"consumer": "qit-db-local/clicks", "shard": shard.id}
    await store.tables.update(POSITIONS, key, [assign("after", changes[-1].position)])
    gone = {"consumer": "qit-db-local/clicks", "shard": "gone", "after": "1", "movedAt": int(NOW - 30 * 3600)}
    await store.tables.put(POSITIONS, gone)
    with pytest.raises(PositionLost):
        await consumer.consume(folding(store))
    log = Log(store.tables, store.clock)
    await doubt_lost_days(log, consumer)
    # From two days before the position was reached until today.
    assert await count_doubtful_days(log, most_writes=store.most_writes, settling=AT_ONCE) == 4
    assert await count_doubtful_days(log, most_writes=store.most_writes, settling=AT_ONCE) == 0
    assert await consumer.consume(folding(store)) == 0
    assert await counted(store, [*clicks, *lost]) == expected([*clicks, *lost])
