"""Photos: what is stored, the timeline, details, favourites, dates, and the bin."""

from datetime import date, timedelta
from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType

from satchel.edge.api.endpoints import Body, PageQuery, Query, Router
from satchel.edge.http.callers import Member
from satchel.features.albums.media_records import MediaRow
from satchel.features.albums.model import (
    BIN,
    UNDATED,
    AlbumId,
    Email,
    LocalTime,
    MediaUnknown,
    OriginalWithheld,
    OwnerId,
    check_time,
)
from satchel.features.albums.routes.photo_views import (
    KnownList,
    KnownView,
    PhotoColumns,
    PhotoDays,
    PhotoDayView,
    PhotoMapView,
    PhotoUsage,
    PhotoView,
    VerifiedList,
    VerifiedView,
    photo_columns,
    photo_view,
)
from satchel.features.albums.service import (
    media_bin,
    media_change,
    media_pin,
    media_verify,
    photo_quota,
    photo_redact,
    photo_timeline,
)
from satchel.features.albums.service.album_list import Person
from satchel.features.albums.service.media_access import find_visible
from satchel.features.albums.service.media_giver import giver_of, may_take_back, take_back
from satchel.features.albums.service.media_verify import Signature
from satchel.features.albums.service.photo_choice import MOST_CHOSEN, make_choice
from satchel.features.albums.service.photo_copy import MOST_COPIED, copy_photos
from satchel.features.albums.service.photos_context import Photos
from satchel.features.albums.service.shared_timeline import list_shared_days, list_shared_photos
from satchel.kernel.clock import iso
from satchel.kernel.errors import NotFound, OutOfSpace

MAX_FILES = 1000
Digest = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
Size = Annotated[int, msgspec.Meta(ge=0, le=2**50)]
Id = Annotated[str, msgspec.Meta(max_length=64)]


class NewChoice(Body, frozen=True, kw_only=True):
    """Photos of yours, up to 500."""

    medias: Annotated[list[Id], msgspec.Meta(min_length=1, max_length=MOST_CHOSEN)]


class ChoiceView(msgspec.Struct, frozen=True, kw_only=True):
    """Chosen photos to give a link to. Until there is a link, the choice is kept for a week."""

    choice_id: str
    name: str


class NewCopies(Body, frozen=True, kw_only=True):
    """Photos of yours, up to 100, and a folder of your shelf, or `root`."""

    medias: Annotated[list[Id], msgspec.Meta(min_length=1, max_length=MOST_COPIED)]
    folder: Id


class CopyList(msgspec.Struct, frozen=True):
    """The ids of the files on your shelf, in the order in which the photos were taken."""

    files: list[str]


class FileSignature(Body, frozen=True, kw_only=True):
    """What identifies a file: the SHA-256 of its bytes, in hex, and its size."""

    sha256: Digest
    size_bytes: Size


class KnownBody(Body, frozen=True, kw_only=True):
    """Files to ask about."""

    files: Annotated[list[FileSignature], msgspec.Meta(max_length=MAX_FILES)]


class VerifyBody(KnownBody, frozen=True, kw_only=True):
    """Files to read again. Those that were verified at `since` or later are not read once more."""

    since: Annotated[float, msgspec.Meta(ge=0, le=253402300799)] | None = None


class TimelineQuery(Query, frozen=True, kw_only=True):
    """From which day to which, both included, and where to go on. With `shared`, also what others share with you."""

    first: date | None = msgspec.field(name="from", default=None)
    last: date | None = msgspec.field(name="to", default=None)
    limit: Annotated[int, msgspec.Meta(ge=1, le=photo_timeline.MAX_PAGE)] = photo_timeline.MAX_PAGE
    cursor: Annotated[str, msgspec.Meta(max_length=4096)] | None = None
    shared: bool = False


class DaysQuery(Query, frozen=True, kw_only=True):
    """With `shared`, also the photos of albums that others share with you."""

    shared: bool = False


class PhotoChange(Body, frozen=True, kw_only=True):
    """What to change."""

    favourite: bool | UnsetType = UNSET
    local_time: Annotated[str, msgspec.Meta(max_length=40)] | UnsetType = UNSET


class RestoreBody(Body, frozen=True, kw_only=True):
    """Photos in the bin."""

    ids: Annotated[list[Id], msgspec.Meta(min_length=1, max_length=100)]


