"""What a server says of rooms, as far as the command reads it."""

from typing import Literal

import msgspec


class RoomPerson(msgspec.Struct, frozen=True):
    """Somebody who is in the room; `here` while one of their devices is connected."""

    person_id: str
    name: str
    kind: Literal["member", "guest"]
    is_owner: bool
    here: bool
    devices: list[str]
    joined_at: str


class Knock(msgspec.Struct, frozen=True):
    """Somebody who asks to be let in."""

    person_id: str
    name: str
    kind: Literal["member", "guest"]
    at: str


class Room(msgspec.Struct, frozen=True):
    """A room that we are in."""

    room_id: str
    code: str
    link: str
    name: str
    owner_id: str
    you: str
    is_owner: bool
    opened_at: str
    expires_at: str
    locked: bool
    admits: Literal["anyone", "knock"]
    used_bytes: int
    quota_bytes: int
    people: list[RoomPerson]
    knocks: list[Knock]


class Joined(msgspec.Struct, frozen=True):
    """The answer to a code: the room, or none while its owner has not let us in."""

    room: Room | None
    knocking: bool


class OwnRoom(msgspec.Struct, frozen=True):
    """A room that we opened, whether we are in it or not."""

    room_id: str
    code: str


class OwnRooms(msgspec.Struct, frozen=True):
    """All rooms that we opened."""

    rooms: list[OwnRoom]


class Message(msgspec.Struct, frozen=True):
    """What somebody said to everybody in the room."""

    message_id: str
    person_id: str
    name: str
    text: str
    at: str


class Chat(msgspec.Struct, frozen=True):
    """A page of what was said, oldest first."""

    messages: list[Message]
    more: bool


class RoomFile(msgspec.Struct, frozen=True):
    """A file in the room: for everybody, or from one to one. It has a place in a transfer once it was handed over."""

    file_id: str
    name: str
    folder: str
    size_bytes: int
    sha256: str
    by: str
    by_name: str
    at: str
    to: str | None = None
    transfer_id: str | None = None
    place: int | None = None

    @property
    def path(self) -> str:
        return f"{self.folder}/{self.name}" if self.folder else self.name


class RoomFiles(msgspec.Struct, frozen=True):
    """All files of a room that we may see."""

    files: list[RoomFile]
