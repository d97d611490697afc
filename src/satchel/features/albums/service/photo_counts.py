"""Publishes how others use what an owner shares: albums that they open, photos that they look at, and downloads.

An owner's own looks do not count. Whoever looks again within half a day is the same look.
"""

from datetime import timedelta

from satchel.features.albums.media_records import MediaRow
from satchel.features.albums.model import OwnerId
from satchel.features.albums.records import SEEN, WENT, AlbumRow
from satchel.features.albums.service.context import Albums
from satchel.kernel.counted import Counted, Kind
from satchel.kernel.coverage import Span
from satchel.stores.patterns.covered_download import downloads_made
from satchel.stores.ports.ephemeral import Put

# Within this time, all range requests of a film count as one view.
ONE_LOOK = timedelta(hours=12)


async def note_opening(albums: Albums, album: AlbumRow, person_id: OwnerId) -> None:
    await _note_look(albums, album.owner, person_id, f"album:{album.album_id}", "open")


async def note_view(albums: Albums, media: MediaRow, person_id: OwnerId) -> None:
    await _note_look(albums, media.owner, person_id, f"photo:{media.media_id}", "view")


async def note_sent(albums: Albums, media: MediaRow, person_id: OwnerId, span: Span) -> None:
    """Some bytes of an original went to somebody. It counts once all have."""
    if media.owner == person_id:
        return
    if await downloads_made(albums.ephemeral, WENT(person_id=person_id), media.media_id, span, media.size_bytes):
        await _note(albums, media.owner, person_id, f"photo:{media.media_id}", "download")


async def note_album_download(albums: Albums, album: AlbumRow, person_id: OwnerId) -> None:
    """An archive is one download, however many photos it has."""
    await _note(albums, album.owner, person_id, f"album:{album.album_id}", "download")


async def _note_look(albums: Albums, owner: OwnerId, person_id: OwnerId, thing: str, kind: Kind) -> None:
    if owner == person_id:
        return
    seen = SEEN(thing=thing, person_id=person_id)
    if await albums.ephemeral.run(Put(seen, b"1", ttl=ONE_LOOK, only_if_absent=True)):
        await _note(albums, owner, person_id, thing, kind)


async def _note(albums: Albums, owner: OwnerId, person_id: OwnerId, thing: str, kind: Kind) -> None:
    if owner != person_id:
        await albums.events.publish(Counted(user_id=person_id, kind=kind, owner=owner, thing=thing))
