"""Record types declared as code: from one declaration come keys, typed reading and writing, and the data model's page.

    class Identity(Record):
        email: str = attribute("Email")
        name: str = attribute("Name")

    IDENTITY = Shape(Identity, CATALOG, {"PK": "USER#{email}", "SK": "IDENTITY#"}, owner="accounts", about="…")

    await IDENTITY.get(tables, email="ann@example.org")
    await tables.transact([IDENTITY.put(identity, when=attr("PK").absent())])

A value that contains the separator is percent-encoded inside a key, so that no value can change a key's shape: the
number of segments and the fixed ones among them are those of the template, whatever people call themselves.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, Literal, TypeVar

import msgspec

from satchel.stores.ports.expressions import Action, Condition
from satchel.stores.ports.table import Delete, Eq, Item, Put, Range, StartsWith, Tables, TableSpec, Update

EphemeralKind = Literal["value", "hash", "set", "list"]

_FIELD = re.compile(r"\{(\w+)\}")


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is stored. A field that equals its default is left out of the item."""


def attribute(name: str, **options: Any) -> Any:
    """A field of a record that is stored under another name."""
    return msgspec.field(name=name, **options)


R = TypeVar("R", bound=Record)


class KeyTemplate:
    """A pattern such as `USER#{email}`: how one attribute of a key is made from the fields of a record."""

    def __init__(self, pattern: str, separator: str) -> None:
        self.pattern = pattern
        self.fields = tuple(_FIELD.findall(pattern))
        self._separator = separator
        self._escaped = "%" + format(ord(separator), "02X")
        self.segments = pattern.split(separator)
        for segment in self.segments:
            if _FIELD.search(segment) and not _FIELD.fullmatch(segment):
                raise ValueError(f"{pattern!r}: a field has to fill its whole segment, so that keys parse back")

    def render(self, values: Mapping[str, Any]) -> str:
        return self.pattern.format_map({field: self.escape(values[field]) for field in self.fields})

    def render_prefix(self, values: Mapping[str, Any]) -> str:
        """The key up to the first field that is not given: what all keys with these values begin with."""
        missing = [field for field in self.fields if field not in values]
        known = self.pattern.split("{" + missing[0] + "}")[0] if missing else self.pattern
        return _FIELD.sub(lambda field: self.escape(values[field[1]]), known)

    def escape(self, value: Any) -> str:
        if not isinstance(value, str):
            raise TypeError(f"{self.pattern}: key fields are text, not {type(value).__name__}")
        return value.replace("%", "%25").replace(self._separator, self._escaped)

    def parse(self, key: str) -> dict[str, str]:
        """The fields of a key that this template has made."""
        pairs = zip(self.segments, key.split(self._separator), strict=True)
        return {
            segment[1:-1]: part.replace(self._escaped, self._separator).replace("%25", "%")
            for segment, part in pairs
            if segment.startswith("{")
        }

    def matches(self, key: str) -> bool:
        """Whether the key could have been made by this template."""
        parts = key.split(self._separator)
        if len(parts) != len(self.segments):
            return False
        return all("{" in segment or segment == part for segment, part in zip(self.segments, parts, strict=True))

    def overlaps(self, other: "KeyTemplate") -> bool:
        """Whether some key could have been made by both templates."""
        if len(self.segments) != len(other.segments):
            return False
        pairs = zip(self.segments, other.segments, strict=True)
        return all(mine == theirs or "{" in mine or "{" in theirs for mine, theirs in pairs)


class EphemeralKey:
    """A key of the ephemeral store such as `room:{room_id}:chat`, declared once. Call it with its fields to make a key.

    What is `durable` outlives a restart of a server that keeps its short-lived state in memory. What is `essential` can
    be written there also when nearly all of that memory is taken: limits, signing out and deleting need it. A key may
    look like those that it is `apart_from`, of which its owner knows that their fields have no value in common.
    `needs` is the object that a value cannot do without, by the fields of its key and the value.
    """

    def __init__(
        self,
        pattern: str,
        kind: EphemeralKind,
        *,
        owner: str,
        about: str,
        durable: bool = False,
        essential: bool = False,
        apart_from: "Sequence[EphemeralKey]" = (),
        needs: Callable[[Mapping[str, str], bytes], str] | None = None,
    ) -> None:
        self.pattern = pattern
        self.needs = needs
        self.kind = kind
        self.owner = owner
        self.about = about
        self.durable = durable
        self.essential = essential
        self.template = KeyTemplate(pattern, ":")
        self.apart_from = apart_from

    def __call__(self, **fields: str) -> str:
        return self.template.render(fields)

    @property
    def prefix(self) -> str:
        """What all such keys begin with."""
        return self.template.render_prefix({})

    def matches(self, key: str) -> bool:
        """Whether this is such a key."""
        return self.template.matches(key)

    def overlaps(self, other: "EphemeralKey") -> bool:
        known_apart = other in self.apart_from or self in other.apart_from
        return not known_apart and self.template.overlaps(other.template)


