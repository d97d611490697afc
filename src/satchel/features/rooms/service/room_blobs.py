"""Stores equal bytes of a room once, with a reference count, and deletes them with the last reference.

`records.py` explains how counts and names of objects work together. A crash can leave a count that is too high, which
`room_repair` corrects, or an object that no count knows, which `room_garbage` deletes.
"""

from dataclasses import dataclass

from satchel.features.rooms.model import MAX_FILES, MAX_FILES_OF_ONE, RoomFullOfFiles, RoomId
from satchel.features.rooms.records import BYTES, REFS, ROOM, object_key, object_name
from satchel.features.rooms.service.context import Rooms
from satchel.features.rooms.service.file_journal import JournalEntry
from satchel.kernel.ids import new_id
from satchel.stores.ports.ephemeral import Command, Delete, Get, HashDelete, HashGet, HashIncrement, Put

USED_BYTES = "used_bytes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """Bytes at `key` that are to be stored in a room."""

    key: str
    name: str
    size_bytes: int
    sha256: str


async def hold(rooms: Rooms, room_id: RoomId, content: Content, entry: JournalEntry) -> str:
    """The object of the room with these bytes, with one more reference. It is stored first if it is missing."""
    while (object_id := await _hold_stored(rooms, room_id, content, entry)) is None:
        object_id = await _store(rooms, room_id, content, entry)
        place = BYTES(room_id=room_id, sha256=content.sha256)
        if await rooms.ephemeral.run(Put(place, object_id.encode(), only_if_absent=True)):
            return object_id
        # Somebody else stored the same bytes at the same time, and was first.
        await release(rooms, room_id, content.sha256, object_id, content.size_bytes, entry)
    return object_id


async def release(
    rooms: Rooms, room_id: RoomId, sha256: str, object_id: str, size_bytes: int, entry: JournalEntry
) -> None:
    """Release one reference to the object, and delete it after the last."""
    name = object_name(sha256, object_id)
    left, _ = await rooms.ephemeral.together(HashIncrement(REFS(room_id=room_id), name, -1), entry.write(holds=False))
    # Of several concurrent releases, one brings the count to 0, and only that one frees the space.
    if left <= 0:
        await free_unless_counted(rooms, room_id, sha256, object_id, size_bytes)
    await rooms.ephemeral.run(entry.delete())


async def free_unless_counted(rooms: Rooms, room_id: RoomId, sha256: str, object_id: str, size_bytes: int) -> None:
    """Delete the object, if it has no references and nobody else has deleted it."""
    refs, name = REFS(room_id=room_id), object_name(sha256, object_id)
    place = BYTES(room_id=room_id, sha256=sha256)
    count, named = await rooms.ephemeral.together(HashGet(refs, name), Get(place))
    if count is None or int(count) > 0:
        return
    if named == object_id.encode():
        _, left = await rooms.ephemeral.together(Delete(place), HashIncrement(refs, name, 0))
        if left > 0:
            return
    await rooms.objects.delete(object_key(room_id, name))
    await rooms.pictures.delete([object_key(room_id, name)])
    await rooms.ephemeral.together(
        HashDelete(refs, name), HashIncrement(ROOM(room_id=room_id), USED_BYTES, -size_bytes)
    )


async def _hold_stored(rooms: Rooms, room_id: RoomId, content: Content, entry: JournalEntry) -> str | None:
    place = BYTES(room_id=room_id, sha256=content.sha256)
    while (found := await rooms.ephemeral.run(Get(place))) is not None:
        object_id = found.decode()
        refs, name = REFS(room_id=room_id), object_name(content.sha256, object_id)
        named, count, *_ = await rooms.ephemeral.together(
            Get(place),
            HashIncrement(refs, name),
            _holding(entry, content, object_id),
            rooms.changing(room_id),
        )
        if named == found:
            return object_id
        # The last release has freed its space, unless that is us now.
        size_bytes = content.size_bytes if count > 1 else 0
        await release(rooms, room_id, content.sha256, object_id, size_bytes, entry)
    return None


async def _store(rooms: Rooms, room_id: RoomId, content: Content, entry: JournalEntry) -> str:
    object_id = new_id(rooms.clock)
    name = object_name(content.sha256, object_id)
    used, *_ = await rooms.ephemeral.together(
        HashIncrement(ROOM(room_id=room_id), USED_BYTES, content.size_bytes),
        HashIncrement(REFS(room_id=room_id), name),
        _holding(entry, content, object_id),
        rooms.changing(room_id),
    )
    try:
        if rooms.quota_bytes is not None and used > rooms.quota_bytes:
            raise no_space(rooms)
        await rooms.objects.copy(content.key, object_key(room_id, name), metadata={"original-name": content.name})
    except BaseException:
        await release(rooms, room_id, content.sha256, object_id, content.size_bytes, entry)
        raise
    return object_id


def _holding(entry: JournalEntry, content: Content, object_id: str) -> Command[int]:
    return entry.write(sha256=content.sha256, object_id=object_id, size_bytes=content.size_bytes, holds=True)


def no_space(rooms: Rooms) -> RoomFullOfFiles:
    return RoomFullOfFiles(
        "This room has no space left. Delete a file, or ask the owner to.",
        quota_bytes=rooms.quota_bytes,
        max_files=MAX_FILES,
    )


def no_space_in_all(rooms: Rooms) -> RoomFullOfFiles:
    return RoomFullOfFiles(
        f"The rooms of this room's owner have {MAX_FILES_OF_ONE:,} files together, the most that they may. Delete files"
        " in one of them, or close it.",
        quota_bytes=rooms.quota_bytes,
        max_files=MAX_FILES_OF_ONE,
    )
