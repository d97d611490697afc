"""What the SQLite tables promise beyond the contract: their file, several processes, new declarations, reading."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from satchel.kernel.errors import Conflict, OutOfSpace, Unavailable
from satchel.stores.embedded.table_sqlite import SqliteTables
from satchel.stores.ports.expressions import add, attr
from satchel.stores.ports.table import Eq, IndexSpec, Item, Put, TableMissing, TableSpec, number, text
from tests.services import python_environment
from tests.stores.given_sqlite import BARE, BY_COLOUR, THINGS, Stores, changes, key, thing


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with Stores(tmp_path / "tables.sqlite") as stores:
        yield stores


@pytest.fixture
async def tables(stores: Stores) -> SqliteTables:
    tables = await stores.open()
    await tables.create(THINGS)
    return tables


# The file


async def test_everything_is_there_after_closing_and_opening_again(tables: SqliteTables, stores: Stores) -> None:
    await tables.put(THINGS, thing(colour="red", weight=2))
    await tables.transact([Put(THINGS, thing("other"))], token="once")
    await tables.close()
    again = await stores.open()
    assert await again.missing(THINGS) == []
    assert (await again.query(THINGS, "red", Eq(2), index="ByColour")).items == [thing(colour="red", weight=2)]
    await again.delete(THINGS, key("other"))
    await again.transact([Put(THINGS, thing("other"))], token="once")
    assert await again.get(THINGS, key("other")) is None
    assert [change.position for change in await changes(again, "1")] == ["2", "3"]


async def test_the_log_is_folded_into_the_file_when_it_is_closed(tables: SqliteTables, stores: Stores) -> None:
    await tables.put(THINGS, thing())
    await tables.close()
    assert [file.name for file in stores.path.parent.iterdir()] == [stores.path.name]


async def test_a_closed_store_says_so(tables: SqliteTables) -> None:
    await tables.close()
    await tables.close()
    for call in (
        tables.get(THINGS, key()),
        tables.query(THINGS, "o", limit=1000),
        tables.put(THINGS, thing()),
        tables.changes(THINGS, "0", None),
    ):
        with pytest.raises(Unavailable, match="closed"):
            await call


async def test_a_full_disk_refuses_a_write_and_changes_nothing(tables: SqliteTables) -> None:
    await tables.put(THINGS, thing(colour="red", weight=1))
    await tables._writer.run(lambda connection: connection.execute("PRAGMA max_page_count = 30").fetchall())
    with pytest.raises(OutOfSpace):
        await tables.put(THINGS, thing(colour="blue", weight=1, big="x" * 400_000))
    assert await tables.get(THINGS, key()) == thing(colour="red", weight=1)
    assert len(await changes(tables)) == 1
    await tables.put(THINGS, thing("small"))


# Several at once


@pytest.mark.slow
async def test_many_tasks_adding_at_once_lose_nothing(tables: SqliteTables) -> None:
    await asyncio.gather(*(tables.update(THINGS, key(), [add("count", 1)]) for _ in range(500)))
    assert await tables.get(THINGS, key()) == thing(count=500)
    counts = [change.new["count"] for change in await changes(tables, "400") if change.new]
    assert counts == list(range(401, 501))


async def test_of_many_conditional_puts_exactly_one_happens(tables: SqliteTables) -> None:
    puts = (tables.put(THINGS, thing(by=by), when=attr("owner").absent()) for by in range(50))
    answers = await asyncio.gather(*puts, return_exceptions=True)
    assert sum(answer is None for answer in answers) == 1


async def test_a_batch_may_be_larger_than_a_transaction(tables: SqliteTables) -> None:
    items = [thing(f"{n:02}", big="x" * 100_000) for n in range(60)]
    await tables.write_many(THINGS, put=items)
    assert await tables.get_many(THINGS, [key(item["name"]) for item in items]) == items


async def test_a_task_that_only_reads_lets_others_have_their_turn(tables: SqliteTables) -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    watching = asyncio.ensure_future(other())
    for _ in range(1000):
        await tables.get(THINGS, key())
    watching.cancel()
    assert turns > 10


@pytest.mark.slow
async def test_processes_that_create_the_same_tables_at_once_all_succeed(stores: Stores) -> None:
    program = f"""
import asyncio
from pathlib import Path
from satchel.kernel.clock import system_clock
from satchel.stores.embedded.table_sqlite import SqliteTables
from tests.stores.given_sqlite import THINGS, thing

async def main():
    tables = await SqliteTables.open(Path({str(stores.path)!r}), clock=system_clock)
    await tables.create(THINGS)
    await tables.put(THINGS, thing(str(id(tables))))
    await tables.close()

