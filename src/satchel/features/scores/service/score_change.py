"""Changes the structure of a score: title, description, access, tags, movements, parts, jumps and pages.

Each change is one transaction. It happens only if the score still has the ETag that the caller has read and nobody
holds its lock, and gives it a new ETag. A stroke changes neither, so people who mark and one who edits never meet.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from satchel.features.scores.events import ScoreChangedEvent
from satchel.features.scores.model import (
    MAX_JUMPS,
    MAX_MOVEMENTS,
    MAX_PARTS,
    PAGE_EDGE,
    Access,
    Etag,
    PageId,
    Role,
    ScoreChanged,
    ScoreLocked,
    check_composer,
    check_description,
    check_part_name,
    check_tags,
    check_title,
    new_stored_id,
    one_line,
    public_id,
)
from satchel.features.scores.records import (
    SCORE,
    SCORE_CARD,
    SCORE_EXTRA,
    Jump,
    Movement,
    Part,
    ScoreExtraRow,
    ScoreRow,
)
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.score_card import card_of
from satchel.features.scores.service.score_find import Found, Viewer, find_score
from satchel.features.scores.service.score_presence import tell_onlookers
from satchel.kernel.unfit import ChoiceUnfit
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.ports.expressions import Condition, assign, attr
from satchel.stores.ports.table import Update, Write

replace = msgspec.structs.replace
MAX_LABEL = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPart:
    """A part as an editor gives it; without an id it is new."""

    part_id: int | None
    name: str
    page_ids: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorePatch:
    """What to change; None leaves it."""

    title: str | None = None
    composer: str | None = None
    description: str | None = None
    tags: list[str] | None = None
    access: Access | None = None
    movements: Sequence[Movement] | None = None
    parts: Sequence[NewPart] | None = None
    jumps: Sequence[Jump] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A score as it is to be, and what else its transaction writes."""

    row: ScoreRow
    extra: ScoreExtraRow
    writes: Sequence[Write] = field(default_factory=list[Write])


async def change_score(scores: Scores, viewer: Viewer, public: str, etag: Etag | None, patch: ScorePatch) -> Found:
    """Only its owner decides who may see a score."""
    needs: Role = "editor" if patch.access is None else "owner"
    return await _change(scores, viewer, public, etag, needs, lambda found: _patched(found, patch))


@optimistic_update()
async def _change(
    scores: Scores,
    viewer: Viewer,
    public: str,
    etag: Etag | None,
    needs: Role,
    change: Callable[[Found], Changed],
) -> Found:
    found = await find_score(scores, viewer, public, needs)
    check_state(scores, found.row, etag)
    return await write_changed(scores, found, change(found))


async def write_changed(scores: Scores, found: Found, changed: Changed) -> Found:
    """In one transaction with a new ETag."""
    now = scores.now()
    row = replace(changed.row, etag=Etag(new_stored_id()), changed_at=now, locked_since=0, locked_until=0)
    data = row.data
    main = Update(
        SCORE.table,
        SCORE.key(owner=row.owner, score_id=row.score_id),
        [
            assign("e", row.etag),
            assign("ua", now),
            assign("xs", 0),
            assign("xt", 0),
            assign("as", row.access),
            # Place by place: a stroke may have added an annotation since we read.
            assign(("d", "t"), data.title),
            assign(("d", "d"), data.description),
            assign(("d", "pc"), data.page_count),
            assign(("d", "pi"), data.next_page),
            assign(("d", "p"), msgspec.to_builtins(data.pages)),
        ],
        unlocked(found.row, now),
    )
    extra = changed.extra
    writes = [main, SCORE_CARD.put(card_of(row, extra)), *changed.writes]
    if extra != found.extra:
        writes.append(SCORE_EXTRA.put(extra))
    await scores.tables.transact(writes)
    after = Found(row=row, extra=extra, people=found.people, role=found.role)
    # Who saw it while it was public is told, too.
    for each in (found, after) if found.row.access != row.access else (after,):
        await tell_onlookers(
            scores, each, ScoreChangedEvent(score_id=public_id(row.score_id), etag=row.etag), visitors="all"
        )
    return after


