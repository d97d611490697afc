"""Makes pages of a PDF or of engraved music, one after the other, on whichever server has time.

An import has a row with how far it has come, and a job until it is done. Whoever takes the job has it for a while, and
for longer with every page. If that server dies, another goes on with the next page. Items have ids that follow from the
file and the number of the page, so a page that is made twice is entered once.
"""

import hashlib
import logging
from contextlib import aclosing
from datetime import timedelta

import msgspec

from satchel.features.scores.events import ScoreImportEvent
from satchel.features.scores.item_records import (
    IMPORT,
    IMPORT_JOB,
    ImportJobRow,
    ImportRow,
    ItemEntry,
    item_key,
    pictured,
)
from satchel.features.scores.model import (
    LETTERS,
    Email,
    ImportState,
    OwnerId,
    ScoreId,
    ScoresFull,
    ScoreUnknown,
    TooManyItems,
    TooManyPages,
    public_id,
)
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.import_facts import name_movements, name_score
from satchel.features.scores.service.item_add import append_page, enter_item
from satchel.features.scores.service.layout_make import keep_imported
from satchel.features.scores.service.page_set import read_items
from satchel.features.scores.service.page_source import ENGRAVED, SOURCES, page_item
from satchel.features.scores.service.score_find import Found, Viewer, find_of
from satchel.features.scores.service.score_presence import tell_onlookers
from satchel.kernel.errors import SatchelError
from satchel.media.score_pages import MadePage, PageSource, PagesRefused, SourceFacts
from satchel.stores.ports.expressions import assign, attr
from satchel.stores.ports.objects import ObjectMissing, SmallObject
from satchel.stores.ports.table import ConditionFailed

IMPORTS_EVERY = timedelta(seconds=1)
# Longer than one page takes, in milliseconds.
_HELD_FOR = 90_000
_AT_ONCE = 20
_MOST_IMPORTS = 500
_QUEUE = "sj:all"
_log = logging.getLogger("satchel.scores")
replace = msgspec.structs.replace


class _ImportGone(Exception):
    """Somebody has deleted the file, so that no more pages are made of it."""


async def begin_import(scores: Scores, owner: OwnerId, score_id: ScoreId, item: ItemEntry) -> None:
    """Repeating it changes nothing."""
    row = ImportRow(
        owner=owner, score_id=score_id, item_id=item.item_id, kind=item.kind, name=item.name, state="waiting"
    )
    job = ImportJobRow(score_id=score_id, item_id=item.item_id, owner=owner, until=0)
    if await IMPORT.get(scores.tables, owner=owner, score_id=score_id, item_id=item.item_id) is None:
        await scores.tables.transact([IMPORT.put(row), IMPORT_JOB.put(job)])


async def list_imports(scores: Scores, found: Found) -> list[ImportRow]:
    page = await IMPORT.list(scores.tables, owner=found.owner, score_id=found.score_id, limit=_MOST_IMPORTS)
    return page.records


async def run_imports(scores: Scores) -> int:
    """Work on imports that nobody works on; how many that were."""
    page = await scores.tables.query(IMPORT_JOB.table, _QUEUE, limit=_AT_ONCE)
    done = 0
    for job in map(IMPORT_JOB.read, page.items):
        if await _take(scores, job):
            await _run(scores, job)
            done += 1
    return done


async def _take(scores: Scores, job: ImportJobRow) -> bool:
    """Whether it is ours for a while from now on."""
    now = scores.now()
    try:
        await scores.tables.update(IMPORT_JOB.table, _key(job), [assign("xt", now + _HELD_FOR)], when=attr("xt") <= now)
    except ConditionFailed:
        return False
    return True


async def _run(scores: Scores, job: ImportJobRow) -> None:
    row = await IMPORT.get(scores.tables, owner=job.owner, score_id=job.score_id, item_id=job.item_id)
    if row is None:
        await scores.tables.delete(IMPORT_JOB.table, _key(job))
        return
    try:
        await _note(scores, await _made(scores, job, row))
    except (ScoreUnknown, ObjectMissing, _ImportGone):
        pass
    except SatchelError as error:
        # The job is taken again when our time has run out.
        _log.warning("an import was put off: %s", error.detail)
        return
    await scores.tables.delete(IMPORT_JOB.table, _key(job))


async def _made(scores: Scores, job: ImportJobRow, row: ImportRow) -> ImportRow:
    """How it ended: with all pages, or with the reason why not."""
    try:
        return await _make_pages(scores, job, row)
    except (PagesRefused, ScoresFull, TooManyItems, TooManyPages) as refusal:
        found = await IMPORT.get(scores.tables, owner=job.owner, score_id=job.score_id, item_id=job.item_id)
        return replace(found or row, state="failed", problem=refusal.slug, reason=refusal.detail)


async def _make_pages(scores: Scores, job: ImportJobRow, row: ImportRow) -> ImportRow:
    source = PageSource(item_key(row.owner, row.score_id, row.item_id, row.kind), row.name, SOURCES[row.kind])
    row = replace(row, state="running")
    facts, maps, first = SourceFacts(pages=0), list[bytes](), row.done
    async with aclosing(scores.pages.make(source, first=row.done)) as made:
        async for each in made:
            if isinstance(each, MadePage):
                await _enter(scores, row, each)
                maps.append(each.map)
                row = replace(row, done=each.number + 1)
            else:
                facts = each
                await name_score(scores, row, facts)
                row = replace(row, total=facts.pages)
            await _note(scores, row)
            await scores.tables.update(
                IMPORT_JOB.table, _key(job), [assign("xt", scores.now() + _HELD_FOR)], when=attr("o").exists()
            )
    if row.kind in ENGRAVED and first == 0:
        # If somebody else has begun it, the map is made when it is needed.
        found = await find_of(scores, Viewer(row.owner, Email("")), row.owner, row.score_id)
        await keep_imported(scores, await read_items(scores, found), row.item_id, facts, maps)
    await name_movements(scores, row, facts, [page_item(row.item_id, number) for number in range(facts.pages)])
    return replace(row, state="ready")


async def _enter(scores: Scores, row: ImportRow, made: MadePage) -> None:
    """A page as an item, and the last page of the score."""
    kind = LETTERS[made.kind]
    item = ItemEntry(
        item_id=page_item(row.item_id, made.number),
        kind=kind,
        size_bytes=len(made.body),
        name=str(made.number + 1),
        sha256=hashlib.sha256(made.body).hexdigest(),
    )
    key = item_key(row.owner, row.score_id, item.item_id, kind)
    await scores.objects.put_many([SmallObject(key, made.body)])
    await enter_item(scores, row.owner, row.score_id, item)
    if kind != "s":
        await scores.pictures.make([pictured(row.owner, row.score_id, item.item_id, kind)])
    await append_page(scores, row.owner, row.score_id, item)


async def _note(scores: Scores, row: ImportRow) -> None:
    found = await find_of(scores, Viewer(row.owner, Email("")), row.owner, row.score_id)
    try:
        await scores.tables.put(IMPORT.table, IMPORT.item(row), when=attr("o").exists())
    except ConditionFailed as error:
        raise _ImportGone from error
    state: ImportState = row.state
    event = ScoreImportEvent(
        score_id=public_id(row.score_id),
        import_id=public_id(row.item_id),
        state=state,
        pages_done=row.done,
        pages_total=row.total,
    )
    # The owner may be looking at the library.
    await tell_onlookers(scores, found, event, also=[row.owner], visitors="all" if state == "ready" else "none")


def _key(job: ImportJobRow) -> dict[str, str]:
    return IMPORT_JOB.key(score_id=job.score_id, item_id=job.item_id)
