"""States views and downloads of files that others added to a room, so that they can be counted."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Literal

from satchel.features.rooms.model import Kind, PersonId, RoomId
from satchel.features.rooms.records import SEEN, RoomFile
from satchel.features.rooms.service.context import Rooms
from satchel.kernel.counted import Counted, counted_as
from satchel.outbox import CountedDownload
from satchel.stores.ports.ephemeral import Put

# Within this time, all range requests of a film count as one view.
ONE_LOOK = timedelta(hours=12)


async def archive_download(
    rooms: Rooms, room_id: RoomId, files: Iterable[RoomFile], person_id: PersonId, kind: Kind
) -> CountedDownload | None:
    """An archive counts as one download for each sender of its files."""
    of_others = {file.row.by: file for file in files if _is_others(file, person_id)}.values()
    uses = [await _use(rooms, file, person_id, kind, "download") for file in of_others]
    return CountedDownload(rooms.outbox, person_id, f"archive:{room_id}", 1, uses) if uses else None


async def file_download(rooms: Rooms, file: RoomFile, person_id: PersonId, kind: Kind) -> CountedDownload | None:
    """A file counts once every byte went to somebody else."""
    if not _is_others(file, person_id):
        return None
    use = await _use(rooms, file, person_id, kind, "download")
    return CountedDownload(rooms.outbox, person_id, file.file_id, file.row.size_bytes, [use])


async def note_view(rooms: Rooms, file: RoomFile, person_id: PersonId, kind: Kind) -> None:
    if not _is_others(file, person_id):
        return
    seen = SEEN(file_id=file.file_id, person_id=person_id)
    if await rooms.ephemeral.run(Put(seen, b"1", ttl=ONE_LOOK, only_if_absent=True)):
        await rooms.events.publish(await _use(rooms, file, person_id, kind, "view"))


def _is_others(file: RoomFile, person_id: PersonId) -> bool:
    """Whether the file is somebody else's. Files that were sent are counted by their transfer."""
    return file.row.by != person_id and file.row.transfer_id is None


async def _use(
    rooms: Rooms, file: RoomFile, person_id: PersonId, kind: Kind, use: Literal["view", "download"]
) -> Counted:
    is_member = await rooms.people.by_id(file.row.by) is not None
    return Counted(
        user_id=counted_as(person_id, kind),
        kind=use,
        owner=counted_as(file.row.by, "member" if is_member else "guest"),
        thing=f"room:{file.room_id}",
    )
