"""That folding a stream of clicks comes to what a recount comes to, whatever happens on the way."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from satchel.features.clicks.model import NewClick, Period
from satchel.features.clicks.records import CLICK, LAST, click_row
from satchel.features.clicks.service.streamed.rebuild import rebuild
from satchel.features.clicks.service.streamed.recorder import StreamedRecorder
from satchel.features.clicks.service.streamed.stream_fold import Fold
from satchel.features.clicks.stream_records import POISON
from satchel.kernel.clock import iso
from satchel.kernel.errors import Unavailable
from satchel.stores.consumer import Effect
from satchel.stores.ports.table import Change
from satchel.tables import CLICKS, COUNTS
from tests.features.clicks.streams import (
    LOCAL,
    MOTO,
    NOW,
    Log,
    Store,
    counted,
    expected,
    fold_all,
    open_store,
    some_clicks,
    store_clicks,
)

pytestmark = pytest.mark.services
ANN = click_row("ann", iso(NOW - 60))


@pytest_asyncio.fixture(params=[LOCAL, MOTO])
async def any_store(request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    store = await open_store(request, request.param)
    yield store
    await store.tables.close()


def folding(store: Store) -> Fold:
    return Fold(store.tables, store.clock, most_writes=store.most_writes)


async def test_a_fold_equals_a_recount(any_store: Store) -> None:
    store = any_store
    clicks = store.clicks(60)
    await store_clicks(store, clicks[:9])
    await fold_all(store.consumer(), folding(store))
    await store_clicks(store, clicks[9:])
    await fold_all(store.consumer(), folding(store), limit=7)
    assert await counted(store, clicks) == expected(clicks)
    last = await store.tables.get_many(COUNTS, [LAST.key(scope="SITE")])
    assert [row and row["lastAt"] for row in last] == [max(click.created for click in clicks)]


async def test_what_guests_say_is_no_figure_of_the_site(store: Store) -> None:
    clicks = store.clicks(8)
    said = click_row("guest:guest-1", iso(NOW - 30), count=1)
    await store_clicks(store, [said, *clicks, click_row("guest:guest-2", iso(NOW - 3 * 24 * 3600))])
    await fold_all(store.consumer(), folding(store), limit=3)
    assert await counted(store, clicks) == expected(clicks)


@pytest.mark.parametrize("seed", [1, 2])
async def test_lost_calls_and_lost_answers_change_nothing(any_store: Store, seed: int) -> None:
    store = any_store
    clicks = store.clicks(40, seed=seed)
    await store_clicks(store, clicks)
    store.tables.lost_share = 0.12
    await fold_all(store.consumer(), folding(store), limit=9)
    store.tables.lost_share = 0.0
    assert await counted(store, clicks) == expected(clicks)


async def test_changes_that_come_again_change_nothing(store: Store) -> None:
    clicks = store.clicks(30)
    await store_clicks(store, clicks)
    consumer = store.consumer()
    (shard,) = await store.tables.shards(CLICKS)
    changes = await consumer.following()
    assert await consumer.take(shard.id, changes[:20], folding(store)) == 20
    assert await consumer.take(shard.id, changes[5:25], folding(store)) == 20
    assert await consumer.take(shard.id, changes[:3], folding(store)) == 3
    await fold_all(consumer, folding(store))
    assert await counted(store, clicks) == expected(clicks)


async def test_two_workers_that_race_fold_each_click_once(store: Store) -> None:
    clicks = store.clicks(40)

    async def race(worker: str) -> None:
        await fold_all(store.consumer(worker, lease=timedelta(0)), folding(store), limit=5)

    await store_clicks(store, clicks[:25])
    await asyncio.gather(race("one"), race("two"), store_clicks(store, clicks[25:]))
    await race("one")
    assert await counted(store, clicks) == expected(clicks)


@pytest.mark.parametrize("lost_share", [0.0, 0.1])
async def test_a_stream_that_splits_is_folded_to_the_same_figures(store: Store, lost_share: float) -> None:
    clicks = store.clicks(60)
    await store_clicks(store, clicks[:12])
    await store.consumer("one", lease=timedelta(0)).consume(folding(store), limit=5)
    await store.tables.split()
    await store_clicks(store, clicks[12:])
    store.tables.lost_share = lost_share
    workers = (store.consumer(worker, lease=timedelta(milliseconds=1)) for worker in ("one", "two"))
    await asyncio.gather(*(fold_all(worker, folding(store), limit=6) for worker in workers))
    await fold_all(store.consumer("three", lease=timedelta(0)), folding(store))
    store.tables.lost_share = 0.0
    assert await counted(store, clicks) == expected(clicks)


async def test_somebody_whom_two_parts_of_the_stream_count_at_once_is_one_person(store: Store) -> None:
    await store.tables.split()
    clicks = [click_row("ann", iso(NOW - seconds)) for seconds in range(8)]
    await store_clicks(store, clicks)
    changes = {part: (await store.tables.changes(CLICKS, part, None)).changes for part in ("odd", "even")}
    rival = replace(store.consumer("rival"), tables=await store.opened_again())
    fold = folding(store)

    async def overtake() -> None:
        assert await rival.take("even", changes["even"], fold) == len(changes["even"])

    store.tables.before_writing = overtake
    assert await store.consumer().take("odd", changes["odd"], fold) == len(changes["odd"])
    await rival.tables.close()
    taken = {change.key["createDateTime"] for part in changes.values() for change in part}
    clicks = [click for click in clicks if click.created in taken]
    assert await counted(store, clicks) == expected(clicks)


async def test_statistics_and_what_goes_are_no_clicks(store: Store) -> None:
    clicks = some_clicks(5, links=False)
    await store_clicks(store, clicks)
    await store.tables.put(CLICKS, {"userId": "STAT#TOTAL", "createDateTime": "METADATA", "recordSort": "METADATA"})
    for click in clicks[:2]:
        await store.tables.delete(CLICKS, CLICK.key(user_id=click.user_id, created=click.created))
    await fold_all(store.consumer(), folding(store))
    assert await counted(store, clicks) == expected(clicks)


async def test_a_changed_click_counts_as_what_it_is_now(store: Store) -> None:
    larger = msgspec.structs.replace(ANN, count=5)
    kept_longer = msgspec.structs.replace(larger, expires_at=int(NOW) + 1000)
    other_kind = msgspec.structs.replace(kept_longer, kind="open", count=2)
    for each in (ANN, larger, kept_longer, other_kind):
        await store_clicks(store, [each])
        await fold_all(store.consumer(), folding(store))
        assert await counted(store, [each]) == expected([each])


async def test_two_clicks_of_one_millisecond_are_two(store: Store) -> None:
    recorder = StreamedRecorder(store.tables, store.clock, None)
    now = int(NOW * 1000)
    recorded = await recorder.record([NewClick(user_id="ann")] * 3, [now] * 3)
    assert sorted(each.created[-4:] for each in recorded) == ["000Z", "001Z", "002Z"]
    await fold_all(store.consumer(), folding(store))
    clicks = [click_row("ann", each.created) for each in recorded]
    assert await counted(store, clicks) == expected(clicks)


@pytest.mark.parametrize(
    "broken",
    [
        {"clickCount": "many"},
        {"clickCount": -5},
        {"createDateTime": "yesterday"},
        {"createDateTime": "2030-04-01T09Z"},
        {"kind": "glance"},
        {"owner": "o" * 1000},
    ],
)
async def test_a_click_that_makes_no_sense_is_set_aside_and_stops_nothing(store: Store, broken: dict[str, Any]) -> None:
    await store.tables.put(CLICKS, CLICK.item(click_row("bob", iso(NOW - 9))) | broken)
    await store_clicks(store, [ANN])
    await fold_all(store.consumer(), folding(store))
    assert await counted(store, [ANN]) == expected([ANN])
    (poison,) = (await store.tables.query(COUNTS, "POISON")).items
    assert str(next(iter(broken.values()))) in POISON.read(poison).item
    period = Period.of_day(date(2030, 4, 1))
    await rebuild(Log(store.tables, store.clock), period, most_writes=10, settling=timedelta(0))
    assert await counted(store, [ANN]) == expected([ANN])


async def test_as_many_changes_as_fit_share_a_transaction(store: Store) -> None:
    clicks = store.clicks(40, people=3)
    await store_clicks(store, clicks)
    sizes: list[int] = []
    fold = folding(store)

    async def noting(shard: str, changes: Sequence[Change]) -> Effect:
        effect = await fold(shard, changes)
        sizes.append(len(effect.writes))
        return effect

    await fold_all(store.consumer(), noting)
    assert max(sizes) < store.most_writes
    assert len(sizes) <= len(clicks) / 2


async def test_a_worker_that_died_between_reading_and_writing_leaves_nothing_undone(store: Store) -> None:
    await store_clicks(store, [ANN])
    fold = folding(store)

    async def dying(shard: str, changes: Sequence[Change]) -> Effect:
        await fold(shard, changes)
        raise Unavailable("Gone.")

    with pytest.raises(Unavailable):
        await store.consumer().consume(dying)
    store.clock.advance(timedelta(minutes=1))
    await fold_all(store.consumer("two"), fold)
    assert await counted(store, [ANN]) == expected([ANN])
