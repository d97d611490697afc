"""Deletes a score with all that belongs to it. After one transaction nobody sees it; then its rows and bytes go.

Rows go before bytes. So whoever is interrupted leaves at least one object, by which the garbage collection finds the
rest.
"""

from satchel.features.scores.events import ScoreDeletedEvent
from satchel.features.scores.item_records import ITEM_SUMMARY, ITEMS
from satchel.features.scores.model import OwnerId, ScoreId, public_id
from satchel.features.scores.records import SCORE, SCORE_CARD, SCORE_OWNER, SCORE_PEOPLE, SCORE_SUMMARY, score_prefix
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.page_set import read_items, still_there
from satchel.features.scores.service.score_find import Found, Viewer, find_score
from satchel.features.scores.service.score_presence import tell_onlookers
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.patterns.partition_delete import delete_partition
from satchel.stores.ports.expressions import add, assign
from satchel.stores.ports.table import Delete, Write


async def delete_score(scores: Scores, viewer: Viewer, public: str) -> Found:
    """The score as it was."""
    found = await _take_away(scores, viewer, public)
    await forget_rows(scores, found.owner, found.score_id)
    await scores.pictures.delete_below(score_prefix(found.owner, found.score_id))
    await tell_onlookers(scores, found, ScoreDeletedEvent(score_id=public), visitors="all")
    return found


@optimistic_update()
async def _take_away(scores: Scores, viewer: Viewer, public: str) -> Found:
    found = await find_score(scores, viewer, public, "owner")
    items = await read_items(scores, found)
    now, owner, score_id = scores.now(), found.owner, found.score_id
    for email, role in found.people.items():
        grant = scores.grants.delete(found.owner, email, f"score:{role}", public_id(found.score_id))
        await scores.tables.transact([grant])
    still = still_there(items)
    writes: list[Write] = [
        Delete(SCORE.table, SCORE.key(owner=owner, score_id=score_id)),
        SCORE_PEOPLE.delete(owner=owner, score_id=score_id),
        SCORE_CARD.delete(owner=owner, score_id=score_id),
        SCORE_OWNER.delete(score_id=found.score_id),
        SCORE_SUMMARY.update([add("c", -1), assign("ua", now)], owner=owner),
        Delete(ITEMS.table, ITEMS.key(owner=owner, score_id=score_id), still.when),
        ITEM_SUMMARY.update(
            [add("t", -items.size_bytes), add("c", -items.count), assign("ua", now)], owner=found.owner
        ),
    ]
    await scores.tables.transact(writes)
    return found


async def forget_rows(scores: Scores, owner: OwnerId, score_id: ScoreId) -> None:
    """Everything at keys that begin with the id of a score that is gone."""
    partition = SCORE.keys["o"].render({"owner": owner})
    await delete_partition(scores.tables, SCORE.table, partition, f"{score_id}:")
