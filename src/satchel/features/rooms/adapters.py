"""What rooms offer to other slices: rooms that links lead to, and their files and people for transfers.

A link to a room leads its visitor to the page where they join, with the code.
"""

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
    RoomRow,
    decode_file,
    decode_person,
    encode,
)
from satchel.features.rooms.service.context import Rooms, find_owned, find_room, open_room, state_of
from satchel.features.rooms.service.room_code import link_key
from satchel.features.rooms.service.room_files import complete, find_file, remove_file, tell_of_file
from satchel.features.rooms.service.room_open import list_owned
from satchel.kernel.errors import Forbidden, NotFound
from satchel.kernel.handed_file import HandedFile
from satchel.kernel.linked import FILES_PAGE, LinkedFile, LinkedFiles, LinkedThing
from satchel.kernel.searched import Finding, Findings, Seeker, Words
from satchel.stores.ports.ephemeral import Get, HashAll, HashDelete, HashGet, HashPut


@dataclass(frozen=True, slots=True)
class LinkedRooms:
    """Open rooms as link targets. Only people in a room see its contents."""

    rooms: Rooms

    async def describe(self, owner_id: str, thing_id: str, *, counted: bool = False) -> LinkedThing | None:
        """Describe a room. The code is only in `goto`, which is for visitors who have entered the link.

        A room without a name is shown by its code, so here it has no name.
        """
        del counted
        room = await self._find(owner_id, thing_id)
        if room is None:
            return None
        return LinkedThing(
            name="" if room.name == room.code else room.name, goto=f"/join/{room.code}#{link_key(self.rooms, room)}"
        )

    async def names(self, owner_id: str, thing_ids: Sequence[str]) -> dict[str, str]:
        found = [await self._find(owner_id, thing_id) for thing_id in thing_ids]
        return {room.room_id: room.name for room in found if room is not None}

    async def files(self, owner_id: str, thing_id: str, cursor: str | None, limit: int = FILES_PAGE) -> LinkedFiles:
        del owner_id, thing_id, cursor, limit
        return LinkedFiles([], None)

    async def file(self, owner_id: str, thing_id: str, file_id: str) -> LinkedFile | None:
        del owner_id, thing_id, file_id
        return None

    async def _find(self, owner_id: str, room_id: str) -> RoomRow | None:
        try:
            return await find_owned(self.rooms, RoomId(room_id), PersonId(owner_id))
        except (NotFound, Forbidden):
            return None


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


@dataclass(frozen=True, slots=True)
class RoomFiles:
    """Files of rooms, for the transfers slice."""

    rooms: Rooms

    async def audience(self, room_id: str, person_id: str) -> Audience:
        """The people in a room, for one of them."""
        room = await find_room(self.rooms, RoomId(room_id), PersonId(person_id))
        people = await self.rooms.ephemeral.run(HashAll(PEOPLE(room_id=room_id)))
        rows = {each: decode_person(row) for each, row in people.items()}
        return Audience(room.name, room.owner_id, [Party(each, row.name, row.kind) for each, row in rows.items()])

    async def lend(self, room_id: str, person_id: str, file_ids: Sequence[str]) -> list[HandedFile]:
        """The files in the order of the ids, each once. `NotFound` unless this person sees all of them."""
        found = [
            await find_file(self.rooms, RoomId(room_id), PersonId(person_id), FileId(file_id))
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
                modified_at=file.row.modified_at,
                executable=file.row.executable,
            )
            for file in found
        ]

    async def mark_handed(self, room_id: str, file_ids: Sequence[str], transfer_id: str) -> None:
        """Mark each file with its transfer and its place in there. A deleted file is skipped."""
        places = {file_id: place for place, file_id in enumerate(dict.fromkeys(file_ids))}
        for file in await _find_all(self.rooms, RoomId(room_id), list(places)):
            row = msgspec.structs.replace(file.row, transfer_id=transfer_id, place=places[file.file_id])
            files = FILES(room_id=room_id)
            _, sha256 = await self.rooms.ephemeral.together(
                HashPut(files, {file.file_id: encode(row)}), Get(FILE_HASH(file_id=file.file_id))
            )
            if sha256 is None:
                # Deleted since we read it: what we have just written must not bring it back.
                await self.rooms.ephemeral.run(HashDelete(files, file.file_id))
                continue
            await tell_of_file(self.rooms, msgspec.structs.replace(file, row=row))

    async def keys_of(self, room_id: str, file_ids: Sequence[str]) -> dict[str, str]:
        """The objects of the files that still exist, by file id. Empty once the room is gone."""
        return {file.file_id: file.key for file in await _find_all(self.rooms, RoomId(room_id), file_ids)}

    async def take_back(self, room_id: str, file_ids: Sequence[str], *, by: str, transfer_id: str) -> None:
        """Delete the files of a withdrawn transfer that its sender added and has not sent again."""
        for file in await _find_all(self.rooms, RoomId(room_id), file_ids):
            if file.row.by == by and file.row.transfer_id == transfer_id:
                await remove_file(self.rooms, file)


async def _find_all(rooms: Rooms, room_id: RoomId, file_ids: Sequence[str]) -> list[RoomFile]:
    """The files that exist, whoever may see them."""
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
class RoomSearch:
    """Finds one's own open rooms by name and letters, for the search over everything."""

    rooms: Rooms

    async def find(self, seeker: Seeker, words: Words, limit: int) -> Findings:
        owned = await list_owned(self.rooms, PersonId(seeker.user_id))
        found = [
            Finding(kind="room", id=each.room.room_id, name=each.room.name, detail=each.room.code)
            for each in owned
            if words.are_in(each.room.name, each.room.code)
        ]
        return Findings(found[:limit])
