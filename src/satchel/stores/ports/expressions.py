"""Conditions and updates as plain values, so that any table store can carry them out in its own way.

attr("version") == 3
attr("email").absent() | (attr("d", "pages", 0) > 10)
[assign("name", "Ann"), add("count", 1), append("log", ["joined"]), remove("draft")]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Never, TypeAlias

Scalar: TypeAlias = bool | int | Decimal | str | bytes | None
Value: TypeAlias = (
    Scalar
    | Sequence["Value"]
    | Mapping[str, "Value"]
    | AbstractSet[str]
    | AbstractSet[int | Decimal]
    | AbstractSet[bytes]
)
# Where in an item: attribute names, and numbers for places in a list.
Path: TypeAlias = tuple[str | int, ...]
Comparison: TypeAlias = Literal["=", "<>", "<", "<=", ">", ">="]


class Condition:
    """What must hold of the stored item for a write to happen; combine with `&`, `|` and `~`."""

    __slots__ = ()

    def __and__(self, other: Condition) -> Condition:
        return And(self, other)

    def __or__(self, other: Condition) -> Condition:
        return Or(self, other)

    def __invert__(self) -> Condition:
        return Not(self)

    def __bool__(self) -> Never:
        raise TypeError("A condition is checked by the store. Combine conditions with & and |, not and/or.")


@dataclass(frozen=True, slots=True)
class Compare(Condition):
    """An attribute against a value; values of different types are unequal and have no order."""

    path: Path
    operator: Comparison
    value: Value


@dataclass(frozen=True, slots=True)
class Between(Condition):
    """Both ends included."""

    path: Path
    low: Value
    high: Value


@dataclass(frozen=True, slots=True)
class OneOf(Condition):
    """Equal to one of up to 100 values."""

    path: Path
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class BeginsWith(Condition):
    """A text or bytes that starts so."""

    path: Path
    prefix: str | bytes


@dataclass(frozen=True, slots=True)
class Contains(Condition):
    """A part of a text or bytes, a member of a set, or an element of a list."""

    path: Path
    value: Scalar


@dataclass(frozen=True, slots=True)
class Exists(Condition):
    """The attribute is there, even if it holds null."""

    path: Path


@dataclass(frozen=True, slots=True)
class And(Condition):
    """Both hold."""

    left: Condition
    right: Condition


@dataclass(frozen=True, slots=True)
class Or(Condition):
    """At least one holds."""

    left: Condition
    right: Condition


@dataclass(frozen=True, slots=True)
class Not(Condition):
    """The other does not hold."""

    condition: Condition


class Attr:
    """A place in an item, from which conditions are made; see `attr`."""

    __hash__ = None  # type: ignore[assignment]  # == makes a condition, so hashing would lie
    __slots__ = ("path",)

    def __init__(self, path: Path) -> None:
        self.path = path

    def __eq__(self, value: Value) -> Condition:  # type: ignore[override]
        return Compare(self.path, "=", value)

    def __ne__(self, value: Value) -> Condition:  # type: ignore[override]
        return Compare(self.path, "<>", value)

    def __lt__(self, value: Value) -> Condition:
        return Compare(self.path, "<", value)

    def __le__(self, value: Value) -> Condition:
        return Compare(self.path, "<=", value)

    def __gt__(self, value: Value) -> Condition:
        return Compare(self.path, ">", value)

    def __ge__(self, value: Value) -> Condition:
        return Compare(self.path, ">=", value)

    def between(self, low: Value, high: Value) -> Condition:
        return Between(self.path, low, high)

    def one_of(self, *values: Value) -> Condition:
        return OneOf(self.path, values)

    def begins_with(self, prefix: str | bytes) -> Condition:
        return BeginsWith(self.path, prefix)

    def contains(self, value: Scalar) -> Condition:
        return Contains(self.path, value)

    def exists(self) -> Condition:
        return Exists(self.path)

    def absent(self) -> Condition:
        return Not(Exists(self.path))


def attr(name: str, *inner: str | int) -> Attr:
    return Attr((name, *inner))


@dataclass(frozen=True, slots=True)
class Assign:
    """Give the attribute this value; the map or list around a nested place must be there already."""

    path: Path
    value: Value
    only_if_absent: bool = False


@dataclass(frozen=True, slots=True)
class Add:
    """Add to a number (a missing one counts as 0), or members to a set (a missing one counts as empty)."""

    path: Path
    amount: int | Decimal | AbstractSet[str] | AbstractSet[int | Decimal] | AbstractSet[bytes]


@dataclass(frozen=True, slots=True)
class Append:
    """Put elements at the end of a list; a missing list counts as empty."""

    path: Path
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Remove:
    """Take the attribute or list element away; nothing happens if it is not there."""

    path: Path


@dataclass(frozen=True, slots=True)
class Discard:
    """Take members out of a set; a set that becomes empty goes away."""

    path: Path
    members: AbstractSet[str] | AbstractSet[int | Decimal] | AbstractSet[bytes]


Action: TypeAlias = Assign | Add | Append | Remove | Discard


def _path(place: str | Path) -> Path:
    return (place,) if isinstance(place, str) else place


def assign(place: str | Path, value: Value, *, only_if_absent: bool = False) -> Assign:
    return Assign(_path(place), value, only_if_absent)


def add(
    place: str | Path, amount: int | Decimal | AbstractSet[str] | AbstractSet[int | Decimal] | AbstractSet[bytes]
) -> Add:
    return Add(_path(place), amount)


def append(place: str | Path, values: Sequence[Value]) -> Append:
    return Append(_path(place), tuple(values))


def remove(place: str | Path) -> Remove:
    return Remove(_path(place))


def discard(place: str | Path, members: AbstractSet[str] | AbstractSet[int | Decimal] | AbstractSet[bytes]) -> Discard:
    return Discard(_path(place), members)
