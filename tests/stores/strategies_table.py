"""Random items, conditions, updates and questions for tables, from small pools, so that they keep meeting each other.

Left out is only what DynamoDB Local of 2020 does otherwise than DynamoDB as AWS documents it today: empty texts and
bytes as values (allowed by AWS since May 2020), more than 10 writes in a transaction (now 100), and updates that give
the key of an index a wrong type or length (refused by AWS, accepted by DynamoDB Local).
"""

from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from satchel.stores.ports.expressions import (
    Action,
    Add,
    And,
    Append,
    Assign,
    BeginsWith,
    Between,
    Compare,
    Condition,
    Contains,
    Discard,
    Exists,
    Not,
    OneOf,
    Or,
    Path,
    Remove,
)
from satchel.stores.ports.table import (
    Check,
    Delete,
    Eq,
    IndexSpec,
    Item,
    Put,
    Range,
    StartsWith,
    TableSpec,
    Update,
    Write,
    number,
    text,
)

NOTES = TableSpec(
    "Notes",
    text("owner"),
    text("name"),
    indexes=(
        IndexSpec("ByColour", text("colour"), number("weight")),
        IndexSpec("ByShape", text("shape"), carries=("n", "t")),
    ),
    expiry="until",
    stream=True,
)
LINES = TableSpec("Lines", text("owner"), number("at"), stream=True)
TABLES = (NOTES, LINES)

LARGEST = 99999999999999999999999999999999999999 * 10**88
OWNERS = ["ann", "böb"]
# By UTF-8 the last comes after the one before it; by UTF-16 it would not.
NAMES = ["a", "a#1", "a#10", "\uffee", "𝄞"]
MOMENTS = [-3, 0, Decimal("0.5"), 2, 10**20]
NUMBERS = [0, 1, -1, 5, Decimal("0.5"), Decimal("-1.25"), 10**37, Decimal("1E-130"), LARGEST, -LARGEST]
TEXTS = ["a", "ab", "b", "B", "é", "𝄞x", "\x00"]
BYTES = [b"a", b"ab", b"\x00", b"\xff"]
COLOURS = ["red", "blue"]

# One partition is much fuller than the other.
owners = st.sampled_from([OWNERS[0], OWNERS[0], OWNERS[0], OWNERS[1]])
limits = st.sampled_from([1, 1, 2, 3])
texts = st.sampled_from(TEXTS)
byte_strings = st.sampled_from(BYTES)
numbers = st.sampled_from(NUMBERS) | st.integers(-20, 20)
scalars = st.none() | st.booleans() | numbers | texts | byte_strings
sets: st.SearchStrategy[Any] = (
    st.frozensets(texts, min_size=1, max_size=3)
    | st.frozensets(numbers, min_size=1, max_size=3)
    | st.frozensets(byte_strings, min_size=1, max_size=3)
)
inner_names = st.sampled_from(["x", "y", "with.dot"])
values: st.SearchStrategy[Any] = st.recursive(
    scalars | sets,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(inner_names, inner, max_size=3),
    max_leaves=4,
)

# For a server that keeps empty texts and bytes.
hollow_scalars = st.sampled_from(["", b"", "a", 0, None])
hollow_values: st.SearchStrategy[Any] = st.recursive(
    hollow_scalars | st.frozensets(st.sampled_from(["", "a"]), min_size=1) | st.frozensets(st.just(b""), min_size=1),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(inner_names, inner, max_size=3),
    max_leaves=4,
)

# What each attribute mostly holds, so that updates and nested places mostly fit, and through "any" sometimes do not.
ATTRIBUTES: dict[str, st.SearchStrategy[Any]] = {
    "n": numbers,
    "t": texts,
    "s": st.frozensets(texts, min_size=1, max_size=3),
    "l": st.lists(scalars | st.dictionaries(inner_names, scalars, max_size=2), max_size=4),
    "m": st.dictionaries(inner_names, numbers | texts, max_size=3),
    "any": st.booleans() | st.sampled_from([0, 1]) | values,
}
INDEX_KEYS: dict[str, st.SearchStrategy[Any]] = {
    "colour": st.sampled_from(COLOURS),
    "weight": st.integers(0, 2),
    "shape": st.sampled_from(["round", "flat"]),
}

