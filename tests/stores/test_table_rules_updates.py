"""What an update may ask for, and what it leaves: measured on DynamoDB Local, case by case."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from satchel.kernel.errors import Invalid
from satchel.stores.ports.expressions import Action, Add, Discard, add, append, assign, discard, remove
from satchel.stores.ports.table import MAX_ITEM_BYTES, IndexSpec, Item, ItemTooLarge, TableSpec, number, text
from satchel.stores.rules import apply_actions, check_actions, same

TABLE = TableSpec("People", text("PK"), text("SK"), indexes=(IndexSpec("ByEmail", text("email"), number("age")),))
KEY = {"PK": "p", "SK": "s"}


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def updated(before: Mapping[str, Any], *actions: Action) -> Item:
    after = apply_actions({**KEY, **before}, check_actions(TABLE, actions))
    return {name: value for name, value in after.items() if name not in KEY}


UPDATES: list[tuple[Item, list[Action], Item]] = [
    ({}, [assign("a", 1)], {"a": 1}),
    ({"a": None}, [assign("a", 1, only_if_absent=True)], {"a": None}),
    ({}, [assign("a", 1, only_if_absent=True)], {"a": 1}),
    ({"m": {}}, [assign(("m", "k"), 1)], {"m": {"k": 1}}),
    ({"l": []}, [assign(("l", 0), 1, only_if_absent=True)], {"l": [1]}),
    ({"l": ["a"]}, [assign(("l", 9), "v"), assign(("l", 5), "w")], {"l": ["a", "w", "v"]}),
    ({"l": [1, 2]}, [add(("l", 5), 1), assign(("l", 4), "v")], {"l": [1, 2, "v", 1]}),
    ({"l": ["a", "b", "c"]}, [assign(("l", 1), "v"), remove(("l", 0))], {"l": ["v", "c"]}),
    ({"l": ["a", "b", "c"]}, [remove(("l", 0)), remove(("l", 2))], {"l": ["b"]}),
    ({"l": ["a"]}, [assign(("l", 9), "v"), remove(("l", 1))], {"l": ["a", "v"]}),
    ({"l": [{}, "x", {}]}, [assign(("l", 2, "a"), "v"), remove(("l", 1))], {"l": [{}, {"a": "v"}]}),
    ({"l": [1, {"a": 1}]}, [assign(("l", 4), "v"), remove(("l", 0)), remove(("l", 1, "a"))], {"l": [{}, "v"]}),
    ({"l": ["a"]}, [remove(("l", 7))], {"l": ["a"]}),
    ({"m": {}}, [remove(("m", "k"))], {"m": {}}),
    ({"a": 1}, [remove("a"), remove("gone")], {}),
    ({}, [add("n", 1)], {"n": 1}),
    ({"n": Decimal("0.5")}, [add("n", Decimal("0.5"))], {"n": 1}),
    ({"m": {"n": 2}}, [add(("m", "n"), -3)], {"m": {"n": -1}}),
    ({"s": frozenset({"a"})}, [add("s", {"b"})], {"s": frozenset({"a", "b"})}),
    ({}, [add("s", {1})], {"s": frozenset({1})}),
    ({"s": frozenset({1, 2})}, [discard("s", {Decimal("2.0"), 3})], {"s": frozenset({1})}),
    ({"s": frozenset({"a"})}, [discard("s", {"a"})], {}),
    ({"l": [frozenset({"a"}), 1, 2]}, [discard(("l", 0), {"a"}), remove(("l", 1))], {"l": [2]}),
    ({}, [discard("s", {"a"})], {}),
    ({}, [append("l", [1])], {"l": [1]}),
    ({"l": [1]}, [append("l", [[2]])], {"l": [1, [2]]}),
    ({"m": {}}, [append(("m", "l"), ["x"])], {"m": {"l": ["x"]}}),
    ({"n": 10**38 - 1}, [add("n", 1)], {"n": 10**38}),
    ({"n": 10**40}, [add("n", 1000)], {"n": 10**40 + 1000}),
    ({"email": "a"}, [assign("email", "b"), add("age", 1)], {"email": "b", "age": 1}),
    ({"email": "a"}, [remove("email")], {}),
]


@pytest.mark.parametrize(("before", "actions", "after"), UPDATES)
def test_an_update_leaves_what_dynamodb_leaves(before: Item, actions: list[Action], after: Item) -> None:
    assert same(updated(before, *actions), after)


def test_an_update_leaves_the_item_before_it_alone() -> None:
    before = {**KEY, "m": {"l": [1, {"a": 1}]}}
    apply_actions(before, check_actions(TABLE, [assign(("m", "l", 1, "a"), 2), remove(("m", "l", 0))]))
    assert before == {**KEY, "m": {"l": [1, {"a": 1}]}}


@pytest.mark.parametrize(
    ("before", "action"),
    [
        ({}, assign(("a", "b"), 1)),
        ({"a": "x"}, assign(("a", "b"), 1)),
        ({"a": []}, assign(("a", "b"), 1)),
        ({"a": {}}, assign(("a", 0), 1)),
        ({"a": {}}, assign(("a", "b", "c"), 1)),
        ({}, assign(("a", "b"), 1, only_if_absent=True)),
        ({}, remove(("a", "b"))),
        ({"a": "x"}, remove(("a", 0))),
        ({}, add(("a", "b"), 1)),
        ({"a": "x"}, add("a", 1)),
        ({"a": True}, add("a", 1)),
        ({"a": None}, add("a", 1)),
        ({"a": frozenset({1})}, add("a", {"x"})),
        ({"a": 1}, add("a", {1})),
        ({"a": frozenset({1})}, discard("a", {"x"})),
        ({"a": "x"}, discard("a", {"x"})),
        ({"a": "x"}, append("a", [1])),
        ({}, append(("a", "b"), [1])),
        ({"n": int("1" * 38)}, add("n", Decimal("0.1"))),
        ({"n": 9 * 10**125}, add("n", 9 * 10**125)),
        ({"n": Decimal("1E-130")}, add("n", Decimal("-1.1E-130"))),
    ],
    ids=repr,
)
def test_an_update_that_does_not_fit_the_item_is_refused(before: Item, action: Action) -> None:
    with pytest.raises(Invalid):
        updated(before, action)


@pytest.mark.parametrize(
    "actions",
    [
        [],
        [assign("PK", "q")],
        [assign(("SK", "inner"), 1)],
        [remove("SK")],
        [assign("a", 1), remove("a")],
        [assign("a", 1), assign(("a", "b"), 1)],
        [assign(("l", 9), 1), assign(("l", 9), 2)],
        [append("l", [1]), remove(("l", 0))],
        [assign(("a", "b"), 1), assign(("a", 0), 1)],
        [assign("email", "")],
        [assign("email", 1)],
        [assign(("email", "inner"), 1)],
        [append("email", ["x"])],
        [add("email", 1)],
        [add("age", {1})],
        [assign("age", "old")],
        [Add(("a",), "text")],  # type: ignore[arg-type]
        [Discard(("a",), 1)],  # type: ignore[arg-type]
        [assign("a", 1.5)],  # type: ignore[arg-type]
        [assign("", 1)],
        [assign(("m", "a"), nested(31))],
        [append("a", [nested(31)])],
        [assign(f"a{place}", 1) for place in range(300)],
    ],
    ids=lambda actions: repr(actions)[:60],
)
def test_an_update_that_no_item_could_take_is_refused(actions: list[Action]) -> None:
    with pytest.raises(Invalid):
        check_actions(TABLE, actions)


def test_a_hundred_attributes_can_be_assigned_at_once_and_values_nest_to_the_last_level() -> None:
    assert len(updated({}, *(assign(f"a{place}", 1) for place in range(100)))) == 100
    assert updated({"m": {}}, assign(("m", "a"), nested(30))) == {"m": {"a": nested(30)}}


def test_an_update_cannot_make_an_item_too_large() -> None:
    with pytest.raises(ItemTooLarge):
        updated({"big": "x" * (MAX_ITEM_BYTES - 100)}, assign("more", "y" * 100))
