"""What is written in bulk cannot be told from what is written one by one; a step happens as a whole or not at all."""

import asyncio
import sqlite3
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from satchel.kernel.errors import Conflict, Invalid, SatchelError
from satchel.stores.embedded import table_rows
from satchel.stores.embedded.documents import decode
from satchel.stores.embedded.table_rows import ROWS_AT_ONCE
from satchel.stores.embedded.table_sqlite import SqliteTables
from satchel.stores.ports.bulk import Step
from satchel.stores.ports.expressions import add, attr
from satchel.stores.ports.table import ConditionFailed, Eq, IndexSpec, Item, ItemTooLarge, TableSpec, number, text
from tests.stores.given_sqlite import THINGS, Stores, changes, key, thing

NOW = 1_900_000_000
# As flat as what is written in bulk mostly is: every key a text.
CARDS = TableSpec(
    "Cards",
    text("owner"),
    text("name"),
    indexes=(IndexSpec("ByColour", text("colour"), text("shade")),),
    expiry="until",
    stream=True,
)
COUNTS = TableSpec("Counts", text("owner"), text("name"), expiry="until")
POINTS = TableSpec("Points", text("owner"), number("at"), stream=True)
TABLES = (CARDS, COUNTS, POINTS, THINGS)


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with Stores(tmp_path / "tables.sqlite") as stores:
        yield stores


@pytest.fixture
async def tables(stores: Stores) -> SqliteTables:
    tables = await stores.open()
    await tables.create(*TABLES)
    return tables


def card(name: str = "n", **more: Any) -> Item:
    return {"owner": "o", "name": name, **more}


async def test_new_items_are_found_by_key_and_index_and_stand_in_the_stream(tables: SqliteTables) -> None:
    cards = [card(f"{n:03}", colour="red", shade=f"{n:03}", size=n) for n in range(2 * ROWS_AT_ONCE + 3)]
    assert await tables.bulk.in_one_step(lambda step: step.insert_new(CARDS, cards)) == [True] * len(cards)
    assert (await tables.query(CARDS, "o")).items == cards
    assert (await tables.query(CARDS, "red", Eq("007"), index="ByColour")).items == [cards[7]]
    stream = (await tables.changes(CARDS, "0", None)).changes
    assert [(change.key, change.old, change.new) for change in stream] == [
        (key(each["name"]), None, each) for each in cards
    ]


@pytest.mark.parametrize("length", [1, ROWS_AT_ONCE, ROWS_AT_ONCE + 1])
async def test_items_whose_keys_are_taken_stay_as_they_were(tables: SqliteTables, length: int) -> None:
    await tables.put(CARDS, card("000", of="before"))
    cards = [card(f"{n:03}", of="after") for n in range(length)]
    stored = await tables.bulk.in_one_step(lambda step: step.insert_new(CARDS, [*cards, card("000"), card("new")]))
    assert stored == [False, *[True] * (length - 1), False, True]
    assert await tables.get(CARDS, key("000")) == card("000", of="before")
    assert len((await tables.changes(CARDS, "0", None)).changes) == 1 + length


class WholeCard(msgspec.Struct, omit_defaults=True):
    """Every key is a text for certain, everything else a text or a number."""

    owner: str
    name: str
    colour: str
    shade: str
    size: int | None = None
    kind: Literal["plain", "gilt"] = "plain"
    until: int | None = None


class LooseCard(msgspec.Struct, omit_defaults=True):
    """Nothing is known for certain but its own key."""

    owner: str
    name: str
    colour: str | None = None
    shade: str | None = None
    tags: list[str] = []


@pytest.mark.parametrize(
    "record",
    [
        WholeCard("o", "n", "red", "dark"),
        WholeCard("o", "n", "red", "dark", size=7, kind="gilt", until=NOW + 10),
        WholeCard("o", "n", "red", "dark", size=2**100),
        WholeCard("o", "n", "red", "x" * 900, kind="gilt"),
        LooseCard("o", "n", "red", "dark"),
        LooseCard("o", "n", tags=["a", "b"]),
    ],
)
async def test_a_record_is_stored_as_the_item_that_it_stands_for(tables: SqliteTables, record: msgspec.Struct) -> None:
    assert await tables.bulk.in_one_step(lambda step: step.insert_new(CARDS, [record, record])) == [True, False]
    item = msgspec.to_builtins(record)
    assert await tables.get(CARDS, key("n")) == item
    assert (await tables.query(CARDS, "red", index="ByColour")).items == ([item] if "colour" in item else [])
    [change] = (await tables.changes(CARDS, "0", None)).changes
    assert (change.key, change.new) == (key("n"), item)


