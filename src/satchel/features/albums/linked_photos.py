"""Chosen photos as link targets: visitors reach those that are there now, and nothing beside them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from satchel.features.albums.media_records import MediaRow
from satchel.features.albums.model import MediaId, OwnerId
from satchel.features.albums.service.photo_archive import download_name
from satchel.features.albums.service.photo_choice import find_choices, find_chosen, find_first, name_of
from satchel.features.albums.service.photo_redact import hashes_for, patches_for
from satchel.features.albums.service.photos_context import Photos
from satchel.features.albums.service.picture_note import version_of
from satchel.kernel.errors import CursorInvalid
from satchel.kernel.linked import FILES_PAGE, LinkedFile, LinkedFiles, LinkedPhoto, LinkedThing


@dataclass(frozen=True, slots=True)
class LinkedPhotos:
    """Photos that somebody chose, as one link target."""

    photos: Photos

    async def describe(self, owner_id: str, thing_id: str, *, counted: bool = False) -> LinkedThing | None:
        if not counted:
            found = await find_first(self.photos.albums, OwnerId(owner_id), thing_id)
            return None if found is None else LinkedThing(name=name_of(*found))
        medias = await self._find(owner_id, thing_id)
        if not medias:
            return None
        size_bytes = sum(media.size_bytes for media in medias)
        return LinkedThing(name=name_of(medias[0], len(medias)), files=len(medias), size_bytes=size_bytes)

    async def names(self, owner_id: str, thing_ids: Sequence[str]) -> dict[str, str]:
        found = await find_choices(self.photos.albums, OwnerId(owner_id), thing_ids)
        return {choice_id: name_of(medias[0], len(medias)) for choice_id, medias in found.items()}

    async def files(self, owner_id: str, thing_id: str, cursor: str | None, limit: int = FILES_PAGE) -> LinkedFiles:
        """All at once: they are few, and are read as a whole."""
        del limit
        if cursor is not None:
            raise CursorInvalid("This list has one page only. Read it from the beginning.", field="cursor")
        return LinkedFiles(await linked_medias(self.photos, await self._find(owner_id, thing_id)), None)

    async def file(self, owner_id: str, thing_id: str, file_id: str) -> LinkedFile | None:
        media = await find_chosen(self.photos.albums, OwnerId(owner_id), thing_id, file_id)
        return None if media is None else (await linked_medias(self.photos, [media]))[0]

    async def _find(self, owner_id: str, choice_id: str) -> list[MediaRow]:
        return (await find_choices(self.photos.albums, OwnerId(owner_id), [choice_id])).get(choice_id, [])


async def linked_medias(photos: Photos, medias: Sequence[MediaRow]) -> list[LinkedFile]:
    """Medias as visitors of a link get them: whether with their places, the album of each decides."""
    found: list[LinkedFile] = []
    for _, group in groupby(medias, lambda media: media.album_id):
        together = list(group)
        hashes = await hashes_for(photos, together, None)
        found += [_linked(photos, media, sha256) for media, sha256 in zip(together, hashes, strict=True)]
    return found


def _linked(photos: Photos, media: MediaRow, sha256: str) -> LinkedFile:
    return LinkedFile(
        file_id=MediaId(media.media_id),
        name=download_name(media),
        folder="",
        key=media.key,
        size_bytes=media.size_bytes,
        sha256=sha256,
        content_type=media.content_type,
        at=media.local_time or media.added_at,
        patches=lambda: patches_for(photos, media, None),
        photo=LinkedPhoto(
            local_time=media.local_time,
            type=media.type,
            ratio=media.ratio,
            width=media.details.width,
            height=media.details.height,
            duration_ms=media.details.duration_ms,
            version=version_of(media.picture, media.no_picture),
            thumbhash=media.thumbhash,
        ),
    )
