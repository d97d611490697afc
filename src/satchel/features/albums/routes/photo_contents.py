"""The bytes of photos: originals and the other files that belong to them, pictures, and archives."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from satchel.edge.api.endpoints import Query, Router
from satchel.edge.files.archives import Archive, ArchiveEntry
from satchel.edge.files.downloads import Download, attached_as, spans_of
from satchel.edge.files.patched_objects import with_patches
from satchel.edge.files.pictures import BYTES, PENDING, RAISES, is_view, picture_answer
from satchel.edge.files.previews import NoPreview, is_look, preview
from satchel.edge.http.callers import Member
from satchel.features.albums.media_records import pictured
from satchel.features.albums.model import AlbumUnknown, Email, MediaUnknown, OriginalWithheld, OwnerId
from satchel.features.albums.service import photo_archive, photo_counts, photo_redact
from satchel.features.albums.service.album_list import Person, find_album
from satchel.features.albums.service.album_warm import warm_album
from satchel.features.albums.service.media_access import find_visible
from satchel.features.albums.service.photo_archive import ArchivedFile
from satchel.features.albums.service.photos_context import Photos

# As many as fit into an address.
MAX_CHOSEN = 100
Ids = Annotated[list[Annotated[str, msgspec.Meta(max_length=64)]], msgspec.Meta(max_length=MAX_CHOSEN)]
SomeIds = Annotated[
    list[Annotated[str, msgspec.Meta(max_length=64)]], msgspec.Meta(min_length=1, max_length=MAX_CHOSEN)
]


class ContentQuery(Query, frozen=True, kw_only=True):
    """With `for_others`, the owner gets what others get, to pass it on."""

    for_others: bool = False


class MediasArchiveQuery(Query, frozen=True, kw_only=True):
    """Which photos of the album the archive contains. Without any, all."""

    media: Ids = msgspec.field(default_factory=list[str])


class PhotosArchiveQuery(Query, frozen=True, kw_only=True):
    """Which photos the archive contains."""

    media: SomeIds


def routes(photos: Photos) -> Router:
    router = Router("photos")

    @router.get(
        "/photos/{owner}/{media_id}/content",
        produces="application/octet-stream",
        raises=(MediaUnknown, OriginalWithheld),
    )
    async def download_photo(member: Member, owner: str, media_id: str, query: ContentQuery) -> Response:
        """Download the original.

        Range and conditional requests are supported. The bytes come as an attachment, under the camera's name. The
        owner gets them as they are. Others get them without place, makers' notes and serial numbers, unless the album
        is shared with its places.
        """
        media = await find_visible(photos.albums, _person(member), OwnerId(owner), media_id)
        patches = await photo_redact.patches_for(photos, media, None if query.for_others else member.user_id)
        return Download(
            with_patches(photos.objects, patches),
            media.key,
            disposition=attached_as(media.name),
            content_type=media.content_type,
            metered=spans_of(photo_counts.photo_download(photos.albums, media, OwnerId(member.user_id))),
        )

    @router.get(
        "/photos/{owner}/{media_id}/preview", produces="application/octet-stream", raises=(NoPreview, OriginalWithheld)
    )
    async def show_photo(member: Member, owner: str, media_id: str, request: Request) -> Response:
        """Show the original in the browser, if it can. Videos play with ranges."""
        media = await find_visible(photos.albums, _person(member), OwnerId(owner), media_id)
        patches = await photo_redact.patches_for(photos, media, member.user_id)
        shown = await preview(with_patches(photos.objects, patches), media.key, media.name, media.content_type)
        if is_look(request):
            await photo_counts.note_view(photos.albums, media, OwnerId(member.user_id))
        return shown

    @router.get("/photos/{owner}/{media_id}/picture/{size}/{version}", produces=BYTES, raises=(MediaUnknown, *RAISES))
    async def photo_picture(
        member: Member, owner: str, media_id: str, size: str, version: str, request: Request
    ) -> Response:
        """Read the picture of a photo: `grid` for lists, `preview` for looking at, which counts as a view.

        The version is in every list of photos. Under one address a picture never changes, so keep it. While a picture
        is being made, the answer is 202 without a body: ask again after the seconds in `Retry-After`.
        """
        media = await find_visible(photos.albums, _person(member), OwnerId(owner), media_id)
        answer = await picture_answer(photos.pictures, pictured(media), size, version, request)
        if answer.status_code == PENDING:
            await warm_album(photos, media)
        if is_view(request, size, answer):
            await photo_counts.note_view(photos.albums, media, OwnerId(member.user_id))
        return answer

    @router.get(
        "/photos/{owner}/{media_id}/parts/{part_id}/content",
        produces="application/octet-stream",
        raises=(MediaUnknown, OriginalWithheld),
    )
    async def download_part(member: Member, owner: str, media_id: str, part_id: str) -> Response:
        """Download another file of a photo: the video of a live photo, or its RAW."""
        media = await find_visible(photos.albums, _person(member), OwnerId(owner), media_id)
        part = next((part for part in media.parts if part.media_id == part_id), None)
        if part is None:
            raise MediaUnknown("This photo has no such file.")
        patches = await photo_redact.patches_of_part(photos, media, part, member.user_id)
        objects = with_patches(photos.objects, patches)
        return Download(objects, part.key, disposition=attached_as(part.name), content_type=part.content_type)

    @router.get("/albums/{album_id}/archive", produces="application/zip", raises=(AlbumUnknown, MediaUnknown))
    async def download_album(member: Member, album_id: str, query: MediasArchiveQuery) -> Response:
        """Download an album, or some photos of it, as one zip file of originals, which is streamed.

        It breaks off if you lose access. What moves to another album meanwhile is left out.
        """
        you = _person(member)
        album, _ = await find_album(photos.albums, you, album_id)
        found = photo_archive.walk_album(photos, you, album)
        if query.media:
            chosen = await photo_archive.choose(photos.albums, you, album.owner, query.media, album.album_id)
            found = photo_archive.walk_chosen(photos, you, chosen)

        download = photo_counts.album_download(photos.albums, album, you.user_id)
        return Archive(photos.objects, album.name, _entries(found), metered=spans_of(download))

    @router.get("/photos/archive", produces="application/zip", raises=(MediaUnknown,))
    async def download_photos(member: Member, query: PhotosArchiveQuery) -> Response:
        """Download photos of yours as one zip file of originals, which is streamed."""
        you = _person(member)
        chosen = await photo_archive.choose(photos.albums, you, you.user_id, query.media)
        return Archive(photos.objects, "Photos", _entries(photo_archive.walk_chosen(photos, you, chosen)))

    return router


async def _entries(found: AsyncGenerator[ArchivedFile]) -> AsyncGenerator[ArchiveEntry]:
    async with aclosing(found) as files:
        async for file in files:
            yield ArchiveEntry(file.path, file.modified, file.key, patches=file.patches, withheld=file.withheld)


def _person(member: Member) -> Person:
    return Person(OwnerId(member.user_id), Email(member.email))
