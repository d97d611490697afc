"""What the SQLite tables do as time goes by: expiry and sweeping, the change stream, tokens."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from satchel.kernel.errors import Invalid
from satchel.stores.embedded.table_sqlite import ROWS_PER_STEP, SqliteTables
from satchel.stores.ports.expressions import assign, attr
from satchel.stores.ports.table import Delete, PositionLost, Put, TableMissing
from tests.stores.given_sqlite import BARE, THINGS, Stores, changes, key, thing


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with Stores(tmp_path / "tables.sqlite") as stores:
        yield stores


@pytest.fixture
async def tables(stores: Stores) -> SqliteTables:
    tables = await stores.open()
    await tables.create(THINGS)
    return tables


async def test_an_expired_leftover_goes_before_what_replaces_it_comes(tables: SqliteTables, stores: Stores) -> None:
    leftover = thing(until=int(stores.clock()) + 1, colour="red", weight=1)
    await tables.put(THINGS, leftover)
    stores.clock.advance(1)
    assert await tables.update(THINGS, key(), [assign("a", 1)], when=attr("until").absent()) == thing(a=1)
    gone, come = (await changes(tables))[1:]
    assert (gone.old, gone.new) == (leftover, None)
    assert (come.old, come.new) == (None, thing(a=1))
    assert (await tables.query(THINGS, "red", index="ByColour")).items == []


async def test_deleting_an_expired_leftover_answers_nothing_but_is_streamed(
    tables: SqliteTables, stores: Stores
) -> None:
    leftover = thing(until=int(stores.clock()))
    await tables.put(THINGS, leftover)
    assert await tables.delete(THINGS, key()) is None
    assert await tables.delete(THINGS, key()) is None
    assert [(change.old, change.new) for change in await changes(tables)] == [(None, leftover), (leftover, None)]


async def test_sweeping_takes_all_that_has_expired_and_streams_it(tables: SqliteTables, stores: Stores) -> None:
    count = 2 * ROWS_PER_STEP + 1
    await tables.write_many(THINGS, put=[thing(str(n), until=int(stores.clock()) + 1) for n in range(count)])
    await tables.put(THINGS, thing("kept", until=int(stores.clock()) + 2))
    assert await tables.sweep() == 0
    stores.clock.advance(1)
    assert await tables.sweep() == count
    assert await tables.sweep() == 0
    assert [item["name"] for item in (await tables.query(THINGS, "o")).items] == ["kept"]
    swept = (await tables.changes(THINGS, "0", str(count + 1), limit=1000)).changes
    assert all(change.new is None and change.old for change in swept)
    assert len(swept) == count


async def test_changes_are_kept_for_a_day_and_then_lost_in_order(tables: SqliteTables, stores: Stores) -> None:
    for n in range(3):
        await tables.put(THINGS, thing(n=n))
        stores.clock.advance(10 * 3600)
    assert await tables.sweep() == 1
    assert [change.position for change in await changes(tables, "1")] == ["2", "3"]
    with pytest.raises(PositionLost):
        await changes(tables, "0")
    stores.clock.advance(24 * 3600)
    assert await tables.sweep() == 2
    assert await changes(tables) == await changes(tables, "3") == []
    await tables.put(THINGS, thing(n=3))
    assert [change.position for change in await changes(tables, "3")] == ["4"]


async def test_a_position_that_the_stream_never_gave_out_is_refused(tables: SqliteTables) -> None:
    await tables.put(THINGS, thing())
    for after in ("", "-1", "one", "1.0", "9" * 30):
        with pytest.raises(Invalid):
            await changes(tables, after)
    # As after going back to an older copy of the file: to go on silently would miss what is written again.
    with pytest.raises(PositionLost):
        await changes(tables, "2")
    with pytest.raises(PositionLost):
        await tables.changes(THINGS, "1", None)
    with pytest.raises(Invalid):
        await tables.changes(THINGS, "0", None, limit=0)


async def test_a_table_without_a_stream_has_no_shards(stores: Stores) -> None:
    tables = await stores.open()
    await tables.create(BARE)
    with pytest.raises(TableMissing):
        await tables.shards(BARE)


async def test_a_token_counts_for_ten_minutes_whatever_the_order_of_sets_and_maps(
    tables: SqliteTables, stores: Stores
) -> None:
    def writes(*members: str) -> list[Any]:
        return [Put(THINGS, {**thing(), "set": set(members), "map": dict.fromkeys(members)}), Delete(THINGS, key("x"))]

    await tables.transact(writes("a", "b", "c"), token="t")
    await tables.delete(THINGS, key())
    stores.clock.advance(599)
    await tables.transact(writes("c", "b", "a"), token="t")
    assert await tables.get(THINGS, key()) is None
    for others in (writes("a", "b"), writes("a", "b", "c")[:1], [Put(THINGS, thing())]):
        with pytest.raises(Invalid, match="token"):
            await tables.transact(others, token="t")
    stores.clock.advance(1)
    await tables.sweep()
    await tables.transact(writes("a"), token="t")
    assert await tables.get(THINGS, key()) is not None


async def test_large_changes_come_in_smaller_portions(tables: SqliteTables) -> None:
    for n in range(6):
        await tables.put(THINGS, thing(n=n, big="x" * 300_000))
    seen: list[Any] = []
    after = None
    while some := await changes(tables, after):
        assert len(some) < 6
        seen += [change.new["n"] for change in some if change.new]
        after = some[-1].position
    assert seen == list(range(6))
