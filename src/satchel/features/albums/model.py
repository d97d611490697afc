"""What an album and a media are: their ids, what names, folders and dates may be, and the errors of this slice.

Times of albums and medias are *local wall times*: what a clock on the wall said where the picture was taken, as
`2025-07-14T18:30:00`, without a zone. Albums have whole seconds, medias have milliseconds. As text both sort by time.
"""

import base64
import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, NewType

from satchel.kernel.errors import Conflict, Gone, Invalid, NotFound, OutOfSpace
from satchel.kernel.unfit import TextUnfit, TimeUnfit

# The user id of the account that a library belongs to.
OwnerId = NewType("OwnerId", str)
AlbumId = NewType("AlbumId", str)
MediaId = NewType("MediaId", str)
ActId = NewType("ActId", str)
ChoiceId = NewType("ChoiceId", str)
# An address in the form in which accounts store it.
Email = NewType("Email", str)
# A local wall time with whole seconds, or with milliseconds.
LocalTime = NewType("LocalTime", str)
# Unique per owner. It begins with "/".
Folder = NewType("Folder", str)

Role = Literal["visitor", "contributor"]
Availability = Literal["OWNED", "VISITOR"]
ActKind = Literal["create", "rename", "dates", "delete", "clock"]
MediaType = Literal["IMAGE", "VIDEO", "OTHER"]
ROLES: tuple[Role, ...] = ("visitor", "contributor")

# Where a media is that has no date, and where it is after it was deleted. No album has these ids: ids of albums have
# 26 characters.
UNDATED = AlbumId("undated")
BIN = AlbumId("bin")
TRAYS = (UNDATED, BIN)

# Before and after every time, and before what has no time.
BEGINNING, END = LocalTime("!"), LocalTime("~")

MAX_NAME_CHARACTERS = 120
MAX_FOLDER_CHARACTERS = 200
_ID = re.compile(r"[0-9a-z]{26}")
_MEDIA_ID = re.compile(r"[A-Za-z0-9_-]{44,60}")
_NOT_IN_FOLDERS = re.compile(r"[^A-Za-z0-9-]+")
_SHA256_BYTES = 32
_QUARTERS = 4
_LAST_YEAR = 9999


class OrphanedMedias(Invalid):
    """Medias would be in no album. Change the dates of another album to cover them, or make one that does."""

    slug = "orphaned-medias"
    title = "Some photos would be in no album"


class PhotoQuotaReached(OutOfSpace):
    """The owner's photos would exceed the quota. Nothing was stored. Photos in the bin count."""

    slug = "photo-quota-reached"
    title = "There is no room for more photos"


class FolderTaken(Conflict):
    """Another album of this owner has this folder."""

    slug = "folder-taken"
    title = "This folder is already in use"


class TooManyAlbums(Conflict):
    """The owner has reached the limit of albums."""

    slug = "too-many-albums"
    title = "You have too many albums"


class TooManyPeople(Conflict):
    """The album is shared with as many people as it can be."""

    slug = "too-many-people"
    title = "This album is shared with too many people"


class TooManyMedias(Invalid):
    """The act would move more medias than one act can."""

    slug = "too-many-medias"
    title = "Too many photos would move"


class ActSuperseded(Conflict):
    """The album was changed again since, so the act cannot be undone. Undo the later one first."""

    slug = "act-superseded"
    title = "This was changed again since"


class AlbumUnknown(NotFound):
    """There is no such album, or the caller may not see it."""

    slug = "album-unknown"
    title = "Album not found"


class PhotoBytesGone(Gone):
    """The uploaded bytes of a photo were removed before it was stored. Upload them again."""

    slug = "photo-bytes-gone"
    title = "The uploaded photo is no longer stored"


class OriginalWithheld(Conflict):
    """The place cannot be removed from this original, and its owner does not share places. Take the preview."""

    slug = "original-withheld"
    title = "This original is not handed out"


class MediaUnknown(NotFound):
    """There is no such media, or the caller may not see it."""

    slug = "media-unknown"
    title = "Photo not found"