asyncio.run(main())
"""
    processes = [subprocess.Popen([sys.executable, "-c", program], env=python_environment()) for _ in range(4)]
    assert [process.wait(60) for process in processes] == [0, 0, 0, 0]
    tables = await stores.open()
    assert await tables.missing(THINGS) == []
    assert (await tables.query(THINGS, "o")).items


async def test_a_store_notices_what_another_on_the_same_file_creates(stores: Stores) -> None:
    one, other = await stores.open(), await stores.open()
    with pytest.raises(TableMissing):
        await other.get(BARE, key())
    with pytest.raises(TableMissing):
        await other.put(BARE, thing())
    await one.create(BARE)
    await other.put(BARE, thing("first", colour="red", weight=1))
    await one.create(THINGS)
    # It has not read the new declaration yet, and has to fill the index and the stream all the same.
    await other.put(BARE, thing("second", colour="red", weight=2))
    found = await one.query(THINGS, "red", index="ByColour")
    assert [item["name"] for item in found.items] == ["first", "second"]
    assert [change.key["name"] for change in await changes(other)] == ["second"]
    assert (await other.query(THINGS, "red", index="ByColour")).items == found.items


# Names and declarations


async def test_names_that_sql_would_confuse_are_different_tables(stores: Stores) -> None:
    tables = await stores.open()
    names = ("Users", "users", "USERS", "sqlite_master", "sqlite_sequence", "select", "a.b-c_d")
    specs = [TableSpec(name, text("id"), indexes=(IndexSpec(name, text("x")),)) for name in names]
    await tables.create(*specs)
    for spec in specs:
        await tables.put(spec, {"id": "i", "x": spec.name})
    for spec in specs:
        assert (await tables.query(spec, spec.name, index=spec.name)).items == [{"id": "i", "x": spec.name}]


async def test_a_prefix_keeps_tables_apart_in_one_file(stores: Stores) -> None:
    one, other, bare = await stores.open("one-"), await stores.open("other-"), await stores.open()
    await one.create(BARE)
    assert await other.missing(BARE) == ["table Things"]
    await other.create(BARE)
    await one.put(BARE, thing())
    assert await other.get(BARE, key()) is None
    assert await bare.get(replace(BARE, name="one-Things"), key()) == thing()


async def test_what_is_declared_later_is_made_from_the_items_that_are_there(stores: Stores) -> None:
    tables = await stores.open()
    await tables.create(BARE)
    improper = [
        thing("a", colour="red", weight="much"),
        thing("b", colour=7, weight=1),
        thing("c", colour="", weight=1),
    ]
    fitting = [thing(f"{n:04}", colour="red", weight=n) for n in range(1200)]
    await tables.write_many(
        BARE, put=[*improper, *fitting, thing("d", colour="red"), thing("e", until=int(stores.clock()))]
    )
    assert await tables.missing(THINGS) == [
        "index ByColour of table Things",
        "index ByShape of table Things",
        "expiry of table Things",
        "stream of table Things",
    ]
    await tables.create(THINGS)
    page = await tables.query(THINGS, "red", index="ByColour", limit=1000)
    rest = await tables.query(THINGS, "red", index="ByColour", limit=1000, cursor=page.cursor)
    assert page.items + rest.items == fitting
    assert await tables.get(THINGS, key("e")) is None
    assert await changes(tables) == []
    # Items that do not fit an index stay outside of it, and can still be changed.
    assert await tables.update(THINGS, key("a"), [add("n", 1)]) == {**improper[0], "n": 1}


@pytest.mark.parametrize(
    "changed",
    [
        replace(THINGS, sort=None),
        replace(THINGS, sort=number("name")),
        replace(THINGS, partition=text("holder")),
        replace(THINGS, indexes=(replace(BY_COLOUR, sort=None),)),
        replace(THINGS, expiry="gone"),
    ],
    ids=["without sort key", "other type", "other name", "other index key", "other expiry"],
)
async def test_a_changed_key_is_a_conflict_and_nothing_is_made(tables: SqliteTables, changed: TableSpec) -> None:
    another = TableSpec("Another", text("id"))
    with pytest.raises(Conflict):
        await tables.create(another, changed)
    with pytest.raises(Conflict):
        await tables.missing(changed)
    assert await tables.missing(another, THINGS) == ["table Another"]


async def test_a_conflict_leaves_what_is_written_at_the_same_time_alone(tables: SqliteTables) -> None:
    another = TableSpec("Another", text("id"))
    answers = await asyncio.gather(
        tables.put(THINGS, thing()),
        tables.create(another, replace(THINGS, sort=None)),
        tables.put(another, {"id": "i"}),
        tables.put(THINGS, thing("other")),
        return_exceptions=True,
    )
    assert [type(answer) for answer in answers] == [type(None), Conflict, TableMissing, type(None)]


async def test_what_is_no_longer_declared_is_still_kept_up(tables: SqliteTables) -> None:
    await tables.create(BARE)
    await tables.put(BARE, thing(colour="red", weight=1))
    assert (await tables.query(THINGS, "red", index="ByColour")).items == [thing(colour="red", weight=1)]
    assert len(await changes(tables)) == 1


# Reading


async def test_large_reads_answer_as_small_ones_do(tables: SqliteTables) -> None:
    items = [thing(f"{n:03}", shape="round", n=n) for n in range(250)]
    await tables.write_many(THINGS, put=items)
    assert (await tables.query(THINGS, "o", limit=1000)).items == items
    small: list[Item] = []
    cursor = None
    while len(small) < 250:
        page = await tables.query(THINGS, "o", limit=90, cursor=cursor)
        small, cursor = small + page.items, page.cursor
    assert small == items
    assert cursor is None
    keys = [key(f"{n:03}") for n in (*range(240, 260), *range(240, 260))]
    assert await tables.get_many(THINGS, keys) == [*items[240:], *[None] * 10] * 2
    assert await tables.get_many(THINGS, keys[:12]) == [*items[240:], None, None]


async def test_an_index_of_keys_is_paged_without_reading_the_items(tables: SqliteTables) -> None:
    await tables.write_many(THINGS, put=[thing(str(n), shape="round", big="x" * 300_000) for n in range(8)])
    page = await tables.query(THINGS, "round", index="ByShape", limit=7)
    assert page.items == [{**key(str(n)), "shape": "round"} for n in range(7)]
    rest = await tables.query(THINGS, "round", index="ByShape", limit=7, cursor=page.cursor)
    assert rest.items == [{**key("7"), "shape": "round"}]
    assert rest.cursor is None
    whole = await tables.query(THINGS, "o")
    assert len(whole.items) == 4
    assert whole.cursor is not None
