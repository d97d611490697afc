"""What every table store makes of conditions, updates and deletes of a single item."""

import asyncio
from decimal import Decimal

import pytest

from satchel.kernel.errors import Invalid
from satchel.stores.ports.expressions import Action, Condition, add, append, assign, attr, discard, remove
from satchel.stores.ports.table import (
    Check,
    ConditionFailed,
    Delete,
    Item,
    Put,
    Tables,
    TransactionCancelled,
    Update,
)
from tests.stores.contract_quotes import quotes
from tests.stores.harnesses_table import THINGS

pytest_plugins = ("tests.stores.fixtures_table",)
pytestmark = pytest.mark.asyncio(loop_scope="module")

LARGEST = 99999999999999999999999999999999999999 * 10**88
STORED: Item = {
    "n": 5,
    "t": "hello",
    "b": b"\x01\x02",
    "yes": True,
    "no": None,
    "list": [1, "a", None, {"x": 2}],
    "map": {"n": 1, "inner": {"t": "deep"}},
    "texts": frozenset({"a", "b"}),
    "numbers": frozenset({1, 2}),
}
HOLDING: list[Condition] = [
    attr("n") == 5,
    attr("n") == Decimal("5.0"),
    attr("n") != 6,
    attr("n") != "5",
    attr("missing") != 5,
    attr("n") < 6,
    attr("n") <= 5,
    attr("n") > Decimal("4.9"),
    attr("n") >= 5,
    attr("t") < "help",
    attr("t") > "Hello",
    attr("b") > b"\x01",
    attr("n").between(5, 6),
    attr("t").between("h", "i"),
    attr("n").one_of(1, 5, "x"),
    attr("t").begins_with("hel"),
    attr("b").begins_with(b"\x01"),
    attr("t").contains("ell"),
    attr("b").contains(b"\x02"),
    attr("texts").contains("a"),
    attr("numbers").contains(2),
    attr("list").contains("a"),
    attr("list").contains(None),
    attr("no").exists(),
    attr("missing").absent(),
    attr("no") == None,  # noqa: E711  # a condition, not a comparison
    attr("yes") == True,  # noqa: E712
    attr("list", 3, "x") == 2,
    attr("map", "inner", "t") == "deep",
    attr("map", "inner") == {"t": "deep"},
    attr("texts") == {"b", "a"},
    attr("list") == [1, "a", None, {"x": 2}],
    attr("map", 0).absent(),
    attr("list", 9).absent(),
    attr("t", "inner").absent(),
    (attr("n") == 5) & (attr("t") == "hello"),
    (attr("n") == 6) | (attr("t") == "hello"),
    ~(attr("n") == 6),
    ~((attr("n") == 6) | (attr("missing").exists())),
    ~(attr("missing") < 5),
]
FAILING: list[Condition] = [
    attr("n") == 6,
    attr("n") == "5",
    attr("yes") == 1,
    attr("n") != 5,
    attr("missing") == 5,
    attr("missing") < 5,
    attr("missing") >= 5,
    attr("n") < "6",
    attr("t") > 4,
    attr("t") < b"z",
    attr("n") > 5,
    attr("n").between(6, 7),
    attr("t").between(1, 9),
    attr("missing").between(1, 9),
    attr("n").one_of(1, 2, "5"),
    attr("missing").one_of(None, 1),
    attr("t").begins_with("ell"),
    attr("t").begins_with(b"hel"),
    attr("n").begins_with("5"),
    attr("t").contains("elk"),
    attr("t").contains(1),
    attr("texts").contains("ab"),
    attr("texts").contains(1),
    attr("numbers").contains("1"),
    attr("list").contains(2),
    attr("map").contains("n"),
    attr("missing").contains("a"),
    attr("missing").exists(),
    attr("no").absent(),
    attr("no") == False,  # noqa: E712
    attr("list", 0) == "a",
    attr("list") == [1, "a"],
    attr("map", "inner", "t").absent(),
    (attr("n") == 5) & (attr("t") == "other"),
    ~(attr("n") == 5),
]


