"""What every table store does with several items at once, and tells afterwards: batches, transactions, streams."""

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from typing import Any
from uuid import uuid4

import pytest

from satchel.kernel.errors import Invalid, Unavailable
from satchel.stores.ports.expressions import add, append, assign, attr
from satchel.stores.ports.table import (
    Change,
    Check,
    Delete,
    Item,
    ItemTooLarge,
    PositionLost,
    Put,
    TableMissing,
    Tables,
    TableSpec,
    TransactionCancelled,
    Update,
    Write,
    text,
)
from tests.stores.contract_quotes import quotes
from tests.stores.harnesses_table import BLOBS, LOGS, SWEEPS_WHEN_TOLD, THINGS, TableHarness

pytest_plugins = ("tests.stores.fixtures_table",)
pytestmark = pytest.mark.asyncio(loop_scope="module")


@quotes("Many puts and deletes without conditions, each atomic, together not: after an error some may have happened.")
async def test_many_puts_and_deletes_are_all_carried_out(tables: Tables, owner: str) -> None:
    await tables.write_many(LOGS, put=[{"owner": owner, "at": at, "first": True} for at in range(60)])
    await tables.write_many(
        LOGS,
        put=[{"owner": owner, "at": at, "second": True} for at in range(40, 100)],
        delete=[{"owner": owner, "at": at} for at in (*range(20), 1000)],
    )
    items = (await tables.query(LOGS, owner, limit=1000)).items
    assert items == [
        *({"owner": owner, "at": at, "first": True} for at in range(20, 40)),
        *({"owner": owner, "at": at, "second": True} for at in range(40, 100)),
    ]
    await tables.write_many(LOGS)


@quotes("All are checked first; naming an item twice raises `Invalid`.")
@pytest.mark.parametrize(
    ("put", "delete"),
    [([1, 2, 1], []), ([1, 2], [2]), ([], [3, 3]), ([1, 2, "text"], []), ([1], ["text"]), ([*range(30), None], [])],
    ids=repr,
)
async def test_a_batch_with_one_mistake_does_nothing(
    tables: Tables, owner: str, put: list[Any], delete: list[Any]
) -> None:
    with pytest.raises(Invalid):
        await tables.write_many(
            LOGS,
            put=[{"owner": owner, "at": at} for at in put],
            delete=[{"owner": owner, "at": at} for at in delete],
        )
    assert (await tables.query(LOGS, owner)).items == []


async def test_a_batch_with_an_item_too_large_does_nothing(tables: Tables, owner: str) -> None:
    with pytest.raises(ItemTooLarge):
        await tables.write_many(LOGS, put=[{"owner": owner, "at": 1}, {"owner": owner, "at": 2, "x": "x" * 409_600}])
    assert (await tables.query(LOGS, owner)).items == []


@quotes("All or nothing, for up to 100 writes to different items, over any tables of this store.")
async def test_a_transaction_does_all_of_its_writes(tables: Tables, owner: str) -> None:
    put, update, delete, check = ({"owner": owner, "name": name} for name in ("put", "update", "delete", "check"))
    await tables.write_many(THINGS, put=[{**update, "n": 1}, delete, {**check, "ok": True}])
    await tables.transact(
        [
            Put(THINGS, {**put, "n": 1}, when=attr("owner").absent()),
            Update(THINGS, update, [add("n", 1)], when=attr("n") == 1),
            Delete(THINGS, delete, when=attr("owner").exists()),
            Check(THINGS, check, attr("ok") == True),  # noqa: E712
            Put(LOGS, {"owner": owner, "at": 1}),
            Delete(BLOBS, {"owner": owner, "digest": b"never there"}),
        ]
    )
    assert (await tables.query(THINGS, owner)).items == [{**check, "ok": True}, {**put, "n": 1}, {**update, "n": 2}]
    assert (await tables.query(LOGS, owner)).items == [{"owner": owner, "at": 1}]


