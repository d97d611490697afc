"""Where uploads of photos arrive: into the sender's library, or into an album that they may add to."""

from collections.abc import Mapping, Sequence

from satchel.edge.http import callers
from satchel.edge.http.callers import Member
from satchel.edge.uploads.destinations import Announced, Arrived, Small
from satchel.features.albums.model import AlbumId, AlbumUnknown, Email, OwnerId
from satchel.features.albums.service.album_list import Person, find_album
from satchel.features.albums.service.library import read_library
from satchel.features.albums.service.media_add import Upload, keep_upload, keep_uploads
from satchel.features.albums.service.photo_quota import check_room
from satchel.features.albums.service.photos_context import Photos
from satchel.features.albums.service.upload_details import modified_of, sidecars_of, zone_of
from satchel.kernel.errors import SatchelError, Unauthenticated
from satchel.kernel.names import NAMELESS, clean_name, clean_path
from satchel.kernel.unfit import TimeUnfit


class PhotosDestination:
    """Receives photos and videos of members; guests have no library.

    In the metadata, `relativePath` is the path of the file, whose folder tells which files belong together. `modified`
    is the time of the file. `zone` is the sender's time zone by its IANA name, for photos that do not say theirs.
    `takeout` and `xmp` are the contents of sidecars. `album` is the id of an album that the photo is to stay in.
    """

    def __init__(self, photos: Photos) -> None:
        self._photos = photos

    def place_of(self, announced: Announced) -> str:
        return announced.owner.user_id if isinstance(announced.owner, Member) else ""

    async def admit(self, announced: Announced) -> None:
        callers.admit(announced.owner, (Member,))
        _modified(announced.details)
        owner, _, _ = await self._place(announced)
        await check_room(self._photos.albums, owner, announced.size_bytes + announced.reserved_bytes)

    async def receive(self, arrived: Arrived) -> str:
        return await keep_upload(self._photos, await self._upload(arrived))

    async def receive_bundle(self, files: Sequence[Small]) -> Sequence[str | SatchelError]:
        callers.admit(files[0].owner, (Member,))
        outcomes: dict[str, str | SatchelError] = {}
        by_owner: dict[OwnerId, list[Upload]] = {}
        for file in files:
            try:
                upload = await self._upload(file)
                by_owner.setdefault(upload.owner, []).append(upload)
            except SatchelError as error:
                outcomes[file.upload_id] = error
        for uploads in by_owner.values():
            kept = await keep_uploads(self._photos, uploads)
            outcomes |= {upload.upload_id: outcome for upload, outcome in zip(uploads, kept, strict=True)}
        return [outcomes[file.upload_id] for file in files]

    async def _upload(self, arrived: Arrived | Small) -> Upload:
        owner, email, album_id = await self._place(arrived)
        sender = _person(arrived)
        path = clean_path(arrived.details.get("relativePath", ""))
        name = clean_name(arrived.name) or (path[-1] if path else NAMELESS)
        return Upload(
            owner=owner,
            email=email,
            # Using the upload's id for the object makes this idempotent.
            upload_id=arrived.upload_id,
            name=name,
            path="/".join([*path[:-1], name]),
            content_type=arrived.content_type,
            size_bytes=arrived.size_bytes,
            sha256=arrived.sha256,
            pinned=album_id,
            key=arrived.key if isinstance(arrived, Arrived) else "",
            data=arrived.data if isinstance(arrived, Small) else b"",
            modified=_modified(arrived.details),
            zone=zone_of(arrived.details),
            sidecars=sidecars_of(arrived.details),
            added_by="" if sender.user_id == owner else sender.email,
        )

    async def _place(self, announced: Announced) -> tuple[OwnerId, Email, AlbumId]:
        """Whose library it goes to, their address, and the album that was chosen."""
        person, wanted = _person(announced), announced.details.get("album", "")
        if not wanted:
            return person.user_id, person.email, AlbumId("")
        album, part = await find_album(self._photos.albums, person, wanted)
        if part == "visitor":
            raise AlbumUnknown("You may look at this album, but not add to it. Ask its owner.")
        if part == "owner":
            return person.user_id, person.email, album.album_id
        return album.owner, (await read_library(self._photos.albums, album.owner)).row.email, album.album_id


def _person(announced: Announced) -> Person:
    if not isinstance(announced.owner, Member):
        raise Unauthenticated("Sign in to keep photos.")
    return Person(OwnerId(announced.owner.user_id), Email(announced.owner.email))


def _modified(details: Mapping[str, str]) -> float | None:
    moment = modified_of(details)
    if moment is None and details.get("modified"):
        raise TimeUnfit("`modified` must be a time such as 2024-01-31T12:00:00Z.", field="modified")
    return moment
