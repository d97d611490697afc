"""What every table store finds: queries, pages and cursors, indexes, many keys at once, and nothing expired."""

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from satchel.kernel.errors import Invalid
from satchel.stores.ports.expressions import assign
from satchel.stores.ports.table import (
    PAGE_BYTES,
    Eq,
    IndexSpec,
    Item,
    Range,
    StartsWith,
    TableMissing,
    Tables,
    TableSpec,
    text,
)
from tests.stores.contract_quotes import quotes
from tests.stores.harnesses_table import (
    BLOBS,
    INDEX_IS_IMMEDIATE,
    LOGS,
    SINGLES,
    THINGS,
    TableHarness,
    all_of,
    eventually,
    pages_of,
)

pytest_plugins = ("tests.stores.fixtures_table",)
pytestmark = pytest.mark.asyncio(loop_scope="module")

# In the order of their UTF-8 bytes; by UTF-16, the last would come before the one before it.
NAMES = ["A", "a", "a#", "a#1", "a#10", "a#2", "aa", "b", "z", "ß", "ä", "€", "\ufffd", "𝄞"]
NUMBERS = [-(10**20), -3, Decimal("-2.5"), 0, Decimal("1E-100"), Decimal("0.5"), 2, 10, 10**20]
BYTES = [b"\x00", b"\x00\x00", b"\x01", b"a", b"ab", b"b", b"\x7f", b"\x80", b"\xff", b"\xff\x00"]


@quotes("The items of one partition in the order of their sort key: text by UTF-8 bytes, numbers by value.")
@pytest.mark.parametrize(
    ("table", "sort", "values"),
    [(THINGS, "name", NAMES), (LOGS, "at", NUMBERS), (BLOBS, "digest", BYTES)],
    ids=["text", "numbers", "bytes"],
)
async def test_items_come_in_the_order_of_their_sort_key(
    tables: Tables, owner: str, table: TableSpec, sort: str, values: list[Any]
) -> None:
    await tables.write_many(table, put=[{"owner": owner, sort: value} for value in reversed(values)])
    await tables.put(table, {"owner": owner + "x", sort: values[0]})
    assert [item[sort] for item in (await tables.query(table, owner)).items] == values
    backwards = await tables.query(table, owner, descending=True)
    assert [item[sort] for item in backwards.items] == values[::-1]


RANGES: list[tuple[Any, list[str]]] = [
    (Eq("a#1"), ["a#1"]),
    (Eq("missing"), []),
    (StartsWith("a#"), ["a#", "a#1", "a#10", "a#2"]),
    (StartsWith("𝄞"), ["𝄞"]),
    (StartsWith("\ufffd"), ["\ufffd"]),
    (Range("a#1", "aa"), ["a#1", "a#10", "a#2", "aa"]),
    (Range("b", "b"), ["b"]),
    (Range("b"), NAMES[7:]),
    (Range("b", low_inclusive=False), NAMES[8:]),
    (Range(high="a"), NAMES[:2]),
    (Range(high="a", high_inclusive=False), NAMES[:1]),
    (Range("€", "\uffff"), ["€", "\ufffd"]),
]


@quotes(
    "The sort key is this.",
    "The sort key, text or bytes, starts so.",
    "The sort key lies between these; a missing end is open, `*_inclusive` says whether an end itself belongs.",
)
@pytest.mark.parametrize("limit", [1, 3, 100])
@pytest.mark.parametrize("descending", [False, True])
async def test_a_query_finds_what_its_sort_condition_says(
    tables: Tables, owner: str, limit: int, descending: bool
) -> None:
    await tables.write_many(THINGS, put=[{"owner": owner, "name": name} for name in NAMES])
    for sort, names in RANGES:
        items = await all_of(tables, THINGS, owner, sort, limit=limit, descending=descending)
        assert [item["name"] for item in items] == (names[::-1] if descending else names), sort


