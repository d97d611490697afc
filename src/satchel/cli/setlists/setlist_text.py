"""Set lists as people read them: all in columns, and one with its scores."""

from collections.abc import Iterator, Sequence

from satchel.cli.engine.api_types.set_list_types import SetListCard, SetListView
from satchel.cli.engine.terminal.columns import fitted, room_for, shown_width
from satchel.cli.engine.terminal.output import paint, printable
from satchel.cli.setlists.setlist_change import SHORT_ID

_COUNT_WIDTH = len("scores")
_TAKEN = _COUNT_WIDTH + SHORT_ID + 2 * 2
_LEAST_NAME = 8


def columns(cards: Sequence[SetListCard]) -> Iterator[str]:
    names = [printable(card.name) for card in cards]
    width = room_for(max(map(shown_width, [*names, "name"]), default=0), _TAKEN, least=_LEAST_NAME)
    if cards:
        yield paint("  ".join([fitted("name", width), "scores", "id"]), "quiet")
    for card, name in zip(cards, names, strict=True):
        yield "  ".join([fitted(name, width), f"{card.entries:,}".rjust(_COUNT_WIDTH), card.list_id[-SHORT_ID:]])


def details(found: SetListView) -> Iterator[str]:
    yield paint(printable(found.name), "strong")
    if found.notes:
        yield printable(f"  {found.notes}")
    for place, entry in enumerate(found.entries, 1):
        title = printable(entry.title) if entry.is_there else "(a score that you may not read any more)"
        by = f", {printable(entry.composer)}" if entry.composer else ""
        pages = f", {len(entry.page_ids)} of {entry.pages} pages" if entry.page_ids else ""
        moved = f", {entry.transpose:+d} semitones" if entry.transpose else ""
        yield f"  {place}. {title}{by}{pages}{moved}"
        if entry.notes:
            yield printable(f"     {entry.notes}")
