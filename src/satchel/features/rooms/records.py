"""What is stored of a room: every key of the ephemeral store, declared once, and the objects of its files.

The keys `roomToken`, `userId` and `file` are the seed's. What stands in them for a room is its id, never its letters
(decision 11). All of them but `SEEN`, `SWEEP`, `SHARE_LEASE` and `OPEN_LEASE` are durable. None ends by itself
but leases, idempotency keys and the letters of a room that is over: whether a room is over is said by its row, and
whoever closes it takes everything else away.

The bytes are stored at `room/<room id>/<sha256>.<object id>`. While `room:…:bytes:…` names an object, that object
exists. A new reference increments `refs` and reads the name in one step. When a count returns to 0, one step deletes
the name and reads the count again: if it is still 0, nobody can ever refer to that object again, so deleting it,
however late, is safe.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from satchel.features.rooms.model import Admits, Ending, FileId, Kind, Message, PersonId, RoomCode, RoomId
from satchel.stores.schema import EphemeralKey, EphemeralKind

OBJECTS_PREFIX = "room/"
# A field of the hash of a room.
CHAT_BYTES = "chat_bytes"


def _key(
    pattern: str, kind: EphemeralKind, about: str, *, durable: bool = True, essential: bool = False, **more: Any
) -> EphemeralKey:
    return EphemeralKey(pattern, kind, owner="rooms", about=about, durable=durable, essential=essential, **more)


def _needed_object(fields: Mapping[str, str], object_id: bytes) -> str:
    return object_key(RoomId(fields["room_id"]), object_name(fields["sha256"], object_id.decode()))


MEMBERS = _key("roomToken:{room_id}", "set", "Who is in a room: ids of people")
WHEREABOUTS = _key("userId:{person_id}", "value", "The room that a person is in, if the set of that room has them")
FILE_HASH = _key("file:{file_id}:hash", "value", "SHA-256 of a file in a room")
FILE_NAME = _key("file:{file_id}:filename", "value", "Name of a file in a room")
CODE = _key("roomCode:{code}", "value", "Five letters → room id; empty for a day after that room's end", essential=True)
ROOMS = _key(
    "rooms", "hash", "Room id → when it ends; of one that has ended, when to clean it up again", essential=True
)
ENDING = _key(
    "room-due:{span}", "set", "Ids of rooms that may have to be closed or cleaned up in this minute", essential=True
)
ENDED = _key("rooms-looked", "value", "Up to which of these minutes somebody looked", essential=True)
REPAIRS = _key(
    "room-repairs:{span}", "set", "Ids of rooms to be looked at in these minutes for what a crash left", essential=True
)
REPAIRED = _key("rooms-repaired", "value", "Up to which of these minutes somebody looked", essential=True)
LISTED = _key(
    "rooms-listed", "value", "That every room stands in both lists, those of earlier versions too", essential=True
)
OWNED = _key("rooms:{person_id}", "set", "Ids of the rooms that a person has opened")
ROOM = _key(
    "room:{room_id}",
    "hash",
    "What a room is: code, name, owner, lock, used bytes, and whether it is closed",
    essential=True,
)
PEOPLE = _key("room:{room_id}:people", "hash", "Person id → name, kind, when they joined")
CALLED = _key("room:{room_id}:called", "hash", "Id of a member who is or was in the room → their name there")
KNOCKS = _key("room:{room_id}:knocks", "hash", "Person id → who waits to be admitted, since when, from which room")
REMOVED = _key("room:{room_id}:removed", "set", "Ids of people who were removed", essential=True)
CHAT = _key("room:{room_id}:chat", "list", "Chat messages, the last first")
FILES = _key("room:{room_id}:files", "hash", "File id → its metadata, without hash and name")
NAMES = _key("room:{room_id}:names", "set", "Names in use, each with its folder and receiver")
BYTES = _key(
    "room:{room_id}:bytes:{sha256}",
    "value",
    "The object that has these bytes",
    needs=_needed_object,
)
REFS = _key(
    "room:{room_id}:refs", "hash", "`<sha256>.<object id>` → how many files refer to that object", essential=True
)
FILE_JOURNAL = _key(
    "room:{room_id}:underway",
    "hash",
    "Journal of adding and deleting files: what each operation holds",
    essential=True,
)
SHARES = _key(
    "room:{room_id}:shares", "hash", "`<person id> <idempotency key>` → seed of the ids of copies from a shelf"
)
SHARE_LEASE = _key(
    "sharing-in-room:{room_id}:{person_id}",
    "value",
    "The lease of the request that copies from a shelf under a key; ends soon",
    durable=False,
)
OPENED = _key("room-opened:{person_id}:{key}", "value", "Idempotency key of a person → the room that it became")
OPEN_LEASE = _key(
    "opening-room:{person_id}",
    "value",
    "The lease of the request that opens a room under a key; ends soon",
    durable=False,
)
SAID = _key("said:{room_id}:{person_id}:{key}", "value", "Idempotency key of a chat message, for ten minutes")
REPAIR_LEASE = _key(
    "room:{room_id}:mending", "value", "The lease of the server that repairs a room after a crash; ends soon"
)
SEEN = _key(
    "seen-in-room:{file_id}:{person_id}",
    "value",
    "That a view of a file was counted, for half a day",
    durable=False,
)
SWEEP = _key(
    "sweep:rooms", "value", "Cursor of the garbage collection: the object that it looked at last", durable=False
)
EPHEMERAL_KEYS = (
    *(MEMBERS, WHEREABOUTS, FILE_HASH, FILE_NAME, CODE, ROOMS, ENDING, ENDED, REPAIRS, REPAIRED, LISTED),
    *(OWNED, ROOM),
    *(PEOPLE, CALLED, KNOCKS, REMOVED, CHAT, FILES, NAMES, BYTES, REFS, FILE_JOURNAL, SHARES),
    *(SHARE_LEASE, REPAIR_LEASE, OPENED, OPEN_LEASE, SAID),
    *(SEEN, SWEEP),
)


class RoomRow(msgspec.Struct, frozen=True, kw_only=True):
    """A room. Of a closed one little more is left than when and why it was closed."""

    room_id: RoomId
    code: RoomCode
    name: str
    owner_id: PersonId
    opened_at: str
    expires_at: str
    admits: Admits = "anyone"
    locked: bool = False
    used_bytes: int = 0
    chat_bytes: int = 0
    closed_at: str = ""
    ending: Ending = "closed"


class PersonRow(msgspec.Struct, frozen=True, kw_only=True):
    """A person in a room, with the name they had when they joined."""

    name: str
    kind: Kind
    joined_at: str


class KnockRow(msgspec.Struct, frozen=True, kw_only=True):
    """A person who waits to be admitted, and the room they were in when they knocked."""

    name: str
    kind: Kind
    at: str
    came_from: str = ""


class FileRow(msgspec.Struct, frozen=True, kw_only=True):
    """A file in a room without its hash and name. With `to`, only that person and its sender see it."""

    folder: str
    size_bytes: int
    content_type: str
    object_id: str
    by: PersonId
    by_name: str
    at: str
    to: PersonId | None = None
    transfer_id: str | None = None
    place: int | None = None
    modified_at: str = ""
    executable: bool = False
    seed: str = ""


class JournalRow(msgspec.Struct, frozen=True, kw_only=True):
    """A journal entry of adding or deleting a file: an object, which it `holds` or has released, and a name."""

    file_id: FileId
    at: str
    sha256: str = ""
    object_id: str = ""
    size_bytes: int = 0
    holds: bool = False
    claim: str = ""


class RoomFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file in a room with its hash and name."""

    room_id: RoomId
    file_id: FileId
    name: str
    sha256: str
    row: FileRow

    @property
    def key(self) -> str:
        return object_key(self.room_id, object_name(self.sha256, self.row.object_id))

    @property
    def content_type(self) -> str:
        return self.row.content_type

    @property
    def path(self) -> str:
        return f"{self.row.folder}/{self.name}" if self.row.folder else self.name


