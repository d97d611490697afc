"""Garbage collection of originals and pictures that a crash has left: those that no location names.

An upload stores its bytes and enters their location a moment later. An object that has none after a day belongs to an
upload that broke off; whoever repeats it stores its bytes anew. A picture is garbage if its original is.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from satchel.features.albums.media_records import LOCATION, OBJECTS_PREFIX
from satchel.features.albums.model import media_id_of
from satchel.features.albums.records import PHOTO_SWEEP
from satchel.features.albums.service.photo_keys import place_of
from satchel.features.albums.service.photos_context import Photos
from satchel.media.records import source_of
from satchel.stores.patterns.sweep_cursor import SweepCursor, sweep_objects
from satchel.stores.ports.objects import MAX_LIST, ObjectInfo, ObjectMissing

ABANDONED_AFTER = timedelta(days=1)


async def sweep_photos(photos: Photos, look_at: int = MAX_LIST) -> int:
    """Check the next thousand objects, on any server, and delete orphans. Returns how many."""

    async def find_garbage(objects: Sequence[ObjectInfo]) -> list[str]:
        now = photos.albums.clock()
        old = [info for info in objects if now - info.modified.timestamp() > ABANDONED_AFTER.total_seconds()]
        sources = {info.key: source_of(info.key) or info.key for info in old}
        found = await _lost(photos, await _sizes(photos, objects, set(sources.values())))
        # A picture has a row as well, which only its source names.
        await photos.pictures.delete(sorted(found))
        return [key for key, source in sources.items() if source in found]

    cursor = SweepCursor(photos.albums.ephemeral, PHOTO_SWEEP())
    return await sweep_objects(photos.objects, OBJECTS_PREFIX, cursor, find_garbage, limit=look_at)


async def _sizes(photos: Photos, objects: Sequence[ObjectInfo], sources: set[str]) -> dict[str, int | None]:
    """How long these originals are; None for one that is gone. An original is listed just before its picture."""
    listed = {info.key: info.size_bytes for info in objects}
    return {source: listed[source] if source in listed else await _size(photos, source) for source in sources}


async def _size(photos: Photos, source: str) -> int | None:
    try:
        return (await photos.objects.head(source)).size_bytes
    except ObjectMissing:
        return None


async def _lost(photos: Photos, sizes: Mapping[str, int | None]) -> set[str]:
    """Those of these originals that are gone, or that no location names."""
    places = [
        (source, LOCATION.key(owner=place.owner, media_id=media_id_of(place.sha256, size or 0)))
        for source, size in sizes.items()
        if (place := place_of(source))
    ]
    rows = await photos.albums.tables.get_many(LOCATION.table, [key for _, key in places])
    return {
        source
        for (source, _), row in zip(places, rows, strict=True)
        if sizes[source] is None or row is None or LOCATION.read(row).key != source
    }
