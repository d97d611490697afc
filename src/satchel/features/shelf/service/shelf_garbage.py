"""Garbage collection of shelf bytes that a crash has left: objects and rows that no file and no upload refers to.

An upload writes the row of its bytes before their object, and refers to that row on condition that it is unchanged. So
an object that its row does not name is an orphan for good. Deleting a row without references makes a concurrent upload
store its bytes once more, under another key. Nothing here depends on how long anything takes.

Rows without an object are found by a row that is written together with them, and due a day later.
"""

import re
from collections.abc import Sequence
from datetime import timedelta

from satchel.features.shelf.model import EntryId
from satchel.features.shelf.records import BLOB, DUE, OBJECTS_PREFIX, SWEEP, BlobRow, DueRow
from satchel.features.shelf.service.context import Shelf
from satchel.kernel.clock import from_iso, iso
from satchel.kernel.ids import new_id
from satchel.media.records import source_of
from satchel.stores.patterns.optimistic_update import NEW
from satchel.stores.patterns.sweep_cursor import SweepCursor, sweep_objects
from satchel.stores.ports.expressions import attr
from satchel.stores.ports.objects import MAX_LIST, ObjectInfo
from satchel.stores.ports.table import ConditionFailed, Write

# A grace period, so that an upload seldom has to store its bytes twice.
ABANDONED_AFTER = timedelta(days=1)
# Bytes, or a picture of them.
_KEY = re.compile(rf"{OBJECTS_PREFIX}(?P<user_id>[^/]+)/(?P<sha256>[0-9a-f]{{64}})\.(?P<object_id>[0-9a-z]+)(\..+)?")


async def sweep_shelves(shelf: Shelf, look_at: int = MAX_LIST) -> int:
    """Check the next thousand objects, on any server, and delete orphans. Returns how many."""

    async def find_garbage(objects: Sequence[ObjectInfo]) -> list[str]:
        places = [place for info in objects if (place := _KEY.fullmatch(info.key))]
        keys = [BLOB.key(user_id=place["user_id"], sha256=place["sha256"]) for place in places]
        rows = await shelf.tables.get_many(BLOB.table, keys)
        lost = [
            place[0]
            for place, row in zip(places, rows, strict=True)
            if row is None or await _is_lost(shelf, BLOB.read(row), place["object_id"])
        ]
        # A picture has a row as well, which only its source names.
        await shelf.pictures.delete([source for key in lost if (source := source_of(key))])
        return lost

    cursor = SweepCursor(shelf.ephemeral, SWEEP())
    return await sweep_objects(shelf.objects, OBJECTS_PREFIX, cursor, find_garbage, limit=look_at)


async def _is_lost(shelf: Shelf, blob: BlobRow, object_id: str) -> bool:
    if blob.object_id != object_id:
        return True
    return await _give_up(shelf, blob)


async def _give_up(shelf: Shelf, blob: BlobRow) -> bool:
    """Delete the row of bytes to which nothing has referred for a day. Whether that was so."""
    age = shelf.clock() - from_iso(blob.created_at)
    if blob.references > 0 or age < ABANDONED_AFTER.total_seconds():
        return False
    given_up = BLOB.delete(
        when=(attr("objectId") == blob.object_id) & (attr("references") == 0),
        user_id=blob.user_id,
        sha256=blob.sha256,
    )
    try:
        await shelf.tables.delete(given_up.table, given_up.key, when=given_up.when)
    except ConditionFailed:
        return False
    return True


def announcing(shelf: Shelf, blobs: Sequence[BlobRow]) -> list[Write]:
    """The writes of new rows of bytes, and of the one that finds them again should nothing come of them."""
    due = DueRow(
        user_id=blobs[0].user_id,
        entry_id=EntryId(new_id(shelf.clock)),
        kind="bytes",
        due=iso(shelf.clock() + ABANDONED_AFTER.total_seconds()),
        digests=[blob.sha256 for blob in blobs],
    )
    return [*(BLOB.put(blob, when=NEW) for blob in blobs), DUE.put(due)]


async def settle_announced(shelf: Shelf, due: DueRow) -> None:
    """Delete those rows of bytes to which nothing refers by now. Their objects, if any, are orphans then."""
    keys = [BLOB.key(user_id=due.user_id, sha256=sha256) for sha256 in due.digests]
    for item in await shelf.tables.get_many(BLOB.table, keys):
        if item is not None:
            await _give_up(shelf, BLOB.read(item))
    await shelf.tables.delete(DUE.table, DUE.key(user_id=due.user_id, entry_id=due.entry_id))
