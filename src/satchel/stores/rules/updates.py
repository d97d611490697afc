"""What an update means: which actions may stand together, and the item that comes of them."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any, cast

from satchel.kernel.errors import Invalid
from satchel.stores.ports.expressions import Action, Add, Append, Assign, Discard, Path, Remove
from satchel.stores.ports.table import Item, KeyAttribute, KeyKind, TableSpec
from satchel.stores.rules.expression_size import check_actions_size
from satchel.stores.rules.keys import check_item_size, check_key_value, key_limit
from satchel.stores.rules.numbers import total
from satchel.stores.rules.paths import MISSING, check_path, find, spoken
from satchel.stores.rules.values import kind_of, normalise


def check_actions(table: TableSpec, actions: Sequence[Action]) -> list[Action]:
    """The actions with their values normalised; `Invalid` if they cannot stand together or would break a key."""
    if not actions:
        raise Invalid("An update needs at least one action.")
    checked = [_checked(action) for action in actions]
    for action in checked:
        _check_keys(table, action)
    if len(checked) > 1:
        _check_apart([action.path for action in checked])
    check_actions_size(checked)
    return checked


def _checked(action: Action) -> Action:
    check_path(action.path)
    depth = len(action.path) - 1
    match action:
        case Assign(path, value, only_if_absent):
            return Assign(path, normalise(value, depth), only_if_absent)
        case Append(path, values):
            return Append(path, tuple(normalise(list(values), depth)))
        case Add(path, amount):
            amount = normalise(amount)
            if kind_of(amount) not in ("N", "SS", "NS", "BS"):
                raise Invalid("add takes a number, or a set of members to add.")
            return Add(path, amount)
        case Discard(path, members):
            members = normalise(members)
            if kind_of(members) not in ("SS", "NS", "BS"):
                raise Invalid("discard takes a set of members to take away.")
            return Discard(path, members)
        case Remove():
            return action


def _check_keys(table: TableSpec, action: Action) -> None:
    """Keys of the table stay as they are; those of an index only ever get a proper value."""
    name = action.path[0]
    if name in table.key_names:
        raise Invalid(f"The key attribute {name} cannot be changed. Delete the item and put another.")
    for index in table.indexes:
        for attribute in (index.partition, index.sort):
            if attribute is not None and attribute.name == name:
                _check_index_key(attribute, action, key_limit(index, attribute))


def _check_index_key(attribute: KeyAttribute, action: Action, limit: int) -> None:
    match action:
        case Assign((_,), value):
            check_key_value(attribute, value, limit)
        case Remove((_,)):
            pass
        case Add((_,), int() | Decimal()) if attribute.kind is KeyKind.NUMBER:
            pass
        case _:
            raise Invalid(f"{attribute.name} is a key of an index, so it can only be given a whole new value.")


def _check_apart(paths: list[Path]) -> None:
    """Refuse actions on one place, on a place and its inside, or that see a map and a list in one place."""
    if len({path[0] for path in paths}) == len(paths):
        return
    # Spelled so that names and numbers can be ordered; a place then comes right before those inside it.
    spelled = sorted(tuple(f"[{step}" if isinstance(step, int) else f".{step}" for step in path) for path in paths)
    for one, other in pairwise(spelled):
        if other[: len(one)] == one:
            raise Invalid("Two actions of an update touch the same place. Merge them.")
    insides: dict[tuple[str, ...], str] = {}
    for path in spelled:
        for end, step in enumerate(path):
            if insides.setdefault(path[:end], step[0]) != step[0]:
                raise Invalid("Two actions of an update see a map and a list in the same place.")


def apply_actions(before: Mapping[str, Any], actions: Sequence[Action]) -> Item:
    """The item after checked actions on a normalised one, which stays as it is; `before` has at least the key.

    Every action sees the item as before, so values are computed first and places in lists mean the old ones.
    """
    outcomes = [(action.path, _outcome(before, action)) for action in actions]
    after = dict(before) if all(len(path) == 1 for path, _ in outcomes) else cast("Item", _copy(before))
    # In order of place, so that elements assigned past the end of a list line up by their numbers.
    for path, value in sorted((pair for pair in outcomes if pair[1] is not MISSING), key=_place):
        _assign(_around(after, path), path[-1], value)
    gone = (pair for pair in outcomes if pair[1] is MISSING and find(before, pair[0]) is not MISSING)
    # From the back, so that taking one element away does not move the next to go.
    for path, _ in sorted(gone, key=_place, reverse=True):
        del _around(after, path)[path[-1]]
    check_item_size(after)
    return after


def _place(outcome: tuple[Path, Any]) -> Path:
    return outcome[0]


def _around(item: Item, path: Path) -> Any:
    return find(item, path[:-1]) if len(path) > 1 else item


def _assign(container: Any, step: str | int, value: Any) -> None:
    if isinstance(step, int) and step >= len(container):
        container.append(value)
    else:
        container[step] = value


def _copy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _copy(inner) for name, inner in cast("Mapping[str, Any]", value).items()}
    return [_copy(inner) for inner in cast("list[Any]", value)] if isinstance(value, list) else value


def _outcome(before: Mapping[str, Any], action: Action) -> Any:
    """The value that the action leaves at its place; MISSING for none."""
    path = action.path
    if len(path) > 1:
        _check_surroundings(before, path)
    found = find(before, path)
    match action:
        case Assign(_, value, only_if_absent):
            return found if only_if_absent and found is not MISSING else value
        case Append(_, values):
            return [*_list(path, found), *values]
        case Add(_, amount):
            return _sum(path, found, amount)
        case Discard(_, members):
            return MISSING if found is MISSING else (_same_set(path, found, members) - members) or MISSING
        case Remove():
            return MISSING


def _check_surroundings(before: Mapping[str, Any], path: Path) -> None:
    around = find(before, path[:-1])
    if not isinstance(around, dict if isinstance(path[-1], str) else list):
        raise Invalid(f"There is no place {spoken(path)}: what it would be in is missing or of another type.")


def _list(path: Path, found: Any) -> list[Any]:
    if found is MISSING:
        return []
    if not isinstance(found, list):
        raise Invalid(f"{spoken(path)} is not a list, so nothing can be appended to it.")
    return cast("list[Any]", found)


def _sum(path: Path, found: Any, amount: Any) -> Any:
    if found is MISSING:
        return amount
    if kind_of(amount) != "N":
        return _same_set(path, found, amount) | amount
    if kind_of(found) != "N":
        raise Invalid(f"{spoken(path)} is not a number, so nothing can be added to it.")
    return total(found, amount)


def _same_set(path: Path, found: Any, members: Any) -> frozenset[Any]:
    if kind_of(found) != kind_of(members):
        raise Invalid(f"{spoken(path)} is not a set of the same type.")
    return found
