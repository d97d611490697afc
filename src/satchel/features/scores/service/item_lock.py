"""The lock of the items of a score: begin, do what has to be done beside, then commit if it is still ours.

A lock that its holder leaves behind ends by itself. Who then takes it has another beginning, so a late holder fails.
"""

from contextlib import suppress

import msgspec

from satchel.features.scores.item_records import ITEMS, ItemsRow
from satchel.features.scores.model import OwnerId, ScoreId
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.score_find import unknown
from satchel.stores.patterns.optimistic_update import StaleRead
from satchel.stores.ports.expressions import assign, attr
from satchel.stores.ports.table import ConditionFailed, Put

# How long a lock is believed in, and by when its holder has to have done what it does beside: milliseconds.
LOCKED_FOR = 10_000
SIDE_WRITES_FOR = 5_000


async def begin(scores: Scores, owner: OwnerId, score_id: ScoreId) -> ItemsRow:
    """The items, locked by us. `StaleRead` while somebody else holds the lock."""
    now = scores.now()
    try:
        item = await scores.tables.update(
            ITEMS.table,
            ITEMS.key(owner=owner, score_id=score_id),
            [assign("xs", now), assign("xt", now + LOCKED_FOR)],
            when=attr("xt") <= now,
        )
    except ConditionFailed:
        if await ITEMS.get(scores.tables, owner=owner, score_id=score_id) is None:
            raise unknown() from None
        raise StaleRead from None
    return ITEMS.read(item)


def commit(scores: Scores, locked: ItemsRow, new: ItemsRow) -> Put:
    """The write that ends the lock, with the sums of the new list."""
    now = scores.now()
    row = msgspec.structs.replace(
        new,
        size_bytes=sum(item.size_bytes for item in new.items),
        count=len(new.items),
        changed_at=now,
        locked_since=0,
        locked_until=0,
    )
    return ITEMS.put(row, when=(attr("xs") == locked.locked_since) & (attr("xt") > now))


async def release(scores: Scores, locked: ItemsRow) -> None:
    """Give the lock back without a change."""
    with suppress(ConditionFailed):
        await scores.tables.update(
            ITEMS.table,
            ITEMS.key(owner=locked.owner, score_id=locked.score_id),
            [assign("xs", 0), assign("xt", 0)],
            when=attr("xs") == locked.locked_since,
        )
