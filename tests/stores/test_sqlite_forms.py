"""How keys and items are written into SQLite: keys in an order of bytes, items with every type kept."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.kernel.errors import Invalid
from satchel.stores.embedded.documents import decode, encode
from satchel.stores.embedded.key_order import after_prefix, ordered, restored
from satchel.stores.ports.table import KeyKind
from satchel.stores.rules import canonical, same


def storable(value: int | Decimal) -> bool:
    try:
        canonical(value)
    except Invalid:
        return False
    return True


edges = st.sampled_from([10**125, -(10**125), Decimal("1E-130"), Decimal("-1E-130"), 2**63, 2**64, -(2**63) - 1])
decimals = st.decimals(allow_nan=False, allow_infinity=False, places=3) | st.decimals(-1000, 1000)
numbers = (st.integers() | decimals | edges).filter(storable).map(canonical)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
binaries = st.binary(max_size=8)
scalars = st.none() | st.booleans() | numbers | texts | binaries
sets: st.SearchStrategy[Any] = st.one_of(
    [st.frozensets(members, min_size=1, max_size=3) for members in (texts, numbers, binaries)]
)
values: st.SearchStrategy[Any] = st.recursive(
    scalars | sets,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@given(numbers, numbers)
def test_numbers_are_ordered_by_value(one: int | Decimal, other: int | Decimal) -> None:
    assert (ordered(one) < ordered(other)) is (one < other)
    assert (ordered(one) == ordered(other)) is (one == other)


@given(texts, texts)
def test_texts_are_ordered_by_their_utf8(one: str, other: str) -> None:
    assert (ordered(one) < ordered(other)) is (one.encode() < other.encode())


@given(numbers, texts, binaries)
def test_a_key_comes_back_as_it_was(number: int | Decimal, text: str, binary: bytes) -> None:
    assert same(restored(KeyKind.NUMBER, ordered(number)), number)
    assert restored(KeyKind.TEXT, ordered(text)) == text
    assert restored(KeyKind.BYTES, ordered(binary)) == binary


@given(st.binary(min_size=1, max_size=3), st.binary(max_size=5))
def test_what_starts_with_a_prefix_lies_before_its_end(prefix: bytes, content: bytes) -> None:
    end = after_prefix(prefix)
    if end is None:
        assert set(prefix) == {255}
    else:
        assert prefix + content < end
        assert (prefix <= content < end) is content.startswith(prefix)


@pytest.mark.slow
@given(st.dictionaries(texts, values, max_size=5))
def test_an_item_comes_back_with_every_type(item: dict[str, Any]) -> None:
    assert same(decode(encode(item)), item)
