"""Makes, deletes and restores snapshots. A snapshot pins the items that it shows."""

from collections.abc import Sequence

import msgspec

from satchel.features.scores.events import ScoreChangedEvent, ScoreLayersEvent
from satchel.features.scores.layer_records import LAYER, LayerRow
from satchel.features.scores.model import (
    MAX_SNAPSHOTS,
    Etag,
    Role,
    ScoreLocked,
    SnapshotId,
    SnapshotUnknown,
    TooManySnapshots,
    check_part_name,
    new_stored_id,
    public_id,
    read_id,
)
from satchel.features.scores.records import (
    SCORE,
    SCORE_CARD,
    SCORE_EXTRA,
    SNAPSHOT,
    SNAPSHOT_CREATED,
    SnapshotEntry,
    SnapshotRow,
    snapshot_key,
)
from satchel.features.scores.service import annotations, snapshot_content
from satchel.features.scores.service.annotations import as_read
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.mark_read import may_see
from satchel.features.scores.service.score_card import card_of
from satchel.features.scores.service.score_change import check_state
from satchel.features.scores.service.score_find import Found, Viewer, WholeScore, find_score, read_whole
from satchel.features.scores.service.score_news import news_of
from satchel.features.scores.service.score_presence import tell_onlookers
from satchel.features.scores.service.snapshot_content import SnapshotContent
from satchel.features.scores.service.snapshot_restore import restored_marks
from satchel.kernel.errors import Forbidden
from satchel.stores.patterns.idempotency_key import IdempotencyKey
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.ports.expressions import Action, append, assign, attr
from satchel.stores.ports.table import Write

replace = msgspec.structs.replace
_MAX_NAME = 64


async def create_snapshot(
    scores: Scores, viewer: Viewer, public: str, name: str, *, idempotency_key: str | None
) -> SnapshotEntry:
    """A retry with the same key is the same snapshot."""
    checked, snapshot_id = check_part_name(name, "name"), SnapshotId(new_stored_id())
    key = None
    if idempotency_key is not None:
        place = SNAPSHOT_CREATED(person=viewer.user_id, score_id=read_id(public) or "", key=idempotency_key)
        key = IdempotencyKey(scores.ephemeral, place)
        if (made := await key.made()) is not None:
            return find_entry(await find_score(scores, viewer, public, "editor"), public_id(SnapshotId(made)))
        snapshot_id = SnapshotId(await key.reserve(snapshot_id))
    found, entry = await _snapshot(scores, viewer, public, snapshot_id, checked, None)
    if key is not None:
        await key.confirm(snapshot_id)
    await _tell(scores, found)
    return entry


async def delete_snapshot(scores: Scores, viewer: Viewer, public: str, snapshot: str) -> None:
    found, snapshot_id = await _delete(scores, viewer, public, snapshot)
    await scores.objects.delete(snapshot_key(found.owner, found.score_id, snapshot_id))
    await _tell(scores, found)


async def read_snapshot(scores: Scores, viewer: Viewer, public: str, snapshot: str) -> tuple[Found, SnapshotContent]:
    found = await find_score(scores, viewer, public)
    entry = find_entry(found, snapshot)
    return found, await snapshot_content.get_content(scores, found.owner, found.score_id, entry.snapshot_id)


async def restore_snapshot(scores: Scores, viewer: Viewer, public: str, etag: Etag | None, snapshot: str) -> Found:
    """The score as it was, with the marks of layers that the viewer sees. What it is now becomes a snapshot first."""
    found, content = await read_snapshot(scores, viewer, public, snapshot)
    name = f"Before “{find_entry(found, snapshot).name}”"
    kept, _ = await _snapshot(scores, viewer, public, SnapshotId(new_stored_id()), name[:_MAX_NAME], etag)
    after = await _restore(scores, viewer, public, kept.row.etag, content)
    await _tell(scores, after)
    await tell_onlookers(scores, after, ScoreLayersEvent(score_id=public), visitors="all")
    return after


def find_entry(found: Found, snapshot: str) -> SnapshotEntry:
    wanted = read_id(snapshot)
    for entry in found.row.snapshots:
        if entry.snapshot_id == wanted:
            return entry
    raise SnapshotUnknown("This score has no such snapshot.")


async def read_editable(scores: Scores, viewer: Viewer, public: str) -> WholeScore:
    whole = await read_whole(scores, viewer, public)
    editors: tuple[Role, ...] = ("owner", "editor")
    if whole.found.role not in editors:
        raise Forbidden("Only editors of a score keep and restore its states. Ask its owner.")
    return whole


