"""Declared records: keys that no value can bend, and a round trip that loses nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.stores.ports.table import TableSpec, text
from satchel.stores.schema import KeyTemplate, Record, Shape, attribute, check_shapes
from tools.documents import all_shapes

TABLE = TableSpec("t", text("PK"), text("SK"))
HASH = KeyTemplate("SCOPE#{type}#{owner}#{resource}", "#")
COLON = KeyTemplate("sc:{type}:a:{owner}", ":")

# Separators, the escape character and its codes turn up far more often than by chance.
awkward = st.text(st.one_of(st.sampled_from("#:%"), st.characters(exclude_categories=["Cs"])), max_size=20) | st.lists(
    st.sampled_from(["#", ":", "%", "%23", "%3A", "%25", "SCOPE", "a", ""]), max_size=6
).map("".join)


class Grant(Record, frozen=True, kw_only=True):
    """An example."""

    to: str = attribute("To")
    what: str = attribute("What")
    note: str = attribute("Note", default="")
    pages: int = 0


GRANT = Shape(Grant, TABLE, {"PK": "USER#{to}", "SK": "SCOPE#{what}"}, owner="tests", about="An example")


def parse(template: KeyTemplate, separator: str, key: str) -> dict[str, str] | None:
    """Take a key apart by nothing but its separators; None if it does not have the template's shape."""
    fixed, given_ = template.pattern.split(separator), key.split(separator)
    if len(fixed) != len(given_):
        return None
    values: dict[str, str] = {}
    for pattern, segment in zip(fixed, given_, strict=True):
        if pattern.startswith("{"):
            code = format(ord(separator), "02X")
            values[pattern[1:-1]] = segment.replace(f"%{code}", separator).replace("%25", "%")
        elif pattern != segment:
            return None
    return values


@given(awkward, awkward, awkward)
def test_no_value_can_change_the_shape_of_a_key(one: str, two: str, three: str) -> None:
    values = {"type": one, "owner": two, "resource": three}
    assert parse(HASH, "#", HASH.render(values)) == values
    assert parse(COLON, ":", COLON.render(values)) == {"type": one, "owner": two}


@given(st.tuples(awkward, awkward, awkward), st.tuples(awkward, awkward, awkward))
def test_different_values_make_different_keys(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    names = ("type", "owner", "resource")
    keys = {HASH.render(dict(zip(names, values, strict=True))) for values in (one, other)}
    assert len(keys) == len({one, other})


@given(awkward, awkward, awkward, awkward)
def test_a_prefix_finds_exactly_the_keys_with_the_values_it_names(one: str, two: str, three: str, asked: str) -> None:
    key = HASH.render({"type": one, "owner": two, "resource": three})
    assert key.startswith(HASH.render_prefix({"type": asked})) == (one == asked)


def test_ordinary_values_stand_in_keys_as_they_are() -> None:
    values = {"type": "album:visitor", "owner": "ann@example.org", "resource": "2025-10-02T10:30:00.000Z"}
    assert HASH.render(values) == "SCOPE#album:visitor#ann@example.org#2025-10-02T10:30:00.000Z"


@given(awkward, awkward, awkward, st.integers(0, 9))
def test_a_record_reads_back_as_it_was_written(to: str, what: str, note: str, pages: int) -> None:
    record = Grant(to=to, what=what, note=note, pages=pages)
    assert GRANT.read(GRANT.item(record)) == record


def test_a_field_at_its_default_is_not_stored() -> None:
    item = GRANT.item(Grant(to="ann", what="x"))
    assert item == {"PK": "USER#ann", "SK": "SCOPE#x", "To": "ann", "What": "x"}


def test_a_field_that_fills_only_part_of_a_segment_is_refused() -> None:
    with pytest.raises(ValueError, match="whole segment"):
        KeyTemplate("USER-{name}", "#")


def test_a_key_that_names_an_unknown_field_is_refused() -> None:
    with pytest.raises(ValueError, match="nobody"):
        Shape(Grant, TABLE, {"PK": "USER#{nobody}", "SK": "x"}, owner="tests", about="")


def test_two_records_that_could_share_a_key_are_refused() -> None:
    rival = Shape(Grant, TABLE, {"PK": "{to}#x", "SK": "{what}#all"}, owner="tests", about="")
    with pytest.raises(ValueError, match="could share a key"):
        check_shapes([GRANT, rival])


def test_the_declared_records_of_all_slices_never_share_a_key() -> None:
    shapes = all_shapes()
    assert {shape.record.__name__ for shape in shapes} >= {"UserRow", "IdentityRow", "ScopeRow", "RefreshRow"}


class Leaf(Record, frozen=True, kw_only=True):
    """A record whose keys alone say whose it is."""

    owner: str
    name: str
    size: int = attribute("z")


LEAF = Shape(
    Leaf,
    TABLE,
    {"PK": "leaf#{owner}", "SK": "{name}"},
    owner="tests",
    about="An example",
    repeats_key_fields=False,
)


@given(awkward, awkward)
def test_fields_of_keys_need_not_be_attributes(owner: str, name: str) -> None:
    leaf = Leaf(owner=owner, name=name, size=3)
    item = LEAF.item(leaf)
    assert item.keys() == {"PK", "SK", "z"}
    assert LEAF.read(item) == leaf


def test_a_fixed_key_may_be_known_to_be_apart_from_a_free_one() -> None:
    keys = {"PK": "leaf#{owner}", "SK": "{name}"}
    total = {"PK": "leaf#{owner}", "SK": "total"}
    free = Shape(Leaf, TABLE, keys, owner="tests", about="An example")
    with pytest.raises(ValueError, match="could share a key"):
        check_shapes([free, Shape(Leaf, TABLE, total, owner="tests", about="An example")])
    check_shapes([free, Shape(Leaf, TABLE, total, owner="tests", about="An example", apart_from=[free])])
