"""A folder of the shelf in columns that stand under each other, whatever letters the names are made of."""

import shutil
import sys
import unicodedata
from collections.abc import Iterator, Sequence

from satchel.cli.answers import Entry
from satchel.cli.output import paint, printable
from satchel.cli.shelf.sizes import shown_bytes, shown_moment

_SIZE_WIDTH = 7
_MOMENT_WIDTH = 16
_GAP = 2


def lines(entries: Sequence[Entry]) -> Iterator[str]:
    names = [printable(entry.name) + ("/" if entry.kind == "folder" else "") for entry in entries]
    widest = max(map(_width, names), default=0)
    if sys.stdout.isatty():
        widest = min(widest, max(16, shutil.get_terminal_size().columns - _SIZE_WIDTH - _MOMENT_WIDTH - 2 * _GAP))
    for entry, name in zip(entries, names, strict=True):
        shown = _fitted(name, widest)
        size = "" if entry.size_bytes is None else shown_bytes(entry.size_bytes)
        name_column = paint(shown, "strong") if entry.kind == "folder" else shown
        padding = " " * (widest - _width(shown) + _GAP)
        moment = paint(shown_moment(entry.created_at), "quiet")
        yield f"{name_column}{padding}{size:>{_SIZE_WIDTH}}{' ' * _GAP}{moment}"


def _fitted(name: str, width: int) -> str:
    if _width(name) <= width:
        return name
    while _width(name) > width - 1:
        name = name[:-1]
    return name + "…"


def _width(text: str) -> int:
    return sum(map(_cells, text))


def _cells(letter: str) -> int:
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1
