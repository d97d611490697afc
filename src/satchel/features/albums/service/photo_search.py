"""Searches photos by words, dates, cameras and places, album by album. Each request does a bounded amount of work."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from satchel.features.albums.media_records import MEDIA
from satchel.features.albums.model import UNDATED, Folder, LocalTime, MediaType, OwnerId
from satchel.features.albums.records import ALBUM_INDEX, AlbumRow
from satchel.features.albums.service.album_list import Person, find_album, visible_albums
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.media_moves import partition
from satchel.kernel.errors import CursorInvalid
from satchel.kernel.names import folded
from satchel.kernel.unfit import TextUnfit
from satchel.stores.ports.table import Item, Range

# How many photos one request looks at, and in how many albums. The cursor leads to the rest.
LOOKED_AT = 5000
MAX_ALBUMS_ASKED = 200
MAX_WORDS = 20
_PAGE = 500
_FIRST, _LAST = "MEDIA#", "MEDIA$"
_EARTH_KM = 6371.0
_TEXTS = ("Make", "Model", "Lens", "Title", "Description")


@dataclass(frozen=True, slots=True)
class Circle:
    """A place and its surroundings."""

    latitude: float
    longitude: float
    km: float

    def has(self, details: Item) -> bool:
        """By the great circle."""
        if not details.get("GPSLatitude") or not details.get("GPSLongitude"):
            return False
        here, there = math.radians(self.latitude), math.radians(float(details["GPSLatitude"]))
        turn = math.radians(float(details["GPSLongitude"]) - self.longitude)
        half = math.sin((there - here) / 2) ** 2 + math.cos(here) * math.cos(there) * math.sin(turn / 2) ** 2
        return 2 * _EARTH_KM * math.asin(min(1.0, math.sqrt(half))) <= self.km


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What to search for. `first` is included and `end` is not; empty ones leave a side open."""

    words: Sequence[str] = ()
    album_id: str = ""
    first: str = ""
    end: str = ""
    camera: str = ""
    type: MediaType | None = None
    favourite: bool = False
    near: Circle | None = None

    @property
    def is_owners(self) -> bool:
        """Whether it asks for what only owners know of their photos."""
        return self.favourite or self.near is not None


class _Position(msgspec.Struct, frozen=True, array_like=True):
    """Where a page ended: in this album, by the order of albums, after this sort key."""

    start: str
    end: str
    album_id: str
    before: str = ""

    @property
    def place(self) -> tuple[str, str, str]:
        return self.start, self.end, self.album_id


@dataclass(frozen=True, slots=True)
class Found:
    """A page of photos, and the cursor of the next. A page may be empty though there is more."""

    items: list[Item]
    looked_at: int
    cursor: str | None


def words_of(query: str) -> list[str]:
    words = folded(query).split()
    if len(words) > MAX_WORDS:
        raise TextUnfit(f"Search for at most {MAX_WORDS} words.", field="q")
    return words


async def search(albums: Albums, person: Person, wanted: Wanted, limit: int, cursor: str | None) -> Found:
    """Photos that match everything, of the newest album first, in it the newest first."""
    position = None if cursor is None else _opened(cursor)
    items, looked_at, asked = list[Item](), 0, 0
    for album in await _places(albums, person, wanted):
        here = _Position(album.start, album.end, album.album_id)
        if position is not None and here.place > position.place:
            continue
        before = position.before if position is not None and here.place == position.place else ""
        while True:
            if looked_at >= LOOKED_AT or asked >= MAX_ALBUMS_ASKED:
                return Found(items, looked_at, _closed(here, before))
            page, has_more = await _medias(albums, album, wanted, before)
            asked += 1
            for item in page:
                looked_at += 1
                before = item["AlbumIndexSK"]
                if _matches(wanted, album, item):
                    items.append(item)
                    if len(items) == limit:
                        return Found(items, looked_at, _closed(here, before))
            if not has_more:
                break
    return Found(items, looked_at, None)


async def _places(albums: Albums, person: Person, wanted: Wanted) -> list[AlbumRow]:
    """The albums to look through, and after them the tray of what has no date."""
    if wanted.album_id:
        return [(await find_album(albums, person, wanted.album_id))[0]]
    rows = await visible_albums(albums, person, only_mine=wanted.is_owners)
    return rows if wanted.first or wanted.end else [*rows, _undated(person.user_id)]


def _undated(owner: OwnerId) -> AlbumRow:
    nothing = LocalTime("")
    return AlbumRow(
        owner=owner, album_id=UNDATED, name="", folder=Folder(""), start=nothing, end=nothing, created_at=""
    )


async def _medias(albums: Albums, album: AlbumRow, wanted: Wanted, before: str) -> tuple[list[Item], bool]:
    """The next of an album, without what was looked at, and whether there are more."""
    high = before or (_FIRST + wanted.end if wanted.end else _LAST)
    page = await albums.tables.query(
        MEDIA.table,
        partition(album.owner, album.album_id),
        Range(low=_FIRST + wanted.first, high=high),
        index=ALBUM_INDEX,
        limit=_PAGE + 1,
        descending=True,
    )
    return [item for item in page.items if item["AlbumIndexSK"] != before], page.cursor is not None


def _matches(wanted: Wanted, album: AlbumRow, item: Item) -> bool:
    details: Item = item.get("Details", {})
    if (
        (wanted.type is not None and item["Type"] != wanted.type)
        or (wanted.favourite and not item.get("Favourite"))
        or (wanted.near is not None and not wanted.near.has(details))
        or (wanted.camera and wanted.camera not in folded(f"{details.get('Make', '')} {details.get('Model', '')}"))
    ):
        return False
    if not wanted.words:
        return True
    texts = [item["Filename"], album.name, *(details.get(each, "") for each in _TEXTS), *details.get("Keywords", ())]
    text, time = folded("\n".join(texts)), item.get("DateTime", "")
    return all(word in text or time.startswith(word) for word in wanted.words)


def _opened(cursor: str) -> _Position:
    try:
        return msgspec.json.decode(cursor, type=_Position)
    except msgspec.DecodeError as error:
        raise CursorInvalid(
            "This cursor is not from this search. Search from the beginning.", field="cursor"
        ) from error


def _closed(here: _Position, before: str) -> str:
    return msgspec.json.encode(_Position(*here.place, before)).decode()