async def test_numbers_and_bytes_have_ranges_too(tables: Tables, owner: str) -> None:
    await tables.write_many(LOGS, put=[{"owner": owner, "at": at} for at in NUMBERS])
    await tables.write_many(BLOBS, put=[{"owner": owner, "digest": digest} for digest in BYTES])
    found = await all_of(tables, LOGS, owner, Range(Decimal("-2.5"), Decimal("0.50")), limit=2)
    assert [item["at"] for item in found] == NUMBERS[2:6]
    found = await all_of(tables, LOGS, owner, Range(10, low_inclusive=False))
    assert [item["at"] for item in found] == [10**20]
    found = await all_of(tables, BLOBS, owner, StartsWith(b"\xff"), limit=1)
    assert [item["digest"] for item in found] == [b"\xff", b"\xff\x00"]
    found = await all_of(tables, BLOBS, owner, Range(b"\x7f", b"\xff"))
    assert [item["digest"] for item in found] == [b"\x7f", b"\x80", b"\xff"]


@quotes("DynamoDB can ask only for `<`, `<=`, `>`, `>=` with one end, and for both ends included: the rest is refused.")
@pytest.mark.parametrize(
    ("table", "sort"),
    [
        (THINGS, Range("a", "b", low_inclusive=False)),
        (THINGS, Range("a", "b", high_inclusive=False)),
        (THINGS, Range()),
        (THINGS, Range("b", "a")),
        (THINGS, Range(1, 2)),
        (THINGS, Eq(b"a")),
        (THINGS, Eq("")),
        (THINGS, StartsWith("")),
        (THINGS, StartsWith(b"a")),
        (LOGS, StartsWith("1")),
        (LOGS, Eq("1")),
        (SINGLES, Eq("1")),
    ],
    ids=repr,
)
async def test_a_sort_condition_that_cannot_be_asked_is_refused(tables: Tables, table: TableSpec, sort: Any) -> None:
    with pytest.raises(Invalid):
        await tables.query(table, b"a" if table is SINGLES else "a", sort)


@pytest.mark.parametrize("partition", ["", 1, b"a", None, "x" * 2049])
async def test_a_partition_that_cannot_exist_is_refused(tables: Tables, partition: Any) -> None:
    with pytest.raises(Invalid):
        await tables.query(THINGS, partition)
    with pytest.raises(Invalid):
        await tables.query(THINGS, partition, index="ByColour")


