"""Publishes views and downloads of files that others added to a room, so that they can be counted."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Literal

from satchel.features.rooms.model import Kind, PersonId
from satchel.features.rooms.records import SEEN, WENT, RoomFile
from satchel.features.rooms.service.context import Rooms
from satchel.kernel.counted import Counted, counted_as
from satchel.kernel.coverage import Span
from satchel.stores.patterns.covered_download import downloads_made
from satchel.stores.ports.ephemeral import Put

# Within this time, all range requests of a film count as one view.
ONE_LOOK = timedelta(hours=12)


async def note_downloads(rooms: Rooms, files: Iterable[RoomFile], person_id: PersonId, kind: Kind) -> None:
    """An archive counts as one download for each sender of its files."""
    for file in {file.row.by: file for file in files if _is_others(file, person_id)}.values():
        await _state(rooms, file, person_id, kind, "download")


async def note_sent(rooms: Rooms, file: RoomFile, person_id: PersonId, kind: Kind, span: Span) -> None:
    """Some bytes of a file went to somebody. It counts once all have."""
    if _is_others(file, person_id):
        went = WENT(person_id=person_id)
        if await downloads_made(rooms.ephemeral, went, file.file_id, span, file.row.size_bytes):
            await _state(rooms, file, person_id, kind, "download")


async def note_view(rooms: Rooms, file: RoomFile, person_id: PersonId, kind: Kind) -> None:
    if not _is_others(file, person_id):
        return
    seen = SEEN(file_id=file.file_id, person_id=person_id)
    if await rooms.ephemeral.run(Put(seen, b"1", ttl=ONE_LOOK, only_if_absent=True)):
        await _state(rooms, file, person_id, kind, "view")


def _is_others(file: RoomFile, person_id: PersonId) -> bool:
    """Whether the file is somebody else's. Files that were sent are counted by their transfer."""
    return file.row.by != person_id and file.row.transfer_id is None


async def _state(
    rooms: Rooms, file: RoomFile, person_id: PersonId, kind: Kind, use: Literal["view", "download"]
) -> None:
    is_member = await rooms.people.by_id(file.row.by) is not None
    await rooms.events.publish(
        Counted(
            user_id=counted_as(person_id, kind),
            kind=use,
            owner=counted_as(file.row.by, "member" if is_member else "guest"),
            thing=f"room:{file.room_id}",
        )
    )