@quotes(
    "*conditional*: a write with `when` happens only if the condition holds of the item stored at that instant; "
    "else it raises `ConditionFailed` and changes nothing.",
    "An attribute against a value; values of different types are unequal and have no order.",
    "Both ends included.",
    "Equal to one of up to 100 values.",
    "A text or bytes that starts so.",
    "A part of a text or bytes, a member of a set, or an element of a list.",
    "The attribute is there, even if it holds null.",
    "Both hold.",
    "At least one holds.",
    "The other does not hold.",
    "Store the whole item; see *conditional*.",
    "The stored item was not as `when` asked; nothing was changed.",
)
@pytest.mark.parametrize(
    ("condition", "holds"),
    [*((condition, True) for condition in HOLDING), *((condition, False) for condition in FAILING)],
)
async def test_a_condition_decides_every_kind_of_write(
    tables: Tables, owner: str, condition: Condition, holds: bool
) -> None:
    keys = [{"owner": owner, "name": f"item {number}"} for number in range(5)]
    await tables.write_many(THINGS, put=[{**key, **STORED} for key in keys])
    attempts = [
        tables.put(THINGS, {**keys[0], "put": 1}, when=condition),
        tables.update(THINGS, keys[1], [assign("updated", 1)], when=condition),
        tables.delete(THINGS, keys[2], when=condition),
        tables.transact([Check(THINGS, keys[3], condition), Put(THINGS, {**keys[4], "put": 2})]),
    ]
    for attempt in attempts:
        if holds:
            await attempt
        else:
            with pytest.raises((ConditionFailed, TransactionCancelled)):
                await attempt
    changed = [{**keys[0], "put": 1}, {**keys[1], **STORED, "updated": 1}, None]
    changed += [{**keys[3], **STORED}, {**keys[4], "put": 2}]
    unchanged = [{**key, **STORED} for key in keys]
    assert await tables.get_many(THINGS, keys) == (changed if holds else unchanged)


@quotes("An absent item has no attributes.")
@pytest.mark.parametrize("condition", [attr("owner").absent(), attr("n") != 1, ~(attr("n") > 1)], ids=repr)
async def test_a_condition_can_hold_of_an_absent_item(tables: Tables, owner: str, condition: Condition) -> None:
    first, second, third = ({"owner": owner, "name": name} for name in ("a", "b", "c"))
    await tables.put(THINGS, first, when=condition)
    assert await tables.update(THINGS, second, [add("count", 1)], when=condition) == {**second, "count": 1}
    assert await tables.delete(THINGS, third, when=condition) is None
    await tables.transact([Check(THINGS, third, condition)])


@pytest.mark.parametrize("condition", [attr("owner").exists(), attr("n") == 1, attr("n") < 1], ids=repr)
async def test_a_condition_can_fail_of_an_absent_item(tables: Tables, owner: str, condition: Condition) -> None:
    key = {"owner": owner, "name": "absent"}
    for attempt in (
        tables.put(THINGS, key, when=condition),
        tables.update(THINGS, key, [add("count", 1)], when=condition),
        tables.delete(THINGS, key, when=condition),
    ):
        with pytest.raises(ConditionFailed):
            await attempt
    assert await tables.get(THINGS, key) is None


@pytest.mark.parametrize(
    "condition",
    [
        attr("a") < True,
        attr("a") > [1],
        attr("a") <= None,
        attr("a").between(1, "b"),
        attr("a").between(2, 1),
        attr("a").between(True, True),
        attr("a").one_of(),
        attr("a").one_of(*range(101)),
        attr("a").begins_with(5),  # type: ignore[arg-type]
        attr("a", -1) == 1,
        attr("") == 1,
        attr("a", "") == 1,
        attr("a", *["b"] * 40) == 1,
        attr("a") == 1.5,  # type: ignore[operator]
    ],
    ids=lambda condition: repr(condition)[:60],
)
async def test_a_condition_that_cannot_be_asked_is_refused(tables: Tables, owner: str, condition: Condition) -> None:
    key = {"owner": owner, "name": "asked"}
    for attempt in (
        tables.put(THINGS, key, when=condition),
        tables.update(THINGS, key, [assign("x", 1)], when=condition),
        tables.delete(THINGS, key, when=condition),
        tables.transact([Check(THINGS, key, condition)]),
    ):
        with pytest.raises(Invalid):
            await attempt