class Shape(Generic[R]):
    """A record type together with the place where it is stored.

    Fields of keys are attributes as well, unless `repeats_key_fields` is False: then they are read from the keys. A
    shape may have the keys of those that it is `apart_from`, of which its owner knows that no two keys are the same.
    `needs` are the objects that a record cannot do without, each with the name that people know it by.
    """

    def __init__(
        self,
        record: type[R],
        table: TableSpec,
        keys: Mapping[str, str],
        *,
        owner: str,
        about: str,
        separator: str = "#",
        repeats_key_fields: bool = True,
        apart_from: "Sequence[Shape[Any]]" = (),
        needs: Callable[[R], Mapping[str, str]] | None = None,
    ) -> None:
        self.record = record
        self.needs = needs
        self.table = table
        self.owner = owner
        self.about = about
        self.separator = separator
        self.keys = {name: KeyTemplate(pattern, separator) for name, pattern in keys.items()}
        self.attributes = {field.name: field.encode_name for field in msgspec.structs.fields(record)}
        self.apart_from = apart_from
        in_keys = {field for key in self.keys.values() for field in key.fields}
        unknown = in_keys - set(self.attributes)
        if unknown or not set(table.key_names) <= set(keys):
            raise ValueError(f"{record.__name__}: keys need {table.key_names} and know no {unknown or 'more'}")
        self._only_in_keys = () if repeats_key_fields else tuple(self.attributes[field] for field in sorted(in_keys))

    def key(self, **fields: str) -> dict[str, str]:
        return {name: self.keys[name].render(fields) for name in self.table.key_names}

    def matches(self, item: Item) -> bool:
        """Whether the item could be such a record, by its key."""
        return all(self.keys[name].matches(str(item[name])) for name in self.table.key_names)

    def item(self, record: R) -> Item:
        values = {name: getattr(record, name) for name in self.attributes}
        plain = msgspec.to_builtins(record, builtin_types=(bytes, bytearray, Decimal))
        for name in self._only_in_keys:
            plain.pop(name, None)
        return plain | {name: template.render(values) for name, template in self.keys.items()}

    def read(self, item: Item) -> R:
        if self._only_in_keys:
            fields = {field: value for name, key in self.keys.items() for field, value in key.parse(item[name]).items()}
            item = item | {self.attributes[field]: value for field, value in fields.items()}
        return msgspec.convert(item, self.record)

    async def get(self, tables: Tables, *, may_lag: bool = False, **fields: str) -> R | None:
        item = await tables.get(self.table, self.key(**fields), may_lag=may_lag)
        return None if item is None else self.read(item)

    def put(self, record: R, *, when: Condition | None = None) -> Put:
        return Put(self.table, self.item(record), when)

    def update(self, actions: Sequence[Action], *, when: Condition | None = None, **fields: str) -> Update:
        return Update(self.table, self.key(**fields), actions, when)

    def delete(self, *, when: Condition | None = None, **fields: str) -> Delete:
        return Delete(self.table, self.key(**fields), when)

    async def list(
        self,
        tables: Tables,
        *,
        descending: bool = False,
        limit: int = 100,
        cursor: str | None = None,
        may_lag: bool = False,
        **fields: str,
    ) -> "RecordPage[R]":
        """Records of one partition. `fields` name the partition and as much of the sort key's beginning as is known."""
        partition, sort = (self.keys[name] for name in self.table.key_names)
        page = await tables.query(
            self.table,
            partition.render(fields),
            StartsWith(sort.render_prefix(fields)),
            descending=descending,
            limit=limit,
            cursor=cursor,
            may_lag=may_lag,
        )
        return RecordPage([self.read(item) for item in page.items], page.cursor)

    async def list_by(
        self,
        tables: Tables,
        index: str,
        partition: str,
        sort: Eq | StartsWith | Range | None = None,
        *,
        descending: bool = False,
        limit: int = 100,
        cursor: str | None = None,
    ) -> "RecordPage[R]":
        """Records through an index that carries everything."""
        page = await tables.query(
            self.table, partition, sort, index=index, descending=descending, limit=limit, cursor=cursor
        )
        return RecordPage([self.read(item) for item in page.items], page.cursor)


@dataclass(frozen=True, slots=True)
class RecordPage(Generic[R]):
    """A page of records in order, and the cursor of the next page, if there is one."""

    records: list[R]
    cursor: str | None


def check_shapes(shapes: Sequence[Shape[Any]]) -> None:
    """Refuse two record types of one table whose keys could ever be the same, or that disagree on the separator."""
    for position, one in enumerate(shapes):
        for other in shapes[:position]:
            if one.table is not other.table:
                continue
            if one.separator != other.separator:
                raise ValueError(f"{one.table.name}: one separator for all records of a table")
            known_apart = other in one.apart_from or one in other.apart_from
            if not known_apart and all(one.keys[name].overlaps(other.keys[name]) for name in one.table.key_names):
                raise ValueError(f"{one.record.__name__} and {other.record.__name__} could share a key")


def durable_prefixes(keys: Iterable[EphemeralKey]) -> tuple[str, ...]:
    """What the durable ones of these keys begin with, which is how the store in memory knows them."""
    return tuple(dict.fromkeys(key.prefix for key in keys if key.durable))


def is_one_of(keys: Iterable[EphemeralKey]) -> Callable[[str], bool]:
    """Whether a key is one of these."""
    known = tuple(keys)
    return lambda key: any(each.matches(key) for each in known)


def check_ephemeral_keys(keys: Sequence[EphemeralKey]) -> None:
    """Refuse two keys of the ephemeral store that could ever be the same, and one that is durable by accident."""
    for prefix in durable_prefixes(keys):
        for key in keys:
            if not key.durable and key.prefix.startswith(prefix):
                raise ValueError(f"{key.pattern} begins with {prefix}, so it would be durable, too")
    for position, one in enumerate(keys):
        for other in keys[:position]:
            if one.overlaps(other):
                raise ValueError(f"{one.pattern} and {other.pattern} could be the same key")
