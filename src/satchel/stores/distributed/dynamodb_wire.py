"""Items to and from DynamoDB's JSON without losing a digit, which boto3's own codec would round or refuse.

Goes from and to the canonical form of `stores.rules`. What is equal is written the same, sets and maps in sorted order,
because DynamoDB compares requests letter by letter when it recognises a repeated transaction by its token.
"""

from typing import Any, TypeAlias

from satchel.stores.ports.table import Item
from satchel.stores.rules.numbers import number_from
from satchel.stores.rules.values import kind_of

Attribute: TypeAlias = dict[str, Any]
WireItem: TypeAlias = dict[str, Attribute]


def to_wire(value: Any) -> Attribute:
    kind = kind_of(value)
    match kind:
        case "N":
            return {kind: str(value)}
        case "NULL":
            return {kind: True}
        case "L":
            return {kind: [to_wire(element) for element in value]}
        case "M":
            return {kind: item_to_wire(value)}
        case "NS":
            return {kind: [str(number) for number in sorted(value)]}
        case "SS" | "BS":
            return {kind: sorted(value)}
        case _:
            return {kind: value}


def item_to_wire(item: Item) -> WireItem:
    return {name: to_wire(item[name]) for name in sorted(item)}


def from_wire(attribute: Attribute) -> Any:
    ((kind, value),) = attribute.items()
    match kind:
        case "N":
            return number_from(value)
        case "NULL":
            return None
        case "L":
            return [from_wire(element) for element in value]
        case "M":
            return item_from_wire(value)
        case "NS":
            return frozenset(map(number_from, value))
        case "SS" | "BS":
            return frozenset(value)
        case _:
            return value


def item_from_wire(item: WireItem) -> Item:
    return {name: from_wire(attribute) for name, attribute in item.items()}
