"""What every table store keeps and what it refuses: values, limits, declarations, and what outlives a process."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from importlib import import_module
from typing import Any

import pytest

from satchel.kernel.errors import Conflict, Invalid
from satchel.stores.ports.expressions import Action, add, append, assign, attr
from satchel.stores.ports.table import (
    Change,
    Delete,
    IndexSpec,
    Item,
    ItemTooLarge,
    Put,
    TableMissing,
    Tables,
    TableSpec,
    Update,
    number,
    text,
)
from tests.services import dynamodb_local, python_environment
from tests.stores.contract_quotes import quotes, unknown_quotes, unproven_words
from tests.stores.harnesses_table import LOGS, SINGLES, THINGS, TableHarness, exact

pytest_plugins = ("tests.stores.fixtures_table",)
pytestmark = pytest.mark.asyncio(loop_scope="module")

KILOBYTE = 1024
LARGEST = Decimal("9.9999999999999999999999999999999999999E+125")
SMALLEST = Decimal("1E-130")

VALUES: dict[str, Any] = {
    "null": None,
    "true": True,
    "false": False,
    "zero": 0,
    "negative": -7,
    "38 digits": 12345678901234567890123456789012345678,
    "a fraction of 38 digits": Decimal("1.2345678901234567890123456789012345678"),
    "the largest number": int(LARGEST),
    "the smallest number": SMALLEST,
    "the most negative number": -int(LARGEST),
    "text": "ünïcödé 𝄞 \x00 \n",
    "bytes": bytes(range(256)),
    "a list": [1, "two", None, [b"3"]],
    "an empty list": [],
    "a map": {"a": {"b": [True, {}]}, "with.dot": 1, "#": 2, ":v": 3, "select": 4},
    "a set of texts": frozenset({"a", "b", "𝄞"}),
    "a set of numbers": frozenset({1, Decimal("1.5"), -3}),
    "a set of bytes": frozenset({b"\x00", b"\xff"}),
}


@pytest.fixture(scope="module")
def dynamodb_endpoint() -> Iterator[str]:
    """One of its own: each table with an expiry keeps one of DynamoDB Local's ten threads, and indexes wait for one."""
    with dynamodb_local() as endpoint:
        yield endpoint


@quotes(
    "values are null, bool, int, Decimal, str, bytes, list, dict, and sets of str, of numbers or of bytes.",
    "The item as last written (a consistent read, unless it may lag), or None.",
    "*typed*:",
)
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
async def test_a_value_of_every_kind_comes_back_as_it_was(tables: Tables, owner: str, value: Any) -> None:
    key = {"owner": owner, "name": "value"}
    assert await tables.get(THINGS, key) is None
    await tables.put(THINGS, {**key, "value": value, "within": [{"deep": value}]})
    item = await tables.get(THINGS, key)
    assert item is not None
    assert item == {**key, "value": value, "within": [{"deep": value}]}
    assert exact(item["value"]) == exact(value)


@pytest.mark.parametrize("value", ["", b"", [""], {"a": b""}, frozenset({"", "a"}), frozenset({b""})])
async def test_empty_texts_and_bytes_are_kept_outside_of_keys(newer: Tables, owner: str, value: Any) -> None:
    key = {"owner": owner, "name": "empty"}
    await newer.put(THINGS, {**key, "value": value})
    assert await newer.get(THINGS, key) == {**key, "value": value}
    await newer.update(THINGS, key, [assign("other", value)], when=attr("value") == value)
    assert await newer.get(THINGS, key) == {**key, "value": value, "other": value}


@quotes("A number keeps up to 38 digits and comes back as int when it is whole, else as Decimal;")
@pytest.mark.parametrize(
    ("put", "got"),
    [
        (Decimal("5"), 5),
        (Decimal("5.000"), 5),
        (Decimal("-0"), 0),
        (Decimal("0.10"), Decimal("0.1")),
        (Decimal("1E+3"), 1000),
        (10**125, 10**125),
        (Decimal("123456789.123456789"), Decimal("123456789.123456789")),
    ],
)
async def test_a_number_has_one_form(tables: Tables, owner: str, put: Any, got: Any) -> None:
    key = {"owner": owner, "name": "number"}
    await tables.put(THINGS, {**key, "value": put, "set": {put}})
    item = await tables.get(THINGS, key)
    assert item is not None
    assert item == {**key, "value": got, "set": {got}}
    assert type(item["value"]) is type(got)


