"""States how others use what an owner shares: albums that they open, photos that they look at, and downloads.

What is done with a photo counts for it and for the album that it is in.

An owner's own looks do not count. Whoever looks again within half a day is the same look.
"""

from datetime import timedelta

from satchel.features.albums.media_records import MediaRow
from satchel.features.albums.model import OwnerId
from satchel.features.albums.records import SEEN, AlbumRow
from satchel.features.albums.service.context import Albums
from satchel.kernel.counted import Counted, Kind
from satchel.outbox import CountedDownload
from satchel.stores.ports.ephemeral import Put

# Within this time, all range requests of a film count as one view.
ONE_LOOK = timedelta(hours=12)


async def note_opening(albums: Albums, album: AlbumRow, person_id: OwnerId) -> None:
    await _note_look(albums, album.owner, person_id, f"album:{album.album_id}", "open")


async def note_view(albums: Albums, media: MediaRow, person_id: OwnerId) -> None:
    await _note_look(albums, media.owner, person_id, _thing_of(media), "view")


def photo_download(albums: Albums, media: MediaRow, person_id: OwnerId) -> CountedDownload | None:
    """An original counts once every byte went to somebody else."""
    if media.owner == person_id:
        return None
    use = Counted(user_id=person_id, kind="download", owner=media.owner, thing=_thing_of(media))
    return CountedDownload(albums.outbox, person_id, media.media_id, media.size_bytes, [use])


def album_download(albums: Albums, album: AlbumRow, person_id: OwnerId) -> CountedDownload | None:
    """An archive is one download, however many photos it has."""
    if album.owner == person_id:
        return None
    use = Counted(user_id=person_id, kind="download", owner=album.owner, thing=f"album:{album.album_id}")
    return CountedDownload(albums.outbox, person_id, f"archive:{album.album_id}", 1, [use])


def _thing_of(media: MediaRow) -> str:
    return f"album:{media.album_id}/photo:{media.media_id}"


async def _note_look(albums: Albums, owner: OwnerId, person_id: OwnerId, thing: str, kind: Kind) -> None:
    if owner == person_id:
        return
    # The same photo, wherever it has moved since.
    seen = SEEN(thing=thing.rpartition("/")[2], person_id=person_id)
    if await albums.ephemeral.run(Put(seen, b"1", ttl=ONE_LOOK, only_if_absent=True)):
        await albums.events.publish(Counted(user_id=person_id, kind=kind, owner=owner, thing=thing))
