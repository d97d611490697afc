"""Which values an item may hold, in one canonical form, and how many bytes DynamoDB counts for them."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import Any, cast

from satchel.kernel.errors import Invalid
from satchel.stores.ports.expressions import Value
from satchel.stores.ports.table import MAX_NESTING, Item
from satchel.stores.rules.numbers import canonical, number_bytes

MAX_NAME_BYTES = 64 * 1024 - 1


def normalise(value: Value, depth: int = 0) -> Any:
    """The value in its stored form, made of our own containers; `depth` is how many lists and maps are around it."""
    kind = type(value)
    if kind is str:
        check_text(cast("str", value))
        return value
    if value is None or kind is bool or kind is bytes:
        return value
    if isinstance(value, int | Decimal):
        return canonical(value)
    if isinstance(value, str):
        check_text(value)
        return str.__str__(value)
    return _normalise_rest(value, depth)


def _normalise_rest(value: Any, depth: int) -> Any:
    if isinstance(value, Mapping):
        _check_depth(depth)
        return {
            check_name(name): normalise(inner, depth + 1) for name, inner in cast("Mapping[str, Value]", value).items()
        }
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    if isinstance(value, Sequence):
        _check_depth(depth)
        return [normalise(inner, depth + 1) for inner in cast("Sequence[Value]", value)]
    if isinstance(value, AbstractSet):
        return _normalise_set(cast("AbstractSet[Any]", value))
    if isinstance(value, float):
        raise Invalid("A float cannot be stored without loss. Send an int or a Decimal.")
    raise Invalid(f"A value of type {type(value).__name__} cannot be stored. Send text, bytes, a number, a list, …")


def _normalise_set(members: AbstractSet[Any]) -> frozenset[Any]:
    if not members:
        raise Invalid("An empty set cannot be stored. Leave the attribute out.")
    if any(isinstance(member, bool) for member in members):
        raise Invalid("A set holds texts, numbers or bytes, not booleans.")
    normal = frozenset(normalise(member) for member in members)
    if set_kind(normal) is None:
        raise Invalid("All members of a set have to be of one kind: texts, numbers or bytes.")
    return normal


def set_kind(members: frozenset[Any]) -> str | None:
    """DynamoDB's letter for what the set holds; None when that is not one kind of text, number or bytes."""
    kinds = {kind_of(member) for member in members}
    return kinds.pop() if len(kinds) == 1 and kinds <= {"S", "N", "B"} else None


_KINDS: dict[type, str] = {
    str: "S",
    int: "N",
    Decimal: "N",
    bytes: "B",
    bool: "BOOL",
    type(None): "NULL",
    list: "L",
    dict: "M",
}


def kind_of(value: Any) -> str:
    """DynamoDB's letters for the type of a normalised value."""
    if isinstance(value, frozenset):
        return f"{set_kind(cast('frozenset[Any]', value))}S"
    return _KINDS[type(value)]


def check_text(text: str) -> None:
    if not text.isascii():
        text_bytes(text)


def text_bytes(text: str) -> int:
    if text.isascii():
        return len(text)
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        raise Invalid("A text holds half a surrogate pair, which is no character. Send valid Unicode.") from None


def check_name(name: Any) -> str:
    if type(name) is not str:
        if not isinstance(name, str):
            raise Invalid("The name of an attribute has to be a text.")
        name = str.__str__(name)
    if not name:
        raise Invalid("The name of an attribute cannot be empty.")
    if text_bytes(name) > MAX_NAME_BYTES:
        raise Invalid(f"The name of an attribute can have at most {MAX_NAME_BYTES} bytes.")
    return name


def _check_depth(depth: int) -> None:
    # What is inside a list or map is one level further, and the 32nd level is the last.
    if depth + 1 >= MAX_NESTING:
        raise Invalid(f"Nesting ends at {MAX_NESTING} levels. Flatten the value.")


def item_bytes(item: Item) -> int:
    """The size of a normalised item as DynamoDB counts it."""
    return sum(text_bytes(name) + value_bytes(value) for name, value in item.items())


def value_bytes(value: Any) -> int:
    """The size of a normalised value as DynamoDB counts it."""
    if isinstance(value, str):
        return text_bytes(value)
    if value is None or isinstance(value, bool):
        return 1
    if isinstance(value, int | Decimal):
        return number_bytes(value)
    if isinstance(value, bytes):
        return len(value)
    if isinstance(value, dict):
        inner = cast("dict[str, Any]", value)
        return 3 + len(inner) + item_bytes(inner)
    if isinstance(value, list):
        elements = cast("list[Any]", value)
        return 3 + len(elements) + sum(map(value_bytes, elements))
    return sum(map(value_bytes, cast("frozenset[Any]", value)))


def same(left: Any, right: Any) -> bool:
    """Whether two normalised values are equal; unlike in Python, True is not 1, neither alone nor inside others."""
    kind = cast("type[Any]", type(left))
    if kind is not type(right):
        return False
    if kind is list:
        return len(left) == len(right) and all(map(same, left, right))
    if kind is dict:
        return left.keys() == right.keys() and all(same(value, right[name]) for name, value in left.items())
    return left == right