@quotes(
    "A condition that does not hold raises `TransactionCancelled`, whose reasons say which.",
    "A transaction changed nothing; `reasons` has one entry per write, None for those not at fault.",
    "Write nothing, but let the transaction happen only if this holds.",
)
async def test_a_transaction_that_is_refused_says_which_writes_were_at_fault(tables: Tables, owner: str) -> None:
    there = {"owner": owner, "name": "there"}
    absent = {"owner": owner, "name": "absent"}
    await tables.put(THINGS, {**there, "n": 1})
    before = (await tables.query(THINGS, owner)).items
    never, always = attr("n") == 7, attr("n") != 7
    attempts: list[tuple[list[Write], tuple[str | None, ...]]] = [
        ([Put(LOGS, {"owner": owner, "at": 1}), Check(THINGS, there, never)], (None, "condition")),
        ([Put(THINGS, there, never), Put(THINGS, absent, never)], ("condition", "condition")),
        ([Update(THINGS, there, [add("n", 1)], never), Delete(THINGS, absent, always)], ("condition", None)),
        ([Delete(THINGS, there, never), Update(THINGS, absent, [add("n", 1)])], ("condition", None)),
        ([Check(THINGS, absent, always), Check(THINGS, there, never)], (None, "condition")),
    ]
    for writes, reasons in attempts:
        with pytest.raises(TransactionCancelled) as refusal:
            await tables.transact(writes)
        assert refusal.value.reasons == reasons
    assert (await tables.query(THINGS, owner)).items == before
    assert (await tables.query(LOGS, owner)).items == []


async def test_a_transaction_with_an_update_that_does_not_fit_changes_nothing(tables: Tables, owner: str) -> None:
    key = {"owner": owner, "name": "text"}
    await tables.put(THINGS, {**key, "t": "text"})
    with pytest.raises(Invalid):
        await tables.transact([Put(LOGS, {"owner": owner, "at": 1}), Update(THINGS, key, [add("t", 1)])])
    with pytest.raises(Invalid):
        await tables.transact([Put(LOGS, {"owner": owner, "at": 1}), Update(THINGS, key, [append("t", [1])])])
    assert (await tables.query(LOGS, owner)).items == []


async def test_a_transaction_cannot_touch_an_item_twice(tables: Tables, owner: str) -> None:
    key = {"owner": owner, "at": 1}
    pairs: list[Sequence[Write]] = [
        [Put(LOGS, key), Delete(LOGS, key)],
        [Put(LOGS, key), Put(LOGS, {**key, "x": 1})],
        [Check(LOGS, key, attr("x").absent()), Update(LOGS, key, [assign("x", 1)])],
    ]
    for writes in pairs:
        with pytest.raises(Invalid):
            await tables.transact(writes)
    assert (await tables.query(LOGS, owner)).items == []


async def test_a_hundred_writes_are_one_transaction(newer: Tables, owner: str) -> None:
    writes = [Put(LOGS, {"owner": owner, "at": at}, when=attr("at").absent()) for at in range(100)]
    await newer.put(LOGS, {"owner": owner, "at": 99})
    with pytest.raises(TransactionCancelled) as refusal:
        await newer.transact(writes)
    assert refusal.value.reasons == (*[None] * 99, "condition")
    assert len((await newer.query(LOGS, owner)).items) == 1
    await newer.delete(LOGS, {"owner": owner, "at": 99})
    await newer.transact(writes)
    assert len((await newer.query(LOGS, owner)).items) == 100


@pytest.mark.parametrize("count", [0, 101])
async def test_a_transaction_has_between_one_and_a_hundred_writes(tables: Tables, owner: str, count: int) -> None:
    with pytest.raises(Invalid):
        await tables.transact([Put(LOGS, {"owner": owner, "at": at}) for at in range(count)])
    assert (await tables.query(LOGS, owner)).items == []


@quotes("or a transaction over 4 MB.")
async def test_a_transaction_over_four_megabytes_is_refused(tables: Tables, owner: str) -> None:
    with pytest.raises(ItemTooLarge):
        await tables.transact([Put(LOGS, {"owner": owner, "at": at, "x": "x" * 400_000}) for at in range(11)])
    assert (await tables.query(LOGS, owner)).items == []