class Restored(msgspec.Struct, frozen=True):
    """The photos that are out of the bin. One that was not in it is left out."""

    photos: list[PhotoView]


class Emptied(msgspec.Struct, frozen=True):
    """How many photos were deleted for good."""

    deleted: int


class EmptyQuery(Query, frozen=True, kw_only=True):
    """Which photos; all that are in the bin, if none are named."""

    id: Annotated[list[Id], msgspec.Meta(max_length=100)] = msgspec.field(default_factory=list[str])


def routes(photos: Photos) -> list[Router]:
    return [_library_routes(photos), _bin_routes(photos), _photo_routes(photos)]


def _library_routes(photos: Photos) -> Router:
    router, albums = Router("photos"), photos.albums

    @router.post("/photos/known", status=200)
    async def ask_known(member: Member, body: KnownBody) -> KnownList:
        """Ask which files are stored in your library already."""
        found = await media_verify.find_known(albums, _owner(member), [_signature(file) for file in body.files])
        return KnownList(
            [
                KnownView(
                    state=each.state,
                    id=each.media_id,
                    album_id=each.album_id,
                    verified_at=(each.location.verified_at or None) if each.location else None,
                )
                for each in found
            ]
        )

    @router.post("/photos/verify", status=200)
    async def verify_photos(member: Member, body: VerifyBody) -> VerifiedList:
        """Read stored files again, and compare them with what they should be.

        `verified` says that the bytes were read at `verified_at` and had this digest.
        """
        since = "" if body.since is None else iso(body.since)
        files = [_signature(file) for file in body.files]
        found = await media_verify.verify(photos, _owner(member), files, since)
        return VerifiedList(
            [VerifiedView(state=each.state, id=each.media_id, verified_at=each.verified_at or None) for each in found]
        )

    @router.post("/photos/choices", status=201, raises=(MediaUnknown,))
    async def choose_photos(member: Member, body: NewChoice) -> ChoiceView:
        """Put several photos together, so that one link leads to all of them, and to nothing else.

        The same ones are always the same choice.
        """
        row, name = await make_choice(photos.albums, _owner(member), body.medias)
        return ChoiceView(choice_id=row.choice_id, name=name)

    @router.post("/photos/copies", status=201, raises=(MediaUnknown, OriginalWithheld, NotFound, OutOfSpace))
    async def copy_onto_shelf(member: Member, body: NewCopies) -> CopyList:
        """Copy photos into a folder of your shelf, to hand them over to a person or a room.

        Copies are what others get: without the place, unless the album of a photo is shared with places. The same
        photo in the same folder is copied once.
        """
        return CopyList(await copy_photos(photos, _owner(member), body.medias, body.folder))

    @router.get("/photos/usage")
    async def read_photo_usage(member: Member) -> PhotoUsage:
        """Read how much space your photos take."""
        usage = await photo_quota.read_usage(albums, _owner(member))
        return PhotoUsage(files=usage.files, used_bytes=usage.used_bytes, quota_bytes=albums.quota_bytes)

    @router.get("/photos/map")
    async def read_photo_map(_: Member) -> PhotoMapView:
        """Read which map shows where photos were taken. There is one only if an administrator has chosen it."""
        return PhotoMapView(tiles=albums.map_tiles or None, attribution=albums.map_attribution)

    @router.get("/photos/days")
    async def list_days(member: Member, query: DaysQuery) -> PhotoDays:
        """List the days that have photos, and how many."""
        if query.shared:
            days = await list_shared_days(albums, _person(member))
        else:
            days = await photo_timeline.list_days(albums, _owner(member))
        return PhotoDays([PhotoDayView(day, count) for day, count in days.items()])

    @router.get("/photos")
    async def list_photos(member: Member, query: TimelineQuery) -> PhotoColumns:
        """List your photos, the newest first, in columns."""
        start = LocalTime("" if query.first is None else query.first.isoformat())
        end = LocalTime("" if query.last is None or query.last == date.max else _day_after(query.last))
        owner = _owner(member)
        if query.shared:
            page = await list_shared_photos(albums, _person(member), start, end, query.limit, query.cursor)
        else:
            page = await photo_timeline.list_photos(albums, owner, start, end, query.limit, query.cursor)
        return photo_columns(page.items, owner, page.cursor)

    @router.get("/photos/undated")
    async def list_undated(member: Member, query: PageQuery) -> PhotoColumns:
        """List the photos of which nothing says when they were taken."""
        return await _tray(photos, _owner(member), UNDATED, query)

    return router