names = st.sampled_from(sorted(ATTRIBUTES))
paths: st.SearchStrategy[Path] = st.one_of(
    st.tuples(names),
    st.tuples(st.sampled_from(["m", "any"]), inner_names),
    st.tuples(st.sampled_from(["l", "any"]), st.integers(0, 3)),
    st.tuples(st.just("l"), st.integers(0, 2), inner_names),
    st.tuples(st.just("m"), inner_names, st.integers(0, 1) | inner_names),
)
# Places that only conditions may name: keys, and what says when an item expires.
condition_paths = paths | st.tuples(st.sampled_from(["owner", "colour", "weight", "until", "missing"]))

tables = st.sampled_from(TABLES)


@st.composite
def keys(draw: st.DrawFn, table: TableSpec) -> Item:
    owner = {"owner": draw(owners)}
    if table is LINES:
        return {**owner, "at": draw(st.sampled_from(MOMENTS))}
    return {**owner, "name": draw(st.sampled_from(NAMES))}


@st.composite
def items(draw: st.DrawFn, table: TableSpec, untils: st.SearchStrategy[Any]) -> Item:
    contents = draw(st.fixed_dictionaries({}, optional=ATTRIBUTES))
    if table is NOTES:
        contents |= draw(st.fixed_dictionaries({}, optional={**INDEX_KEYS, "until": untils}))
    return {**contents, **draw(keys(table))}


def _betweens(ends: st.SearchStrategy[Any]) -> st.SearchStrategy[Condition]:
    return st.builds(Between, condition_paths, ends, ends)


leaves: st.SearchStrategy[Condition] = st.one_of(
    st.builds(Exists, condition_paths),
    st.builds(Compare, condition_paths, st.sampled_from(["=", "<>"]), values),
    st.builds(Compare, condition_paths, st.sampled_from(["<", "<=", ">", ">="]), numbers | texts | byte_strings),
    _betweens(numbers) | _betweens(texts) | _betweens(byte_strings) | _betweens(scalars),
    st.builds(OneOf, condition_paths, st.lists(values, min_size=1, max_size=3).map(tuple)),
    st.builds(BeginsWith, condition_paths, texts | byte_strings),
    st.builds(Contains, condition_paths, scalars),
)


def _combined(inner: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    return st.builds(And, inner, inner) | st.builds(Or, inner, inner) | st.builds(Not, inner)


conditions: st.SearchStrategy[Condition] = st.recursive(leaves, _combined, max_leaves=3)
absent = st.just(Not(Exists(("owner",))))
present = st.just(Exists(("owner",)))
whens: st.SearchStrategy[Condition | None] = st.none() | st.none() | absent | present | conditions


fitting: st.SearchStrategy[Action] = st.one_of(
    names.flatmap(lambda name: st.builds(Assign, st.just((name,)), ATTRIBUTES[name], st.booleans())),
    st.builds(Add, st.just(("n",)), numbers),
    st.builds(Add, st.just(("s",)), ATTRIBUTES["s"]),
    st.builds(Discard, st.just(("s",)), ATTRIBUTES["s"]),
    st.builds(Append, st.just(("l",)), st.lists(scalars, max_size=2).map(tuple)),
    st.builds(Assign, st.tuples(st.just("l"), st.integers(0, 4)), scalars),
    st.builds(Remove, st.tuples(st.just("l"), st.integers(0, 3))),
    st.builds(Assign, st.tuples(st.just("m"), inner_names), scalars, st.booleans()),
    st.builds(Add, st.tuples(st.just("m"), inner_names), st.integers(-2, 2)),
    st.builds(Remove, st.tuples(st.just("m"), inner_names) | st.tuples(names)),
)
# Several places of one list at once: which of them move when others go?
list_edits: st.SearchStrategy[list[Action]] = st.lists(
    st.builds(Remove, st.tuples(st.just("l"), st.integers(0, 4)))
    | st.builds(Assign, st.tuples(st.just("l"), st.integers(0, 6)), scalars),
    min_size=2,
    max_size=4,
    unique_by=lambda action: action.path,
)
wild: st.SearchStrategy[Action] = st.one_of(
    st.builds(Assign, paths, values, st.booleans()),
    st.builds(Add, paths, numbers | sets),
    st.builds(Append, paths, st.lists(values, max_size=2).map(tuple)),
    st.builds(Remove, paths),
    st.builds(Discard, paths, sets),
)


def _about_notes(untils: st.SearchStrategy[Any]) -> st.SearchStrategy[Action]:
    return st.one_of(
        st.sampled_from(sorted(INDEX_KEYS)).flatmap(
            lambda name: st.builds(Assign, st.just((name,)), INDEX_KEYS[name], st.booleans())
        ),
        st.builds(Remove, st.sampled_from([("colour",), ("weight",), ("shape",), ("until",)])),
        st.builds(Assign, st.just(("until",)), untils),
        st.builds(Add, st.just(("weight",)), st.integers(-1, 1)),
    )


def actions(table: TableSpec, untils: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Action]]:
    one = fitting | _about_notes(untils) if table is NOTES else fitting
    return st.one_of(
        st.lists(one, min_size=1, max_size=4, unique_by=lambda action: action.path[0]),
        st.lists(wild | one, min_size=1, max_size=3),
    )