def check_state(scores: Scores, row: ScoreRow, etag: Etag | None) -> None:
    """Raises if the score is no longer what the caller has read, or is being changed. None is whatever it is."""
    if etag is not None and row.etag != etag:
        raise ScoreChanged("The score was changed since you read it. Read it again, then decide.", etag=row.etag)
    if row.locked_until > scores.now():
        raise ScoreLocked("Another change of this score is being made. Try again in a moment.")


def unlocked(row: ScoreRow, now: int) -> Condition:
    """The score is the one that was read, and nobody holds its lock."""
    return (attr("e") == row.etag) & (attr("xt") <= now)


def _patched(found: Found, patch: ScorePatch) -> Changed:
    row, extra = found.row, found.extra
    if patch.title is not None:
        row = replace(row, data=replace(row.data, title=check_title(patch.title)))
    if patch.description is not None:
        row = replace(row, data=replace(row.data, description=check_description(patch.description)))
    if patch.access is not None:
        row = replace(row, access="pu" if patch.access == "public" else "pr")
    if patch.composer is not None:
        extra = replace(extra, composer=check_composer(patch.composer))
    if patch.tags is not None:
        extra = replace(extra, tags=check_tags(patch.tags))
    pages = {page.page_id for page in row.data.pages}
    if patch.movements is not None:
        extra = replace(extra, movements=_movements(patch.movements, pages))
    if patch.parts is not None:
        extra = _with_parts(extra, patch.parts, pages)
    if patch.jumps is not None:
        extra = replace(extra, jumps=_jumps(patch.jumps, pages))
    return Changed(row=row, extra=extra)


def _movements(written: Sequence[Movement], pages: set[PageId]) -> list[Movement]:
    if len(written) > MAX_MOVEMENTS or any(each.page_id not in pages for each in written):
        raise ChoiceUnfit(f"Name up to {MAX_MOVEMENTS} movements, each with a page of this score.", field="movements")
    return [replace(each, name=check_part_name(each.name, "movements")) for each in written]


def _with_parts(extra: ScoreExtraRow, written: Sequence[NewPart], pages: set[PageId]) -> ScoreExtraRow:
    known = {part.part_id for part in extra.parts}
    given = [each.part_id for each in written if each.part_id is not None]
    shown = {page for each in written for page in each.page_ids}
    if len(written) > MAX_PARTS or len(set(given)) < len(given) or not set(given) <= known or not shown <= pages:
        raise ChoiceUnfit(
            f"Give up to {MAX_PARTS} parts, each once, with pages of this score. A new part has no id.", field="parts"
        )
    parts: list[Part] = []
    next_part = extra.next_part
    for each in written:
        part_id = each.part_id
        if part_id is None:
            part_id, next_part = next_part, next_part + 1
        name = check_part_name(each.name, "parts")
        parts.append(Part(part_id=part_id, name=name, page_ids=[PageId(page) for page in each.page_ids]))
    return replace(extra, parts=parts, next_part=next_part)


def _jumps(written: Sequence[Jump], pages: set[PageId]) -> list[Jump]:
    on_pages = all({each.page_id, each.to_page_id} <= pages for each in written)
    in_page = all(0 <= number <= PAGE_EDGE for each in written for number in (each.x, each.y, each.to_y))
    if len(written) > MAX_JUMPS or not on_pages or not in_page:
        raise ChoiceUnfit(
            f"Give up to {MAX_JUMPS} jumps between pages of this score, at places from 0 to {PAGE_EDGE}.",
            field="jumps",
        )
    return [replace(each, label=one_line(each.label)[:MAX_LABEL]) for each in written]
