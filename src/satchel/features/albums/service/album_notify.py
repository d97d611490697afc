"""Tells people who look at photos and albums what others, or they themselves elsewhere, have changed.

An event is a hint. What it is about has happened, whether or not somebody hears of it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress

from satchel.features.albums.events import AlbumChangedEvent, AlbumPhotosEvent
from satchel.features.albums.model import TRAYS, AlbumId, Email, OwnerId
from satchel.features.albums.records import ActRow, Source
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.library import read_library
from satchel.features.albums.service.library_state import Library
from satchel.kernel.errors import Unavailable
from satchel.live import LiveEvent, tell
from satchel.stores.ports.ephemeral import Publish


async def tell_photos(albums: Albums, owner: OwnerId, album_ids: Iterable[AlbumId]) -> None:
    """Photos came into these albums or trays, left them, or were changed in them."""
    wanted = sorted(set(album_ids))
    if wanted:
        await _tell_photos(albums, await read_library(albums, owner), wanted)


async def tell_album(albums: Albums, owner: OwnerId, album_id: AlbumId, also: Iterable[Email] = ()) -> None:
    """An album was changed. `also` are those who do not see it any more."""
    library = await read_library(albums, owner)
    row = library.albums.get(album_id)
    people = {*also, *(() if row is None else row.people)}
    event = AlbumChangedEvent(album_id=album_id)
    await _publish(albums, {owner: event, **dict.fromkeys(people, event)}, owner)


async def tell_act(albums: Albums, act: ActRow) -> None:
    """An album was changed, or the clock of a camera, and photos have moved because of it."""
    library = await read_library(albums, act.owner)
    if act.clock is None:
        await tell_album(albums, act.owner, act.album_id, [share.email for share in act.shares])
    if act.moved:
        await _tell_photos(albums, library, sorted(_touched(library, act)))


def _touched(library: Library, act: ActRow) -> set[AlbumId]:
    """The albums that an act may have taken photos from, or brought some into."""
    if act.clock is not None:
        return set(library.albums)
    spans = [Source(act.album_id, each.start, each.end) for each in (act.before, act.after) if each is not None]
    beside = {
        row.album_id
        for row in library.albums.values()
        if any(row.start < span.end and span.start < row.end for span in spans)
    }
    return beside | {act.album_id, *(source.album_id for source in act.sources)}


async def _tell_photos(albums: Albums, library: Library, album_ids: list[AlbumId]) -> None:
    """Each hears of the albums that they see."""
    seen: defaultdict[Email, list[AlbumId]] = defaultdict(list)
    for album_id in album_ids:
        row = library.albums.get(album_id)
        for email in () if row is None or album_id in TRAYS else row.people:
            seen[email].append(album_id)
    events: dict[str, LiveEvent] = {library.owner: AlbumPhotosEvent(album_ids=list(album_ids))}
    events |= {email: AlbumPhotosEvent(album_ids=list(ids)) for email, ids in seen.items()}
    await _publish(albums, events, library.owner)


async def _publish(albums: Albums, events: Mapping[str, LiveEvent], owner: OwnerId) -> None:
    """Events by the owner's id, and by the addresses of others. An address without an account hears nothing."""
    commands: list[Publish] = []
    for who, event in events.items():
        person = None if who == owner else await albums.people.by_email(who)
        if who == owner or person is not None:
            commands += tell([who if person is None else person.person_id], event)
    with suppress(Unavailable):
        await albums.ephemeral.together(*commands)
