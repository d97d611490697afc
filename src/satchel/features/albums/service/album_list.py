"""What a person sees: their albums and those shared with them, with counts and covers; and the medias of one album."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from satchel.features.albums.count_records import COUNT
from satchel.features.albums.media_records import MEDIA
from satchel.features.albums.model import (
    UNDATED,
    AlbumId,
    AlbumUnknown,
    Availability,
    Email,
    OwnerId,
    Role,
    is_album_id,
    scope_of,
)
from satchel.features.albums.records import ALBUM, ALBUM_INDEX, ALBUM_OWNER, LIBRARY, AlbumRow
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.library import read_library
from satchel.features.albums.service.media_moves import partition
from satchel.stores.ports.table import Item, Page, StartsWith

_PAGE = 1000
# Covers that nobody has chosen are looked up one by one, so many at once.
_LOOKED_UP_AT_ONCE = 16
Part = Literal["owner"] | Role


@dataclass(frozen=True, slots=True)
class Person:
    """Who looks."""

    user_id: OwnerId
    email: Email


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenAlbum:
    """An album as somebody sees it. The cover is one of its medias, or None if it is empty."""

    album: AlbumRow
    part: Part
    owner_name: str
    medias: int
    cover: Item | None


@dataclass(frozen=True, slots=True)
class Listed:
    """All albums that a person sees, and how many of their own medias are undated."""

    albums: list[SeenAlbum]
    undated: int


async def list_albums(albums: Albums, person: Person, *, only_mine: bool = False) -> Listed:
    """The newest start first, then the latest end."""
    rows = await visible_albums(albums, person, only_mine=only_mine)
    counts = await _counts(albums, person)
    return Listed(await _seen(albums, person, rows, counts), counts.get(UNDATED, 0))


async def visible_albums(albums: Albums, person: Person, *, only_mine: bool = False) -> list[AlbumRow]:
    """The same without counts and covers."""
    rows = await _own(albums, person)
    if not only_mine:
        rows += await shared_albums(albums, person)
    return sorted(rows, key=lambda row: (row.start, row.end, row.album_id), reverse=True)


async def show_album(albums: Albums, person: Person, album_id: str) -> SeenAlbum:
    row = (await find_album(albums, person, album_id))[0]
    availability: Availability = "OWNED" if row.owner == person.user_id else "VISITOR"
    key = COUNT.key(email=person.email, availability=availability, owner=row.owner, album_id=row.album_id)
    count = await albums.tables.get(COUNT.table, key)
    (seen,) = await _seen(albums, person, [row], {row.album_id: 0 if count is None else count.get("Count", 0)})
    return seen


async def find_album(albums: Albums, person: Person, album_id: str) -> tuple[AlbumRow, Part]:
    """An album that a person may see, and as what. `AlbumUnknown` for everybody else.

    Both the grant and the album's own list have to name the person, so that revoking either is enough.
    """
    found = await ALBUM_OWNER.get(albums.tables, album_id=album_id) if is_album_id(album_id) else None
    row = None if found is None else await ALBUM.get(albums.tables, owner=found.owner, album_id=found.album_id)
    if row is not None and not row.leaving:
        if row.owner == person.user_id:
            return row, "owner"
        role = row.people.get(person.email)
        if role is not None and await albums.grants.has(row.owner, person.email, [scope_of(role)], row.album_id):
            return row, role
    raise AlbumUnknown("This album does not exist, or is not shared with you.")


async def list_medias(
    albums: Albums, album: AlbumRow, limit: int, cursor: str | None, *, descending: bool = False
) -> Page:
    """A page of an album's medias, by time."""
    return await albums.tables.query(
        MEDIA.table,
        partition(album.owner, album.album_id),
        StartsWith("MEDIA#"),
        index=ALBUM_INDEX,
        limit=limit,
        cursor=cursor,
        descending=descending,
    )


async def _own(albums: Albums, person: Person) -> list[AlbumRow]:
    if await LIBRARY.get(albums.tables, owner=person.user_id) is None:
        return []
    library = await read_library(albums, person.user_id)
    return [row for row in library.albums.values() if not row.leaving]


async def shared_albums(albums: Albums, person: Person) -> list[AlbumRow]:
    """The albums of others that a person may see."""
    grants = [each for each in await albums.grants.of_person(person.email, "album:") if is_album_id(each.resource_id)]
    keys = {(each.resource_owner, each.resource_id) for each in grants if each.resource_owner != person.user_id}
    items = await albums.tables.get_many(
        ALBUM.table, [ALBUM.key(owner=owner, album_id=album_id) for owner, album_id in sorted(keys)]
    )
    rows = [ALBUM.read(item) for item in items if item is not None]
    return [row for row in rows if not row.leaving and person.email in row.people]


async def _counts(albums: Albums, person: Person) -> dict[AlbumId, int]:
    found: dict[AlbumId, int] = {}
    cursor: str | None = None
    while True:
        page = await albums.tables.query(
            COUNT.table, COUNT.keys["PK"].render({"email": person.email}), limit=_PAGE, cursor=cursor
        )
        found |= {item["AlbumId"]: item.get("Count", 0) for item in page.items}
        if (cursor := page.cursor) is None:
            return found


async def _seen(
    albums: Albums, person: Person, rows: Sequence[AlbumRow], counts: dict[AlbumId, int]
) -> list[SeenAlbum]:
    covers = await _covers(albums, rows, counts)
    names: dict[OwnerId, str] = {}
    for owner in {row.owner for row in rows}:
        known = await albums.people.by_id(owner)
        names[owner] = "" if known is None else known.name
    return [
        SeenAlbum(
            album=row,
            part="owner" if row.owner == person.user_id else row.people[person.email],
            owner_name=names[row.owner],
            medias=counts.get(row.album_id, 0),
            cover=covers.get(row.album_id),
        )
        for row in rows
    ]


async def _covers(albums: Albums, rows: Sequence[AlbumRow], counts: dict[AlbumId, int]) -> dict[AlbumId, Item]:
    """What was chosen, if it is still in the album: a visitor must not see where it went. Else the newest."""
    chosen = [row for row in rows if row.cover]
    items = await albums.tables.get_many(
        MEDIA.table, [MEDIA.key(owner=row.owner, media_id=row.cover) for row in chosen]
    )
    found = {
        row.album_id: item
        for row, item in zip(chosen, items, strict=True)
        if item is not None and item["AlbumId"] == row.album_id
    }
    left = [row for row in rows if row.album_id not in found and counts.get(row.album_id)]
    for start in range(0, len(left), _LOOKED_UP_AT_ONCE):
        some = left[start : start + _LOOKED_UP_AT_ONCE]
        pages = await asyncio.gather(*(list_medias(albums, row, 1, None, descending=True) for row in some))
        found |= {row.album_id: page.items[0] for row, page in zip(some, pages, strict=True) if page.items}
    return found
