"""What albums offer to other slices: albums that links lead to, with their medias as files, and that guests add to.

A visitor of a link sees what is in the album at that moment. A media that has moved away is not found any more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from satchel.features.albums.count_records import COUNT
from satchel.features.albums.linked_photos import linked_medias
from satchel.features.albums.media_records import MEDIA
from satchel.features.albums.model import Email, OwnerId, is_album_id, is_media_id
from satchel.features.albums.records import ALBUM, LIBRARY, AlbumRow
from satchel.features.albums.service.album_list import Person, list_medias, visible_albums
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.library import find_own, read_library
from satchel.features.albums.service.media_add import Upload, keep_upload
from satchel.features.albums.service.media_giver import by_link
from satchel.features.albums.service.photo_quota import check_room
from satchel.features.albums.service.photos_context import Photos
from satchel.features.albums.service.upload_details import modified_of, sidecars_of, zone_of
from satchel.kernel.handed_file import HandedFile
from satchel.kernel.linked import FILES_PAGE, LinkedFile, LinkedFiles, LinkedThing
from satchel.kernel.names import FileName, clean_name
from satchel.kernel.searched import Finding, Findings, Seeker, Words

_PAGE = 500
# To add up more sizes than these would take long.
_MOST_ADDED_UP = 2000


@dataclass(frozen=True, slots=True)
class LinkedAlbums:
    """Albums as link targets."""

    photos: Photos

    @property
    def albums(self) -> Albums:
        return self.photos.albums

    async def describe(self, owner_id: str, thing_id: str, *, counted: bool = False) -> LinkedThing | None:
        album = await self._find(owner_id, thing_id)
        if album is None:
            return None
        medias = await self._count(album) if counted else None
        return LinkedThing(name=album.name, files=medias, size_bytes=await self._size(album, medias))

    async def names(self, owner_id: str, thing_ids: Sequence[str]) -> dict[str, str]:
        keys = [ALBUM.key(owner=owner_id, album_id=each) for each in thing_ids if is_album_id(each)]
        items = await self.albums.tables.get_many(ALBUM.table, keys)
        rows = [ALBUM.read(item) for item in items if item is not None]
        return {row.album_id: row.name for row in rows if not row.leaving}

    async def files(self, owner_id: str, thing_id: str, cursor: str | None, limit: int = FILES_PAGE) -> LinkedFiles:
        album = await self._find(owner_id, thing_id)
        if album is None:
            return LinkedFiles([], None)
        page = await list_medias(self.albums, album, limit, cursor)
        medias = [MEDIA.read(item) for item in page.items]
        return LinkedFiles(await linked_medias(self.photos, medias), page.cursor)

    async def file(self, owner_id: str, thing_id: str, file_id: str) -> LinkedFile | None:
        album = await self._find(owner_id, thing_id) if is_media_id(file_id) else None
        media = None if album is None else await MEDIA.get(self.albums.tables, owner=owner_id, media_id=file_id)
        if album is None or media is None or media.album_id != album.album_id:
            return None
        return (await linked_medias(self.photos, [media]))[0]

    async def _find(self, owner_id: str, album_id: str) -> AlbumRow | None:
        known = is_album_id(album_id)
        row = await ALBUM.get(self.albums.tables, owner=owner_id, album_id=album_id) if known else None
        return None if row is None or row.leaving else row

    async def _count(self, album: AlbumRow) -> int | None:
        library = await LIBRARY.get(self.albums.tables, owner=OwnerId(album.owner))
        if library is None:
            return None
        row = await COUNT.get(
            self.albums.tables,
            email=library.email,
            availability="OWNED",
            owner=album.owner,
            album_id=album.album_id,
        )
        return 0 if row is None else row.count

    async def _size(self, album: AlbumRow, medias: int | None) -> int | None:
        """Unknown if adding up would take long."""
        if medias is None or medias > _MOST_ADDED_UP:
            return None
        size_bytes, cursor = 0, None
        while True:
            page = await list_medias(self.albums, album, _PAGE, cursor)
            size_bytes += sum(item["SignatureSize"] for item in page.items)
            if (cursor := page.cursor) is None:
                return size_bytes


@dataclass(frozen=True, slots=True)
class AlbumInbox:
    """Albums that visitors of a link may add photos to. These are the owner's from then on, and stay in the album."""

    photos: Photos

    async def admit(self, owner_id: str, thing_id: str, size_bytes: int) -> None:
        await find_own(self.photos.albums, OwnerId(owner_id), thing_id)
        await check_room(self.photos.albums, OwnerId(owner_id), size_bytes)

    async def keep(self, owner_id: str, thing_id: str, file: HandedFile, details: Mapping[str, str]) -> str:
        albums, owner = self.photos.albums, OwnerId(owner_id)
        album = await find_own(albums, owner, thing_id)
        return await keep_upload(
            self.photos,
            Upload(
                owner=owner,
                email=(await read_library(albums, owner)).row.email,
                upload_id=file.file_id,
                name=FileName(file.name),
                path=f"{file.folder}/{file.name}".lstrip("/"),
                content_type=file.content_type,
                size_bytes=file.size_bytes,
                sha256=file.sha256,
                pinned=album.album_id,
                key=file.key,
                modified=modified_of(details),
                zone=zone_of(details),
                sidecars=sidecars_of(details),
                added_by=by_link(clean_name(details.get("uploader", "")) or ""),
            ),
        )


@dataclass(frozen=True, slots=True)
class AlbumSearch:
    """Finds albums by their names, one's own and those that are shared, for the search over everything."""

    photos: Photos

    async def find(self, seeker: Seeker, words: Words, limit: int) -> Findings:
        rows = await visible_albums(self.photos.albums, Person(OwnerId(seeker.user_id), Email(seeker.email)))
        found = [
            Finding(kind="album", id=row.album_id, name=row.name, detail=row.start[:10])
            for row in rows
            if words.are_in(row.name)
        ]
        return Findings(found[:limit])
