"""Plain types of rooms (people, messages, files, codes), their rules, and the errors of this slice."""

import re
import secrets
import string
import unicodedata
from datetime import timedelta
from typing import Literal, NewType

import msgspec

from satchel.kernel.errors import Conflict, Forbidden, Invalid, NotFound, OutOfSpace
from satchel.kernel.unfit import TextUnfit
from satchel.media.pictures import PictureView

RoomId = NewType("RoomId", str)
# The five letters that people tell each other. Never the id: another room gets the same letters some day.
RoomCode = NewType("RoomCode", str)
# A member's user id, or a guest's id.
PersonId = NewType("PersonId", str)
FileId = NewType("FileId", str)
Kind = Literal["member", "guest"]
Admits = Literal["anyone", "knock"]
Ending = Literal["closed", "expired", "removed", "left"]
Preview = Literal["image", "audio", "video", "pdf", "text"]

CODE_LETTERS = 5
MAX_PEOPLE = 500
MAX_KNOCKS = 50
MAX_FILES = 5000
MAX_MESSAGES = 2000
MAX_CHAT_BYTES = 1024 * 1024
MAX_ROOMS_OF_ONE = 20
# What is stored of a file takes memory. A room may have so many, whatever the others of its owner have.
ALWAYS_FILES = 100
MAX_FILES_OF_ONE = 5000
MAX_TEXT_CHARACTERS = 4000
MAX_TITLE_CHARACTERS = 80
# The longest path of folders: short enough for every file system.
MAX_PATH_BYTES = 1024
LONGEST_LIFE = timedelta(days=7)
DEFAULT_LIFE = timedelta(hours=8)

_ID = re.compile(r"[0-9a-z]{26}")
_MAX_ID_CHARACTERS = 64


class NotInARoom(NotFound):
    """The caller is not in a room."""

    slug = "not-in-a-room"
    title = "You are not in a room"


class RoomUnknown(NotFound):
    """No room has this code. The code of a room that has ended stays unused for a day."""

    slug = "room-unknown"
    title = "No room has this code"


class RoomLocked(Conflict):
    """The owner has locked the room, so nobody can join."""

    slug = "room-locked"
    title = "This room is locked"


class RoomFull(Conflict):
    """The room has reached its limit of people, or of people who wait to be admitted."""

    slug = "room-full"
    title = "This room is full"


class RemovedFromRoom(Forbidden):
    """The owner has removed this person, who cannot join again."""

    slug = "removed-from-room"
    title = "You were removed from this room"


class TooManyRooms(Conflict):
    """One person has reached the limit of open rooms."""

    slug = "too-many-rooms"
    title = "You have too many rooms open"


class RoomFullOfFiles(OutOfSpace):
    """The room would exceed its limit of files or its quota. Nothing was changed."""

    slug = "room-full-of-files"
    title = "This room has no space left"


class PathTooLong(Invalid):
    """The folders before a file's name are too long together."""

    slug = "path-too-long"
    title = "The path is too long"


class Person(msgspec.Struct, frozen=True):
    """The caller: a member, or a guest with the name they chose."""

    person_id: PersonId
    name: str
    kind: Kind


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """A chat message, its author and time. The name is the one they had then. Ids of guests begin with `guest-`."""

    message_id: str
    person_id: str
    name: str
    text: str
    at: str


class FileView(msgspec.Struct, frozen=True, kw_only=True):
    """A file in a room as people see it. `folder` is such as `a/b`. With `to`, only two people see it.

    A file that was sent has its transfer and its place in there. The id of a guest who brought it begins with `guest-`.
    """

    file_id: str
    name: str
    folder: str
    size_bytes: int
    content_type: str
    sha256: str
    by: str
    by_name: str
    at: str
    modified_at: str | None
    executable: bool
    previewable: Preview | None
    picture: PictureView | None
    to: str | None
    transfer_id: str | None
    place: int | None


def draw_code() -> RoomCode:
    return RoomCode("".join(secrets.choice(string.ascii_uppercase) for _ in range(CODE_LETTERS)))


def read_code(written: str) -> RoomCode | None:
    """The code in its stored form, however it was typed. None if it cannot be a code."""
    letters = "".join(written.split()).replace("-", "").upper()
    right = len(letters) == CODE_LETTERS and all(letter in string.ascii_uppercase for letter in letters)
    return RoomCode(letters) if right else None


def is_room_id(written: str) -> bool:
    return _ID.fullmatch(written) is not None


def is_id(written: str) -> bool:
    """Whether this could be the id of a person or a file. Anything else is not looked up."""
    return 0 < len(written) <= _MAX_ID_CHARACTERS and written.isascii() and written.isprintable()


def check_title(written: str) -> str:
    """The name of a room: one line of visible characters."""
    seen = "".join(letter for letter in written if letter.isspace() or unicodedata.category(letter)[0] != "C")
    title = " ".join(unicodedata.normalize("NFC", seen).split())
    if len(title) > MAX_TITLE_CHARACTERS:
        raise TextUnfit(f"Use a room name of up to {MAX_TITLE_CHARACTERS} characters.", field="name")
    return title


def check_text(written: str) -> str:
    text = written.strip()
    is_seen = any(not letter.isspace() and unicodedata.category(letter)[0] != "C" for letter in text)
    if not is_seen or len(text) > MAX_TEXT_CHARACTERS:
        raise TextUnfit(f"Write a message of 1 to {MAX_TEXT_CHARACTERS} characters.", field="text")
    return text
