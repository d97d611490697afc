"""The bytes of photos: originals and the other files that belong to them, with ranges."""

from starlette.responses import Response

from satchel.edge.api.endpoints import Router
from satchel.edge.files.downloads import Download, attached_as
from satchel.edge.files.previews import NoPreview, preview
from satchel.edge.http.callers import Member
from satchel.features.albums.model import Email, MediaUnknown, OwnerId
from satchel.features.albums.service.album_list import Person
from satchel.features.albums.service.media_access import find_visible
from satchel.features.albums.service.photos_context import Photos


def routes(photos: Photos) -> Router:
    router = Router("photos")

    @router.get("/photos/{owner}/{media_id}/content", produces="application/octet-stream", raises=(MediaUnknown,))
    async def download_photo(member: Member, owner: str, media_id: str) -> Response:
        """Download the original.

        Range and conditional requests are supported. The bytes come as an attachment, under the camera's name.
        """
        media = await find_visible(photos.albums, _person(member), OwnerId(owner), media_id)
        return Download(photos.objects, media.key, disposition=attached_as(media.name), content_type=media.content_type)

    @router.get("/photos/{owner}/{media_id}/preview", produces="application/octet-stream", raises=(NoPreview,))
    async def show_photo(member: Member, owner: str, media_id: str) -> Response:
        """Show the original in the browser, if it can. Videos play with ranges."""
        media = await find_visible(photos.albums, _person(member), OwnerId(owner), media_id)
        return await preview(photos.objects, media.key, media.name, media.content_type)

    @router.get(
        "/photos/{owner}/{media_id}/parts/{part_id}/content",
        produces="application/octet-stream",
        raises=(MediaUnknown,),
    )
    async def download_part(member: Member, owner: str, media_id: str, part_id: str) -> Response:
        """Download another file of a photo: the video of a live photo, or its RAW."""
        media = await find_visible(photos.albums, _person(member), OwnerId(owner), media_id)
        part = next((part for part in media.parts if part.media_id == part_id), None)
        if part is None:
            raise MediaUnknown("This photo has no such file.")
        return Download(photos.objects, part.key, disposition=attached_as(part.name), content_type=part.content_type)

    return router


def _person(member: Member) -> Person:
    return Person(OwnerId(member.user_id), Email(member.email))
