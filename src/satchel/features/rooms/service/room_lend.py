"""What transfers need of rooms: whom a file can be handed to, where its bytes are, and what became of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from satchel.features.rooms.model import FileId, Kind, PersonId, RoomId, is_id, is_room_id
from satchel.features.rooms.records import (
    FILE_HASH,
    FILES,
    PEOPLE,
    FileRow,
    RoomFile,
    decode_file,
    decode_person,
    encode,
)
from satchel.features.rooms.service.context import Rooms, find_room, open_room, state_of
from satchel.features.rooms.service.room_files import complete, find_file, take_away, tell_of_file
from satchel.kernel.handed_file import HandedFile
from satchel.stores.ports.ephemeral import Get, HashAll, HashDelete, HashGet, HashPut


@dataclass(frozen=True, slots=True)
class Party:
    """Somebody in a room."""

    person_id: str
    name: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Audience:
    """A room and everybody in it."""

    name: str
    owner_id: str
    people: list[Party]


async def audience(rooms: Rooms, room_id: str, person_id: str) -> Audience:
    """Who is in a room, for somebody who is."""
    room = await find_room(rooms, RoomId(room_id), PersonId(person_id))
    people = await rooms.ephemeral.run(HashAll(PEOPLE(room_id=room_id)))
    rows = {each: decode_person(row) for each, row in people.items()}
    return Audience(room.name, room.owner_id, [Party(each, row.name, row.kind) for each, row in rows.items()])


async def lend(rooms: Rooms, room_id: str, person_id: str, file_ids: Sequence[str]) -> list[HandedFile]:
    """The files in the order asked, each once; `NotFound` unless this person sees all of them."""
    found = [
        await find_file(rooms, RoomId(room_id), PersonId(person_id), FileId(file_id))
        for file_id in dict.fromkeys(file_ids)
    ]
    return [
        HandedFile(
            file_id=file.file_id,
            name=file.name,
            folder=file.row.folder,
            size_bytes=file.row.size_bytes,
            sha256=file.sha256,
            content_type=file.row.content_type,
            key=file.key,
            to=file.row.to,
        )
        for file in found
    ]


async def mark_handed(rooms: Rooms, room_id: str, file_ids: Sequence[str], transfer_id: str) -> None:
    """Say on each file by which transfer it was handed over, in which place; one that is gone is passed over."""
    places = {file_id: place for place, file_id in enumerate(dict.fromkeys(file_ids))}
    for file in await _find_all(rooms, RoomId(room_id), list(places)):
        row = msgspec.structs.replace(file.row, transfer_id=transfer_id, place=places[file.file_id])
        files = FILES(room_id=room_id)
        _, sha256 = await rooms.ephemeral.together(
            HashPut(files, {file.file_id: encode(row)}), Get(FILE_HASH(file_id=file.file_id))
        )
        if sha256 is None:
            # Taken away since we looked: what we have just written must not bring it back.
            await rooms.ephemeral.run(HashDelete(files, file.file_id))
            continue
        await tell_of_file(rooms, msgspec.structs.replace(file, row=row))


async def keys_of(rooms: Rooms, room_id: str, file_ids: Sequence[str]) -> dict[str, str]:
    """Where the bytes stand of those files that are still there, by file id; none once the room is gone."""
    return {file.file_id: file.key for file in await _find_all(rooms, RoomId(room_id), file_ids)}


async def take_back(rooms: Rooms, room_id: str, file_ids: Sequence[str], *, by: str, transfer_id: str) -> None:
    """Take files away whose transfer was withdrawn: those that its sender brought and has not handed over again."""
    for file in await _find_all(rooms, RoomId(room_id), file_ids):
        if file.row.by == by and file.row.transfer_id == transfer_id:
            await take_away(rooms, file)


async def _find_all(rooms: Rooms, room_id: RoomId, file_ids: Sequence[str]) -> list[RoomFile]:
    """Those of the files that are there, whoever may see them."""
    wanted = [FileId(file_id) for file_id in dict.fromkeys(file_ids) if is_id(file_id)]
    if not is_room_id(room_id) or not wanted:
        return []
    fields, due, *found = await rooms.ephemeral.together(
        *state_of(room_id), *(HashGet(FILES(room_id=room_id), file_id) for file_id in wanted)
    )
    if open_room(rooms, room_id, fields, due) is None:
        return []
    rows: dict[FileId, FileRow] = {
        file_id: decode_file(row) for file_id, row in zip(wanted, found, strict=True) if row is not None
    }
    return await complete(rooms, room_id, rows)


@dataclass(frozen=True, slots=True)
class Lending:
    """All of this for a slice that knows no rooms."""

    rooms: Rooms

    async def audience(self, room_id: str, person_id: str) -> Audience:
        return await audience(self.rooms, room_id, person_id)

    async def lend(self, room_id: str, person_id: str, file_ids: Sequence[str]) -> list[HandedFile]:
        return await lend(self.rooms, room_id, person_id, file_ids)

    async def mark_handed(self, room_id: str, file_ids: Sequence[str], transfer_id: str) -> None:
        await mark_handed(self.rooms, room_id, file_ids, transfer_id)

    async def keys_of(self, room_id: str, file_ids: Sequence[str]) -> dict[str, str]:
        return await keys_of(self.rooms, room_id, file_ids)

    async def take_back(self, room_id: str, file_ids: Sequence[str], *, by: str, transfer_id: str) -> None:
        await take_back(self.rooms, room_id, file_ids, by=by, transfer_id=transfer_id)