@pytest.mark.parametrize("name", ["", "\ud800", "x" * 1025])
async def test_a_record_whose_key_is_none_is_refused(tables: SqliteTables, name: str) -> None:
    with pytest.raises(Invalid):
        await tables.bulk.in_one_step(
            lambda step: step.insert_new(
                CARDS, [WholeCard("o", "a", "red", "dark"), WholeCard("o", name, "red", "dark")]
            )
        )
    assert (await tables.query(CARDS, "o")).items == []


async def test_of_two_with_one_key_the_first_is_stored(tables: SqliteTables) -> None:
    cards = [card(of="first"), card(of="second")]
    assert await tables.bulk.in_one_step(lambda step: step.insert_new(CARDS, cards)) == [True, False]
    assert await tables.get(CARDS, key()) == card(of="first")


async def test_the_first_of_two_is_stored_however_many_stand_between_them(tables: SqliteTables) -> None:
    cards = [card(f"{n:03}", of="first") for n in range(2 * ROWS_AT_ONCE)]
    again = [card("000", of="second"), card("new"), card(f"{ROWS_AT_ONCE:03}", of="second")]
    stored = await tables.bulk.in_one_step(lambda step: step.insert_new(CARDS, cards + again))
    assert stored == [True] * len(cards) + [False, True, False]
    assert (await tables.query(CARDS, "o")).items == [*cards, card("new")]


async def test_an_expired_item_is_in_nobodys_way(tables: SqliteTables, stores: Stores) -> None:
    await tables.put(CARDS, card(until=NOW + 10, of="before"))
    stores.clock.advance(10)
    new = [card(until=NOW + 20), card("other")]
    assert await tables.bulk.in_one_step(lambda step: step.insert_new(CARDS, new)) == [True, True]
    assert await tables.get(CARDS, key()) == new[0]
    last = [change for change in (await tables.changes(CARDS, "0", None)).changes if change.key == key()][-1]
    assert (last.old, last.new) == (card(until=NOW + 10, of="before"), new[0])
    stores.clock.advance(10)
    assert await tables.get(CARDS, key()) is None
    assert await tables.sweep() == 1


async def test_conditions_hold_of_what_was_written_in_bulk(tables: SqliteTables) -> None:
    await tables.bulk.in_one_step(lambda step: step.insert_new(CARDS, [card(size=1)]))
    with pytest.raises(ConditionFailed):
        await tables.put(CARDS, card(), when=attr("owner").absent())
    assert await tables.update(CARDS, key(), [add("size", 2)], when=attr("size") == 1) == card(size=3)


async def test_a_step_sees_what_it_has_written(tables: SqliteTables) -> None:
    def step(step: Step) -> list[Any]:
        step.insert_new(CARDS, [card(colour="red", shade="dark")])
        step.put(CARDS, card("other", colour="red", shade="light"))
        step.delete(CARDS, key("missing"))
        seen = [step.get(CARDS, key()), *step.query(CARDS, "red", index="ByColour").items]
        step.delete(CARDS, key())
        return [*seen, step.get(CARDS, key())]

    dark, light = card(colour="red", shade="dark"), card("other", colour="red", shade="light")
    assert await tables.bulk.in_one_step(step) == [dark, dark, light, None]


@pytest.mark.parametrize("table", [CARDS, COUNTS])
async def test_many_items_are_stored_in_place_of_others(tables: SqliteTables, table: TableSpec) -> None:
    """With index and stream one by one, and without as rows."""
    old = [card(f"{n:03}", colour="red", shade="dark", size=n, until=NOW + 9) for n in range(0, ROWS_AT_ONCE, 2)]
    await tables.write_many(table, put=old)
    new = [card(f"{n:03}", colour="red", shade="light", size=-n) for n in range(ROWS_AT_ONCE + 3)]
    odd = card("odd", parts=[1, {"a": b"b"}])
    await tables.bulk.in_one_step(lambda step: step.put_all(table, [*new, odd]))
    assert (await tables.query(table, "o")).items == [*new, odd]
    if table.indexes:
        assert (await tables.query(table, "red", Eq("light"), index="ByColour")).items == new
        assert not (await tables.query(table, "red", Eq("dark"), index="ByColour")).items


async def test_an_item_that_nobody_may_store_is_refused_among_many(tables: SqliteTables) -> None:
    with pytest.raises(Invalid):
        await tables.bulk.in_one_step(lambda step: step.put_all(COUNTS, [card("good"), {"owner": "o"}]))
    assert not (await tables.query(COUNTS, "o")).items


