"""What items, keys, conditions, updates, transactions and cursors may be, and what they mean, on every table store."""

from decimal import Decimal
from enum import IntEnum, StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.kernel.errors import Invalid
from satchel.stores.ports.expressions import (
    Compare,
    Condition,
    OneOf,
    attr,
)
from satchel.stores.ports.table import (
    MAX_ITEM_BYTES,
    IndexSpec,
    Item,
    ItemTooLarge,
    TableSpec,
    number,
    text,
)
from satchel.stores.rules import (
    canonical,
    check_condition,
    check_item,
    check_key,
    evaluate,
    item_bytes,
    normalise,
    number_from,
    same,
    value_bytes,
)

INDEX = IndexSpec("ByEmail", text("email"), number("age"), carries=("name",))
TABLE = TableSpec("People", text("PK"), text("SK"), indexes=(INDEX,))
KEY = {"PK": "p", "SK": "s"}


def nested(levels: int, inside: Any = 1) -> Any:
    for _ in range(levels):
        inside = [inside]
    return inside


class Colour(StrEnum):
    RED = "red"


class Level(IntEnum):
    LOW = 1


# Values


@pytest.mark.parametrize(
    ("given_value", "stored"),
    [
        (Decimal("1.50"), Decimal("1.5")),
        (Decimal("2.000"), 2),
        (Decimal("1E+3"), 1000),
        (Decimal("-0.0"), 0),
        (10**125, 10**125),
        (Decimal("9.9999999999999999999999999999999999999E+125"), (10**38 - 1) * 10**88),
        (Decimal("1.5E-130"), Decimal("1.5E-130")),
        (Colour.RED, "red"),
        (Level.LOW, 1),
        ((1, [2]), [1, [2]]),
        ({"a", "b"}, frozenset({"a", "b"})),
        ({1, Decimal("2.50")}, frozenset({1, Decimal("2.5")})),
        ({"k": 1}.keys(), frozenset({"k"})),
        (bytearray(b"x"), b"x"),
        ("", ""),
        ({b""}, frozenset({b""})),
    ],
)
def test_a_value_takes_its_one_stored_form(given_value: Any, stored: Any) -> None:
    result = normalise(given_value)
    assert same(result, stored)
    assert type(result) is type(stored)


@pytest.mark.parametrize(
    "value",
    [
        1.5,
        float("nan"),
        Decimal("NaN"),
        Decimal("Infinity"),
        Decimal("-sNaN"),
        10**126,
        -(10**126),
        Decimal("1E-131"),
        int("1" * 39),
        Decimal("1." + "1" * 38),
        pytest.param(10**100_000, id="an immense int"),
        set[str](),
        {"a", 1},
        {True},
        {1, b"a"},
        {None},
        "half a pair \ud800",
        {"a\udfff"},
        {"": 1},
        {"k\ud800": 1},
        {1: "number as a name"},
        {"n" * 65_536: 1},
        nested(32),
        nested(31, []),
        object(),
        [object()],
    ],
)
def test_what_dynamodb_could_not_keep_is_refused(value: Any) -> None:
    with pytest.raises(Invalid):
        normalise(value)


def test_nesting_ends_at_the_32nd_level() -> None:
    assert normalise(nested(31)) == nested(31)
    assert normalise(nested(30, [])) == nested(30, [])


@given(st.decimals(allow_nan=False, allow_infinity=False) | st.integers())
def test_a_number_keeps_its_value_and_has_one_form(value: int | Decimal) -> None:
    try:
        form = canonical(value)
    except Invalid:
        digits = "".join(map(str, Decimal(value).as_tuple().digits)).strip("0")
        assert len(digits) > 38 or not -130 <= Decimal(value).adjusted() <= 125
    else:
        assert form == value
        assert type(form) is (int if form == int(form) else Decimal)
        assert str(number_from(str(form))) == str(form)


def test_what_is_not_a_number_on_the_wire_is_refused() -> None:
    with pytest.raises(Invalid):
        number_from("12,5")