UPDATES: list[tuple[Item, list[Action], Item]] = [
    ({}, [assign("a", 1)], {"a": 1}),
    ({"a": 1}, [assign("a", "x"), assign("b", None)], {"a": "x", "b": None}),
    ({"a": 1}, [assign("a", 2, only_if_absent=True), assign("b", 2, only_if_absent=True)], {"a": 1, "b": 2}),
    ({"a": None}, [assign("a", 2, only_if_absent=True)], {"a": None}),
    ({"m": {"x": 1}}, [assign(("m", "y"), 2), remove(("m", "x"))], {"m": {"y": 2}}),
    ({"l": [1, 2]}, [assign(("l", 0), "a"), assign(("l", 9), "z"), assign(("l", 7), "y")], {"l": ["a", 2, "y", "z"]}),
    ({"l": [1, 2, 3]}, [remove(("l", 0)), assign(("l", 1), "b")], {"l": ["b", 3]}),
    ({"l": [1, 2, 3]}, [remove(("l", 0)), remove(("l", 2)), remove(("l", 8))], {"l": [2]}),
    ({"n": 5}, [add("n", -7), add("m", Decimal("0.5"))], {"n": -2, "m": Decimal("0.5")}),
    ({"m": {"n": 5}}, [add(("m", "n"), 1), add(("m", "o"), 1)], {"m": {"n": 6, "o": 1}}),
    ({"s": {"a"}}, [add("s", {"a", "b"}), add("t", {1})], {"s": {"a", "b"}, "t": {1}}),
    ({"m": {"s": {"a"}}}, [add(("m", "s"), {"b"}), add(("m", "t"), {b"x"})], {"m": {"s": {"a", "b"}, "t": {b"x"}}}),
    ({"l": [1]}, [append("l", [2, [3]]), append("k", ["x"])], {"l": [1, 2, [3]], "k": ["x"]}),
    ({"m": {"l": [1]}}, [append(("m", "l"), []), append(("m", "k"), [None])], {"m": {"l": [1], "k": [None]}}),
    ({"a": 1, "b": 2}, [remove("a"), remove("missing")], {"b": 2}),
    ({"m": {"a": 1}}, [remove(("m", "missing")), remove(("m", "a"))], {"m": {}}),
    ({"s": {"a", "b"}}, [discard("s", {"a", "z"}), discard("missing", {"a"})], {"s": {"b"}}),
    ({"s": {"a", "b"}}, [discard("s", {"a", "b"})], {}),
    ({"s": {1, 2}}, [discard("s", {Decimal("1.0")})], {"s": {2}}),
    (
        {"a": 1},
        [assign("b", 10), add("a", 1), append("l", [1]), add("s", {"x"})],
        {"a": 2, "b": 10, "l": [1], "s": {"x"}},
    ),
    ({"with.dot": {"#x": 1}}, [add(("with.dot", "#x"), 1), assign("select", 1)], {"with.dot": {"#x": 2}, "select": 1}),
]


@quotes(
    "Change parts of an item, creating it if absent, and return the whole new item.",
    "Change parts of an item, creating it if absent. All actions see the item as it was before.",
    "Give the attribute this value; the map or list around a nested place must be there already.",
    "Add to a number (a missing one counts as 0), or members to a set (a missing one counts as empty).",
    "Put elements at the end of a list; a missing list counts as empty.",
    "Take the attribute or list element away; nothing happens if it is not there.",
    "Take members out of a set; a set that becomes empty goes away.",
)
@pytest.mark.parametrize(("before", "actions", "after"), UPDATES)
async def test_an_update_changes_what_its_actions_say(
    tables: Tables, owner: str, before: Item, actions: list[Action], after: Item
) -> None:
    alone, together = ({"owner": owner, "name": name} for name in ("alone", "together"))
    await tables.write_many(THINGS, put=[{**alone, **before}, {**together, **before}])
    assert await tables.update(THINGS, alone, actions) == {**alone, **after}
    await tables.transact([Update(THINGS, together, actions)])
    assert await tables.get_many(THINGS, [alone, together]) == [{**alone, **after}, {**together, **after}]


