"""A range of days where workers fold clicks into DynamoDB: counted and sketched as on one machine."""

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest

from satchel.features.clicks.records import SITE
from satchel.features.clicks.service.local_days import local_day_of
from satchel.features.clicks.service.range_read import read_range
from satchel.features.clicks.service.streamed.stream_fold import Fold
from tests.features.clicks.streams import Log, Store, fold_all, store_clicks

pytestmark = pytest.mark.services

UTC = ZoneInfo("UTC")


async def test_a_range_is_counted_and_sketched_where_workers_fold(store: Store) -> None:
    clicks = store.clicks(60, people=20)
    log, fold = Log(store.tables, store.clock), Fold(store.tables, store.clock, most_writes=store.most_writes)
    await store_clicks(store, clicks)
    await fold_all(store.consumer(), fold)
    last = local_day_of(store.clock(), UTC) + timedelta(days=1)
    first = last - timedelta(days=4)
    people = len({click.user_id for click in clicks})
    exact = await read_range(log, SITE, first, last, UTC)
    assert exact.people is not None
    assert (exact.figures.clicks, exact.people.number) == (sum(click.count for click in clicks), people)
    sketched = exact
    for _ in range(100):
        sketched = await read_range(log, SITE, first, last, UTC, budget=5)
        if not sketched.pending:
            break
    assert sketched.people is not None
    assert sketched.people.low <= people <= sketched.people.high
    # What was read is kept.
    assert (await read_range(log, SITE, first, last, UTC, budget=0)).people == sketched.people
