"""Which originals go into an archive of an album or of chosen photos, and under which names."""

from collections.abc import AsyncGenerator, Awaitable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import PurePosixPath

from satchel.features.albums.media_records import MEDIA, MediaRow
from satchel.features.albums.model import AlbumId, MediaUnknown, OriginalWithheld, OwnerId
from satchel.features.albums.records import AlbumRow
from satchel.features.albums.service.album_list import Person, find_album, list_medias
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.media_access import find_visible
from satchel.features.albums.service.photo_redact import patches_for, patches_of_part
from satchel.features.albums.service.photos_context import Photos
from satchel.kernel.clock import from_iso
from satchel.kernel.patches import Patch

_PAGE = 100


@dataclass(frozen=True, slots=True)
class ArchivedFile:
    """A file of an archive: its name, its time, and where its bytes are."""

    path: str
    modified: float
    key: str
    patches: Sequence[Patch] = ()
    # Why it is left out.
    withheld: str = ""


async def choose(
    albums: Albums, person: Person, owner: OwnerId, media_ids: Sequence[str], album_id: AlbumId | None = None
) -> list[MediaRow]:
    """The photos asked for, once each. All of them have to exist, and to be in the album if one is named."""
    found = [await find_visible(albums, person, owner, each) for each in dict.fromkeys(media_ids)]
    if album_id is not None and any(media.album_id != album_id for media in found):
        raise MediaUnknown("This album has no such photo.")
    return found


async def walk_chosen(photos: Photos, person: Person, medias: Sequence[MediaRow]) -> AsyncGenerator[ArchivedFile]:
    """Each is looked at again before it is sent: whoever loses access gets no more of them."""
    for media in medias:
        now = await find_visible(photos.albums, person, media.owner, media.media_id)
        async for file in _files(photos, person, now):
            yield file


async def walk_album(photos: Photos, person: Person, album: AlbumRow) -> AsyncGenerator[ArchivedFile]:
    """Everything in the album. Before each photo, access is checked, and whether it is still there."""
    albums = photos.albums
    cursor: str | None = None
    while True:
        page = await list_medias(albums, album, _PAGE, cursor)
        for item in page.items:
            await find_album(albums, person, album.album_id)
            media = await MEDIA.get(albums.tables, owner=album.owner, media_id=item["Id"])
            if media is not None and media.album_id == album.album_id:
                async for file in _files(photos, person, media):
                    yield file
        if (cursor := page.cursor) is None:
            return


async def _files(photos: Photos, person: Person, media: MediaRow) -> AsyncGenerator[ArchivedFile]:
    """A photo and the files that belong to it, side by side. Zip files have local times, as photos do."""
    at = media.local_time
    modified = datetime.fromisoformat(at).replace(tzinfo=UTC).timestamp() if at else from_iso(media.added_at)
    main = ArchivedFile(download_name(media), modified, media.key)
    yield await _patched(main, patches_for(photos, media, person.user_id))
    for part in media.parts:
        file = ArchivedFile(_dated(media.local_time, part.name, part.sha256), modified, part.key)
        yield await _patched(file, patches_of_part(photos, media, part, person.user_id))


async def _patched(file: ArchivedFile, patches: Awaitable[Sequence[Patch]]) -> ArchivedFile:
    try:
        return replace(file, patches=await patches)
    except OriginalWithheld as withheld:
        return replace(file, withheld=withheld.detail)


def download_name(media: MediaRow) -> str:
    """The camera's own name after the date. Cameras begin to count anew, so a part of the hash makes it unique."""
    return _dated(media.local_time, media.name, media.sha256)


def _dated(local_time: str, written: str, sha256: str) -> str:
    name = PurePosixPath(written)
    date = local_time[:19].replace("T", "_").replace(":", "-") or "undated"
    return f"{date}_{name.stem}_{sha256[:8]}{name.suffix}"
