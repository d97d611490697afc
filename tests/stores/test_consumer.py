"""That whoever follows a stream with `consume` applies every change exactly once, on every table store."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from satchel.kernel.clock import ManualClock, system_clock
from satchel.kernel.errors import Unavailable
from satchel.stores.consumer import FORGOTTEN_AFTER, LEASE, POSITIONS, Consumer, Effect, Handle, HeldAlone
from satchel.stores.embedded.table_sqlite import SqliteTables
from satchel.stores.ports.expressions import add, append, attr
from satchel.stores.ports.table import (
    Change,
    Changes,
    Check,
    PositionLost,
    Shard,
    Tables,
    TableSpec,
    TransactionCancelled,
    Update,
    text,
)
from tests.stores.harnesses_table import HARNESSES, TableHarness

LETTERS = TableSpec("Letters", text("box"), text("letter"), stream=True)
TALLIES = TableSpec("Tallies", text("box"))
CLOCK = system_clock


@pytest_asyncio.fixture(params=HARNESSES)
async def tables(request: pytest.FixtureRequest) -> AsyncIterator[Tables]:
    harness: TableHarness = request.param(request)
    tables = await harness.open()
    await tables.create(LETTERS, TALLIES, POSITIONS)
    yield tables
    await harness.close()


@pytest_asyncio.fixture
async def at_hand(tmp_path: Path) -> AsyncIterator["SplitStream"]:
    tables = await SplitStream.open(tmp_path / "tables.db", clock=system_clock)
    assert isinstance(tables, SplitStream)
    await tables.create(LETTERS, TALLIES, POSITIONS)
    yield tables
    await tables.close()


def _consumer(tables: Tables, worker: str = "one", name: str = "tally", **options: Any) -> Consumer:
    started = Consumer(tables=tables, table=LETTERS, name=name, worker=worker, clock=CLOCK)
    return replace(started, **options)


async def _send(tables: Tables, *letters: str) -> None:
    for letter in letters:
        await tables.put(LETTERS, {"box": "mine", "letter": letter})


async def tally(_shard: str, changes: Sequence[Change]) -> Effect:
    letters = [change.key["letter"] for change in changes]
    return Effect(
        [Update(TALLIES, {"box": "mine"}, [add("count", len(letters)), append("order", letters)])], len(letters)
    )


async def one_by_one(shard: str, changes: Sequence[Change]) -> Effect:
    return await tally(shard, changes[:1])


async def _tallied(tables: Tables) -> list[str]:
    item = await tables.get(TALLIES, {"box": "mine"})
    assert item is None or item["count"] == len(item["order"])
    return item["order"] if item else []


async def _catch_up(consumer: Consumer, limit: int = 25) -> None:
    while await consumer.consume(tally, limit=limit):
        pass


@pytest.mark.parametrize("limit", [1, 2, 25])
@pytest.mark.parametrize("handle", [tally, one_by_one])
async def test_every_change_is_applied_once_and_in_order(tables: Tables, limit: int, handle: Handle) -> None:
    consumer = _consumer(tables)
    assert await consumer.consume(handle) == 0
    await _send(tables, "a", "b", "c")
    while await consumer.consume(handle, limit=limit):
        pass
    await _send(tables, "d")
    await _catch_up(consumer, limit)
    assert await _tallied(tables) == ["a", "b", "c", "d"]


async def test_consumers_of_other_names_follow_on_their_own(tables: Tables) -> None:
    await _send(tables, "a")
    await _catch_up(_consumer(tables, name="one"))
    await _catch_up(_consumer(tables, name="two"))
    assert await _tallied(tables) == ["a", "a"]


async def test_rivals_whose_leases_lapse_at_once_apply_each_change_once(tables: Tables) -> None:
    await _send(tables, *"abcdefghij")

    async def compete(worker: str) -> None:
        rival = _consumer(tables, worker, lease=timedelta(0))
        for _ in range(20):
            try:
                await rival.consume(tally, limit=3)
            except TransactionCancelled as refusal:
                assert "condition" not in refusal.reasons  # the two met in one transaction: go on

    await asyncio.gather(compete("one"), compete("two"), compete("three"))
    await _catch_up(_consumer(tables, lease=timedelta(0)))
    assert await _tallied(tables) == list("abcdefghij")


async def test_rivals_that_do_not_know_of_each_other_apply_each_change_once(tables: Tables) -> None:
    await _send(tables, "a", "b")
    twin = _consumer(tables)

    async def overtaken(shard: str, changes: Sequence[Change]) -> Effect:
        assert await twin.consume(tally) == 2
        return await tally(shard, changes)

    assert await _consumer(tables).consume(overtaken) == 0
    assert await _tallied(tables) == ["a", "b"]


async def test_what_one_worker_holds_is_left_to_it_until_its_lease_lapses(tables: Tables) -> None:
    clock = ManualClock(CLOCK())
    one, two = (_consumer(tables, worker, clock=clock) for worker in ("one", "two"))
    await _send(tables, "a")
    assert await one.consume(tally) == 1
    await _send(tables, "b")
    assert await two.consume(tally) == 0
    clock.advance(LEASE)
    assert await two.consume(tally) == 1
    await _send(tables, "c")
    assert await one.consume(tally) == 0
    await two.release()
    assert await one.consume(tally) == 1
    assert await _tallied(tables) == ["a", "b", "c"]


async def test_changes_come_again_until_their_effect_is_written(tables: Tables) -> None:
    await _send(tables, "a")
    seen: list[str] = []

    async def failing(_shard: str, changes: Sequence[Change]) -> Effect:
        seen.extend(change.key["letter"] for change in changes)
        raise Unavailable("Not now. Try again.")

    for _ in range(2):
        with pytest.raises(Unavailable):
            await _consumer(tables).consume(failing)
    await _catch_up(_consumer(tables))
    assert seen == ["a", "a"]
    assert await _tallied(tables) == ["a"]


async def test_an_effect_that_is_refused_leaves_the_position_where_it_was(tables: Tables) -> None:
    await _send(tables, "a")

    async def refused(shard: str, changes: Sequence[Change]) -> Effect:
        effect = await tally(shard, changes)
        return Effect([*effect.writes, Check(TALLIES, {"box": "other"}, attr("box").exists())], effect.covers)

    with pytest.raises(TransactionCancelled):
        await _consumer(tables).consume(refused)
    assert await _tallied(tables) == []
    await tables.put(TALLIES, {"box": "other"})
    assert await _consumer(tables).consume(refused) == 1
    assert await _tallied(tables) == ["a"]


async def test_an_effect_built_on_what_has_changed_since_is_worked_out_anew(tables: Tables) -> None:
    await _send(tables, "a")

    async def surprised(shard: str, changes: Sequence[Change]) -> Effect:
        seen = await tables.get(TALLIES, {"box": "other"})
        await tables.put(TALLIES, {"box": "other", "count": 1})
        effect = await tally(shard, changes)
        as_seen = attr("count") == 1 if seen else attr("count").absent()
        return Effect([*effect.writes, Check(TALLIES, {"box": "other"}, as_seen)], effect.covers)

    assert await _consumer(tables).consume(surprised) == 1
    assert await _tallied(tables) == ["a"]


async def test_starting_over_applies_all_that_is_kept_again(tables: Tables) -> None:
    await _send(tables, "a", "b")
    await _catch_up(_consumer(tables))
    await _consumer(tables).start_over()
    await _catch_up(_consumer(tables))
    assert await _tallied(tables) == ["a", "b", "a", "b"]


async def test_a_handler_may_find_nothing_to_do(tables: Tables) -> None:
    await _send(tables, "a")

    async def indifferent(_shard: str, changes: Sequence[Change]) -> Effect:
        return Effect([], len(changes))

    assert await _consumer(tables).consume(indifferent) == 1
    assert await _consumer(tables).consume(indifferent) == 0


async def test_changes_that_somebody_else_has_read_are_taken_once(tables: Tables) -> None:
    await _send(tables, "a", "b", "c")
    consumer = _consumer(tables)
    (shard,) = await tables.shards(LETTERS)
    read = await consumer.following()
    assert await consumer.take(shard.id, read[:2], tally) == 2
    assert await consumer.take(shard.id, read, tally) == 3
    assert await consumer.take(shard.id, read[1:], tally) == 2
    assert await consumer.consume(tally) == 0
    assert await _tallied(tables) == ["a", "b", "c"]


async def test_a_change_that_comes_twice_at_once_is_taken_once(tables: Tables) -> None:
    await _send(tables, "a", "b")
    (shard,) = await tables.shards(LETTERS)
    first, second = (await tables.changes(LETTERS, shard.id, None)).changes
    assert await _consumer(tables).take(shard.id, [first, first, second, second], tally) == 4
    assert await _tallied(tables) == ["a", "b"]


async def test_who_holds_the_stream_alone_stops_effects_that_are_under_way(tables: Tables) -> None:
    await _send(tables, "a")
    alone = _consumer(tables, "rebuild", alone=True)
    held: list[Check] = []

    async def interrupted(shard: str, changes: Sequence[Change]) -> Effect:
        held.extend(await alone.hold())
        return await tally(shard, changes)

    assert await _consumer(tables).consume(interrupted) == 0
    assert await _consumer(tables).consume(tally) == 0
    assert [change.key["letter"] for change in await alone.following()] == ["a"]
    with pytest.raises(HeldAlone):
        await _consumer(tables, "rival", alone=True).hold()
    await tables.transact(held)
    await alone.release()
    with pytest.raises(TransactionCancelled):
        await tables.transact(held)
    assert await _consumer(tables).consume(tally) == 1


async def test_a_lost_position_is_told_and_can_be_forgotten(tables: Tables) -> None:
    await _send(tables, "a")
    consumer = _consumer(tables)
    await _catch_up(consumer)
    gone = {"consumer": "Letters/tally", "shard": "gone", "after": "5", "movedAt": 7}
    await tables.put(POSITIONS, gone)
    await _send(tables, "b")
    with pytest.raises(PositionLost):
        await consumer.consume(tally)
    assert await consumer.lost() == [gone]
    await consumer.forget_lost()
    assert await consumer.lost() == []
    assert await consumer.consume(tally) == 0
    assert await _tallied(tables) == ["a", "b"]


class SplitStream(SqliteTables):
    """Shows its one stream as a part and two that follow it, as DynamoDB does after some hours."""

    last_of_parent = 2

    async def shards(self, table: TableSpec) -> list[Shard]:
        (only,) = await super().shards(table)
        assert only.parent is None
        return [Shard("parent"), Shard("odd", "parent"), Shard("even", "parent")]

    async def changes(self, table: TableSpec, shard: str, after: str | None, *, limit: int = 100) -> Changes:
        start = after or (None if shard == "parent" else str(self.last_of_parent))
        found = (await super().changes(table, "0", start, limit=limit)).changes
        if shard == "parent":
            own = [change for change in found if int(change.position) <= self.last_of_parent]
            reached = own[-1].position if own else after
            return Changes(own, ended=reached == str(self.last_of_parent))
        return Changes([change for change in found if int(change.position) % 2 == (shard == "odd")])


@pytest.mark.parametrize("limit", [2, 25])
async def test_a_part_of_the_stream_waits_for_its_parent_to_be_finished(at_hand: SplitStream, limit: int) -> None:
    await _send(at_hand, "a")
    consumer = _consumer(at_hand)
    assert await consumer.consume(tally, limit=limit) == 1
    await _send(at_hand, "b", "c", "d")
    await _catch_up(consumer, limit)
    tallied = await _tallied(at_hand)
    assert (tallied[:2], sorted(tallied)) == (["a", "b"], ["a", "b", "c", "d"])


async def test_the_position_of_a_finished_part_is_forgotten_two_days_later(at_hand: SplitStream) -> None:
    await _send(at_hand, "a", "b")
    await _catch_up(_consumer(at_hand))
    row = await at_hand.get(POSITIONS, {"consumer": "Letters/tally", "shard": "parent"})
    assert row is not None
    assert row["ended"]
    assert 0 <= row["expiresAt"] - CLOCK() - FORGOTTEN_AFTER.total_seconds() + 60 <= 60


async def test_a_worker_that_joins_is_given_its_share(at_hand: SplitStream) -> None:
    await _send(at_hand, "a", "b")
    one, two = _consumer(at_hand, "one"), _consumer(at_hand, "two")
    await _catch_up(one)
    await two.consume(tally)
    await one.consume(tally)
    holders = [row["holder"] for row in (await at_hand.query(POSITIONS, "Letters/tally")).items if "holder" in row]
    assert sorted(holders) == ["one", "two"]
