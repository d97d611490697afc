"""What may stand together in a transaction or batch, be asked of a partition, or be declared as a table."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.kernel.errors import Invalid
from satchel.stores.ports.expressions import assign, attr
from satchel.stores.ports.table import (
    Check,
    Delete,
    Eq,
    IndexSpec,
    Item,
    ItemTooLarge,
    KeyAttribute,
    KeyKind,
    Put,
    Range,
    StartsWith,
    TableSpec,
    Update,
    Write,
    binary,
    number,
    text,
)
from satchel.stores.rules import (
    Query,
    check_batch,
    check_query,
    check_table,
    check_tables,
    check_transaction,
    decode_cursor,
    encode_cursor,
    project,
)

INDEX = IndexSpec("ByEmail", text("email"), number("age"), carries=("name",))
TABLE = TableSpec("People", text("PK"), text("SK"), indexes=(INDEX,))
LOGS = TableSpec("Logs", text("owner"), number("at"))
SINGLES = TableSpec("Singles", binary("id"))
KEY = {"PK": "p", "SK": "s"}
PERSON: Item = {**KEY, "email": "a@b", "age": Decimal("1.5"), "name": "Ann", "note": "…"}


# Transactions and batches


def test_a_checked_transaction_has_every_value_in_its_stored_form() -> None:
    put = Put(TABLE, {**KEY, "n": Decimal("1.0"), "s": {"a"}}, attr("n") == Decimal("2.0"))
    checked = check_transaction([put], None)[0]
    assert isinstance(checked, Put)
    assert repr(checked.item["n"]) == "1"
    assert isinstance(checked.item["s"], frozenset)
    assert checked.when == (attr("n") == 2)


@pytest.mark.parametrize(
    "writes",
    [
        [],
        [Put(LOGS, {"owner": "o", "at": at}) for at in range(101)],
        [Put(TABLE, KEY), Delete(TABLE, KEY)],
        [Put(LOGS, {"owner": "o", "at": 1}), Check(LOGS, {"owner": "o", "at": Decimal("1.0")}, attr("x").exists())],
        [Put(TABLE, {"PK": "p"})],
        [Update(TABLE, KEY, [])],
        [Update(TABLE, {"PK": "p"}, [assign("a", 1)])],
        [Delete(TABLE, {**KEY, "more": 1})],
        [Check(TABLE, KEY, attr("n") < True)],
    ],
    ids=lambda writes: repr(writes)[:60],
)
def test_writes_that_cannot_be_one_transaction_are_refused(writes: list[Write]) -> None:
    with pytest.raises(Invalid):
        check_transaction(writes, None)


def test_a_hundred_writes_to_different_items_are_one_transaction() -> None:
    assert len(check_transaction([Put(LOGS, {"owner": "o", "at": at}) for at in range(100)], "t" * 36)) == 100


@pytest.mark.parametrize("token", ["", "t" * 37, "\ud800"])
def test_a_token_has_1_to_36_characters(token: str) -> None:
    with pytest.raises(Invalid):
        check_transaction([Put(TABLE, KEY)], token)


def test_the_items_of_a_transaction_have_at_most_4_mb_together() -> None:
    writes = [Put(LOGS, {"owner": "o", "at": at, "big": "x" * 400_000}) for at in range(11)]
    assert check_transaction(writes[:10], None)
    with pytest.raises(ItemTooLarge):
        check_transaction(writes, None)


def test_a_batch_names_no_item_twice() -> None:
    items, keys = check_batch(LOGS, [{"owner": "o", "at": 1}], [{"owner": "o", "at": Decimal("2.0")}])
    assert (items, keys) == ([{"owner": "o", "at": 1}], [{"owner": "o", "at": 2}])
    with pytest.raises(Invalid):
        check_batch(LOGS, [{"owner": "o", "at": 1}], [{"owner": "o", "at": Decimal("1.0")}])


# Queries


def asked(table: TableSpec = TABLE, partition: Any = "p", sort: Any = None, index: str | None = None) -> Query:
    return check_query(table, partition, sort, index=index, limit=10)


@pytest.mark.parametrize(
    "question",
    [
        lambda: asked(partition=""),
        lambda: asked(partition=1),
        lambda: asked(partition="p" * 2049),
        lambda: asked(index="Nope"),
        lambda: asked(SINGLES, b"x", Eq(b"y")),
        lambda: asked(sort=Eq("")),
        lambda: asked(sort=Eq(1)),
        lambda: asked(sort=Eq("s" * 1025)),
        lambda: asked(sort=StartsWith("")),
        lambda: asked(sort=StartsWith(b"s")),
        lambda: asked(LOGS, "o", StartsWith("1")),
        lambda: asked(sort=Range()),
        lambda: asked(sort=Range("b", "a")),
        lambda: asked(sort=Range("a", "b", low_inclusive=False)),
        lambda: asked(sort=Range("a", "b", high_inclusive=False)),
        lambda: asked(sort=Range(1)),
        lambda: check_query(TABLE, "p", None, index=None, limit=0),
        lambda: check_query(TABLE, "p", None, index=None, limit=1001),
        lambda: check_query(TABLE, "p", None, index=None, limit=True),
    ],
)
def test_a_question_that_dynamodb_cannot_answer_is_refused(question: Any) -> None:
    with pytest.raises(Invalid):
        question()


def test_through_an_index_only_what_it_carries_can_be_read() -> None:
    assert project(asked(partition="a@b", index="ByEmail"), PERSON) == {
        name: PERSON[name] for name in ("PK", "SK", "email", "age", "name")
    }
    assert project(asked(), PERSON) == PERSON
    keys_only = replace(TABLE, indexes=(replace(INDEX, carries="keys"),))
    assert "name" not in project(asked(keys_only, "a@b", index="ByEmail"), PERSON)


# Cursors


def test_a_cursor_leads_back_to_the_whole_position() -> None:
    by_email = asked(partition="a@b", index="ByEmail")
    position = decode_cursor(by_email, encode_cursor(by_email, PERSON))
    assert position == {name: PERSON[name] for name in ("email", "age", "PK", "SK")}
    assert decode_cursor(asked(), encode_cursor(asked(), PERSON)) == KEY


def test_an_index_that_shares_a_key_attribute_with_its_table_names_it_once() -> None:
    shared = TableSpec("Shared", text("PK"), text("SK"), (IndexSpec("Reverse", text("SK"), text("PK")),))
    question = asked(shared, "s", index="Reverse")
    assert decode_cursor(question, encode_cursor(question, KEY)) == KEY


def test_a_cursor_belongs_to_one_table_index_and_partition() -> None:
    cursor = encode_cursor(asked(), PERSON)
    others = (asked(partition="q"), asked(replace(TABLE, name="Others")), asked(partition="p", index="ByEmail"))
    for question in others:
        with pytest.raises(Invalid):
            decode_cursor(question, cursor)


@pytest.mark.parametrize(
    "sort",
    [Eq("r"), StartsWith("t"), Range(low="t"), Range(low="s", low_inclusive=False), Range(high="r"), Range("a", "b")],
)
def test_a_cursor_outside_of_what_is_asked_for_is_refused(sort: Any) -> None:
    cursor = encode_cursor(asked(), PERSON)
    with pytest.raises(Invalid):
        decode_cursor(asked(sort=sort), cursor)
    assert decode_cursor(asked(sort=Range(low="s")), cursor) == KEY


@given(st.text(max_size=40) | st.from_regex(r"[A-Za-z0-9_-]{12}(\.[A-Za-z0-9_-]{0,9}){0,3}", fullmatch=True))
def test_a_made_up_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(Invalid):
        decode_cursor(asked(), cursor)


@given(data=st.data())
def test_a_cursor_with_any_character_changed_is_refused(data: st.DataObject) -> None:
    cursor = encode_cursor(asked(), PERSON)
    place = data.draw(st.integers(0, len(cursor) - 1))
    other = data.draw(st.characters().filter(lambda character: character != cursor[place]))
    with pytest.raises(Invalid):
        decode_cursor(asked(), cursor[:place] + other + cursor[place + 1 :])


# Declarations


@pytest.mark.parametrize(
    "table",
    [
        replace(TABLE, name="ab"),
        replace(TABLE, name="with space"),
        replace(TABLE, name='quote"'),
        replace(TABLE, indexes=(INDEX, INDEX)),
        replace(TABLE, indexes=(replace(INDEX, name="a:b"),)),
        replace(TABLE, indexes=(IndexSpec("Mixed", KeyAttribute("SK", KeyKind.NUMBER)),)),
        replace(TABLE, sort=text("PK")),
        replace(TABLE, partition=text("")),
        replace(TABLE, indexes=tuple(replace(INDEX, name=f"Index{place}") for place in range(21))),
        replace(TABLE, indexes=(replace(INDEX, carries=tuple(f"a{place}" for place in range(101))),)),
    ],
    ids=lambda table: repr(table)[:50],
)
def test_a_declaration_that_dynamodb_would_not_take_is_refused(table: TableSpec) -> None:
    with pytest.raises(Invalid):
        check_table(table)


def test_a_prefix_counts_towards_the_name_and_a_table_is_declared_once() -> None:
    check_tables((replace(TABLE, name="ab"), LOGS), "test-")
    with pytest.raises(Invalid):
        check_tables((TABLE,), "no spaces ")
    with pytest.raises(Invalid):
        check_tables((TABLE, TABLE), "")