encode = msgspec.json.Encoder().encode
decode_person = msgspec.json.Decoder(PersonRow).decode
decode_knock = msgspec.json.Decoder(KnockRow).decode
decode_file = msgspec.json.Decoder(FileRow).decode
decode_journal = msgspec.json.Decoder(JournalRow).decode
decode_message = msgspec.json.Decoder(Message).decode


def room_fields(**changes: str | bool) -> dict[str, bytes]:
    """Fields of the hash of a room, as `read_room` reads them."""
    return {name: (value if isinstance(value, str) else str(int(value))).encode() for name, value in changes.items()}


def read_room(room_id: RoomId, fields: Mapping[str, bytes], due: bytes | None) -> RoomRow | None:
    """None if the room does not exist. What a late change left behind does not count as a room."""
    if due is None or not fields.keys() >= {"owner_id", "opened_at"}:
        return None
    texts = {name: value.decode() for name, value in fields.items()}
    return msgspec.convert(
        {"code": "", "name": "", **texts, "room_id": room_id, "expires_at": due.decode()}, RoomRow, strict=False
    )


def object_name(sha256: str, object_id: str) -> str:
    return f"{sha256}.{object_id}"


def object_key(room_id: RoomId, name: str) -> str:
    return f"{OBJECTS_PREFIX}{room_id}/{name}"