@quotes(
    "With a token (1 to 36 characters), repeating the same writes within ten minutes succeeds without doing them "
    "again; other writes under the same token raise `Invalid`."
)
async def test_a_token_makes_repeating_a_transaction_safe(harness: TableHarness, owner: str) -> None:
    tables = harness.first
    key = {"owner": owner, "at": 1}
    mapping = {"x": {"b", "a", "c"}, "y": 1}

    def writes() -> list[Write]:
        return [
            Update(LOGS, key, [add("n", 1)], when=attr("n").absent()),
            Put(THINGS, {"owner": owner, "name": "a", "mapping": mapping}, when=attr("owner").absent()),
        ]

    token = uuid4().hex
    await tables.transact(writes(), token=token)
    await harness.advance(60)
    mapping = {"y": 1, "x": {"c", "b", "a"}}
    await tables.transact(writes(), token=token)
    assert (await tables.query(LOGS, owner)).items == [{**key, "n": 1}]
    with pytest.raises(Invalid):
        await tables.transact([Update(LOGS, key, [add("n", 2)])], token=token)
    with pytest.raises(Invalid):
        await tables.transact(writes()[:1], token=token)
    assert (await tables.query(LOGS, owner)).items == [{**key, "n": 1}]
    with pytest.raises(TransactionCancelled):
        await tables.transact(writes(), token=uuid4().hex)


async def test_a_token_of_a_refused_transaction_can_be_used_again(tables: Tables, owner: str) -> None:
    key = {"owner": owner, "at": 1}
    token = uuid4().hex
    writes = [Update(LOGS, key, [add("n", 1)], when=attr("ready").exists())]
    with pytest.raises(TransactionCancelled):
        await tables.transact(writes, token=token)
    await tables.put(LOGS, {**key, "ready": True})
    await tables.transact(writes, token=token)
    await tables.transact(writes, token=token)
    assert await tables.get(LOGS, key) == {**key, "ready": True, "n": 1}


@pytest.mark.parametrize("token", ["", "x" * 37])
async def test_a_token_of_another_length_is_refused(tables: Tables, owner: str, token: str) -> None:
    with pytest.raises(Invalid):
        await tables.transact([Put(LOGS, {"owner": owner, "at": 1})], token=token)


@quotes("A store of tables. Safe to use from many tasks of one event loop at once.")
async def test_rival_transactions_never_lose_a_write(tables: Tables, owner: str) -> None:
    accounts = [{"owner": owner, "at": at} for at in range(3)]
    await tables.write_many(LOGS, put=[{**account, "balance": 100} for account in accounts])

    async def transfer(source: int, target: int) -> None:
        take = Update(LOGS, accounts[source], [add("balance", -1)], when=attr("balance") >= 1)
        give = Update(LOGS, accounts[target], [add("balance", 1)])
        while True:
            try:
                return await tables.transact([take, give])
            except TransactionCancelled as refusal:
                assert set(refusal.reasons) == {"contention", None}

    await asyncio.gather(*(transfer(number % 3, (number + 1) % 3) for number in range(31)))
    balances = [item["balance"] for item in (await tables.query(LOGS, owner)).items]
    assert balances == [99, 101, 100]


async def _changes(tables: Tables, table: TableSpec, owner: str, limit: int = 100) -> list[Change]:
    """All changes of one partition, read on position by position."""
    found: list[Change] = []
    for shard in await tables.shards(table):
        after: str | None = None
        while True:
            step = await tables.changes(table, shard.id, after, limit=limit)
            assert len(step.changes) <= limit
            found += step.changes
            if not step.changes:
                break
            after = step.changes[-1].position
    return [change for change in found if change.key["owner"] == owner]


