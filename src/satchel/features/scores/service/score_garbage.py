"""Garbage collection of the bytes that a crash has left: those of items that no score has, and of scores that are gone.

An upload stores its bytes and enters the item a moment later. So only what is older than a day is looked at.
"""

import re
from collections.abc import Sequence
from datetime import timedelta

from satchel.features.scores.model import ItemId, OwnerId, ScoreId, read_id
from satchel.features.scores.records import ITEMS, OBJECTS_PREFIX, SCORE_SWEEP
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.score_delete import forget_rows
from satchel.media.records import source_of
from satchel.stores.patterns.sweep_cursor import SweepCursor, sweep_objects
from satchel.stores.ports.objects import MAX_LIST, ObjectInfo

ABANDONED_AFTER = timedelta(days=1)
_KEY = re.compile(rf"{OBJECTS_PREFIX}(?P<owner>[^/]+)/(?P<score>[^/]+)/item/(?P<item>[^/]+)/.+")


async def sweep_scores(scores: Scores, look_at: int = MAX_LIST) -> int:
    """Check the next thousand objects, on any server, and delete orphans. Returns how many."""

    async def find_garbage(objects: Sequence[ObjectInfo]) -> list[str]:
        now = scores.clock()
        old = [info for info in objects if now - info.modified.timestamp() > ABANDONED_AFTER.total_seconds()]
        garbage = [info.key for info in old if not await _is_needed(scores, info.key)]
        # A picture has a row as well, which only its source names.
        await scores.pictures.delete(sorted({source_of(key) or key for key in garbage}))
        return garbage

    cursor = SweepCursor(scores.ephemeral, SCORE_SWEEP())
    return await sweep_objects(scores.objects, OBJECTS_PREFIX, cursor, find_garbage, limit=look_at)


async def _is_needed(scores: Scores, key: str) -> bool:
    found = _KEY.fullmatch(source_of(key) or key)
    score_id, item_id = (read_id(found["score"]), read_id(found["item"])) if found else (None, None)
    if found is None or score_id is None or item_id is None:
        return True
    owner = OwnerId(found["owner"])
    items = await ITEMS.get(scores.tables, owner=owner, score_id=ScoreId(score_id))
    if items is None:
        await forget_rows(scores, owner, ScoreId(score_id))
        return False
    return any(each.item_id == ItemId(item_id) for each in items.items)