async def test_a_step_that_raises_has_written_nothing_while_its_neighbours_have(tables: SqliteTables) -> None:
    def failing(step: Step) -> None:
        step.insert_new(CARDS, [card("lost")])
        step.put_all(COUNTS, [card("lost")])
        raise Conflict("no")

    with pytest.raises(Conflict):
        await tables.bulk.in_one_step(failing)
    results = await asyncio.gather(
        tables.put(CARDS, card("before")),
        tables.bulk.in_one_step(failing),
        tables.bulk.in_one_step(lambda step: step.insert_new(CARDS, [card("after")])),
        return_exceptions=True,
    )
    assert [type(result) for result in results] == [type(None), Conflict, list]
    assert (await tables.query(CARDS, "o")).items == [card("after"), card("before")]
    assert [change.key["name"] for change in (await tables.changes(CARDS, "0", None)).changes] == ["before", "after"]
    assert await tables.get(COUNTS, key("lost")) is None


@pytest.mark.parametrize(
    ("table", "item", "refusal"),
    [
        (CARDS, {"owner": "o"}, Invalid),
        (CARDS, card(""), Invalid),
        (CARDS, card("n" * 1025), Invalid),
        (CARDS, {"owner": "o" * 2049, "name": "n"}, Invalid),
        (CARDS, card("\ud800"), Invalid),
        (CARDS, card(size=0.5), Invalid),
        (CARDS, card(size=10**130), Invalid),
        (CARDS, card(colour=""), Invalid),
        (CARDS, card(colour=1, shade="x"), Invalid),
        (CARDS, card(text="x" * 400 * 1024), ItemTooLarge),
        (CARDS, card() | {"": 1}, Invalid),
        (POINTS, {"owner": "o", "at": "late"}, Invalid),
    ],
)
async def test_what_cannot_be_put_cannot_be_inserted_either(
    tables: SqliteTables, table: TableSpec, item: Item, refusal: type[SatchelError]
) -> None:
    # The same names have been seen to be good before, which must not excuse what stands under them.
    good = {"owner": "o", "name": "good", "at": 1} | {
        name: "x" for name in item if name and name not in table.key_names
    }
    with pytest.raises(refusal):
        await tables.bulk.in_one_step(lambda step: step.insert_new(table, [good, item]))
    with pytest.raises(refusal):
        await tables.put(table, item)
    assert (await tables.query(table, "o")).items == []


async def test_what_lies_in_other_kinds_of_tables_is_written_the_long_way(tables: SqliteTables) -> None:
    points = [{"owner": "o", "at": at} for at in (Decimal("0.5"), 10**20, -3)]
    things = [thing("a", colour="red", weight=3, shape="flat"), thing("b", colour="red", tags={"x", "y"})]
    assert await tables.bulk.in_one_step(lambda step: step.insert_new(POINTS, points)) == [True] * 3
    assert await tables.bulk.in_one_step(lambda step: step.insert_new(THINGS, things)) == [True] * 2
    assert [item["at"] for item in (await tables.query(POINTS, "o")).items] == [-3, Decimal("0.5"), 10**20]
    assert (await tables.query(THINGS, "red", Eq(3), index="ByColour")).items == [things[0]]
    assert [change.new for change in await changes(tables)] == things


def test_one_of_a_few_texts_or_nothing_is_plain_and_a_list_of_texts_is_not() -> None:
    assert table_rows._is_plain(Literal["plain", "gilt"] | None)
    assert not table_rows._is_plain(list[str])


# The same by single writes

names = st.sampled_from(["a", "b", "ä", "c" * 1024])
keys = st.fixed_dictionaries({"owner": st.just("o"), "name": names})
items = st.fixed_dictionaries(
    {"owner": st.just("o"), "name": names},
    optional={
        "colour": st.sampled_from(["red", "grün"]),
        "shade": st.sampled_from(["dark", "light"]),
        "until": st.sampled_from([NOW - 1, NOW + 1, NOW + 2, "never", Decimal("1900000001.5")]),
        "size": st.integers(-3, 3) | st.sampled_from([2**63, 2**64, Decimal("0.5"), True, None, b"x", "x" * 20_000]),
    },
)
table_names = st.sampled_from([CARDS, COUNTS])
different = st.lists(items, max_size=4, unique_by=lambda item: item["name"])
Operation = tuple[str, TableSpec, Any, Any]
operations: st.SearchStrategy[Operation] = st.one_of(
    st.tuples(st.just("insert"), table_names, st.lists(items, max_size=2 * ROWS_AT_ONCE), st.none()),
    st.tuples(st.just("put all"), table_names, different, st.none()),
    st.tuples(st.just("put"), table_names, items, st.none()),
    st.tuples(st.just("delete"), table_names, keys, st.none()),
    st.tuples(st.just("wait"), table_names, st.none(), st.none()),
)


