"""That the Lambda function folds what DynamoDB hands to it once, and asks again for what it could not fold."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import pytest

from satchel.aws_lambda import EventFold
from satchel.features.clicks.model import Period
from satchel.features.clicks.records import CLICK, click_row
from satchel.features.clicks.service.streamed.rebuild import rebuild
from satchel.features.clicks.service.streamed.stream_fold import Fold
from satchel.kernel.clock import iso
from satchel.kernel.errors import Unavailable
from satchel.stores.distributed.dynamodb_client import DynamoClient
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
    statistics,
    store_clicks,
)

pytestmark = pytest.mark.services
Record = dict[str, Any]
WINDOW = {"start": "2030-04-01T10:00:00Z", "end": "2030-04-01T10:00:01Z"}


def event_fold(store: Store) -> EventFold:
    return EventFold(store.tables, store.clock, most_writes=store.most_writes)


async def records_of(store: Store) -> list[Record]:
    """The stream as DynamoDB writes it into events."""
    client = await DynamoClient.open("us-east-1", store.endpoint)
    try:
        table = await client.call("describe_table", repeatable=True, TableName=store.prefix + CLICKS.name)
        arn = table["Table"]["LatestStreamArn"]
        (shard,) = await store.tables.shards(CLICKS)
        start = {"StreamArn": arn, "ShardId": shard.id, "ShardIteratorType": "TRIM_HORIZON"}
        found = await client.call("get_shard_iterator", repeatable=True, service="dynamodbstreams", **start)
        iterator = found["ShardIterator"]
        answer = await client.call(
            "get_records", repeatable=True, service="dynamodbstreams", ShardIterator=iterator, Limit=1000
        )
        return answer["Records"]
    finally:
        await client.close()


def event(records: Sequence[Record], *, shard: str | None = "shardId-1") -> dict[str, Any]:
    named = {"shardId": shard, "window": WINDOW, "state": {}, "isFinalInvokeForWindow": False} if shard else {}
    return {"Records": list(records), **named}


ALL_DONE: dict[str, Any] = {"batchItemFailures": []}


@pytest.mark.parametrize("server", [LOCAL, MOTO])
@pytest.mark.parametrize("shard", ["shardId-1", None])
async def test_events_come_to_what_a_recount_comes_to_however_often_they_are_delivered(
    request: pytest.FixtureRequest, server: str, shard: str | None
) -> None:
    store = await open_store(request, server)
    clicks = store.clicks(24)
    await store_clicks(store, clicks)
    records = await records_of(store)
    fold = event_fold(store)
    for some in (records[:4], records[2:5], records, records):
        answer = await fold.handle(event(some, shard=shard))
        assert answer == (ALL_DONE | {"state": {}} if shard else ALL_DONE)
    assert await counted(store, clicks) == expected(clicks)
    await store.tables.close()


@pytest.mark.parametrize("shard", ["shardId-1", None])
async def test_what_could_not_be_folded_is_asked_for_again(store: Store, shard: str | None) -> None:
    clicks = some_clicks(24, links=False)
    await store_clicks(store, clicks)
    records = await records_of(store)
    store.tables.lost_share = 0.2
    left = records
    while left:
        answer = await event_fold(store).handle(event(left, shard=shard))
        failures = [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]
        positions = [record["dynamodb"]["SequenceNumber"] for record in left]
        left = left[positions.index(failures[0]) :] if failures else []
    store.tables.lost_share = 0.0
    assert await counted(store, clicks) == expected(clicks)


async def test_events_that_two_runs_fold_at_once_count_once(store: Store) -> None:
    clicks = [click_row("ann", iso(NOW - seconds)) for seconds in range(5)]
    await store_clicks(store, clicks)
    records = await records_of(store)
    rival_tables = await store.opened_again()
    rival = EventFold(rival_tables, store.clock, most_writes=store.most_writes)

    async def overtake() -> None:
        assert await rival.handle(event(records[1:], shard=None)) == ALL_DONE

    store.tables.before_writing = overtake
    assert await event_fold(store).handle(event(records, shard=None)) == ALL_DONE
    await rival_tables.close()
    assert await counted(store, clicks) == expected(clicks)


async def test_a_batch_that_has_an_event_twice_counts_it_once(store: Store) -> None:
    clicks = some_clicks(4, links=False)
    await store_clicks(store, clicks)
    records = await records_of(store)
    assert await event_fold(store).handle(event([records[0], *records, records[2]], shard=None)) == ALL_DONE
    assert await counted(store, clicks) == expected(clicks)


async def test_a_worker_and_a_function_can_take_turns(store: Store) -> None:
    clicks = some_clicks(12, links=False)
    await store_clicks(store, clicks[:6])
    (shard,) = await store.tables.shards(CLICKS)
    worker = store.consumer("worker")
    await fold_all(worker, Fold(store.tables, store.clock, most_writes=store.most_writes))
    await store_clicks(store, clicks[6:])
    records = await records_of(store)
    busy = await event_fold(store).handle(event(records, shard=shard.id))
    assert busy["batchItemFailures"] == [{"itemIdentifier": records[0]["dynamodb"]["SequenceNumber"]}]
    await worker.release()
    assert (await event_fold(store).handle(event(records, shard=shard.id)))["batchItemFailures"] == []
    assert await counted(store, clicks) == expected(clicks)


async def test_what_makes_no_sense_is_set_aside_and_never_delivered_again(store: Store) -> None:
    good = click_row("ann", iso(NOW))
    await store.tables.put(CLICKS, CLICK.item(click_row("bob", iso(NOW))) | {"clickCount": "a few"})
    await store_clicks(store, [good])
    assert (await event_fold(store).handle(event(await records_of(store))))["batchItemFailures"] == []
    assert len((await store.tables.query(COUNTS, "POISON")).items) == 1
    assert await counted(store, [good]) == expected([good])


async def test_the_end_of_a_window_has_no_records_and_nothing_to_do(store: Store) -> None:
    ending = {"shardId": "shardId-1", "window": WINDOW, "isFinalInvokeForWindow": True}
    assert await event_fold(store).handle(ending) == ALL_DONE | {"state": {}}


async def test_a_run_publishes_what_it_has_folded(store: Store) -> None:
    click = click_row("ann", iso(NOW))
    await store_clicks(store, [click])
    fold = event_fold(store)
    await fold.handle(event(await records_of(store)))
    assert await fold.publish("request") == 3
    assert {row["totalClicks"] for row in await statistics(store)} == {1}


async def test_what_was_claimed_is_not_folded_again_by_position(store: Store) -> None:
    clicks = some_clicks(5, links=False)
    await store_clicks(store, clicks)
    await event_fold(store).handle(event(await records_of(store), shard=None))
    log, period = Log(store.tables, store.clock), Period.of_day(date(2030, 4, 1))
    with pytest.raises(Unavailable):
        await rebuild(log, period, most_writes=store.most_writes, settling=timedelta(0))
    assert await counted(store, clicks) == expected(clicks)


async def test_parts_that_were_delivered_and_are_gone_are_nothing_lost(store: Store) -> None:
    clicks = some_clicks(5, links=False)
    await store_clicks(store, clicks)
    records = await records_of(store)
    await event_fold(store).handle(event(records, shard="gone"))
    (shard,) = await store.tables.shards(CLICKS)
    await event_fold(store).handle(event(records[-1:], shard=shard.id))
    worker = store.consumer(lease=timedelta(0))
    store.clock.advance(timedelta(minutes=1))
    assert await worker.lost() == []
    assert await worker.consume(Fold(store.tables, store.clock)) == 0
