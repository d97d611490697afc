"""Copies photos onto the shelf of their owner, as others get them, so that they can be handed over as files.

The id of a copy follows from its folder and its photo, so that a request that is repeated makes nothing twice.
"""

from collections.abc import Sequence

from satchel.features.albums.media_records import MediaRow
from satchel.features.albums.model import MediaUnknown, OriginalWithheld, OwnerId
from satchel.features.albums.service.photo_archive import download_name
from satchel.features.albums.service.photo_choice import find_own
from satchel.features.albums.service.photo_redact import hashes_for, patches_for
from satchel.features.albums.service.photos_context import Photos
from satchel.kernel.handed_file import PatchedFile
from satchel.kernel.ids import derived_id

MOST_COPIED = 100


async def copy_photos(photos: Photos, owner: OwnerId, media_ids: Sequence[str], folder_id: str) -> list[str]:
    """The ids of the files in the folder, in the order of time. Refused before anything is copied, or all there."""
    medias = await find_own(photos.albums, owner, media_ids)
    await photos.shelves.admit(owner, folder_id, sum(media.size_bytes for media in medias))
    files = [await _for_others(photos, media, derived_id(folder_id, media.media_id)) for media in medias]
    await photos.shelves.take_own(owner, folder_id, files)
    return [file.file_id for file in files]


async def _for_others(photos: Photos, media: MediaRow, file_id: str) -> PatchedFile:
    try:
        patches = await patches_for(photos, media, None)
    except OriginalWithheld as withheld:
        raise OriginalWithheld(
            f"“{media.name}” may say where it was taken, in a form that cannot be removed. Leave it out, or share its"
            " album with places."
        ) from withheld
    # What patches are is known now, and so is the hash.
    (sha256,) = await hashes_for(photos, [media], None)
    if not sha256:
        raise MediaUnknown("One of these photos was deleted just now. Choose again.", field="medias")
    return PatchedFile(
        file_id=file_id,
        name=download_name(media),
        folder="",
        key=media.key,
        size_bytes=media.size_bytes,
        sha256=sha256,
        content_type=media.content_type,
        alterations=patches,
    )
