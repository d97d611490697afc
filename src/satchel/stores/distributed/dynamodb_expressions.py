"""Conditions, updates and key ranges as DynamoDB's expression strings, with placeholders for every name and value.

One `Expression` collects the placeholders of one request. Nothing a caller wrote ever becomes part of a string.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, assert_never

from satchel.stores.distributed.dynamodb_wire import Attribute, to_wire
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
    Value,
)
from satchel.stores.ports.table import Eq, Range, StartsWith
from satchel.stores.rules import Query


class Expression:
    """The placeholders of one request, handed out while its strings are written."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._values: dict[str, Attribute] = {}

    def placeholders(self) -> dict[str, Any]:
        """The request's fields for names and values; DynamoDB refuses empty ones, so those are left out."""
        names = {placeholder: name for name, placeholder in self._names.items()}
        fields = {"ExpressionAttributeNames": names, "ExpressionAttributeValues": self._values}
        return {field: content for field, content in fields.items() if content}

    def path(self, path: Path) -> str:
        first, *inner = path
        text = self._name(str(first))
        for step in inner:
            text += f"[{step}]" if isinstance(step, int) else f".{self._name(step)}"
        return text

    def value(self, value: Value) -> str:
        placeholder = f":{len(self._values)}"
        self._values[placeholder] = to_wire(value)
        return placeholder

    def _name(self, name: str) -> str:
        return self._names.setdefault(name, f"#{len(self._names)}")

    def condition(self, condition: Condition) -> str:
        match condition:
            case Compare(path, operator, value):
                return f"{self.path(path)} {operator} {self.value(value)}"
            case Between(path, low, high):
                return f"{self.path(path)} BETWEEN {self.value(low)} AND {self.value(high)}"
            case OneOf(path, values):
                return f"{self.path(path)} IN ({', '.join(map(self.value, values))})"
            case BeginsWith(path, prefix):
                return f"begins_with({self.path(path)}, {self.value(prefix)})"
            case Contains(path, value):
                return f"contains({self.path(path)}, {self.value(value)})"
            case Exists(path):
                return f"attribute_exists({self.path(path)})"
            case And(left, right):
                return f"({self.condition(left)}) AND ({self.condition(right)})"
            case Or(left, right):
                return f"({self.condition(left)}) OR ({self.condition(right)})"
            case Not(inner):
                return f"NOT ({self.condition(inner)})"
            case _:
                raise TypeError(f"unknown condition {type(condition).__name__}")

    def update(self, actions: Sequence[Action]) -> str:
        clauses: dict[str, list[str]] = {}
        for action in actions:
            keyword, clause = self._clause(action)
            clauses.setdefault(keyword, []).append(clause)
        return " ".join(f"{keyword} {', '.join(parts)}" for keyword, parts in clauses.items())

    def _clause(self, action: Action) -> tuple[str, str]:
        place = self.path(action.path)
        match action:
            case Assign(value=value, only_if_absent=True):
                return "SET", f"{place} = if_not_exists({place}, {self.value(value)})"
            case Assign(value=value):
                return "SET", f"{place} = {self.value(value)}"
            case Add(path=(_, _, *_), amount=int() | Decimal() as amount):
                # DynamoDB documents ADD for attributes at the top only; this is the same for a number inside.
                return "SET", f"{place} = if_not_exists({place}, {self.value(0)}) + {self.value(amount)}"
            case Add(amount=amount):
                return "ADD", f"{place} {self.value(amount)}"
            case Append(values=values):
                return (
                    "SET",
                    f"{place} = list_append(if_not_exists({place}, {self.value([])}), {self.value(list(values))})",
                )
            case Remove():
                return "REMOVE", place
            case Discard(members=members):
                return "DELETE", f"{place} {self.value(members)}"
            case _:
                assert_never(action)

    def keys(self, query: Query) -> str:
        """Which part of which partition a query reads."""
        text = f"{self.path((query.partition_attribute.name,))} = {self.value(query.partition)}"
        if query.sort is None or query.sort_attribute is None:
            return text
        place = self.path((query.sort_attribute.name,))
        match query.sort:
            case Eq(value):
                return f"{text} AND {place} = {self.value(value)}"
            case StartsWith(prefix):
                return f"{text} AND begins_with({place}, {self.value(prefix)})"
            case Range(low, None, low_inclusive=inclusive):
                return f"{text} AND {place} {'>=' if inclusive else '>'} {self.value(low)}"
            case Range(None, high, high_inclusive=inclusive):
                return f"{text} AND {place} {'<=' if inclusive else '<'} {self.value(high)}"
            case Range(low, high):
                return f"{text} AND {place} BETWEEN {self.value(low)} AND {self.value(high)}"
