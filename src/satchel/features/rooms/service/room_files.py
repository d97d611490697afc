"""Files of a room: find, list and delete those that a person may see."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from satchel.features.rooms.events import RoomFileCame, RoomFileGone
from satchel.features.rooms.model import MAX_FILES, FileId, FileView, PersonId, RoomId, is_id, is_room_id
from satchel.features.rooms.records import (
    FILE_HASH,
    FILE_NAME,
    FILES,
    MEMBERS,
    NAMES,
    FileRow,
    RoomFile,
    decode_file,
)
from satchel.features.rooms.service.context import Rooms, find_room, missing, open_room, state_of
from satchel.features.rooms.service.file_journal import JournalEntry
from satchel.features.rooms.service.membership import tell_people
from satchel.features.rooms.service.room_blobs import release
from satchel.kernel.errors import Forbidden, NotFound
from satchel.kernel.names import FileName
from satchel.media.pictures import PictureView
from satchel.stores.ports.ephemeral import Delete, Get, HashAll, HashDelete, HashGet, SetAll, SetHas, SetRemove

_TOGETHER = 500


@dataclass(frozen=True, slots=True)
class FilePage:
    """A page of the files of a room, and the cursor of the next: time and id of the last file."""

    files: list[RoomFile]
    cursor: str | None


async def list_files(
    rooms: Rooms, room_id: RoomId, person_id: PersonId, *, limit: int = MAX_FILES, cursor: str | None = None
) -> FilePage:
    """The files that this person may see, the oldest first."""
    await find_room(rooms, room_id, person_id)
    rows = await rooms.ephemeral.run(HashAll(FILES(room_id=room_id)))
    visible = {FileId(file_id): row for file_id, each in rows.items() if is_for(row := decode_file(each), person_id)}
    places = sorted(place for file_id, row in visible.items() if (place := f"{row.at} {file_id}") > (cursor or ""))
    page = [FileId(place.rpartition(" ")[2]) for place in places[:limit]]
    found = await complete(rooms, room_id, {file_id: visible[file_id] for file_id in page})
    return FilePage(found, places[limit - 1] if len(places) > limit else None)


async def find_file(rooms: Rooms, room_id: RoomId, person_id: PersonId, file_id: FileId) -> RoomFile:
    """A file, for a person who may see it. For everybody else it does not exist."""
    if not is_room_id(room_id) or not is_id(file_id):
        raise missing()
    fields, due, is_in, found, sha256, name = await rooms.ephemeral.together(
        *state_of(room_id),
        SetHas(MEMBERS(room_id=room_id), person_id),
        HashGet(FILES(room_id=room_id), file_id),
        Get(FILE_HASH(file_id=file_id)),
        Get(FILE_NAME(file_id=file_id)),
    )
    if not is_in or open_room(rooms, room_id, fields, due) is None:
        raise missing()
    if found is None or sha256 is None or name is None or not is_for(row := decode_file(found), person_id):
        raise NotFound("This room has no such file.")
    return RoomFile(room_id=room_id, file_id=file_id, name=name.decode(), sha256=sha256.decode(), row=row)


async def delete_file(rooms: Rooms, room_id: RoomId, person_id: PersonId, file_id: FileId) -> None:
    """Delete a file. Only its sender and the owner of the room may."""
    room = await find_room(rooms, room_id, person_id)
    file = await find_file(rooms, room_id, person_id, file_id)
    if person_id not in (file.row.by, room.owner_id):
        raise Forbidden("Only the person who added this file, or the owner of the room, can delete it.")
    await remove_file(rooms, file)


async def remove_file(rooms: Rooms, file: RoomFile) -> None:
    """Delete a file. Of several concurrent callers, one finds the file and releases its bytes."""
    entry = JournalEntry(rooms, file.room_id, file.file_id)
    row, claim = file.row, claim_of(FileName(file.name), file.row)
    was_there, *_ = await rooms.ephemeral.together(
        HashDelete(FILES(room_id=file.room_id), file.file_id),
        Delete(FILE_HASH(file_id=file.file_id)),
        Delete(FILE_NAME(file_id=file.file_id)),
        entry.write(sha256=file.sha256, object_id=row.object_id, size_bytes=row.size_bytes, holds=True, claim=claim),
        rooms.changing(file.room_id),
    )
    if not was_there:
        await rooms.ephemeral.run(entry.delete())
        return
    # Only now: for the others the name may already belong to a newer file.
    await rooms.ephemeral.together(SetRemove(NAMES(room_id=file.room_id), claim), entry.write(claim=""))
    await release(rooms, file.room_id, file.sha256, row.object_id, row.size_bytes, entry)
    await tell_people(rooms, await _viewers(rooms, file), RoomFileGone(room_id=file.room_id, file_id=file.file_id))


async def complete(rooms: Rooms, room_id: RoomId, rows: Mapping[FileId, FileRow]) -> list[RoomFile]:
    """The files with their names and hashes. A file that is deleted meanwhile is left out."""
    found: list[RoomFile] = []
    wanted = list(rows.items())
    for start in range(0, len(wanted), _TOGETHER):
        part = wanted[start : start + _TOGETHER]
        hashes = [Get(FILE_HASH(file_id=file_id)) for file_id, _ in part]
        names = [Get(FILE_NAME(file_id=file_id)) for file_id, _ in part]
        answers: Sequence[bytes | None] = await rooms.ephemeral.together(*hashes, *names)
        for (file_id, row), sha256, name in zip(part, answers[: len(part)], answers[len(part) :], strict=True):
            if sha256 is not None and name is not None:
                found.append(
                    RoomFile(room_id=room_id, file_id=file_id, name=name.decode(), sha256=sha256.decode(), row=row)
                )
    return found


async def tell_of_file(rooms: Rooms, file: RoomFile) -> None:
    (shown,) = await file_views(rooms, [file])
    event = RoomFileCame(room_id=file.room_id, file=shown)
    await tell_people(rooms, await _viewers(rooms, file), event)


async def file_views(rooms: Rooms, files: Sequence[RoomFile]) -> list[FileView]:
    """What people see of these, with their pictures."""
    pictures = await rooms.pictures.describe(files)
    return [_file_view(rooms, file, pictures.get(file.key)) for file in files]


def _file_view(rooms: Rooms, file: RoomFile, picture: PictureView | None) -> FileView:
    row = file.row
    return FileView(
        file_id=file.file_id,
        name=file.name,
        folder=row.folder,
        size_bytes=row.size_bytes,
        content_type=row.content_type,
        sha256=file.sha256,
        by=row.by,
        by_name=row.by_name,
        at=row.at,
        modified_at=row.modified_at or None,
        executable=row.executable,
        previewable=rooms.preview_of(file.name, row.content_type),
        picture=picture,
        to=row.to,
        transfer_id=row.transfer_id,
        place=row.place,
    )


def is_for(row: FileRow, person_id: PersonId) -> bool:
    return row.to is None or person_id in (row.to, row.by)


def claim_of(name: FileName, row: FileRow) -> str:
    """The member of the set of names. A private file is only for two people, so it takes no name from others."""
    between = f"{row.by} {row.to}" if row.to else ""
    return "/".join((between, row.folder, name))


async def _viewers(rooms: Rooms, file: RoomFile) -> frozenset[str]:
    members = await rooms.ephemeral.run(SetAll(MEMBERS(room_id=file.room_id)))
    return members if file.row.to is None else members & {file.row.by, file.row.to}
