"""Garbage collection of originals that a crash has left: objects that no location names.

An upload stores its bytes and enters their location a moment later. An object that has none after a day belongs to an
upload that broke off; whoever repeats it stores its bytes anew.
"""

import re
from collections.abc import Sequence
from datetime import timedelta

from satchel.features.albums.model import media_id_of
from satchel.features.albums.records import LOCATION, OBJECTS_PREFIX, PHOTO_SWEEP
from satchel.features.albums.service.photos_context import Photos
from satchel.stores.patterns.sweep_cursor import SweepCursor, sweep_objects
from satchel.stores.ports.objects import MAX_LIST, ObjectInfo

ABANDONED_AFTER = timedelta(days=1)
_KEY = re.compile(rf"{OBJECTS_PREFIX}(?P<owner>[^/]+)/[^/]+/(?P<sha256>[0-9a-f]{{64}})\.[0-9a-z]+")


async def sweep_photos(photos: Photos, look_at: int = MAX_LIST) -> int:
    """Check the next thousand objects, on any server, and delete orphans. Returns how many."""

    async def find_garbage(objects: Sequence[ObjectInfo]) -> list[str]:
        old = [
            info
            for info in objects
            if photos.albums.clock() - info.modified.timestamp() > ABANDONED_AFTER.total_seconds()
        ]
        places = [(info, place) for info in old if (place := _KEY.fullmatch(info.key))]
        keys = [
            LOCATION.key(owner=place["owner"], media_id=media_id_of(place["sha256"], info.size_bytes))
            for info, place in places
        ]
        rows = await photos.albums.tables.get_many(LOCATION.table, keys)
        return [
            info.key
            for (info, _), row in zip(places, rows, strict=True)
            if row is None or LOCATION.read(row).key != info.key
        ]

    cursor = SweepCursor(photos.albums.ephemeral, PHOTO_SWEEP())
    return await sweep_objects(photos.objects, OBJECTS_PREFIX, cursor, find_garbage, limit=look_at)