def twisted(item: Item, table: TableSpec) -> Item:
    """Almost the same item: 1 instead of True and the other way, which Python calls equal and DynamoDB does not."""
    swaps: dict[Any, Any] = {(bool, True): 1, (bool, False): 0, (int, 1): True, (int, 0): False}
    fixed = {*table.key_names, *INDEX_KEYS, "until"}
    return {
        name: swaps.get((type(value), value), value) if name not in fixed and isinstance(value, int) else value
        for name, value in item.items()
    }


@st.composite
def writes(draw: st.DrawFn, untils: st.SearchStrategy[Any]) -> list[Write]:
    """Writes for a transaction, mostly to different items."""
    places = tables.flatmap(lambda table: st.tuples(st.just(table), keys(table)))
    # Only about one list in four may name an item twice, which is refused as a whole.
    unique = None if draw(st.integers(0, 3)) == 3 else str
    return [
        draw(writes_to(table, key, untils))
        for table, key in draw(st.lists(places, min_size=1, max_size=5, unique_by=unique))
    ]


@st.composite
def writes_to(draw: st.DrawFn, table: TableSpec, key: Item, untils: st.SearchStrategy[Any]) -> Write:
    match draw(st.integers(0, 4)):
        case 0:
            return Put(table, {**draw(items(table, untils)), **key}, draw(whens))
        case 1:
            return Delete(table, key, draw(whens))
        case 2:
            return Check(table, key, draw(absent | present | conditions))
        case _:
            return Update(table, key, draw(actions(table, untils)), draw(whens))


def _ranges(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.none(),
        st.none(),
        st.builds(Eq, values),
        st.builds(Range, values, st.none(), st.booleans()),
        st.builds(Range, st.none(), values, st.just(True), st.booleans()),
        st.builds(Range, values, values),
    )


@st.composite
def questions(draw: st.DrawFn) -> dict[str, Any]:
    """The arguments of a query, without limit and cursor."""
    common = {"descending": draw(st.booleans())}
    match draw(st.integers(0, 3)):
        case 0:
            sort = draw(_ranges(st.sampled_from([*MOMENTS, Decimal("0.25")])))
            return common | {"table": LINES, "partition": draw(owners), "sort": sort}
        case 1:
            prefixes = st.builds(StartsWith, st.sampled_from([*NAMES, "a#", "\uffee"]))
            sort = draw(_ranges(st.sampled_from([*NAMES, "a#", "z"])) | prefixes)
            return common | {"table": NOTES, "partition": draw(owners), "sort": sort}
        case 2:
            sort = draw(_ranges(st.integers(-1, 3)))
            colour = draw(st.sampled_from(COLOURS))
            return common | {"table": NOTES, "index": "ByColour", "partition": colour, "sort": sort}
        case _:
            return common | {"table": NOTES, "index": "ByShape", "partition": draw(INDEX_KEYS["shape"])}
