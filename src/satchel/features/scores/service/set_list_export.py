"""A whole set list as one PDF: the pages of its entries in order, with the marks and notes that somebody sees on them.

Each entry has a bookmark. What the reader may not read is left out.
"""

import textwrap
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

import msgspec

from satchel.features.scores.layout import LayoutChoice
from satchel.features.scores.model import OwnerId, ScoreId, ScoreUnknown
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.layout_view import lay_out
from satchel.features.scores.service.mark_read import visible_marks
from satchel.features.scores.service.score_export import (
    Exported,
    NoPages,
    laid_sheets,
    plan_pages,
    sheets_of,
    stream_pages,
)
from satchel.features.scores.service.score_find import Viewer, WholeScore, read_whole_of
from satchel.features.scores.service.set_list_find import find_set_list
from satchel.features.scores.set_list_records import SetListEntry, SetListRow
from satchel.media.export_file import ExportTooLarge
from satchel.media.export_plan import MAX_EXPORT_PAGES, ExportPage, Ink

# Letters of all marks together, which are in memory until the document is done.
_MOST_INK = 32 * 1024 * 1024
# A stamp has no letters, and takes memory like other marks.
_MOST_MARKS = 50_000
# The notes stand at the upper edge of the first page, in ten-thousandths of its width.
_NOTES = Ink(kind="text", colour="#1d4ed8", x=300, y=150, size=200)
_LINE = 100


@dataclass(slots=True)
class _Room:
    """How much more fits into one document."""

    pages: int = MAX_EXPORT_PAGES
    ink: int = _MOST_INK
    marks: int = _MOST_MARKS


async def export_set_list(scores: Scores, viewer: Viewer, public: str, *, with_marks: bool) -> Exported:
    """What is exported is read only when the first piece is wanted: who waits for a place holds no marks."""
    row = (await find_set_list(scores, viewer, public)).row
    return Exported(row.name, _pieces(scores, viewer, row, with_marks=with_marks))


async def _pieces(scores: Scores, viewer: Viewer, row: SetListRow, *, with_marks: bool) -> AsyncGenerator[bytes]:
    planned: dict[int, list[ExportPage]] = {}
    room = _Room()
    # One score at a time is in memory, and each is read once, however often it is played.
    for (owner, score_id), entries in _by_score(row.entries).items():
        try:
            whole = await read_whole_of(scores, viewer, owner, score_id)
        except ScoreUnknown:
            continue
        for number, entry in entries:
            planned[number] = await _entry_pages(scores, whole, viewer, entry, number, room, with_marks=with_marks)
    pages = [page for number in sorted(planned) for page in planned[number]]
    if not pages:
        raise NoPages("There are no pages to export. Add scores to the set list first.")
    async with aclosing(stream_pages(scores, row.name, "", pages)) as pieces:
        async for piece in pieces:
            yield piece


def _by_score(entries: Sequence[SetListEntry]) -> dict[tuple[OwnerId, ScoreId], list[tuple[int, SetListEntry]]]:
    """The entries with their numbers, from 1."""
    found: dict[tuple[OwnerId, ScoreId], list[tuple[int, SetListEntry]]] = {}
    for number, entry in enumerate(entries, 1):
        found.setdefault((entry.owner, entry.score_id), []).append((number, entry))
    return found


async def _entry_pages(
    scores: Scores,
    whole: WholeScore,
    viewer: Viewer,
    entry: SetListEntry,
    number: int,
    room: _Room,
    *,
    with_marks: bool,
) -> list[ExportPage]:
    data = whole.found.row.data
    by_id = {page.page_id: page for page in data.pages}
    chosen = [by_id[each] for each in entry.page_ids if each in by_id] if entry.page_ids else data.pages
    marks = visible_marks(whole, viewer) if with_marks else []
    if entry.transpose:
        laid = await lay_out(scores, whole.found, LayoutChoice(transpose=entry.transpose), viewer)
        sheets, marks = laid_sheets(laid), await laid.marks(marks)
    else:
        sheets = await sheets_of(scores, whole.found, chosen)
    shown = {page.page_id for page in sheets}
    marks = [each for each in marks if each.mark.page_id in shown]
    room.ink -= sum(len(each.mark.stroke) + len(each.mark.text) for each in marks)
    times = Counter(page.page_id for page in sheets)
    room.marks -= sum(times[each.mark.page_id] for each in marks)
    room.pages -= len(sheets)
    if min(room.pages, room.ink, room.marks) < 0:
        raise ExportTooLarge("This set list has too many pages or marks for one PDF. Export its scores one by one.")
    pages = plan_pages(whole.found, sheets, marks)
    if pages:
        # On a page that is turned, they would be turned with it.
        notes = _notes("" if pages[0].rotation else entry.notes)
        name, inked = f"{number}. {data.title}", [*pages[0].marks, *notes]
        pages[0] = msgspec.structs.replace(pages[0], bookmark=name, marks=inked)
    return pages


def _notes(text: str) -> Sequence[Ink]:
    """In lines as wide as a page: letters of East Asia are twice as wide as others."""
    lines = textwrap.wrap(text, _LINE if text.isascii() else _LINE // 2)
    return [msgspec.structs.replace(_NOTES, text="\n".join(lines))] if lines else []
