"""Garbage collection of the bytes that a crash has left: those of items that no score has, and of scores that are gone.

An upload stores its bytes and enters the item a moment later. So only what is older than a day is looked at.
"""

import re
from collections.abc import Sequence
from datetime import timedelta

from satchel.features.scores.item_records import ITEMS
from satchel.features.scores.model import OwnerId, ScoreId, read_id
from satchel.features.scores.records import OBJECTS_PREFIX, SCORE_SWEEP, SNAPSHOT
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.score_delete import forget_rows
from satchel.media.records import source_of
from satchel.stores.patterns.sweep_cursor import SweepCursor, sweep_objects
from satchel.stores.ports.objects import MAX_LIST, ObjectInfo

ABANDONED_AFTER = timedelta(days=1)
_KEY = re.compile(
    rf"{OBJECTS_PREFIX}(?P<owner>[^/]+)/(?P<score>[^/]+)/(item/(?P<item>[^/]+)/.+|snapshot/(?P<snapshot>[^/]+)\.json)"
)


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
    """Whether the score and its item or snapshot are there. Of a score that is gone, nothing else stays."""
    found = _KEY.fullmatch(source_of(key) or key)
    score_id = read_id(found["score"]) if found else None
    if found is None or score_id is None:
        return True
    place = (OwnerId(found["owner"]), ScoreId(score_id))
    items = await ITEMS.get(scores.tables, owner=place[0], score_id=place[1])
    if items is None:
        await forget_rows(scores, *place)
        return False
    if found["item"] is not None:
        return any(each.item_id == read_id(found["item"]) for each in items.items)
    snapshot_id = read_id(found["snapshot"]) or ""
    return await SNAPSHOT.get(scores.tables, owner=place[0], score_id=place[1], snapshot_id=snapshot_id) is not None
