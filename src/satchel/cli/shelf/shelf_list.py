"""A folder of the shelf in columns."""

from collections.abc import Iterator, Sequence

from satchel.cli.engine.api_types.shelf_types import EntryView
from satchel.cli.engine.terminal.columns import fitted, room_for, shown_width
from satchel.cli.engine.terminal.output import paint, printable
from satchel.cli.engine.terminal.sizes import shown_bytes, shown_moment

_SIZE_WIDTH = 7
_MOMENT_WIDTH = 16
_GAP = 2


def lines(entries: Sequence[EntryView]) -> Iterator[str]:
    names = [printable(entry.name) + ("/" if entry.kind == "folder" else "") for entry in entries]
    widest = room_for(max(map(shown_width, names), default=0), _SIZE_WIDTH + _MOMENT_WIDTH + 2 * _GAP)
    for entry, name in zip(entries, names, strict=True):
        size = "" if entry.size_bytes is None else shown_bytes(entry.size_bytes)
        shown = fitted(name, widest)
        name_column = paint(shown, "strong") if entry.kind == "folder" else shown
        moment = paint(shown_moment(entry.created_at), "quiet")
        yield f"{name_column}{' ' * _GAP}{size:>{_SIZE_WIDTH}}{' ' * _GAP}{moment}"
