"""Which queries of one partition are valid, and the cursor that says where a page ended."""

from base64 import urlsafe_b64encode
from binascii import a2b_base64
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, TypeAlias

from satchel.kernel.errors import CursorInvalid, Invalid
from satchel.stores.ports.table import (
    MAX_PAGE_ITEMS,
    MAX_PARTITION_KEY_BYTES,
    MAX_SORT_KEY_BYTES,
    Eq,
    IndexSpec,
    Item,
    KeyAttribute,
    KeyKind,
    KeyValue,
    Range,
    StartsWith,
    TableSpec,
)
from satchel.stores.rules.conditions import check_bounds
from satchel.stores.rules.keys import check_key_value
from satchel.stores.rules.numbers import number_from

SortCondition: TypeAlias = Eq | StartsWith | Range
_CHECKSUM_BYTES = 9
_FROM_URL_SAFE = str.maketrans("-_", "+/")


@dataclass(frozen=True, slots=True)
class Query:
    """A checked query, with its values in stored form."""

    table: TableSpec
    index: IndexSpec | None
    partition: KeyValue
    sort: SortCondition | None
    limit: int

    @property
    def partition_attribute(self) -> KeyAttribute:
        return (self.index or self.table).partition

    @property
    def sort_attribute(self) -> KeyAttribute | None:
        return (self.index or self.table).sort

    @property
    def position_attributes(self) -> tuple[KeyAttribute, ...]:
        """What, besides the partition, says where an item stands in the answer."""
        table = self.table
        own = [table.sort] if self.index is None else [self.index.sort, table.partition, table.sort]
        # An index may use a key attribute of the table as its own; its value is needed, and given, once.
        named = {part.name: part for part in own if part is not None and part.name != self.partition_attribute.name}
        return tuple(named.values())


def check_query(
    table: TableSpec, partition: KeyValue, sort: SortCondition | None, *, index: str | None, limit: int
) -> Query:
    found = None if index is None else _index(table, index)
    owner = found or table
    check_limit(limit)
    value = check_key_value(owner.partition, partition, MAX_PARTITION_KEY_BYTES)
    if sort is not None:
        if owner.sort is None:
            raise Invalid(f"{_spoken(table, found)} has no sort key to ask for.")
        sort = _check_sort(owner.sort, sort)
    return Query(table, found, value, sort, limit)


def check_limit(limit: int) -> None:
    if type(limit) is not int or not 1 <= limit <= MAX_PAGE_ITEMS:
        raise Invalid(f"A page has 1 to {MAX_PAGE_ITEMS} entries.")


def _index(table: TableSpec, name: str) -> IndexSpec:
    try:
        return table.index(name)
    except KeyError:
        raise Invalid(f"Table {table.name} declares no index {name}.") from None


def _check_sort(attribute: KeyAttribute, sort: SortCondition) -> SortCondition:
    match sort:
        case Eq(value):
            return Eq(check_key_value(attribute, value, MAX_SORT_KEY_BYTES))
        case StartsWith(prefix):
            if attribute.kind is KeyKind.NUMBER:
                raise Invalid(f"{attribute.name} is a number, which has no beginning to ask for.")
            return StartsWith(_text_or_bytes(check_key_value(attribute, prefix, MAX_SORT_KEY_BYTES)))
        case Range(low, high, low_inclusive, high_inclusive):
            return _check_range(attribute, low, high, low_inclusive, high_inclusive)


def _check_range(
    attribute: KeyAttribute, low: KeyValue | None, high: KeyValue | None, low_in: bool, high_in: bool
) -> Range:
    if low is not None:
        low = check_key_value(attribute, low, MAX_SORT_KEY_BYTES)
    if high is not None:
        high = check_key_value(attribute, high, MAX_SORT_KEY_BYTES)
    if low is None and high is None:
        raise Invalid("A range needs at least one end. To ask for everything, leave the range out.")
    if low is not None and high is not None:
        if not (low_in and high_in):
            raise Invalid("A range with two ends has to include both; DynamoDB cannot ask otherwise.")
        check_bounds(low, high)
    return Range(low, high, low_in, high_in)