@quotes(
    "The parts of the table's stream that still hold changes, parents before children.",
    "What follows `after` (None: the oldest kept) in the shard, in the order in which it happened per item.",
    "A part of a stream that is in order in itself; everything in `parent` comes before.",
    "One item before and after; None means absent. `position` is where a reader of this shard goes on after it.",
)
@pytest.mark.parametrize("limit", [1, 3, 1000])
async def test_a_stream_tells_every_change_of_an_item_in_order(tables: Tables, owner: str, limit: int) -> None:
    key = {"owner": owner, "name": "followed"}
    other = {"owner": owner, "name": "other"}
    await tables.put(THINGS, {**key, "n": 1})
    await tables.update(THINGS, key, [add("n", 1)])
    await tables.write_many(THINGS, put=[{**other, "set": {"a"}}])
    await tables.transact([Update(THINGS, key, [add("n", 1)]), Delete(THINGS, other)])
    await tables.delete(THINGS, key)
    changes = await _changes(tables, THINGS, owner, limit)
    states: list[Item | None] = [None, *({**key, "n": n} for n in (1, 2, 3)), None]
    followed = [(change.old, change.new) for change in changes if change.key == key]
    assert followed == list(pairwise(states))
    assert [(change.old, change.new) for change in changes if change.key == other] == [
        (None, {**other, "set": {"a"}}),
        ({**other, "set": {"a"}}, None),
    ]


@quotes("A write that leaves an item equal to what it was makes no change.")
async def test_a_write_that_changes_nothing_is_not_in_the_stream(tables: Tables, owner: str) -> None:
    key = {"owner": owner, "name": "same"}
    await tables.put(THINGS, {**key, "n": 1, "set": {"a", "b"}})
    await tables.put(THINGS, {**key, "set": {"b", "a"}, "n": 1})
    await tables.update(THINGS, key, [assign("n", 1), add("set", {"a"})])
    await tables.transact([Put(THINGS, {**key, "n": 1, "set": {"a", "b"}}), Delete(THINGS, {**key, "name": "x"})])
    await tables.write_many(THINGS, put=[{**key, "n": 1, "set": {"a", "b"}}], delete=[{**key, "name": "y"}])
    await tables.delete(THINGS, {**key, "name": "never there"})
    await tables.put(THINGS, {**key, "n": True, "set": {"a", "b"}})
    changes = await _changes(tables, THINGS, owner)
    assert [(change.old is None, change.new and change.new["n"]) for change in changes] == [(True, 1), (False, True)]


async def test_an_update_of_what_has_expired_is_a_removal_and_a_new_item(harness: TableHarness, owner: str) -> None:
    key = {"owner": owner, "name": "old"}
    old = {**key, "until": int(harness.clock()) + 10, "n": 5}
    await harness.first.put(THINGS, old)
    await harness.advance(10)
    new = await harness.first.update(THINGS, key, [add("n", 1)])
    changes = await _changes(harness.first, THINGS, owner)
    assert [(change.old, change.new) for change in changes] == [(None, old), (old, None), (None, new)]


@pytest.mark.parametrize("name", ["owner", "name", "colour", "weight"])
async def test_a_condition_on_a_place_inside_a_key_is_refused(tables: Tables, owner: str, name: str) -> None:
    """Of the table and of its indexes: what is a text or a number has no inside."""
    key = {"owner": owner, "name": "one"}
    for place in (attr(name, "inside"), attr(name, 0)):
        with pytest.raises(Invalid, match="is a key"):
            await tables.put(THINGS, key, when=place.absent())
        with pytest.raises(Invalid, match="is a key"):
            await tables.transact([Update(THINGS, key, [add("n", 1)], place == 1)])
    assert await tables.get(THINGS, key) is None


async def test_a_refused_write_is_not_in_the_stream(tables: Tables, owner: str) -> None:
    key = {"owner": owner, "name": "refused"}
    with pytest.raises(TransactionCancelled):
        await tables.transact([Put(THINGS, key), Check(THINGS, {**key, "name": "x"}, attr("n") == 1)])
    assert await _changes(tables, THINGS, owner) == []


