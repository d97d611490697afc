"""Which declarations of a table DynamoDB would accept, so that a mistake shows on the embedded store too."""

import re
from collections import Counter
from itertools import chain

from satchel.kernel.errors import Invalid
from satchel.stores.ports.table import IndexSpec, KeyAttribute, TableSpec

MAX_INDEXES = 20
MAX_CARRIED_ATTRIBUTES = 100
MAX_KEY_NAME_BYTES = 255
_NAME = re.compile(r"[A-Za-z0-9_.-]{3,255}")


def check_tables(tables: tuple[TableSpec, ...], prefix: str) -> None:
    for table in tables:
        check_table(table, prefix)
    for name, times in Counter(table.name for table in tables).items():
        if times > 1:
            raise Invalid(f"Table {name} is declared twice.")


def check_table(table: TableSpec, prefix: str = "") -> None:
    """Raise `Invalid` for a declaration that cannot become a table."""
    for name in (prefix + table.name, *(index.name for index in table.indexes)):
        if not _NAME.fullmatch(name):
            raise Invalid(f"The name {name!r} needs 3 to 255 characters out of letters, digits, and _ . -")
    if len({index.name for index in table.indexes}) < len(table.indexes):
        raise Invalid(f"Table {table.name} declares two indexes of one name.")
    if len(table.indexes) > MAX_INDEXES:
        raise Invalid(f"A table can have at most {MAX_INDEXES} indexes.")
    carried = sum(len(index.carries) for index in table.indexes if isinstance(index.carries, tuple))
    if carried > MAX_CARRIED_ATTRIBUTES:
        raise Invalid(f"The indexes of a table can name at most {MAX_CARRIED_ATTRIBUTES} attributes to carry.")
    _check_key_attributes(table)


def _check_key_attributes(table: TableSpec) -> None:
    kinds: dict[str, KeyAttribute] = {}
    for owner in (table, *table.indexes):
        if owner.sort is not None and owner.sort.name == owner.partition.name:
            raise Invalid(f"{owner.name} uses {owner.sort.name} as partition and as sort key.")
    for attribute in chain.from_iterable(key_attributes(owner) for owner in (table, *table.indexes)):
        if not 0 < len(attribute.name.encode()) <= MAX_KEY_NAME_BYTES:
            raise Invalid(f"The name of a key attribute has 1 to {MAX_KEY_NAME_BYTES} bytes.")
        if kinds.setdefault(attribute.name, attribute) != attribute:
            raise Invalid(f"Table {table.name} declares the key attribute {attribute.name} with two types.")


def key_attributes(owner: TableSpec | IndexSpec) -> tuple[KeyAttribute, ...]:
    return (owner.partition,) if owner.sort is None else (owner.partition, owner.sort)
