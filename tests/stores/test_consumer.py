"""That whoever follows a stream with `consume` applies every change exactly once, on every table store."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio

from satchel.kernel.clock import system_clock
from satchel.kernel.errors import Unavailable
from satchel.stores.consumer import POSITIONS, consume, start_over
from satchel.stores.embedded.table_sqlite import SqliteTables
from satchel.stores.ports.expressions import add, append, attr
from satchel.stores.ports.table import (
    Change,
    Changes,
    Check,
    Shard,
    Tables,
    TableSpec,
    TransactionCancelled,
    Update,
    Write,
    text,
)
from tests.stores.harnesses_table import HARNESSES, TableHarness

LETTERS = TableSpec("Letters", text("box"), text("letter"), stream=True)
TALLIES = TableSpec("Tallies", text("box"))


@pytest_asyncio.fixture(params=HARNESSES)
async def tables(request: pytest.FixtureRequest) -> AsyncIterator[Tables]:
    harness: TableHarness = request.param(request)
    tables = await harness.open()
    await tables.create(LETTERS, TALLIES, POSITIONS)
    yield tables
    await harness.close()


async def _send(tables: Tables, *letters: str) -> None:
    for letter in letters:
        await tables.put(LETTERS, {"box": "mine", "letter": letter})


async def tally(changes: Sequence[Change]) -> list[Write]:
    letters = [change.key["letter"] for change in changes]
    return [Update(TALLIES, {"box": "mine"}, [add("count", len(letters)), append("order", letters)])]


async def _tallied(tables: Tables) -> list[str]:
    item = await tables.get(TALLIES, {"box": "mine"})
    assert item is None or item["count"] == len(item["order"])
    return item["order"] if item else []


async def _catch_up(tables: Tables, consumer: str = "tally", limit: int = 25) -> None:
    while await consume(tables, LETTERS, consumer, tally, limit=limit):
        pass


@pytest.mark.parametrize("limit", [1, 2, 25])
async def test_every_change_is_applied_once_and_in_order(tables: Tables, limit: int) -> None:
    assert await consume(tables, LETTERS, "tally", tally) == 0
    await _send(tables, "a", "b", "c")
    await _catch_up(tables, limit=limit)
    await _send(tables, "d")
    await _catch_up(tables, limit=limit)
    assert await _tallied(tables) == ["a", "b", "c", "d"]


async def test_consumers_of_other_names_follow_on_their_own(tables: Tables) -> None:
    await _send(tables, "a")
    await _catch_up(tables, "one")
    await _catch_up(tables, "two")
    assert await _tallied(tables) == ["a", "a"]


async def test_rivals_of_one_name_apply_each_change_once(tables: Tables) -> None:
    await _send(tables, *"abcdefghij")

    async def compete() -> None:
        for _ in range(20):
            try:
                await consume(tables, LETTERS, "tally", tally, limit=3)
            except TransactionCancelled as refusal:
                assert "condition" not in refusal.reasons  # the two met in one transaction: go on

    await asyncio.gather(compete(), compete(), compete())
    await _catch_up(tables)
    assert await _tallied(tables) == list("abcdefghij")


async def test_a_rival_between_reading_and_writing_wins_and_the_other_does_nothing(tables: Tables) -> None:
    await _send(tables, "a", "b")

    async def overtaken(changes: Sequence[Change]) -> list[Write]:
        assert await consume(tables, LETTERS, "tally", tally) == 2
        return await tally(changes)

    assert await consume(tables, LETTERS, "tally", overtaken) == 0
    assert await _tallied(tables) == ["a", "b"]


async def test_changes_come_again_until_their_effect_is_written(tables: Tables) -> None:
    await _send(tables, "a")
    seen: list[str] = []

    async def failing(changes: Sequence[Change]) -> list[Write]:
        seen.extend(change.key["letter"] for change in changes)
        raise Unavailable("Not now. Try again.")

    for _ in range(2):
        with pytest.raises(Unavailable):
            await consume(tables, LETTERS, "tally", failing)
    await _catch_up(tables)
    assert seen == ["a", "a"]
    assert await _tallied(tables) == ["a"]


async def test_an_effect_that_is_refused_leaves_the_position_where_it_was(tables: Tables) -> None:
    await _send(tables, "a")

    async def refused(changes: Sequence[Change]) -> list[Write]:
        return [*await tally(changes), Check(TALLIES, {"box": "other"}, attr("box").exists())]

    with pytest.raises(TransactionCancelled):
        await consume(tables, LETTERS, "tally", refused)
    assert await _tallied(tables) == []
    await tables.put(TALLIES, {"box": "other"})
    assert await consume(tables, LETTERS, "tally", refused) == 1
    assert await _tallied(tables) == ["a"]


async def test_starting_over_applies_all_that_is_kept_again(tables: Tables) -> None:
    await _send(tables, "a", "b")
    await _catch_up(tables)
    await start_over(tables, LETTERS, "tally")
    await _catch_up(tables)
    assert await _tallied(tables) == ["a", "b", "a", "b"]


async def test_a_handler_may_find_nothing_to_do(tables: Tables) -> None:
    await _send(tables, "a")

    async def indifferent(changes: Sequence[Change]) -> list[Write]:
        return []

    assert await consume(tables, LETTERS, "tally", indifferent) == 1
    assert await consume(tables, LETTERS, "tally", indifferent) == 0


class SplitStream(SqliteTables):
    """Shows its one stream as two parts, the second of which follows the first, as DynamoDB does after some hours."""

    last_of_parent = 2

    async def shards(self, table: TableSpec) -> list[Shard]:
        (only,) = await super().shards(table)
        assert only.parent is None
        return [Shard("parent"), Shard("child", "parent")]

    async def changes(self, table: TableSpec, shard: str, after: str | None, *, limit: int = 100) -> Changes:
        start = after or (None if shard == "parent" else str(self.last_of_parent))
        found = (await super().changes(table, "0", start, limit=limit)).changes
        if shard == "child":
            return Changes(found)
        own = [change for change in found if int(change.position) <= self.last_of_parent]
        reached = own[-1].position if own else after
        return Changes(own, ended=reached == str(self.last_of_parent))


@pytest.mark.parametrize("limit", [1, 2, 25])
async def test_a_part_of_the_stream_waits_for_its_parent_to_be_finished(tmp_path: Path, limit: int) -> None:
    tables = await SplitStream.open(tmp_path / "tables.db", clock=system_clock)
    await tables.create(LETTERS, TALLIES, POSITIONS)
    await _send(tables, "a")
    assert await consume(tables, LETTERS, "tally", tally, limit=limit) == 1
    await _send(tables, "b", "c", "d")
    await _catch_up(tables, limit=limit)
    assert await _tallied(tables) == ["a", "b", "c", "d"]
    await tables.close()
