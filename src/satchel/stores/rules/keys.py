"""Checks whole items and keys before a store sees them: what identifies an item must be there, typed and bounded."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from satchel.kernel.errors import Invalid
from satchel.stores.ports.expressions import Value
from satchel.stores.ports.table import (
    MAX_ITEM_BYTES,
    MAX_PARTITION_KEY_BYTES,
    MAX_SORT_KEY_BYTES,
    IndexSpec,
    Item,
    ItemTooLarge,
    Key,
    KeyAttribute,
    KeyKind,
    KeyValue,
    TableSpec,
)
from satchel.stores.rules.numbers import LARGEST_NUMBER_BYTES
from satchel.stores.rules.values import check_name, item_bytes, normalise, text_bytes, value_bytes

_LARGEST_CHARACTER_BYTES = 4
_KIND_WORDS = {KeyKind.TEXT: "a text", KeyKind.NUMBER: "a number", KeyKind.BYTES: "bytes"}


def check_item(table: TableSpec, item: Mapping[str, Value]) -> Item:
    """The item as it is to be stored, with every rule of the port checked."""
    checked: Item = {}
    for name, value in item.items():
        # What nearly every attribute is, without a call.
        if type(name) is not str or not name or len(name) > 255 or not name.isascii():
            name = check_name(name)
        checked[name] = value if type(value) is str and value.isascii() else normalise(value)
    check_item_keys(table, checked)
    check_item_size(checked)
    return checked


def check_item_size(item: Item) -> None:
    # Counting characters and digits is slow, and matters only for an item close to the limit.
    at_most = 0
    for name, value in item.items():
        at_most += len(name) * _LARGEST_CHARACTER_BYTES
        if type(value) is str:
            at_most += len(value) * _LARGEST_CHARACTER_BYTES
        elif type(value) is int:
            at_most += LARGEST_NUMBER_BYTES
        else:
            at_most += value_bytes(value)
    if at_most > MAX_ITEM_BYTES and item_bytes(item) > MAX_ITEM_BYTES:
        raise ItemTooLarge("An item can have at most 400 KB. Store large content as an object instead.")


def check_item_keys(table: TableSpec, item: Item) -> None:
    """Whether a normalised item has the keys of its table, and where it has those of an index, proper ones."""
    _check_part(table.partition, item, MAX_PARTITION_KEY_BYTES)
    if table.sort is not None:
        _check_part(table.sort, item, MAX_SORT_KEY_BYTES)
    for index in table.indexes:
        if index.partition.name in item:
            _check_part(index.partition, item, MAX_PARTITION_KEY_BYTES)
        if index.sort is not None and index.sort.name in item:
            _check_part(index.sort, item, MAX_SORT_KEY_BYTES)


def check_key(table: TableSpec, key: Key) -> dict[str, KeyValue]:
    """The key as it is stored: exactly the key attributes of the table."""
    sort = table.sort
    if len(key) != (1 if sort is None else 2):
        raise Invalid(f"A key of table {table.name} has exactly {' and '.join(table.key_names)}.")
    partition = table.partition
    checked = {partition.name: check_key_value(partition, key.get(partition.name), MAX_PARTITION_KEY_BYTES)}
    if sort is not None:
        checked[sort.name] = check_key_value(sort, key.get(sort.name), MAX_SORT_KEY_BYTES)
    return checked


def check_key_value(attribute: KeyAttribute, value: Any, limit: int) -> KeyValue:
    """One part of a key in its stored form; `limit` is how many bytes it may have."""
    if type(value) is not str or attribute.kind is not KeyKind.TEXT:
        value = normalise(value)
    _check_normal(attribute, value, limit)
    return value


def key_limit(owner: TableSpec | IndexSpec, attribute: KeyAttribute) -> int:
    return MAX_PARTITION_KEY_BYTES if attribute is owner.partition else MAX_SORT_KEY_BYTES


def _check_part(attribute: KeyAttribute, item: Item, limit: int) -> None:
    _check_normal(attribute, item.get(attribute.name), limit)


def _check_normal(attribute: KeyAttribute, value: Any, limit: int) -> None:
    kind = attribute.kind
    if kind is KeyKind.TEXT and type(value) is str:
        size = text_bytes(value)
    elif kind is KeyKind.BYTES and type(value) is bytes:
        size = len(value)
    elif kind is KeyKind.NUMBER and type(value) in (int, Decimal):
        return
    else:
        raise Invalid(f"The key attribute {attribute.name} has to be there and to be {_KIND_WORDS[kind]}.")
    if not size:
        raise Invalid(f"The key attribute {attribute.name} cannot be empty.")
    if size > limit:
        raise Invalid(f"The key attribute {attribute.name} can have at most {limit} bytes.")