@quotes("Sets come back as frozenset, sequences as list, mappings as dict.")
async def test_containers_come_back_as_our_own(tables: Tables, owner: str) -> None:
    key = {"owner": owner, "name": "containers"}
    await tables.put(THINGS, {**key, "set": {"a"}, "sequence": (1, (2,)), "mapping": {"a": ()}})
    item = await tables.get(THINGS, key)
    assert item is not None
    assert item == {**key, "set": frozenset({"a"}), "sequence": [1, [2]], "mapping": {"a": []}}
    assert type(item["set"]) is frozenset
    item["sequence"].append("changed by the reader")
    assert await tables.get(THINGS, key) != item


UNKEEPABLE: dict[str, Any] = {
    "float": 1.5,
    "float inside": [{"a": 1.0}],
    "float in a set": {1.5},
    "not a number": Decimal("NaN"),
    "infinity": Decimal("Infinity"),
    "39 digits": 123456789012345678901234567890123456789,
    "too large": 10**126,
    "too small": Decimal("1E-131"),
    "an empty set": set[str](),
    "a set of several kinds": {"a", 1},
    "a set of booleans": {True},
    "half a surrogate pair": "\ud800",
    "an object": object(),
    "a map with an empty name": {"": 1},
    "a map with a number for a name": {1: 1},
}


@quotes("float is refused.", "What breaks this raises `Invalid` or `ItemTooLarge` and changes nothing.")
@pytest.mark.parametrize("value", UNKEEPABLE.values(), ids=UNKEEPABLE)
async def test_what_cannot_be_kept_is_refused_everywhere(tables: Tables, owner: str, value: Any) -> None:
    key = {"owner": owner, "name": "refused"}
    before = {**key, "version": 1}
    await tables.put(THINGS, before)
    with pytest.raises(Invalid):
        await tables.put(THINGS, {**key, "value": value})
    with pytest.raises(Invalid):
        await tables.update(THINGS, key, [assign("version", 2), assign("value", value)])
    with pytest.raises(Invalid):
        await tables.delete(THINGS, key, when=attr("value") == value)
    with pytest.raises(Invalid):
        await tables.write_many(THINGS, put=[{**key, "version": 3}, {"owner": owner, "name": "b", "value": value}])
    with pytest.raises(Invalid):
        await tables.transact([Put(THINGS, {**key, "version": 3}), Put(THINGS, {**key, "name": "b", "v": value})])
    assert await tables.get(THINGS, key) == before
    assert await tables.get(THINGS, {**key, "name": "b"}) is None