def _text_or_bytes(value: KeyValue) -> str | bytes:
    assert isinstance(value, str | bytes)
    return value


def encode_cursor(query: Query, item: Mapping[str, Any]) -> str:
    """The position right after an item of the page, as text from which any store of these tables can continue."""
    values = [_to_bytes(item[part.name]) for part in query.position_attributes]
    return ".".join(map(_to_base64, (_checksum(query, values), *values)))


def decode_cursor(query: Query, cursor: str) -> dict[str, KeyValue]:
    """The key attributes of the item that the cursor stands behind, partition included."""
    attributes = query.position_attributes
    try:
        checksum, *values = [_from_base64(part) for part in cursor.split(".")]
        if len(values) != len(attributes) or checksum != _checksum(query, values):
            raise _broken_cursor()
        position: dict[str, KeyValue] = {query.partition_attribute.name: query.partition}
        for attribute, value in zip(attributes, values, strict=True):
            limit = MAX_PARTITION_KEY_BYTES if attribute is query.table.partition else MAX_SORT_KEY_BYTES
            position[attribute.name] = check_key_value(attribute, _from_bytes(attribute, value), limit)
    except ValueError as error:
        raise _broken_cursor() from error
    sort = query.sort_attribute
    if sort is not None and query.sort is not None and not lies_within(position[sort.name], query.sort):
        raise CursorInvalid("The cursor lies outside of what is asked for. Start again without it.")
    return position


def lies_within(value: Any, sort: SortCondition) -> bool:
    match sort:
        case Eq(wanted):
            return value == wanted
        case StartsWith(prefix):
            return value.startswith(prefix)
        case Range(low, high, low_inclusive, high_inclusive):
            above = low is None or (value >= low if low_inclusive else value > low)
            return above and (high is None or (value <= high if high_inclusive else value < high))


def project(query: Query, item: Item) -> Item:
    """What of an item can be read through the index asked, as far as its declaration says."""
    index = query.index
    if index is None or index.carries == "everything":
        return item
    kept = {part.name for part in (index.partition, index.sort) if part is not None}
    kept.update(query.table.key_names)
    if index.carries != "keys":
        kept.update(index.carries)
    return {name: value for name, value in item.items() if name in kept}


def _spoken(table: TableSpec, index: IndexSpec | None) -> str:
    return f"Table {table.name}" if index is None else f"Index {index.name} of table {table.name}"


def _broken_cursor() -> CursorInvalid:
    return CursorInvalid("The cursor is broken, or belongs to another question. Start again without it.")


def _checksum(query: Query, values: list[bytes]) -> bytes:
    """Ties a cursor to its table, index and partition. It finds mistakes; it keeps nothing secret."""
    digest = blake2b(digest_size=_CHECKSUM_BYTES)
    index = query.index.name if query.index else ""
    for part in (query.table.name.encode(), index.encode(), _to_bytes(query.partition), *values):
        digest.update(len(part).to_bytes(4, "big") + part)
    return digest.digest()


def _to_bytes(value: KeyValue) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def _from_bytes(attribute: KeyAttribute, value: bytes) -> KeyValue:
    match attribute.kind:
        case KeyKind.TEXT:
            return value.decode()
        case KeyKind.NUMBER:
            return number_from(value.decode("ascii"))
        case KeyKind.BYTES:
            return value


def _to_base64(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


def _from_base64(text: str) -> bytes:
    content = a2b_base64(text.translate(_FROM_URL_SAFE) + "=" * (-len(text) % 4))
    # Decoding overlooks foreign characters and unused bits, so that many texts would stand for one position.
    if _to_base64(content) != text:
        raise ValueError("not what encoding gives")
    return content
