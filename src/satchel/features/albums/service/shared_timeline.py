"""One timeline of a person's own photos and of those in albums that others share with them, newest first."""

import heapq
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing

import msgspec

from satchel.features.albums.media_records import MEDIA, TIMELINE
from satchel.features.albums.model import LocalTime
from satchel.features.albums.records import ALBUM_INDEX, AlbumRow
from satchel.features.albums.service.album_days import days_of_album
from satchel.features.albums.service.album_list import Person, shared_albums
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.media_moves import partition
from satchel.features.albums.service.photo_timeline import TimelinePage, list_days, years_of
from satchel.kernel.errors import CursorInvalid
from satchel.stores.ports.table import Item, Range

# Each album is read in pieces of this size, so that one of many costs little.
_PIECE = 100
_FIRST, _LAST = "MEDIA#", "MEDIA$"


class _Position(msgspec.Struct, frozen=True, array_like=True):
    """The last photo of a page."""

    local_time: str
    media_id: str
    owner: str


async def list_shared_days(albums: Albums, person: Person) -> dict[str, int]:
    """All days that have photos, the newest first, and how many."""
    days = Counter(await list_days(albums, person.user_id))
    for album in await shared_albums(albums, person):
        days.update(await days_of_album(albums, album))
    return {day: days[day] for day in sorted(days, reverse=True)}


async def list_shared_photos(
    albums: Albums, person: Person, start: LocalTime, end: LocalTime, limit: int, cursor: str | None
) -> TimelinePage:
    """A page of the photos from `start` to before `end`; empty ones leave a side open."""
    last = None if cursor is None else _opened(cursor)
    high = (_FIRST + end if end else _LAST) if last is None else f"{_FIRST}{last.local_time}~"
    # What has no time stands before every time.
    reach = Range(low=_FIRST + (start or "0"), high=high)
    async with AsyncExitStack() as stack:
        sources = [_own(albums, person, start, end, reach)]
        sources += [_of_album(albums, album, reach) for album in await shared_albums(albums, person)]
        opened = [await stack.enter_async_context(aclosing(source)) for source in sources]
        items = await _merged(opened, last, limit + 1)
    more = len(items) > limit
    items = items[:limit]
    return TimelinePage(items, msgspec.json.encode(_position(items[-1])).decode() if more else None)


async def _merged(sources: list[AsyncGenerator[Item]], last: _Position | None, most: int) -> list[Item]:
    """The newest of all sources, each of which is in order, that come after the last one."""
    heap: list[tuple[_Descending, int, Item]] = []

    async def take(at: int) -> None:
        async for item in sources[at]:
            place = _Descending(_position(item))
            if last is None or _Descending(last) < place:
                heapq.heappush(heap, (place, at, item))
                return

    for at in range(len(sources)):
        await take(at)
    items: list[Item] = []
    while heap and len(items) < most:
        _, at, item = heapq.heappop(heap)
        items.append(item)
        await take(at)
    return items


class _Descending:
    """Sorts positions the newest first."""

    def __init__(self, position: _Position) -> None:
        self.place = (position.local_time, position.media_id, position.owner)

    def __lt__(self, other: "_Descending") -> bool:
        return self.place > other.place


async def _own(albums: Albums, person: Person, start: LocalTime, end: LocalTime, reach: Range) -> AsyncGenerator[Item]:
    first, last = await years_of(albums, person.user_id, start, end)
    for year in range(last, first - 1, -1):
        cursor: str | None = None
        while True:
            page = await albums.tables.query(
                TIMELINE.table,
                TIMELINE.keys["PK"].render({"owner": person.user_id, "year": f"{year:04}"}),
                reach,
                descending=True,
                limit=_PIECE,
                cursor=cursor,
            )
            for item in page.items:
                yield item
            if (cursor := page.cursor) is None:
                break


async def _of_album(albums: Albums, album: AlbumRow, reach: Range) -> AsyncGenerator[Item]:
    cursor: str | None = None
    while True:
        page = await albums.tables.query(
            MEDIA.table,
            partition(album.owner, album.album_id),
            reach,
            index=ALBUM_INDEX,
            descending=True,
            limit=_PIECE,
            cursor=cursor,
        )
        for item in page.items:
            yield item
        if (cursor := page.cursor) is None:
            return


def _position(item: Item) -> _Position:
    return _Position(item["DateTime"], item["Id"], item["MediaOwner"])


def _opened(cursor: str) -> _Position:
    try:
        return msgspec.json.decode(cursor, type=_Position)
    except msgspec.DecodeError as error:
        raise CursorInvalid(
            "This cursor is not from this list. Read the list from the beginning.", field="cursor"
        ) from error
