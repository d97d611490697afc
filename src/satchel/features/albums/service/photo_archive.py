"""Which originals go into an archive of an album or of chosen photos, and under which names."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath

from satchel.features.albums.model import AlbumId, MediaUnknown, OwnerId
from satchel.features.albums.records import MEDIA, AlbumRow, MediaRow
from satchel.features.albums.service.album_list import Person, find_album, list_medias
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.media_access import find_visible
from satchel.kernel.clock import from_iso

_PAGE = 100


@dataclass(frozen=True, slots=True)
class ArchivedFile:
    """A file of an archive: its name, its time, and where its bytes are."""

    path: str
    modified: float
    key: str


async def choose(
    albums: Albums, person: Person, owner: OwnerId, media_ids: Sequence[str], album_id: AlbumId | None = None
) -> list[MediaRow]:
    """The photos asked for, once each. All of them have to exist, and to be in the album if one is named."""
    found = [await find_visible(albums, person, owner, each) for each in dict.fromkeys(media_ids)]
    if album_id is not None and any(media.album_id != album_id for media in found):
        raise MediaUnknown("This album has no such photo.")
    return found


async def walk_chosen(albums: Albums, person: Person, medias: Sequence[MediaRow]) -> AsyncGenerator[ArchivedFile]:
    """Each is looked at again before it is sent: whoever loses access gets no more of them."""
    for media in medias:
        now = await find_visible(albums, person, media.owner, media.media_id)
        for file in _files(now):
            yield file


async def walk_album(albums: Albums, person: Person, album: AlbumRow) -> AsyncGenerator[ArchivedFile]:
    """Everything in the album. Before each photo, access is checked, and whether it is still there."""
    cursor: str | None = None
    while True:
        page = await list_medias(albums, album, _PAGE, cursor)
        for item in page.items:
            await find_album(albums, person, album.album_id)
            media = await MEDIA.get(albums.tables, owner=album.owner, media_id=item["Id"])
            if media is not None and media.album_id == album.album_id:
                for file in _files(media):
                    yield file
        if (cursor := page.cursor) is None:
            return


def _files(media: MediaRow) -> Iterator[ArchivedFile]:
    """A photo and the files that belong to it, side by side. Zip files have local times, as photos do."""
    at = media.local_time
    modified = datetime.fromisoformat(at).replace(tzinfo=UTC).timestamp() if at else from_iso(media.added_at)
    yield ArchivedFile(download_name(media), modified, media.key)
    for part in media.parts:
        yield ArchivedFile(_dated(media.local_time, part.name, part.sha256), modified, part.key)


def download_name(media: MediaRow) -> str:
    """The camera's own name after the date. Cameras begin to count anew, so a part of the hash makes it unique."""
    return _dated(media.local_time, media.name, media.sha256)


def _dated(local_time: str, written: str, sha256: str) -> str:
    name = PurePosixPath(written)
    date = local_time[:19].replace("T", "_").replace(":", "-") or "undated"
    return f"{date}_{name.stem}_{sha256[:8]}{name.suffix}"