MISFITS: dict[str, list[Action]] = {
    "nothing to do": [],
    "the same place twice": [assign("n", 1), remove("n")],
    "a place and its inside": [assign("map", {}), assign(("map", "a"), 1)],
    "a key attribute": [assign("name", "other")],
    "a part of a key attribute": [assign(("name", "x"), "other")],
    "inside of nothing": [assign(("missing", "a"), 1)],
    "removing inside of nothing": [remove(("missing", "a"))],
    "inside of a number": [assign(("n", "a"), 1)],
    "a name in a list": [assign(("list", "a"), 1)],
    "a place of a map": [assign(("map", 0), 1)],
    "a map and a list in one place": [assign(("map", "a"), 1), assign(("map", 0), 1)],
    "adding to a text": [add("t", 1)],
    "adding a number to a set": [add("texts", 1)],
    "adding texts to numbers": [add("numbers", {"a"})],
    "adding members to a number": [add("n", {1})],
    "appending to a text": [append("t", [1])],
    "discarding from a number": [discard("n", {1})],
    "discarding texts from numbers": [discard("numbers", {"a"})],
    "adding a text": [add("n", "1")],  # type: ignore[arg-type]
    "adding a float": [add("n", 0.5)],  # type: ignore[arg-type]
    "adding an empty set": [add("texts", set[str]())],
    "adding past the largest number": [add("large", LARGEST)],
    "adding more digits than are kept": [add("large", 1)],
    "a negative place": [assign(("list", -1), 1)],
    "no name": [assign(("",), 1)],
}


@quotes(
    "Actions on overlapping places, on key attributes, or on a place whose surroundings are missing or of another "
    "type raise `Invalid`."
)
@pytest.mark.parametrize("actions", MISFITS.values(), ids=MISFITS)
async def test_an_update_that_does_not_fit_changes_nothing(tables: Tables, owner: str, actions: list[Action]) -> None:
    key = {"owner": owner, "name": "misfit"}
    before = {**key, **STORED, "large": LARGEST}
    await tables.put(THINGS, before)
    with pytest.raises(Invalid):
        await tables.update(THINGS, key, actions)
    with pytest.raises(Invalid):
        await tables.transact([Put(THINGS, {**key, "name": "other"}), Update(THINGS, key, actions)])
    assert (await tables.query(THINGS, owner)).items == [before]


@quotes("Store the whole item in place of any other with its key.")
async def test_a_put_leaves_nothing_of_the_item_before(tables: Tables, owner: str) -> None:
    key = {"owner": owner, "name": "whole"}
    await tables.put(THINGS, {**key, "a": 1, "b": 2})
    await tables.put(THINGS, {**key, "b": 3})
    assert await tables.get(THINGS, key) == {**key, "b": 3}


@quotes(
    "Take the item away and return it as it was, or None if it was absent.",
    "Take the item away; deleting an absent one succeeds unless `when` forbids it.",
)
async def test_a_delete_answers_with_what_it_took(tables: Tables, owner: str) -> None:
    key = {"owner": owner, "name": "taken"}
    await tables.put(THINGS, {**key, "value": [1]})
    assert await tables.delete(THINGS, key) == {**key, "value": [1]}
    assert await tables.delete(THINGS, key) is None
    await tables.transact([Delete(THINGS, key)])
    with pytest.raises(ConditionFailed):
        await tables.delete(THINGS, key, when=attr("owner").exists())
    assert await tables.get(THINGS, key) is None


async def test_rivals_on_one_item_each_count_once(tables: Tables, owner: str) -> None:
    key = {"owner": owner, "name": "counter"}
    await tables.put(THINGS, {**key, "version": 0, "total": 0})

    async def increment() -> None:
        while True:
            item = await tables.get(THINGS, key)
            assert item is not None
            seen = item["version"]
            try:
                await tables.update(THINGS, key, [add("version", 1), add("total", 1)], when=attr("version") == seen)
            except ConditionFailed:
                continue
            return

    await asyncio.gather(*(increment() for _ in range(10)))
    assert await tables.get(THINGS, key) == {**key, "version": 10, "total": 10}
