"""Where conditions and updates point: checking such places, and finding them in an item."""

from collections.abc import Mapping
from typing import Any, Final, cast

from satchel.kernel.errors import Invalid
from satchel.stores.ports.expressions import Path
from satchel.stores.ports.table import MAX_NESTING
from satchel.stores.rules.values import check_name


class Missing:
    """Stands for a place that is not there, since None is a value."""


MISSING: Final = Missing()


def check_path(path: Path) -> None:
    if len(path) == 1 and type(path[0]) is str and 0 < len(path[0]) <= 255 and path[0].isascii():
        return
    if not path or not isinstance(path[0], str):
        raise Invalid("A place in an item begins with the name of an attribute.")
    if len(path) > MAX_NESTING:
        raise Invalid(f"A place in an item can be at most {MAX_NESTING} levels deep.")
    for step in path:
        if isinstance(step, str):
            check_name(step)
        elif type(step) is not int or not 0 <= step < 2**31:
            raise Invalid("A place in a list is a number from 0.")


def find(item: Mapping[str, Any], path: Path) -> Any:
    """The value at the path, or MISSING."""
    if len(path) == 1:
        return item.get(cast("str", path[0]), MISSING)
    found: Any = item
    for step in path:
        if type(step) is str and type(found) is dict:
            found = cast("dict[str, Any]", found).get(step, MISSING)
        elif type(step) is int and type(found) is list and step < len(cast("list[Any]", found)):
            found = cast("list[Any]", found)[step]
        else:
            return MISSING
    return found


def spoken(path: Path) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)[1:]
