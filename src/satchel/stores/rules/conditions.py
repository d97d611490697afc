"""What a condition means: checked as DynamoDB checks it, and evaluated on an item."""

from collections.abc import Callable, Mapping
from operator import ge, gt, le, lt
from typing import Any, cast

from satchel.kernel.errors import Invalid
from satchel.stores.ports.expressions import (
    And,
    BeginsWith,
    Between,
    Compare,
    Condition,
    Contains,
    Exists,
    Not,
    OneOf,
    Or,
)
from satchel.stores.ports.table import TableSpec
from satchel.stores.rules.expression_size import check_condition_size
from satchel.stores.rules.paths import MISSING, check_path, find
from satchel.stores.rules.values import kind_of, normalise, same

MAX_ALTERNATIVES = 100
_ORDERINGS: dict[str, Callable[[Any, Any], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}


def check_condition(table: TableSpec, condition: Condition) -> Condition:
    """The condition with its values normalised; `Invalid` if DynamoDB would not accept it."""
    check_condition_size(condition)
    return _checked(_key_names(table), condition)


def _key_names(table: TableSpec) -> frozenset[str]:
    """Of the table and of its indexes. A key is a text, a number or bytes, and so has no inside."""
    of_indexes = [key.name for index in table.indexes for key in (index.partition, index.sort) if key is not None]
    return frozenset((*table.key_names, *of_indexes))


def _checked(keys: frozenset[str], condition: Condition) -> Condition:
    match condition:
        case And(left, right):
            return And(_checked(keys, left), _checked(keys, right))
        case Or(left, right):
            return Or(_checked(keys, left), _checked(keys, right))
        case Not(inner):
            return Not(_checked(keys, inner))
        case Compare() | Between() | OneOf() | BeginsWith() | Contains() | Exists():
            check_path(condition.path)
            if len(condition.path) > 1 and condition.path[0] in keys:
                raise Invalid(f"{condition.path[0]} is a key, so there is no place inside it.")
            return _checked_values(condition)
        case _:
            raise TypeError(f"{condition!r} is of no known kind")


def _checked_values(condition: Compare | Between | OneOf | BeginsWith | Contains | Exists) -> Condition:
    match condition:
        case Compare(path, operator, value):
            value = normalise(value)
            if operator in _ORDERINGS:
                _check_ordered(value)
            elif operator not in ("=", "<>"):
                raise Invalid(f"There is no comparison {operator!r}.")
            return Compare(path, operator, value)
        case Between(path, low, high):
            return Between(path, *check_bounds(normalise(low), normalise(high)))
        case OneOf(path, values):
            if not 0 < len(values) <= MAX_ALTERNATIVES:
                raise Invalid(f"one_of takes 1 to {MAX_ALTERNATIVES} values.")
            return OneOf(path, tuple(normalise(value) for value in values))
        case BeginsWith(path, prefix):
            prefix = normalise(prefix)
            if kind_of(prefix) not in ("S", "B"):
                raise Invalid("begins_with takes a text or bytes.")
            return BeginsWith(path, prefix)
        case Contains(path, value):
            return Contains(path, normalise(value))
        case Exists():
            return condition


def check_bounds(low: Any, high: Any) -> tuple[Any, Any]:
    _check_ordered(low)
    if kind_of(low) != kind_of(high):
        raise Invalid("The two ends of a range have to be of one type.")
    if low > high:
        raise Invalid("The lower end of a range lies above its upper end.")
    return low, high


def _check_ordered(value: Any) -> None:
    if kind_of(value) not in ("S", "N", "B"):
        raise Invalid("Only texts, numbers and bytes have an order.")


def evaluate(condition: Condition, item: Mapping[str, Any]) -> bool:
    """Whether a checked condition holds of a normalised item; of `{}` for an absent one."""
    match condition:
        case Compare(path, operator, value):
            return _compares(find(item, path), operator, value)
        case Exists(path):
            return find(item, path) is not MISSING
        case Not(inner):
            return not evaluate(inner, item)
        case And(left, right):
            return evaluate(left, item) and evaluate(right, item)
        case Or(left, right):
            return evaluate(left, item) or evaluate(right, item)
        case Between(path, low, high):
            found = find(item, path)
            return _compares(found, ">=", low) and _compares(found, "<=", high)
        case OneOf(path, values):
            found = find(item, path)
            return any(same(found, value) for value in values)
        case BeginsWith(path, prefix):
            return _begins(find(item, path), prefix)
        case Contains(path, value):
            return _contains(find(item, path), value)
        case _:
            raise TypeError(f"{condition!r} is of no known kind")


def _compares(found: Any, operator: str, value: Any) -> bool:
    if operator == "=":
        return same(found, value)
    if operator == "<>":
        return not same(found, value)
    return found is not MISSING and kind_of(found) == kind_of(value) and _ORDERINGS[operator](found, value)


def _begins(found: Any, prefix: str | bytes) -> bool:
    if isinstance(prefix, str):
        return isinstance(found, str) and found.startswith(prefix)
    return isinstance(found, bytes) and found.startswith(prefix)


def _contains(found: Any, value: Any) -> bool:
    if isinstance(found, list):
        return any(same(element, value) for element in cast("list[Any]", found))
    if isinstance(found, frozenset):
        return kind_of(cast("frozenset[Any]", found)) == f"{kind_of(value)}S" and value in found
    return isinstance(found, str | bytes) and type(found) is type(value) and value in found
