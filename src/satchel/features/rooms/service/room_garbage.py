"""Garbage collection of room bytes that a crash has left: of rooms that are gone, and without references."""

import re
from collections.abc import Sequence
from datetime import timedelta

from satchel.features.rooms.model import RoomId
from satchel.features.rooms.records import OBJECTS_PREFIX, REFS, ROOMS, SWEEP
from satchel.features.rooms.service.context import Rooms
from satchel.media.records import source_of
from satchel.stores.patterns.sweep_cursor import SweepCursor, sweep_objects
from satchel.stores.ports.ephemeral import HashGet
from satchel.stores.ports.objects import MAX_LIST, ObjectInfo

# An object is counted before it is stored, and its room exists before that. So this is only for clocks that differ.
ABANDONED_AFTER = timedelta(hours=1)
# Bytes, or a picture of them.
_KEY = re.compile(rf"{OBJECTS_PREFIX}(?P<room_id>[0-9a-z]{{26}})/(?P<name>[0-9a-f]{{64}}\.[0-9a-z]+)(\..+)?")


async def sweep_room_bytes(rooms: Rooms, look_at: int = MAX_LIST) -> int:
    """Check the next thousand objects, on any server, and delete orphans. Returns how many."""

    async def find_garbage(objects: Sequence[ObjectInfo]) -> list[str]:
        lost = [info.key for info in objects if await _is_lost(rooms, info)]
        # A picture has a row as well, which only its source names.
        await rooms.pictures.delete([source for key in lost if (source := source_of(key))])
        return lost

    cursor = SweepCursor(rooms.ephemeral, SWEEP())
    return await sweep_objects(rooms.objects, OBJECTS_PREFIX, cursor, find_garbage, limit=look_at)


async def _is_lost(rooms: Rooms, info: ObjectInfo) -> bool:
    found = _KEY.fullmatch(info.key)
    if found is None or rooms.clock() - info.modified.timestamp() < ABANDONED_AFTER.total_seconds():
        return False
    room_id = RoomId(found["room_id"])
    room, count = await rooms.ephemeral.together(
        HashGet(ROOMS(), room_id), HashGet(REFS(room_id=room_id), found["name"])
    )
    return room is None or count is None
