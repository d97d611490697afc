"""What may stand together in one transaction or one batch."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from satchel.kernel.errors import Invalid
from satchel.stores.ports.expressions import Condition, Value
from satchel.stores.ports.table import (
    MAX_TRANSACTION_BYTES,
    MAX_TRANSACTION_ITEMS,
    Check,
    Delete,
    Item,
    ItemTooLarge,
    Key,
    KeyValue,
    Put,
    TableSpec,
    Update,
    Write,
)
from satchel.stores.rules.conditions import check_condition
from satchel.stores.rules.keys import check_item, check_key
from satchel.stores.rules.updates import check_actions
from satchel.stores.rules.values import item_bytes, text_bytes

MAX_TOKEN_CHARACTERS = 36


def check_transaction(writes: Sequence[Write], token: str | None) -> list[Write]:
    """The writes in stored form; `Invalid` or `ItemTooLarge` if they cannot be one transaction."""
    if not 1 <= len(writes) <= MAX_TRANSACTION_ITEMS:
        raise Invalid(f"A transaction has 1 to {MAX_TRANSACTION_ITEMS} writes.")
    if token is not None:
        _check_token(token)
    checked = [_checked(write) for write in writes]
    _check_distinct((write.table, key_of(write)) for write in checked)
    if sum(item_bytes(dict(write.item)) for write in checked if isinstance(write, Put)) > MAX_TRANSACTION_BYTES:
        raise ItemTooLarge("The items of a transaction can have at most 4 MB together. Split it.")
    return checked


def key_of(write: Write) -> Mapping[str, Any]:
    return write.table.key_of(write.item) if isinstance(write, Put) else write.key


def check_batch(
    table: TableSpec, put: Sequence[Mapping[str, Value]], delete: Sequence[Key]
) -> tuple[list[Item], list[dict[str, KeyValue]]]:
    """The items and keys of `write_many` in stored form, once none is named twice."""
    items = [check_item(table, item) for item in put]
    keys = [check_key(table, key) for key in delete]
    _check_distinct((table, key) for key in (*map(table.key_of, items), *keys))
    return items, keys


def _checked(write: Write) -> Write:
    match write:
        case Put(table, item, when):
            return Put(table, check_item(table, item), _checked_condition(table, when))
        case Update(table, key, actions, when):
            return Update(table, check_key(table, key), check_actions(table, actions), _checked_condition(table, when))
        case Delete(table, key, when):
            return Delete(table, check_key(table, key), _checked_condition(table, when))
        case Check(table, key, when):
            return Check(table, check_key(table, key), check_condition(table, when))


def _checked_condition(table: TableSpec, when: Condition | None) -> Condition | None:
    return None if when is None else check_condition(table, when)


def _check_distinct(named: Iterable[tuple[TableSpec, Mapping[str, Any]]]) -> None:
    seen: set[tuple[Any, ...]] = set()
    for table, key in named:
        identity = (table.name, *(key[name] for name in table.key_names))
        if identity in seen:
            raise Invalid(f"An item of table {table.name} is named twice. Merge what is meant for it.")
        seen.add(identity)


def _check_token(token: str) -> None:
    if not 1 <= len(token) <= MAX_TOKEN_CHARACTERS:
        raise Invalid(f"A token has 1 to {MAX_TOKEN_CHARACTERS} characters.")
    text_bytes(token)