@quotes("an item is at most 400 KB as DynamoDB counts it,", "*limited*:", "An item over 400 KB,")
async def test_an_item_of_400_kilobytes_fits_and_a_byte_more_does_not(tables: Tables, owner: str) -> None:
    key = {"owner": owner, "name": "large"}
    # Names and values count in bytes of UTF-8; a number takes about half a byte a digit and one more; a list three
    # and one an element.
    small = {**key, "n": 1234567, "l": [True]}
    used = len("owner") + len(owner) + len("namelarge") + len("n") + 5 + len("l") + 3 + 1 + 1 + len("fill")
    room = 400 * KILOBYTE - used
    fill = "é" * (room // 2) + "x" * (room % 2)
    await tables.put(THINGS, {**small, "fill": fill})
    for too_large in (fill + "x", fill[:-1] + "é" * 2):
        with pytest.raises(ItemTooLarge):
            await tables.put(THINGS, {**small, "fill": too_large})
    with pytest.raises(ItemTooLarge):
        await tables.update(THINGS, key, [assign("more", True)])
    with pytest.raises(ItemTooLarge):
        await tables.update(THINGS, key, [append("l", [1])])
    with pytest.raises(ItemTooLarge):
        await tables.transact([Update(THINGS, key, [assign("more", "x")])])
    assert await tables.get(THINGS, key) == {**small, "fill": fill}


@quotes("a partition key 2048 bytes, a sort key 1024 bytes,")
async def test_keys_end_at_their_length_in_bytes(tables: Tables, owner: str) -> None:
    longest = {"owner": owner + "é" * ((2048 - len(owner)) // 2) + "x" * (len(owner) % 2), "name": "é" * 512}
    await tables.put(THINGS, {**longest, "colour": "c" * 2048, "weight": 1, "maker": "m" * 2048})
    assert await tables.get(THINGS, longest) is not None
    for broken in ({"owner": longest["owner"] + "x"}, {"name": longest["name"] + "x"}):
        with pytest.raises(Invalid):
            await tables.put(THINGS, {**longest, **broken})
        with pytest.raises(Invalid):
            await tables.get(THINGS, {**longest, **broken})
    for broken in ({"colour": "c" * 2049, "weight": 1}, {"colour": "c" * 2049}, {"maker": "m" * 2049}):
        with pytest.raises(Invalid):
            await tables.put(THINGS, {**longest, **broken})


@quotes("and no key (of the table or of an index) may be empty.")
@pytest.mark.parametrize(
    "broken",
    [
        {"owner": ""},
        {"name": ""},
        {"owner": 1},
        {"name": b"bytes"},
        {"name": None},
        {"colour": "", "weight": 1},
        {"colour": "", "weight": 2, "shape": "round"},
        {"colour": 7},
        {"shape": ["round"]},
        {"weight": "heavy", "colour": "red"},
    ],
    ids=repr,
)
async def test_a_key_that_is_empty_or_of_another_type_is_refused(tables: Tables, owner: str, broken: Item) -> None:
    with pytest.raises(Invalid):
        await tables.put(THINGS, {"owner": owner, "name": "key", **broken})
    with pytest.raises(Invalid):
        await tables.write_many(THINGS, put=[{"owner": owner, "name": "key", **broken}])
    assert (await tables.query(THINGS, owner)).items == []


@pytest.mark.parametrize(
    "action", [assign("colour", 7), assign("shape", ["round"]), add("colour", 1), append("shape", ["round"])], ids=repr
)
async def test_an_update_cannot_break_the_key_of_an_index(newer: Tables, owner: str, action: Action) -> None:
    key = {"owner": owner, "name": "key"}
    await newer.put(THINGS, {**key, "weight": 1})
    with pytest.raises(Invalid):
        await newer.update(THINGS, key, [action])
    assert await newer.get(THINGS, key) == {**key, "weight": 1}


@pytest.mark.parametrize(
    "key", [{}, {"owner": "a"}, {"name": "a"}, {"owner": "a", "name": "b", "x": 1}, {"owner": "a", "x": "b"}], ids=repr
)
async def test_a_key_has_exactly_the_attributes_of_the_table(tables: Tables, key: Any) -> None:
    for attempt in (
        tables.get(THINGS, key),
        tables.delete(THINGS, key),
        tables.update(THINGS, key, [assign("value", 1)]),
        tables.get_many(THINGS, [key]),
        tables.write_many(THINGS, delete=[key]),
        tables.transact([Delete(THINGS, key)]),
    ):
        with pytest.raises(Invalid):
            await attempt


@quotes("Nesting ends at 32 levels.")
async def test_nesting_ends_at_32_levels(tables: Tables, owner: str) -> None:
    def nested(levels: int) -> Any:
        return "x" if levels == 0 else [nested(levels - 1)]

    key = {"owner": owner, "name": "nested"}
    deepest = nested(31)
    await tables.put(THINGS, {**key, "value": deepest, "map": {"inner": {"list": [1]}}})
    item = await tables.get(THINGS, key)
    assert item is not None
    assert item["value"] == deepest
    with pytest.raises(Invalid):
        await tables.put(THINGS, {**key, "value": nested(32)})
    with pytest.raises(Invalid):
        await tables.update(THINGS, key, [assign(("map", "inner", "list"), nested(30))])
    assert await tables.get(THINGS, key) == item


async def test_numbers_and_bytes_are_keys_by_their_value(tables: Tables, owner: str) -> None:
    await tables.put(LOGS, {"owner": owner, "at": Decimal("1.50"), "line": "a"})
    await tables.put(LOGS, {"owner": owner, "at": Decimal("1.5"), "line": "b"})
    assert await tables.get(LOGS, {"owner": owner, "at": Decimal("15E-1")}) == {
        "owner": owner,
        "at": Decimal("1.5"),
        "line": "b",
    }
    await tables.put(SINGLES, {"id": owner.encode() + b"\x00\xff", "value": 1})
    assert await tables.get(SINGLES, {"id": owner.encode() + b"\x00\xff"}) is not None
    assert await tables.get(SINGLES, {"id": owner.encode() + b"\x00"}) is None


@pytest.mark.slow
@quotes("*durable*: when a write returns, it survives the death of the process.")
async def test_an_acknowledged_write_survives_the_death_of_its_process(harness: TableHarness, owner: str) -> None:
    program = f"""
import asyncio, os, signal
from tests.stores.harnesses_table import LOGS, SINGLES, THINGS, TableHarness, exact
from satchel.stores.ports.expressions import add
from satchel.stores.ports.table import Put
clock = lambda: {harness.clock()}
{harness.recipe}
async def write_and_die():
    tables = await opening
    await tables.put(THINGS, {{"owner": {owner!r}, "name": "put"}})
    await tables.update(THINGS, {{"owner": {owner!r}, "name": "update"}}, [add("n", 1)])
    await tables.write_many(THINGS, put=[{{"owner": {owner!r}, "name": "many"}}])
    await tables.transact([Put(THINGS, {{"owner": {owner!r}, "name": "transact"}})])
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(write_and_die())
"""
    command = [sys.executable, "-c", program]
    ended = await asyncio.to_thread(subprocess.run, command, env=python_environment(), capture_output=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    tables = await harness.open()
    names = [item["name"] for item in (await tables.query(THINGS, owner)).items]
    assert names == ["many", "put", "transact", "update"]


@quotes(
    "Make the tables, and the indexes, expiry and stream they declare, where missing; return once usable. "
    "Repeating it is safe. Nothing is ever dropped:",
    "What `create` would have to make, in words, one per table, index, expiry or stream; empty when ready.",
)
async def test_a_table_grows_into_its_declaration_and_keeps_its_items(harness: TableHarness, owner: str) -> None:
    tables = harness.first
    bare = TableSpec("Growing", text("owner"), text("name"))
    by_colour = IndexSpec("ByColour", text("colour"))
    by_weight = IndexSpec("ByWeight", number("weight"), text("name"), carries="keys")
    grown = TableSpec("Growing", bare.partition, bare.sort, (by_colour, by_weight), expiry="until", stream=True)

    assert len(await tables.missing(bare)) == 1
    await tables.create(bare)
    await tables.create(bare)
    item = {"owner": owner, "name": "early", "colour": "red", "weight": 2, "until": int(harness.clock()) + 10}
    await tables.put(bare, item)

    assert len(await tables.missing(grown)) == 4
    await tables.create(grown)
    assert await tables.missing(grown) == []
    assert (await tables.query(grown, "red", index="ByColour")).items == [item]
    await tables.put(grown, {**item, "name": "late"})
    changes = await _all_changes(tables, grown)
    assert [change.new for change in changes] == [{**item, "name": "late"}]
    await tables.create(bare)
    assert await tables.missing(grown) == []


async def _all_changes(tables: Tables, table: TableSpec) -> list[Change]:
    return [
        change
        for shard in await tables.shards(table)
        for change in (await tables.changes(table, shard.id, None)).changes
    ]


@quotes("a key schema that differs from the declared raises `Conflict`.")
@pytest.mark.parametrize(
    "other",
    [
        TableSpec("Fixed", text("other"), text("name")),
        TableSpec("Fixed", text("owner")),
        TableSpec("Fixed", text("owner"), number("name")),
        TableSpec("Fixed", text("owner"), text("name"), (IndexSpec("ByColour", text("shade")),)),
        TableSpec("Fixed", text("owner"), text("name"), (IndexSpec("ByColour", number("colour")),)),
    ],
    ids=repr,
)
async def test_other_keys_under_the_same_name_are_refused(tables: Tables, other: TableSpec) -> None:
    await tables.create(TableSpec("Fixed", text("owner"), text("name"), (IndexSpec("ByColour", text("colour")),)))
    with pytest.raises(Conflict):
        await tables.create(other)


async def test_another_expiry_under_the_same_name_is_refused(tables: Tables) -> None:
    await tables.create(TableSpec("Expiring", text("id"), expiry="until"))
    await tables.create(TableSpec("Expiring", text("id")))
    with pytest.raises(Conflict):
        await tables.create(TableSpec("Expiring", text("id"), expiry="end"))


@quotes("The table has not been created in this store. That concerns whoever runs the server, not who asks it.")
async def test_a_table_that_was_never_created_is_missing_for_every_operation(tables: Tables) -> None:
    absent = TableSpec("NeverCreated", text("owner"), text("name"), expiry="until", stream=True)
    key = {"owner": "a", "name": "b"}
    for attempt in (
        tables.get(absent, key),
        tables.put(absent, key),
        tables.update(absent, key, [assign("x", 1)]),
        tables.delete(absent, key),
        tables.query(absent, "a"),
        tables.get_many(absent, [key]),
        tables.write_many(absent, put=[key]),
        tables.transact([Put(absent, key)]),
        tables.shards(absent),
    ):
        with pytest.raises(TableMissing) as refused:
            await attempt
        assert refused.value.status == 503
    assert await tables.missing(absent) != []


async def test_every_word_of_the_contract_is_proven_by_a_test() -> None:
    for name in ("conformance_changing", "conformance_expiring", "conformance_reading", "conformance_together"):
        import_module(f"tests.stores.test_table_{name}")
    import_module("tests.stores.test_table_dynamodb")
    assert unknown_quotes() == set()
    assert unproven_words() == []