@optimistic_update()
async def _snapshot(
    scores: Scores, viewer: Viewer, public: str, snapshot_id: SnapshotId, name: str, etag: Etag | None
) -> tuple[Found, SnapshotEntry]:
    """Unless it is there already. What a refused one has stored, the garbage collection finds."""
    whole = await read_editable(scores, viewer, public)
    found, row = whole.found, whole.found.row
    if (there := next((each for each in row.snapshots if each.snapshot_id == snapshot_id), None)) is not None:
        return found, there
    check_state(scores, row, etag)
    if row.snapshot_count >= MAX_SNAPSHOTS:
        raise TooManySnapshots(f"A score has up to {MAX_SNAPSHOTS} snapshots. Delete one first.")
    now = scores.now()
    entry = SnapshotEntry(snapshot_id=snapshot_id, name=name, created_at=now)
    await snapshot_content.put_content(scores, found, entry.snapshot_id, snapshot_content.content_of(whole))
    new = replace(
        row,
        snapshots=[*row.snapshots, entry],
        snapshot_count=row.snapshot_count + 1,
        etag=Etag(new_stored_id()),
        changed_at=now,
    )
    pinned = SnapshotRow(
        owner=row.owner,
        score_id=row.score_id,
        snapshot_id=entry.snapshot_id,
        item_ids=sorted({page.item_id for page in row.data.pages}),
    )
    actions = [append("n", [msgspec.to_builtins(entry)]), assign("nc", new.snapshot_count)]
    await scores.tables.transact([_main(scores, found, new.etag, actions), SNAPSHOT.put(pinned)])
    return Found(row=new, extra=found.extra, people=found.people, role=found.role), entry


@optimistic_update()
async def _delete(scores: Scores, viewer: Viewer, public: str, snapshot: str) -> tuple[Found, SnapshotId]:
    found = await find_score(scores, viewer, public, "editor")
    entry = find_entry(found, snapshot)
    check_state(scores, found.row, None)
    left = [each for each in found.row.snapshots if each.snapshot_id != entry.snapshot_id]
    new = replace(found.row, snapshots=left, snapshot_count=len(left), etag=Etag(new_stored_id()))
    actions = [assign("n", msgspec.to_builtins(left)), assign("nc", len(left))]
    gone = SNAPSHOT.delete(owner=found.owner, score_id=found.score_id, snapshot_id=entry.snapshot_id)
    await scores.tables.transact([_main(scores, found, new.etag, actions), gone])
    return Found(row=new, extra=found.extra, people=found.people, role=found.role), entry.snapshot_id


def _main(scores: Scores, found: Found, etag: Etag, actions: Sequence[Action]) -> Write:
    now = scores.now()
    always = [assign("e", etag), assign("ua", now), assign("xs", 0), assign("xt", 0)]
    when = as_read(found.row) & (attr("xt") <= now)
    return SCORE.update([*actions, *always], when=when, owner=found.owner, score_id=found.score_id)


@optimistic_update(gives_up=lambda: ScoreLocked("This score is being changed. Try again in a moment."))
async def _restore(scores: Scores, viewer: Viewer, public: str, etag: Etag, content: SnapshotContent) -> Found:
    whole = await read_editable(scores, viewer, public)
    found = whole.found
    check_state(scores, found.row, etag)
    then = snapshot_content.as_found(found, content)
    # A part that was made since keeps its id for itself.
    extra = replace(then.extra, next_part=found.extra.next_part)
    data = then.row.data
    row = replace(found.row, data=data, etag=Etag(new_stored_id()), changed_at=scores.now())
    kept_layers = [layer for layer in snapshot_content.layer_rows(found, content) if may_see(layer, viewer)]
    planned, layers = restored_marks(whole, content, kept_layers)
    actions = [
        assign("e", row.etag),
        assign(("d", "t"), data.title),
        assign(("d", "d"), data.description),
        assign(("d", "pc"), data.page_count),
        assign(("d", "p"), msgspec.to_builtins(data.pages)),
    ]
    beside = [SCORE_EXTRA.put(extra), SCORE_CARD.put(card_of(row, extra)), *map(_put_layer, layers)]
    if (news := news_of([after for _, after in layers])) is not None:
        beside.append(news)
    await annotations.write_annotations(scores, planned, beside=beside, actions=actions)
    return Found(row=row, extra=extra, people=found.people, role=found.role)


def _put_layer(pair: tuple[LayerRow | None, LayerRow]) -> Write:
    before, after = pair
    if before is None:
        return LAYER.put(after, when=attr("o").absent())
    unchanged = attr("q") == before.seq if before.seq else attr("q").absent()
    return LAYER.put(after, when=unchanged)


async def _tell(scores: Scores, found: Found) -> None:
    event = ScoreChangedEvent(score_id=public_id(found.score_id), etag=found.row.etag)
    await tell_onlookers(scores, found, event, visitors="all")