def test_true_is_not_one_at_any_depth() -> None:
    assert not same(True, 1)
    assert not same([True], [1])
    assert not same({"a": {"b": False}}, {"a": {"b": 0}})
    assert same({"a": [1, frozenset({2})], "b": None}, {"b": None, "a": [1, frozenset({2})]})
    assert not same({"a": 1}, {"b": 1})
    assert not same([1], [1, 1])


# Each of these was measured on DynamoDB Local, by how much filler still fits beside it.
@pytest.mark.parametrize(
    ("value", "size"),
    [
        (0, 1),
        (1, 2),
        (12, 2),
        (123, 3),
        (-12, 3),
        (100, 2),
        (Decimal("0.01"), 2),
        (Decimal("1.5"), 3),
        (Decimal("12.5"), 3),
        (Decimal("12345.6789"), 6),
        (int("1" * 38), 20),
        (-int("1" * 38), 21),
        (None, 1),
        (True, 1),
        ("é", 2),
        (b"abc", 3),
        ([], 3),
        (["a", "b"], 7),
        ({"k": "a"}, 6),
        (frozenset({"a", "bc"}), 3),
        (frozenset({1, 22}), 4),
    ],
)
def test_sizes_are_counted_as_dynamodb_counts_them(value: Any, size: int) -> None:
    assert value_bytes(value) == size


# Items and keys


def test_an_item_may_have_400_kb_and_not_a_byte_more() -> None:
    rest = item_bytes({**KEY, "big": ""})
    item = {**KEY, "big": "x" * (MAX_ITEM_BYTES - rest)}
    assert check_item(TABLE, item) == item
    with pytest.raises(ItemTooLarge):
        check_item(TABLE, {**item, "n": None})