@quotes("What a look into a shard found; `ended` when nothing will ever follow in this shard.")
async def test_a_reader_waits_at_the_end_and_goes_on_from_there(harness: TableHarness, owner: str) -> None:
    tables = harness.first
    key = {"owner": owner, "name": "late"}
    await tables.put(THINGS, {**key, "n": 0})
    ends: dict[str, str | None] = {}
    for shard in await tables.shards(THINGS):
        ends[shard.id] = None
        while step := (await tables.changes(THINGS, shard.id, ends[shard.id])).changes:
            ends[shard.id] = step[-1].position
    for number in (1, 2):
        for shard, end in ends.items():
            step = await tables.changes(THINGS, shard, end)
            assert (step.changes, step.ended) == ([], False)
        await tables.put(THINGS, {**key, "n": number})
        (change,) = [
            change for shard, end in ends.items() for change in (await tables.changes(THINGS, shard, end)).changes
        ]
        assert change.new == {**key, "n": number}
        ends = dict.fromkeys(ends, change.position)
    # Another process, with nothing remembered, finds the same.
    fresh = await harness.open()
    for shard, end in ends.items():
        assert (await fresh.changes(THINGS, shard, end)).changes == []


async def test_a_position_or_shard_that_cannot_be_is_refused(tables: Tables, owner: str) -> None:
    await tables.put(THINGS, {"owner": owner, "name": "any"})
    (shard, *_) = await tables.shards(THINGS)
    for position in ("", "x", "-1", "1.5", "９"):
        with pytest.raises(Invalid):
            await tables.changes(THINGS, shard.id, position)
    with pytest.raises(PositionLost):
        await tables.changes(THINGS, "shardId-00000000000000000000-00000000", None)


async def test_a_table_without_stream_has_none_to_read(tables: Tables) -> None:
    with pytest.raises(TableMissing):
        await tables.shards(LOGS)
    with pytest.raises(TableMissing):
        await tables.changes(LOGS, "any", None)


@quotes(
    "At least 24 hours are kept; a position older than what is kept raises `PositionLost`.",
    "Take away expired items and stream entries past keeping, if the store does not do so by itself; how many.",
    "The stream no longer reaches back to this position; the consumer has to rebuild from the items themselves.",
)
async def test_sweeping_takes_away_what_is_past_its_time(harness: TableHarness, owner: str) -> None:
    tables = await harness.open()
    table = TableSpec(f"Swept-{owner[-8:]}", text("owner"), text("name"), expiry="until", stream=True)
    await tables.create(table)
    until = int(harness.clock()) + 3600
    await tables.write_many(table, put=[{"owner": owner, "name": str(n), "until": until} for n in range(5)])
    await tables.write_many(table, put=[{"owner": owner, "name": str(n)} for n in range(5, 10)])
    (shard,) = await tables.shards(table)
    position = (await tables.changes(table, shard.id, None)).changes[0].position
    await harness.advance(3600)
    swept = await tables.sweep()
    if SWEEPS_WHEN_TOLD in harness.promises:
        assert swept >= 5
        ended = [change.key["name"] for change in await _changes(tables, table, owner) if change.new is None]
        assert sorted(ended) == ["0", "1", "2", "3", "4"]
        await harness.advance(23 * 3600 - 1)
        await tables.sweep()
        assert len((await tables.changes(table, shard.id, position)).changes) == 14
        await harness.advance(2)
        assert await tables.sweep() >= 10
        with pytest.raises(PositionLost):
            await tables.changes(table, shard.id, position)
        assert len((await tables.changes(table, shard.id, None)).changes) == 5
    else:
        assert swept == 0
    assert [item["name"] for item in (await tables.query(table, owner)).items] == ["5", "6", "7", "8", "9"]


@quotes("Finish what was accepted, then release every resource.")
async def test_closing_finishes_what_was_accepted_and_refuses_the_rest(harness: TableHarness, owner: str) -> None:
    tables = await harness.open()
    accepted = [asyncio.ensure_future(tables.put(LOGS, {"owner": owner, "at": at})) for at in range(20)]
    await asyncio.sleep(0)
    await tables.close()
    await asyncio.gather(*accepted)
    for attempt in (tables.put(LOGS, {"owner": owner, "at": 99}), tables.get(LOGS, {"owner": owner, "at": 1})):
        with pytest.raises(Unavailable):
            await attempt
    await tables.close()
    assert len((await harness.first.query(LOGS, owner)).items) == 20