@dataclass(frozen=True, slots=True, kw_only=True)
class Album:
    """What decides which medias are in an album. The start is included, the end is not."""

    album_id: AlbumId
    name: str
    start: LocalTime
    end: LocalTime

    @property
    def duration(self) -> timedelta:
        return datetime.fromisoformat(self.end) - datetime.fromisoformat(self.start)


def scope_of(role: Role) -> str:
    """The type of grant that lets somebody use an album so."""
    return f"album:{role}"


def is_album_id(written: str) -> bool:
    return _ID.fullmatch(written) is not None


def is_media_id(written: str) -> bool:
    return _MEDIA_ID.fullmatch(written) is not None


def media_id_of(sha256: str, size_bytes: int) -> MediaId:
    """The id of these bytes: the hash and the size, as text that needs no escapes in an address."""
    return MediaId(_text(bytes.fromhex(sha256) + _varint(size_bytes)))


def signature_of(media_id: MediaId) -> tuple[str, int]:
    """The hash and the size that an id was made from."""
    raw = base64.urlsafe_b64decode(media_id + "=" * (-len(media_id) % 4))
    size = sum((byte & 0x7F) << (7 * place) for place, byte in enumerate(raw[_SHA256_BYTES:]))
    return raw[:_SHA256_BYTES].hex(), size


def check_album_name(written: str) -> str:
    """One line of visible characters."""
    seen = "".join(letter for letter in written if letter.isspace() or unicodedata.category(letter)[0] != "C")
    name = " ".join(unicodedata.normalize("NFC", seen).split())
    if not 1 <= len(name) <= MAX_NAME_CHARACTERS:
        raise TextUnfit(f"Give the album a name of 1 to {MAX_NAME_CHARACTERS} characters.", field="name")
    return name


def check_time(written: str, field: str) -> LocalTime:
    """A date, or a date and time without a zone, to the second."""
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is not None:
        raise TimeUnfit("Write a local date, such as 2025-07-14 or 2025-07-14T18:30:00.", field=field)
    return LocalTime(moment.replace(microsecond=0).isoformat())


def check_dates(start: LocalTime, end: LocalTime) -> None:
    if start >= end:
        raise TimeUnfit("An album has to end after it starts.", field="end")


def check_folder(written: str) -> Folder | None:
    """A folder that somebody chose. None means that one is to be made from the name."""
    folder = _NOT_IN_FOLDERS.sub("_", written).strip("_")[:MAX_FOLDER_CHARACTERS]
    return Folder("/" + folder) if folder else None


def folder_for(name: str, start: LocalTime) -> Folder:
    """`/2025-07_Summer_at_the_sea`. Of a name in another script only the month is left."""
    plain = _NOT_IN_FOLDERS.sub("_", name).strip("_")[:MAX_FOLDER_CHARACTERS]
    return Folder(f"/{start[:7]}_{plain}" if plain else f"/{start[:7]}")


def numbered_folder(folder: Folder, number: int) -> Folder:
    """`/2025-07-2`, for the second album whose folder would be `/2025-07`."""
    return folder if number == 1 else Folder(f"{folder}-{number}")


@dataclass(frozen=True, slots=True)
class Quarter:
    """The album for a date that no other album covers."""

    name: str
    folder: Folder
    start: LocalTime
    end: LocalTime


def quarter_of(moment: LocalTime) -> Quarter:
    year, quarter = int(moment[:4]), (int(moment[5:7]) + 2) // 3
    following = (
        f"{year:04}-{quarter * 3 + 1:02}-01T00:00:00" if quarter < _QUARTERS else f"{year + 1:04}-01-01T00:00:00"
    )
    return Quarter(
        f"Q{quarter} {year}",
        Folder(f"/{year:04}-Q{quarter}"),
        LocalTime(f"{year:04}-{quarter * 3 - 2:02}-01T00:00:00"),
        # No time is after the year 9999.
        LocalTime(following if year < _LAST_YEAR else f"{year}-12-31T23:59:59"),
    )


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])
