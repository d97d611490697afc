"""Adds a file to a room: an upload, or a copy from a person's shelf.

The bytes are stored first, then a name is claimed, then one step adds the file and reads whether the room is still open
and its sender still in it. If not, everything is undone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from satchel.features.rooms.model import (
    ALWAYS_FILES,
    MAX_FILES,
    MAX_FILES_OF_ONE,
    MAX_PATH_BYTES,
    FileId,
    PathTooLong,
    PersonId,
    RoomId,
    is_id,
    is_room_id,
)
from satchel.features.rooms.records import (
    FILE_HASH,
    FILE_NAME,
    FILES,
    MEMBERS,
    NAMES,
    OWNED,
    PEOPLE,
    FileRow,
    RoomFile,
    decode_file,
    decode_person,
    encode,
)
from satchel.features.rooms.service.context import Rooms, find_room, missing, open_room, state_of
from satchel.features.rooms.service.file_journal import JournalEntry
from satchel.features.rooms.service.room_blobs import Content, hold, no_space, no_space_in_all, release
from satchel.features.rooms.service.room_files import claim_of, complete, remove_file, tell_of_file
from satchel.features.rooms.service.room_repair import repair_file
from satchel.kernel.errors import Conflict, NotFound, SatchelError
from satchel.kernel.names import NAMELESS, FileName, kept_name, kept_numbered
from satchel.stores.object_rules import known_content_type
from satchel.stores.ports.ephemeral import HashGet, HashPut, Put, SetAdd, SetAll, SetHas, SetRemove, SetSize


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """A file that is being added: its id, its bytes, and its metadata."""

    room_id: RoomId
    file_id: FileId
    by: PersonId
    to: PersonId | None
    folders: Sequence[FileName]
    content: Content
    content_type: str
    modified_at: str = ""
    executable: bool = False
    # Of a copy from a shelf: what it has in common with the others of its request.
    seed: str = ""


async def check_file(
    rooms: Rooms, room_id: RoomId, by: PersonId, to: PersonId | None, folders: Sequence[FileName], size_bytes: int
) -> None:
    """Refuse a file before its upload begins. Whether it fits is checked again when it has arrived."""
    room = await find_room(rooms, room_id, by)
    await check_receiver(rooms, room_id, by, to)
    joined_path(folders)
    if rooms.quota_bytes is not None and room.used_bytes + size_bytes > rooms.quota_bytes:
        raise no_space(rooms)
    if await rooms.ephemeral.run(SetSize(NAMES(room_id=room_id))) >= MAX_FILES:
        raise no_space(rooms)


async def keep_upload(rooms: Rooms, brought: Brought) -> RoomFile:
    """Make a file of an upload and delete the uploaded object. Idempotent: a repeat returns the same file.

    `NotFound`, of the room, its sender in it or the bytes, is final.
    """
    file = await bring_once(rooms, brought)
    await rooms.objects.delete(brought.content.key)
    return file


async def bring_once(rooms: Rooms, brought: Brought) -> RoomFile:
    """Add a file, unless an earlier attempt has. Only one caller at a time may try."""
    file = await _find_again(rooms, brought)
    if file is None:
        await repair_file(rooms, brought.room_id, brought.file_id)
        file = await bring(rooms, brought)
    return file


async def bring(rooms: Rooms, brought: Brought) -> RoomFile:
    owner_id, sender = await _find_sender(rooms, brought)
    content = brought.content
    entry = JournalEntry(rooms, brought.room_id, brought.file_id)
    object_id = await hold(rooms, brought.room_id, content, entry)
    row = FileRow(
        folder=joined_path(brought.folders),
        size_bytes=content.size_bytes,
        content_type=known_content_type(brought.content_type),
        object_id=object_id,
        by=brought.by,
        by_name=sender,
        at=rooms.now(),
        to=brought.to,
        modified_at=brought.modified_at,
        executable=brought.executable,
        seed=brought.seed,
    )
    try:
        wanted = kept_name(content.name) or NAMELESS
        name = await _claim_name(rooms, brought.room_id, owner_id, wanted, row, entry)
    except SatchelError:
        await release(rooms, brought.room_id, content.sha256, object_id, content.size_bytes, entry)
        raise
    file = RoomFile(room_id=brought.room_id, file_id=brought.file_id, name=name, sha256=content.sha256, row=row)
    await _enter(rooms, file, entry)
    await rooms.pictures.make([file])
    await tell_of_file(rooms, file)
    return file


async def _enter(rooms: Rooms, file: RoomFile, entry: JournalEntry) -> None:
    fields, due, is_in, *_ = await rooms.ephemeral.together(
        *state_of(file.room_id),
        SetHas(MEMBERS(room_id=file.room_id), file.row.by),
        Put(FILE_HASH(file_id=file.file_id), file.sha256.encode()),
        Put(FILE_NAME(file_id=file.file_id), file.name.encode()),
        HashPut(FILES(room_id=file.room_id), {file.file_id: encode(file.row)}),
        entry.delete(),
    )
    if not is_in or open_room(rooms, file.room_id, fields, due) is None:
        await remove_file(rooms, file)
        raise missing()


async def _find_again(rooms: Rooms, brought: Brought) -> RoomFile | None:
    found = await rooms.ephemeral.run(HashGet(FILES(room_id=brought.room_id), brought.file_id))
    rows = {brought.file_id: decode_file(found)} if found is not None else {}
    return next(iter(await complete(rooms, brought.room_id, rows)), None)


async def _find_sender(rooms: Rooms, brought: Brought) -> tuple[PersonId, str]:
    """The owner of the room, and the name of the sender, if they are in it."""
    if not is_room_id(brought.room_id):
        raise missing()
    fields, due, sender = await rooms.ephemeral.together(
        *state_of(brought.room_id), HashGet(PEOPLE(room_id=brought.room_id), brought.by)
    )
    room = open_room(rooms, brought.room_id, fields, due)
    if sender is None or room is None:
        raise missing()
    return room.owner_id, decode_person(sender).name


async def _claim_name(
    rooms: Rooms, room_id: RoomId, owner_id: PersonId, wanted: FileName, row: FileRow, entry: JournalEntry
) -> FileName:
    """Claim the name, or the first free numbered one. Each file has one, so their number is the number of files."""
    names = NAMES(room_id=room_id)
    name = wanted
    while True:
        claim = claim_of(name, row)
        is_new, size, _ = await rooms.ephemeral.together(SetAdd(names, claim), SetSize(names), entry.write(claim=claim))
        is_full = size > MAX_FILES
        others_are_full = size > ALWAYS_FILES and await _files_of(rooms, owner_id) > MAX_FILES_OF_ONE
        if is_new and (is_full or others_are_full):
            await rooms.ephemeral.together(SetRemove(names, claim), entry.write(claim=""))
            raise no_space(rooms) if is_full else no_space_in_all(rooms)
        if is_new:
            return name
        taken = await rooms.ephemeral.run(SetAll(names))
        free = (kept_numbered(wanted, number) for number in count(1))
        name = next(each for each in free if claim_of(each, row) not in taken)


async def _files_of(rooms: Rooms, owner_id: PersonId) -> int:
    """How many files all rooms of an owner have."""
    owned = await rooms.ephemeral.run(SetAll(OWNED(person_id=owner_id)))
    sizes = await rooms.ephemeral.together(*(SetSize(NAMES(room_id=RoomId(each))) for each in owned)) if owned else ()
    return sum(sizes)


async def check_receiver(rooms: Rooms, room_id: RoomId, by: PersonId, to: PersonId | None) -> None:
    if to is None:
        return
    if to == by:
        raise Conflict("You cannot send to yourself. Choose somebody else in the room.")
    if not is_id(to) or not await rooms.ephemeral.run(SetHas(MEMBERS(room_id=room_id), to)):
        raise NotFound("This person is not in the room.")


def joined_path(folders: Sequence[FileName]) -> str:
    """The folders as one text. Raises `PathTooLong`."""
    path = "/".join(folders)
    if len(path.encode()) > MAX_PATH_BYTES:
        raise PathTooLong(f"Folder names can have at most {MAX_PATH_BYTES} bytes together. Shorten them.")
    return path