@quotes(
    "A page ends at `limit` items (at most 1000),",
    "Some items in order, and where to go on: `cursor` is None exactly when there is nothing more.",
)
@pytest.mark.parametrize("count", [0, 1, 4, 5, 6])
async def test_a_page_has_a_cursor_exactly_when_there_is_more(tables: Tables, owner: str, count: int) -> None:
    await tables.write_many(LOGS, put=[{"owner": owner, "at": at} for at in range(count)])
    for limit in range(1, count + 2):
        for descending in (False, True):
            pages = [items async for items in pages_of(tables, LOGS, owner, limit=limit, descending=descending)]
            assert [len(items) for items in pages[:-1]] == [limit] * (len(pages) - 1)
            ordered = [item["at"] for items in pages for item in items]
            assert ordered == sorted(range(count), reverse=descending)
            assert len(pages) == max(1, -(-count // limit))


async def test_a_page_of_a_thousand_is_full(tables: Tables, owner: str) -> None:
    await tables.write_many(LOGS, put=[{"owner": owner, "at": at} for at in range(1001)])
    page = await tables.query(LOGS, owner, limit=1000)
    assert len(page.items) == 1000
    assert page.cursor is not None
    last = await tables.query(LOGS, owner, limit=1000, cursor=page.cursor)
    assert [item["at"] for item in last.items] == [1000]
    assert last.cursor is None


@quotes("or earlier once it holds about 1 MB.")
async def test_a_page_ends_at_about_a_megabyte(tables: Tables, owner: str) -> None:
    large = "x" * 300_000
    await tables.write_many(LOGS, put=[{"owner": owner, "at": at, "large": large} for at in range(8)])
    pages = [[item["at"] for item in items] async for items in pages_of(tables, LOGS, owner)]
    assert [at for page in pages for at in page] == list(range(8))
    for page in pages[:-1]:
        assert PAGE_BYTES - len(large) <= len(page) * len(large) <= PAGE_BYTES + 2 * len(large)


@pytest.mark.parametrize("limit", [0, -1, 1001, 1.5, True, "10"])
async def test_a_page_of_an_impossible_size_is_refused(tables: Tables, owner: str, limit: Any) -> None:
    with pytest.raises(Invalid):
        await tables.query(THINGS, owner, limit=limit)
    with pytest.raises(Invalid):
        await tables.changes(THINGS, "any", None, limit=limit)


@quotes(
    "A cursor is opaque, carries no secret, and can only ever move within the partition asked for; a broken one raises "
    "`Invalid`."
)
async def test_a_cursor_serves_only_the_question_it_came_from(tables: Tables, owner: str) -> None:
    things = [{"owner": owner, "name": name, "colour": "c" + owner, "weight": 1} for name in NAMES]
    await tables.write_many(THINGS, put=things)
    cursor = (await tables.query(THINGS, owner, limit=3)).cursor
    assert cursor is not None
    other = await tables.query(THINGS, owner, StartsWith("a#"), cursor=cursor)
    assert [item["name"] for item in other.items] == ["a#1", "a#10", "a#2"]
    for attempt in (
        tables.query(THINGS, owner + "x", cursor=cursor),
        tables.query(BLOBS, owner, cursor=cursor),
        tables.query(THINGS, owner, index="ByColour", cursor=cursor),
        tables.query(THINGS, owner, StartsWith("b"), cursor=cursor),
    ):
        with pytest.raises(Invalid):
            await attempt


async def test_a_damaged_cursor_is_refused_wherever_it_is_damaged(tables: Tables, owner: str) -> None:
    await tables.write_many(THINGS, put=[{"owner": owner, "name": name} for name in NAMES])
    cursor = (await tables.query(THINGS, owner, limit=3)).cursor
    assert cursor is not None
    damaged = [cursor[:at] + ("A" if letter != "A" else "B") + cursor[at + 1 :] for at, letter in enumerate(cursor)]
    damaged += [cursor[:at] for at in range(len(cursor))]
    for broken in (*damaged, cursor + "A", cursor + ".AAAA", "💥", "%00", "null", "." * 5, "A" * 10_000):
        with pytest.raises(Invalid):
            await tables.query(THINGS, owner, cursor=broken)


async def test_a_cursor_goes_on_from_where_a_deleted_item_stood(tables: Tables, owner: str) -> None:
    await tables.write_many(LOGS, put=[{"owner": owner, "at": at} for at in range(5)])
    page = await tables.query(LOGS, owner, limit=2)
    await tables.write_many(LOGS, delete=page.items)
    await tables.put(LOGS, {"owner": owner, "at": Decimal("1.5")})
    rest = await tables.query(LOGS, owner, cursor=page.cursor)
    assert [item["at"] for item in rest.items] == [Decimal("1.5"), 2, 3, 4]


@quotes("Through a table's own key the read is consistent, unless it may lag.")
async def test_a_query_sees_every_write_before_it(tables: Tables, owner: str) -> None:
    for at in range(10):
        await tables.put(LOGS, {"owner": owner, "at": at})
        assert len((await tables.query(LOGS, owner)).items) == at + 1


async def test_a_table_without_sort_key_has_partitions_of_one(tables: Tables, owner: str) -> None:
    await tables.put(SINGLES, {"id": owner.encode(), "value": 1})
    page = await tables.query(SINGLES, owner.encode(), limit=1)
    assert page.items == [{"id": owner.encode(), "value": 1}]
    assert page.cursor is None
    assert (await tables.query(SINGLES, owner.encode() + b"x")).items == []


@quotes(
    "*indexed*: an index holds the items that have all of its key attributes. Reading one may lag behind the table on "
    "DynamoDB; it does not on SQLite.",
    "A second way to find the items of a table.",
)
async def test_an_index_holds_the_items_that_have_its_whole_key(harness: TableHarness, owner: str) -> None:
    tables = harness.first
    colour = "c" + owner
    heavy = {"owner": owner, "name": "heavy", "colour": colour, "weight": 10, "note": ["everything"]}
    light = {"owner": owner + "2", "name": "light", "colour": colour, "weight": Decimal("0.5")}
    weightless = {"owner": owner, "name": "weightless", "colour": colour}
    await tables.write_many(THINGS, put=[heavy, light, weightless])

    async def found() -> list[Item]:
        return (await tables.query(THINGS, colour, index="ByColour")).items

    patience = 0.0 if INDEX_IS_IMMEDIATE in harness.promises else 5.0
    await eventually(found, [light, heavy], patience)
    await tables.update(THINGS, {"owner": owner, "name": "weightless"}, [assign("weight", 5)])
    await eventually(found, [light, {**weightless, "weight": 5}, heavy], patience)
    await tables.update(THINGS, {"owner": owner, "name": "heavy"}, [assign("weight", 0)])
    await eventually(found, [{**heavy, "weight": 0}, light, {**weightless, "weight": 5}], patience)
    await tables.delete(THINGS, {"owner": owner + "2", "name": "light"})
    await eventually(found, [{**heavy, "weight": 0}, {**weightless, "weight": 5}], patience)
    narrow = await tables.query(THINGS, colour, Range(1), index="ByColour", descending=True)
    assert narrow.items == [{**weightless, "weight": 5}]


@quotes("`carries` names what can be read through it: everything, only keys, or keys and the named attributes.")
async def test_an_index_carries_what_it_declares(harness: TableHarness, owner: str) -> None:
    tables = harness.first
    until = int(harness.clock()) + 1000
    thing = {"owner": owner, "name": "cup", "shape": "s" + owner, "maker": "m" + owner, "weight": 3, "until": until}
    await tables.put(THINGS, {**thing, "note": "long"})

    async def by_shape() -> list[Item]:
        return (await tables.query(THINGS, "s" + owner, index="ByShape")).items

    async def by_maker() -> list[Item]:
        return (await tables.query(THINGS, "m" + owner, StartsWith("c"), index="ByMaker")).items

    await eventually(by_shape, [{name: thing[name] for name in ("owner", "name", "shape")}])
    await eventually(by_maker, [{name: thing[name] for name in ("owner", "name", "maker", "weight")}])
    await harness.advance(1000)
    await eventually(by_shape, [])
    await eventually(by_maker, [])


@quotes(
    "Items that tie on the whole index key have no promised order among themselves, but paging still meets each "
    "exactly once."
)
@pytest.mark.parametrize("index", ["ByColour", "ByShape"])
@pytest.mark.parametrize("limit", [1, 2, 7])
async def test_paging_meets_each_of_many_that_tie_once(tables: Tables, owner: str, index: str, limit: int) -> None:
    group = f"{index}-{owner}"
    same: Item = {"colour": group, "weight": 1} if index == "ByColour" else {"shape": group}
    await tables.write_many(THINGS, put=[{"owner": owner, "name": name, **same} for name in NAMES])

    async def found() -> list[str]:
        items = await all_of(tables, THINGS, group, index=index, limit=limit)
        return sorted((item["name"] for item in items), key=str.encode)

    await eventually(found, NAMES)


async def test_an_index_that_was_never_declared_is_refused(tables: Tables, owner: str) -> None:
    with pytest.raises(Invalid):
        await tables.query(THINGS, owner, index="ByMagic")


async def test_an_index_that_was_declared_but_never_made_is_missing(tables: Tables, owner: str) -> None:
    extended = TableSpec("Logs", LOGS.partition, LOGS.sort, (IndexSpec("ByLine", text("line")),))
    with pytest.raises(TableMissing):
        await tables.query(extended, owner, index="ByLine")


@quotes("One answer per key, in the order asked, however many there are; not one instant. Repeated keys are fine.")
async def test_many_keys_are_answered_in_the_order_asked(tables: Tables, owner: str) -> None:
    await tables.write_many(LOGS, put=[{"owner": owner, "at": at, "even": True} for at in range(0, 240, 2)])
    asked = [*range(239, -1, -1), 4, 5, 4]
    answers = await tables.get_many(LOGS, [{"owner": owner, "at": at} for at in asked])
    assert answers == [{"owner": owner, "at": at, "even": True} if at % 2 == 0 else None for at in asked]
    assert await tables.get_many(LOGS, []) == []
    twice: list[dict[str, Any]] = [{"owner": owner, "at": 2}, {"owner": owner, "at": Decimal("2.0")}]
    assert await tables.get_many(LOGS, twice) == [{"owner": owner, "at": 2, "even": True}] * 2


async def test_many_large_items_come_back_together(tables: Tables, owner: str) -> None:
    large = "x" * 390_000
    keys = [{"owner": owner, "at": at} for at in range(45)]
    for start in range(0, 45, 9):
        await tables.write_many(LOGS, put=[{**key, "large": large} for key in keys[start : start + 9]])
    assert [item and len(item["large"]) for item in await tables.get_many(LOGS, keys)] == [len(large)] * 45


@quotes(
    "*lagging*: a read that says `may_lag` costs half as much on DynamoDB. It may miss what was written in the last few"
    " moments, and find an older state than a read before it did. On SQLite it never lags. It is for what people only"
    " look at: nothing that is written, allowed or refused may follow from it.",
)
async def test_what_may_lag_is_found_in_the_end_by_every_way_of_reading(
    tables: Tables, harness: TableHarness, owner: str
) -> None:
    cup: Item = {"owner": owner, "name": "cup"}
    await tables.put(THINGS, cup)

    async def found() -> list[object]:
        one = await tables.get(THINGS, cup, may_lag=True)
        both = await tables.get_many(THINGS, [cup, {"owner": owner, "name": "no cup"}], may_lag=True)
        return [one, *both, *(await tables.query(THINGS, owner, may_lag=True)).items]

    if INDEX_IS_IMMEDIATE in harness.promises:
        assert await found() == [cup, cup, None, cup]
    await eventually(found, [cup, cup, None, cup])
    await harness.advance(1)
    await tables.put(THINGS, {**cup, "until": int(harness.clock())})
    assert await tables.get(THINGS, cup, may_lag=True) is None


@quotes("Reads by key that begin at one moment, in tasks side by side, may go to the store as one request.")
async def test_reads_side_by_side_find_each_their_own(tables: Tables, owner: str) -> None:
    digests = [b"%d" % number for number in range(120)]
    await tables.write_many(BLOBS, put=[{"owner": owner, "digest": digest} for digest in digests])
    await tables.put(THINGS, {"owner": owner, "name": "cup"})
    await tables.put(LOGS, {"owner": owner, "at": 1})
    things, blobs, log, nothing, again, recent = await asyncio.gather(
        tables.get(THINGS, {"owner": owner, "name": "cup"}),
        tables.get_many(BLOBS, [{"owner": owner, "digest": digest} for digest in digests]),
        tables.get(LOGS, {"owner": owner, "at": 1}),
        tables.get(LOGS, {"owner": owner, "at": 2}),
        tables.get_many(THINGS, [{"owner": owner, "name": name} for name in ("cup", "spoon", "cup")]),
        tables.get(LOGS, {"owner": owner, "at": 1}, may_lag=True),
    )
    assert things == {"owner": owner, "name": "cup"} and [blob and blob["digest"] for blob in blobs] == digests
    assert log == {"owner": owner, "at": 1} and nothing is None and again == [things, None, things]
    assert recent in (log, None)