def _bin_routes(photos: Photos) -> Router:
    router, albums = Router("photos"), photos.albums

    @router.get("/photos/bin")
    async def list_photo_bin(member: Member, query: PageQuery) -> PhotoColumns:
        """List the photos that you have deleted. They are deleted for good after 30 days."""
        return await _tray(photos, _owner(member), BIN, query)

    @router.post("/photos/bin/restore", status=200)
    async def restore_photos(member: Member, body: RestoreBody) -> Restored:
        """Restore photos from the bin. Each returns to the album where it belongs now."""
        restored: list[MediaRow] = []
        for media_id in dict.fromkeys(body.ids):
            try:
                restored.append(await media_bin.restore(albums, _owner(member), media_id))
            except MediaUnknown:
                continue
        return Restored([photo_view(media, member.user_id, await giver_of(albums, media)) for media in restored])

    @router.delete("/photos/bin", status=200)
    async def empty_photo_bin(member: Member, query: EmptyQuery) -> Emptied:
        """Delete photos in the bin for good."""
        return Emptied(await media_bin.empty_bin(photos, _owner(member), query.id))

    return router


def _photo_routes(photos: Photos) -> Router:
    router, albums = Router("photos"), photos.albums

    @router.get("/photos/{owner}/{media_id}", raises=(MediaUnknown,))
    async def read_photo(member: Member, owner: str, media_id: str) -> PhotoView:
        """Read what is known of a photo. Others see where it was taken if the album is shared with its places."""
        media = await find_visible(albums, _person(member), OwnerId(owner), media_id)
        with_place = await photo_redact.gets_all(photos, media, member.user_id)
        (sha256,) = await photo_redact.hashes_for(photos, [media], member.user_id)
        return photo_view(
            media,
            member.user_id,
            await giver_of(albums, media),
            sha256,
            with_place=with_place,
            may_take_back=await may_take_back(albums, _person(member), media),
        )

    @router.patch("/photos/{owner}/{media_id}", raises=(MediaUnknown,))
    async def change_photo(member: Member, owner: str, media_id: str, body: PhotoChange) -> PhotoView:
        """Make a photo a favourite, or correct its date."""
        mine = _own(member, owner)
        if body.local_time is not UNSET:
            local_time = LocalTime(check_time(body.local_time, "local_time") + ".000")
            await media_change.set_date(albums, mine, media_id, local_time)
        if body.favourite is not UNSET:
            await media_change.set_favourite(albums, mine, media_id, favourite=body.favourite)
        media = await media_pin.find_media(albums, mine, media_id)
        return photo_view(media, member.user_id, await giver_of(albums, media))

    @router.delete("/photos/{owner}/{media_id}", raises=(MediaUnknown,))
    async def delete_photo(member: Member, owner: str, media_id: str) -> None:
        """Move a photo into the bin, with all of its files.

        A contributor can take back what they have added to an album. It goes into the bin of the album's owner.
        """
        if owner == member.user_id:
            await media_bin.delete_media(albums, OwnerId(owner), media_id)
        else:
            await take_back(albums, _person(member), OwnerId(owner), media_id)

    return router


async def _tray(photos: Photos, owner: OwnerId, tray: AlbumId, query: PageQuery) -> PhotoColumns:
    page = await media_bin.list_tray(photos.albums, owner, tray, query.limit, query.cursor)
    return photo_columns(page.items, owner, page.cursor)


def _owner(member: Member) -> OwnerId:
    return OwnerId(member.user_id)


def _person(member: Member) -> Person:
    return Person(OwnerId(member.user_id), Email(member.email))


def _own(member: Member, owner: str) -> OwnerId:
    """Only the owner changes a photo. To others, one that they may see looks like a missing one here, too."""
    if owner != member.user_id:
        raise MediaUnknown("This photo does not exist, or is not yours.")
    return OwnerId(owner)


def _signature(file: FileSignature) -> Signature:
    return Signature(file.sha256, file.size_bytes)


def _day_after(day: date) -> str:
    return (day + timedelta(days=1)).isoformat()
