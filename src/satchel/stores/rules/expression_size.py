"""How large an expression DynamoDB would be sent, so that one too large for it is refused by every store.

DynamoDB bounds the text of an expression to 4 KB and the operators in it to 300. The count assumes placeholders of up
to four characters (`#123`, `:123`), and keeps room for what a store adds of its own, such as a look at the expiry.
"""

from collections.abc import Sequence

from satchel.kernel.errors import Invalid
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
    Exists,
    Not,
    OneOf,
    Or,
    Path,
)

_ROOM_BYTES, _ROOM_OPERATORS = 128, 8
MAX_EXPRESSION_BYTES = 4096 - _ROOM_BYTES
MAX_OPERATORS = 300 - _ROOM_OPERATORS
_PLACEHOLDER = len("#123")


def check_condition_size(condition: Condition) -> None:
    """Raise `Invalid` for what is too large, or no condition; without recursion, since nothing is known of it yet."""
    size = operators = 0
    remaining = [condition]
    while remaining:
        part = remaining.pop()
        operators += 1
        match part:
            case Compare(path):
                size += _path_size(path) + len(" <= ") + _PLACEHOLDER
            case Exists(path):
                size += _path_size(path) + len("attribute_exists()")
            case And(left, right) | Or(left, right):
                size += len("() AND ()")
                remaining += (left, right)
            case Not(inner):
                size += len("NOT ()")
                remaining.append(inner)
            case Between(path):
                size += _path_size(path) + len(" BETWEEN  AND ") + 2 * _PLACEHOLDER
            case OneOf(path, values):
                size += _path_size(path) + len(" IN ()") + len(values) * (_PLACEHOLDER + len(", "))
            case BeginsWith(path) | Contains(path):
                size += _path_size(path) + len("begins_with(, )") + _PLACEHOLDER
            case _:
                raise Invalid("This is not a condition. Make one with attr(…).")
        if size > MAX_EXPRESSION_BYTES or operators > MAX_OPERATORS:
            raise Invalid("The condition has too many parts for one write. Ask for less at once.")


def check_actions_size(actions: Sequence[Action]) -> None:
    size = operators = 0
    for action in actions:
        path_size = _path_size(action.path)
        size += path_size + _PLACEHOLDER + len("REMOVE = , ")
        operators += 1
        if isinstance(action, Append | Add) or (isinstance(action, Assign) and action.only_if_absent):
            size += path_size + _PLACEHOLDER + len("list_append(if_not_exists(, ), )")
            operators += 2
    if size > MAX_EXPRESSION_BYTES or operators > MAX_OPERATORS:
        raise Invalid("The update has too many actions. Split it, or put the whole item.")


def _path_size(path: Path) -> int:
    return sum(len(str(step)) + len("[]") if isinstance(step, int) else _PLACEHOLDER + 1 for step in path)