def test_the_size_of_text_is_that_of_its_utf8() -> None:
    with pytest.raises(ItemTooLarge):
        check_item(TABLE, {**KEY, "big": "é" * (MAX_ITEM_BYTES // 2)})


@pytest.mark.parametrize(
    "change",
    [
        {"PK": ""},
        {"PK": 1},
        {"PK": None},
        {"PK": b"p"},
        {"PK": "p" * 2049},
        {"PK": "é" * 1025},
        {"SK": ""},
        {"SK": "s" * 1025},
        {"email": ""},
        {"email": 1},
        {"email": None},
        {"email": "e" * 2049},
        {"age": "old"},
    ],
)
def test_an_item_with_an_improper_key_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        check_item(TABLE, {**KEY, **change})


def test_an_item_without_its_key_is_refused_and_one_without_index_keys_is_not() -> None:
    with pytest.raises(Invalid):
        check_item(TABLE, {"PK": "p"})
    assert check_item(TABLE, {**KEY, "email": "e"}) == {**KEY, "email": "e"}
    assert check_item(TABLE, {"PK": "p" * 2048, "SK": "s" * 1024})


def test_the_checked_item_shares_no_container_with_the_given_one() -> None:
    inner: list[Any] = [{"a": 1}]
    checked = check_item(TABLE, {**KEY, "list": inner})
    inner[0]["a"] = 2
    inner.append(3)
    assert checked["list"] == [{"a": 1}]


@pytest.mark.parametrize("key", [{}, {"PK": "p"}, {**KEY, "more": 1}, {"PK": "p", "sk": "s"}, {"PK": "p", "SK": ""}])
def test_a_key_is_exactly_the_key_attributes(key: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        check_key(TABLE, key)


# Conditions

STORED: Item = {
    **KEY,
    "n": 5,
    "s": "abc",
    "b": b"\x01\x02\x03",
    "t": True,
    "z": None,
    "l": [1, "x", True, [1]],
    "m": {"k": 1, "d": {"e": "q"}},
    "ss": frozenset({"a", "b"}),
    "ns": frozenset({1, Decimal("2.5")}),
}


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (attr("gone") != 1, True),
        (attr("gone") == 1, False),
        (attr("gone") < 1, False),
        (~(attr("gone") < 1), True),
        (attr("n") == Decimal("5.0"), True),
        (attr("n") != "5", True),
        (attr("n") < "a", False),
        (attr("n") >= "a", False),
        (attr("n") > Decimal("4.9"), True),
        (attr("t") == True, True),  # noqa: E712
        (attr("t") == 1, False),
        (attr("z") == None, True),  # noqa: E711
        (attr("z").exists(), True),
        (attr("gone").exists(), False),
        (attr("l") == [Decimal("1.0"), "x", True, [1]], True),
        (attr("l") == [1, "x", 1, [1]], False),
        (attr("m") == {"d": {"e": "q"}, "k": 1}, True),
        (attr("ns") == {Decimal("2.50"), 1}, True),
        (attr("n").between(5, 5), True),
        (attr("s").between(1, 2), False),
        (attr("gone").between(1, 2), False),
        (attr("n").one_of("x", 5), True),
        (attr("gone").one_of(5), False),
        (attr("s").begins_with("ab"), True),
        (attr("s").begins_with(b"ab"), False),
        (attr("b").begins_with(b"\x01"), True),
        (attr("n").begins_with("5"), False),
        (attr("s").contains("bc"), True),
        (attr("s").contains(5), False),
        (attr("b").contains(b"\x02\x03"), True),
        (attr("ss").contains("a"), True),
        (attr("ns").contains(Decimal("2.50")), True),
        (attr("ns").contains("1"), False),
        (attr("l").contains(1), True),
        (attr("l").contains(None), False),
        (attr("m").contains("k"), False),
        (attr("gone").contains("k"), False),
        (attr("m", "d", "e") == "q", True),
        (attr("l", 3, 0) == 1, True),
        (attr("l", 9).exists(), False),
        (attr("m", 0) == 1, False),
        (attr("l", "a") != 1, True),
        (attr("n", "deeper").absent(), True),
        ((attr("n") == 5) & (attr("s") == "no"), False),
        ((attr("n") == 5) | (attr("s") == "no"), True),
    ],
)
def test_a_condition_holds_exactly_when_dynamodb_says_so(condition: Condition, holds: bool) -> None:
    assert evaluate(check_condition(TABLE, condition), STORED) is holds


@pytest.mark.parametrize(
    "condition",
    [
        attr("n") < True,
        attr("n") < None,
        attr("n") >= [],
        attr("n") < {"a"},
        Compare(("n",), "~", 1),  # type: ignore[arg-type]
        attr("n").between(6, 5),
        attr("n").between(1, "x"),
        attr("n").between(True, True),
        attr("n").begins_with(5),  # type: ignore[arg-type]
        OneOf(("n",), ()),
        attr("n").one_of(*range(101)),
        attr("n") == 1.5,
        attr("n") == set[str](),
        attr("").exists(),
        attr("n", -1) == 1,
        attr("n", True) == 1,
        attr("n", 2**31) == 1,
        Compare((), "=", 1),
        Compare((0,), "=", 1),
        attr("n", *["d"] * 32).exists(),
        # Keys have no inside, nor have those of an index.
        attr("PK", "x").exists(),
        attr("email", "x") == "y",
        attr("age", 0).absent(),
        "n = 5",
    ],
    ids=repr,
)
def test_a_condition_that_dynamodb_would_not_take_is_refused(condition: Any) -> None:
    with pytest.raises(Invalid):
        check_condition(TABLE, condition)


def alternatives(count: int) -> Condition:
    condition = attr("n") == 0
    for wanted in range(1, count):
        condition |= attr("n") == wanted
    return condition


def test_a_condition_of_too_many_parts_is_refused_however_deep() -> None:
    check_condition(TABLE, alternatives(100))
    for count in (151, 5000):
        with pytest.raises(Invalid):
            check_condition(TABLE, alternatives(count))