async def in_bulk(tables: SqliteTables, operation: Operation) -> Any:
    def step(step: Step) -> Any:
        match operation:
            case "insert", table, new, _:
                return step.insert_new(table, new)
            case "put all", table, new, _:
                return step.put_all(table, new)
            case "put", table, item, _:
                return step.put(table, item)
            case "delete", table, of, _:
                return step.delete(table, of)
            case _:
                return None

    return await tables.bulk.in_one_step(step)


async def one_by_one(tables: SqliteTables, operation: Operation) -> Any:
    match operation:
        case "insert", table, new, _:
            return [await _put_new(tables, table, item) for item in new]
        case "put all", table, new, _:
            for item in new:
                await tables.put(table, item)
            return None
        case "put", table, item, _:
            return await tables.put(table, item)
        case "delete", table, of, _:
            await tables.delete(table, of)
            return None
        case _:
            return None


async def _put_new(tables: SqliteTables, table: TableSpec, item: Item) -> bool:
    try:
        await tables.put(table, item, when=attr("owner").absent())
    except ConditionFailed:
        return False
    return True


async def outcome_of(work: Awaitable[Any]) -> Any:
    try:
        return await work
    except SatchelError as error:
        return type(error), error.detail


def everything_in(path: Path) -> dict[str, Any]:
    """All rows, and all changes of each key in their order."""
    connection = sqlite3.connect(path)
    found: dict[str, Any] = {}
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        cursor = connection.execute(f'SELECT * FROM "{name}"')
        columns = [column[0] for column in cursor.description]
        rows = [dict(zip(columns, row, strict=True)) for row in cursor]
        if name.endswith(":changes"):
            of_key: defaultdict[bytes, list[Any]] = defaultdict(list)
            for row in rows:
                old, new = (document and decode(document) for document in (row["old"], row["new"]))
                of_key[row["key"]].append((row["at"], old, new))
            found[name] = dict(of_key)
        elif not name.startswith(("sqlite_", "satchel:")):
            # Attributes have no order.
            found[name] = {(row["pk"], row["sk"]): row | {"doc": decode(row["doc"])} for row in rows}
    connection.close()
    return found


async def carried_out(
    path: Path, asked: list[Operation], do: Callable[[SqliteTables, Operation], Awaitable[Any]]
) -> list[Any]:
    async with Stores(path) as stores:
        tables = await stores.open()
        await tables.create(CARDS, COUNTS)
        answers: list[Any] = []
        for operation in asked:
            answers.append(await outcome_of(do(tables, operation)))
            if operation[0] == "wait":
                stores.clock.advance(1)
        return answers


@pytest.mark.slow
@given(st.lists(operations, min_size=1, max_size=8))
@settings(max_examples=30)
def test_a_file_written_in_bulk_is_the_same_as_one_written_one_by_one(asked: list[Operation]) -> None:
    with TemporaryDirectory() as folder:
        bulk, single = Path(folder) / "bulk", Path(folder) / "single"
        answers = asyncio.run(carried_out(bulk, asked, in_bulk))
        assert answers == asyncio.run(carried_out(single, asked, one_by_one))
        assert everything_in(bulk) == everything_in(single)


async def test_whoever_reads_rows_that_are_written_late_waits_for_them(tables: SqliteTables) -> None:
    late: list[Item] = []

    async def settle() -> None:
        rows = [late.pop() for _ in range(len(late))]
        await tables.bulk.in_one_step(lambda step: step.insert_new(CARDS, rows))

    tables.bulk.before_reads(CARDS, ("late:",), settle)
    row = {"owner": "late:a", "name": "n", "colour": "red", "shade": "dark"}
    reads: list[Callable[[], Awaitable[Any]]] = [
        lambda: tables.get(CARDS, {"owner": "late:a", "name": "n"}),
        lambda: tables.get_many(CARDS, [{"owner": "o", "name": "n"}, {"owner": "late:a", "name": "n"}]),
        lambda: tables.query(CARDS, "late:a"),
        lambda: tables.query(CARDS, "red", index="ByColour"),
        lambda: tables.scan(CARDS),
    ]
    for read in reads:
        late.append(row)
        # Others need not wait.
        assert await tables.get(CARDS, {"owner": "o", "name": "n"}) is None
        assert not (await tables.query(COUNTS, "late:a")).items
        assert late
        assert "late:a" in repr(await read())
        assert not late
        await tables.delete(CARDS, {"owner": "late:a", "name": "n"})
