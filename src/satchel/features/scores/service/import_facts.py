"""What a file says of itself becomes what its score says: title, composer and movements that nobody has given yet."""

from collections.abc import Sequence

import msgspec

from satchel.features.scores.item_records import ImportRow
from satchel.features.scores.model import MAX_MOVEMENTS, MAX_PAGE_NAME, MAX_TITLE, Email, ItemId, one_line
from satchel.features.scores.records import Movement
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.score_change import Changed, check_state, write_changed
from satchel.features.scores.service.score_find import Found, Viewer, find_of
from satchel.kernel.names import NAMELESS
from satchel.media.score_pages import SourceFacts, guess_title
from satchel.stores.patterns.optimistic_update import optimistic_update

replace = msgspec.structs.replace


@optimistic_update()
async def name_score(scores: Scores, row: ImportRow, facts: SourceFacts) -> None:
    """A title that only the name of the file has suggested gives way to the one that the file has inside."""
    found = await find_of(scores, Viewer(row.owner, Email("")), row.owner, row.score_id, "owner")
    data, extra = found.row.data, found.extra
    title, composer = one_line(facts.title)[:MAX_TITLE].strip(), one_line(facts.composer)[:MAX_TITLE].strip()
    if title and not data.pages and data.title.casefold() in _suggested(row.name):
        data = replace(data, title=title)
    if composer and not data.pages and not extra.composer:
        extra = replace(extra, composer=composer)
    await _write(scores, found, Changed(row=replace(found.row, data=data), extra=extra))


@optimistic_update()
async def name_movements(scores: Scores, row: ImportRow, facts: SourceFacts, items: Sequence[ItemId]) -> None:
    """Of a score without movements. `items` are the pages of the file in their order."""
    found = await find_of(scores, Viewer(row.owner, Email("")), row.owner, row.score_id, "owner")
    pages = {page.item_id: page.page_id for page in found.row.data.pages}
    movements = [
        Movement(name=name, page_id=pages[items[number]])
        for written, number in facts.movements[:MAX_MOVEMENTS]
        if (name := one_line(written)[:MAX_PAGE_NAME].strip()) and 0 <= number < len(items) and items[number] in pages
    ]
    if not found.extra.movements:
        await _write(scores, found, Changed(row=found.row, extra=replace(found.extra, movements=movements)))


async def _write(scores: Scores, found: Found, changed: Changed) -> None:
    if (changed.row, changed.extra) != (found.row, found.extra):
        check_state(scores, found.row, None)
        await write_changed(scores, found, changed)


def _suggested(name: str) -> set[str]:
    """Titles that the program itself makes of the name of a file."""
    stem = name.rpartition(".")[0] or name
    plain = one_line(stem.replace("_", " "))
    return {each.casefold() for each in (guess_title(name)[0], plain, NAMELESS)}
