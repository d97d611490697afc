"""That what workers have folded is published in the seed's rows, by one worker at a time."""

import pytest

from satchel.features.clicks.records import click_row
from satchel.features.clicks.service.click_record import create_total
from satchel.features.clicks.service.streamed.publication import PUBLISHER_LEASE_LASTS, publish, publisher_lease
from satchel.features.clicks.service.streamed.stream_fold import Fold
from satchel.kernel.clock import iso
from satchel.stores.patterns.lease import TableLease
from tests.features.clicks.streams import (
    NOW,
    Log,
    Store,
    counted,
    expected,
    fold_all,
    statistics,
    store_clicks,
)

pytestmark = pytest.mark.services


def folding(store: Store) -> Fold:
    return Fold(store.tables, store.clock, most_writes=store.most_writes)


def lease(store: Store, holder: str = "one") -> TableLease:
    return publisher_lease(store.tables, store.clock, holder)


async def test_the_total_is_there_from_the_start(store: Store) -> None:
    await create_total(Log(store.tables, store.clock))
    assert await statistics(store) == [
        {
            "userId": "STAT#TOTAL",
            "createDateTime": "METADATA",
            "totalClicks": 0,
            "dateKey": "STAT#TOTAL",
            "recordSort": "METADATA",
        }
    ]


async def test_statistics_are_published_as_the_seed_has_them(store: Store) -> None:
    clicks = [click_row("ann", iso(NOW)), click_row("ann", iso(NOW + 1)), click_row("bob", iso(NOW + 2), count=3)]
    await store_clicks(store, clicks)
    await fold_all(store.consumer(), folding(store))
    assert await publish(store.tables, lease(store)) == 3
    day = {"dateKey": "DATE#2030-04-01", "recordSort": "STAT#DAILY"}
    month = {"dateKey": "MONTH#2030-04", "recordSort": "STAT#MONTHLY"}
    total = {"dateKey": "STAT#TOTAL", "recordSort": "METADATA"}
    sums = {"totalClicks": 5, "uniqueUsers": 2}
    assert await statistics(store) == [
        {"userId": "STAT#DAILY", "createDateTime": "2030-04-01", **sums, **day},
        {"userId": "STAT#MONTHLY", "createDateTime": "2030-04", **sums, **month},
        {"userId": "STAT#TOTAL", "createDateTime": "METADATA", "totalClicks": 5, **total},
    ]
    await fold_all(store.consumer(), folding(store))
    assert await publish(store.tables, lease(store)) == 0
    assert await counted(store, clicks) == expected(clicks)


async def test_what_is_folded_while_statistics_are_published_is_published_next(store: Store) -> None:
    clicks = [click_row("ann", iso(NOW)), click_row("ann", iso(NOW + 1))]
    await store_clicks(store, clicks[:1])
    await fold_all(store.consumer(), folding(store))

    async def fold_more() -> None:
        await store_clicks(store, clicks[1:])
        await fold_all(store.consumer(), folding(store))

    store.tables.before_writing = fold_more
    await publish(store.tables, lease(store))
    assert await publish(store.tables, lease(store)) == 3
    assert {row["totalClicks"] for row in await statistics(store)} == {2}


async def test_one_publishes_at_a_time_and_one_who_was_too_slow_overwrites_nothing(store: Store) -> None:
    clicks = [click_row("ann", iso(NOW)), click_row("ann", iso(NOW + 1))]
    await store_clicks(store, clicks[:1])
    await fold_all(store.consumer(), folding(store))
    assert await lease(store, "two").take()
    assert await publish(store.tables, lease(store)) == 0

    async def be_overtaken() -> None:
        store.clock.advance(PUBLISHER_LEASE_LASTS)
        await store_clicks(store, clicks[1:])
        await fold_all(store.consumer(), folding(store))
        assert await publish(store.tables, lease(store)) == 3

    store.tables.before_writing = be_overtaken
    assert await publish(store.tables, lease(store, "two")) == 0
    assert {row["totalClicks"] for row in await statistics(store)} == {2}
