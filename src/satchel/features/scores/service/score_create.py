"""Creates a score, and an owner's counters before the first one."""

from dataclasses import dataclass, field

from satchel.features.scores.item_records import ITEM_SUMMARY, ITEMS, ItemsRow, ItemSummaryRow
from satchel.features.scores.model import (
    VERSION,
    Access,
    Etag,
    OwnerId,
    ScoreId,
    TooManyScores,
    check_composer,
    check_description,
    check_tags,
    check_title,
    new_stored_id,
)
from satchel.features.scores.records import (
    SCORE,
    SCORE_CARD,
    SCORE_CREATED,
    SCORE_EXTRA,
    SCORE_OWNER,
    SCORE_SUMMARY,
    ScoreData,
    ScoreExtraRow,
    ScoreOwnerRow,
    ScoreRow,
    ScoreSummaryRow,
)
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.score_card import card_of
from satchel.stores.patterns.idempotency_key import IdempotencyKey
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.ports.expressions import add, assign, attr
from satchel.stores.ports.table import ConditionFailed, TransactionCancelled, Write

ABSENT = attr("o").absent()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewScore:
    """What is known of a score when it is created."""

    title: str
    composer: str = ""
    description: str = ""
    tags: list[str] = field(default_factory=list[str])
    access: Access = "private"


async def open_library(scores: Scores, owner: OwnerId) -> None:
    """Make the counters of an owner. Repeating it changes nothing."""
    now = scores.now()
    summary = ScoreSummaryRow(owner=owner, count=0, created_at=now, changed_at=now)
    items = ItemSummaryRow(owner=owner, size_bytes=0, count=0, created_at=now, changed_at=now)
    for item in (SCORE_SUMMARY.item(summary), ITEM_SUMMARY.item(items)):
        try:
            await scores.tables.put(SCORE.table, item, when=ABSENT)
        except ConditionFailed:
            continue


async def create_score(scores: Scores, owner: OwnerId, new: NewScore, *, idempotency_key: str | None) -> ScoreId:
    """A new score without pages. A repeated request with the same key finds the score that the first one made."""
    checked = NewScore(
        title=check_title(new.title),
        composer=check_composer(new.composer),
        description=check_description(new.description),
        tags=check_tags(new.tags),
        access=new.access,
    )
    score_id = ScoreId(new_stored_id())
    if idempotency_key is None:
        return await create_as(scores, owner, score_id, checked)
    key = IdempotencyKey(scores.ephemeral, SCORE_CREATED(owner=owner, key=idempotency_key))
    made = ScoreId(await key.claim(score_id) or score_id)
    try:
        return await create_as(scores, owner, made, checked)
    except TooManyScores:
        await key.release()
        raise


@optimistic_update()
async def create_as(scores: Scores, owner: OwnerId, score_id: ScoreId, new: NewScore) -> ScoreId:
    """Once for an id: if there is a score of this id already, that is it."""
    if await SCORE_OWNER.get(scores.tables, score_id=score_id) is not None:
        return score_id
    summary = await SCORE_SUMMARY.get(scores.tables, owner=owner)
    if summary is None or await ITEM_SUMMARY.get(scores.tables, owner=owner) is None:
        await open_library(scores, owner)
    try:
        await scores.tables.transact(_writes(scores, owner, score_id, new))
    except TransactionCancelled:
        found = await SCORE_SUMMARY.get(scores.tables, owner=owner)
        if found is not None and scores.most_scores and found.count >= scores.most_scores:
            raise TooManyScores(
                f"You have {found.count} scores, and may have {scores.most_scores}. Delete one first."
            ) from None
        raise
    return score_id


def _writes(scores: Scores, owner: OwnerId, score_id: ScoreId, new: NewScore) -> list[Write]:
    now = scores.now()
    row = ScoreRow(
        owner=owner,
        score_id=score_id,
        created_at=now,
        changed_at=now,
        access="pu" if new.access == "public" else "pr",
        etag=Etag(new_stored_id()),
        locked_since=0,
        locked_until=0,
        version=VERSION,
        snapshot_count=0,
        snapshots=[],
        data=ScoreData(
            title=new.title,
            description=new.description,
            page_count=0,
            next_page=0,
            pages=[],
            next_annotation=0,
            annotation_count=0,
            annotations=[],
        ),
    )
    extra = ScoreExtraRow(owner=owner, score_id=score_id, composer=new.composer, tags=new.tags)
    items = ItemsRow(
        owner=owner,
        score_id=score_id,
        created_at=now,
        changed_at=now,
        locked_since=0,
        locked_until=0,
        version=VERSION,
        size_bytes=0,
        count=0,
        items=[],
    )
    room = attr("c") < scores.most_scores if scores.most_scores else attr("c").exists()
    return [
        SCORE_SUMMARY.update([add("c", 1), assign("ua", now)], when=room, owner=owner),
        SCORE.put(row, when=ABSENT),
        ITEMS.put(items, when=ABSENT),
        SCORE_EXTRA.put(extra),
        SCORE_OWNER.put(ScoreOwnerRow(score_id=score_id, owner=owner), when=ABSENT),
        SCORE_CARD.put(card_of(row, extra)),
    ]
