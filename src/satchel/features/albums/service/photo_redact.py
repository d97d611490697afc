"""What others get of originals: these without their place and makers' notes, unless the owner shares these as well.

What to blank is found by a process and kept. It is a list of patches, made while the bytes are sent (decision 43).
"""

from collections.abc import Sequence
from contextlib import suppress

import msgspec

from satchel.features.albums.media_records import LOCATION, REDACTION, MediaPart, MediaRow, RedactionRow
from satchel.features.albums.model import MediaId, OriginalWithheld, OwnerId
from satchel.features.albums.records import ALBUM
from satchel.features.albums.service.photos_context import Photos
from satchel.kernel.patches import Patch, pack, unpack
from satchel.media.redaction.redaction import Redaction
from satchel.stores.ports.expressions import attr
from satchel.stores.ports.table import Check, TransactionCancelled

# Count up when the rules of `media/redaction` find more than before. What was kept is found anew then.
RULES = 2

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[tuple[int, int, bytes]]).decode


def redaction_row(owner: OwnerId, media_id: MediaId, found: Redaction) -> RedactionRow:
    patches = _encode(list(pack(found.patches))) if found.patches else b""
    return RedactionRow(owner=owner, media_id=media_id, sha256=found.sha256, patches=patches, rules=RULES)


async def patches_for(photos: Photos, media: MediaRow, viewer: str | None) -> Sequence[Patch]:
    """The patches of the main file of a media for somebody, or for a visitor of a link."""
    return await _patches(photos, media, viewer, MediaId(media.media_id), media.name, media.key)


async def patches_of_part(photos: Photos, media: MediaRow, part: MediaPart, viewer: str | None) -> Sequence[Patch]:
    return await _patches(photos, media, viewer, part.media_id, part.name, part.key)


async def hashes_for(photos: Photos, medias: Sequence[MediaRow], viewer: str | None) -> list[str]:
    """The hash of what somebody gets of each media of one album; empty where that is not known yet."""
    if not medias or await gets_all(photos, medias[0], viewer):
        return [media.sha256 for media in medias]
    keys = [REDACTION.key(owner=media.owner, media_id=media.media_id) for media in medias]
    rows = await photos.albums.tables.get_many(REDACTION.table, keys)
    return [row.sha256 if item and (row := REDACTION.read(item)).rules == RULES else "" for item in rows]


async def gets_all(photos: Photos, media: MediaRow, viewer: str | None) -> bool:
    """Whether somebody gets the exact bytes, and sees the place."""
    if media.owner == viewer:
        return True
    album = await ALBUM.get(photos.albums.tables, owner=media.owner, album_id=media.album_id)
    return album is not None and album.with_location


async def _patches(
    photos: Photos, media: MediaRow, viewer: str | None, media_id: MediaId, name: str, key: str
) -> Sequence[Patch]:
    if await gets_all(photos, media, viewer):
        return []
    row = await REDACTION.get(photos.albums.tables, owner=media.owner, media_id=media_id)
    if row is None or row.rules != RULES:
        found = await photos.reader.redact_object(name, key)
        if found is None:
            raise _withheld()
        row = redaction_row(media.owner, media_id, found)
        await _keep(photos, row)
    if not row.sha256:
        raise _withheld()
    return unpack(_decode(row.patches)) if row.patches else []


async def _keep(photos: Photos, row: RedactionRow) -> None:
    """Unless the file was deleted meanwhile."""
    place = LOCATION.key(owner=row.owner, media_id=row.media_id)
    with suppress(TransactionCancelled):
        await photos.albums.tables.transact([Check(LOCATION.table, place, attr("PK").exists()), REDACTION.put(row)])


def _withheld() -> OriginalWithheld:
    return OriginalWithheld(
        "This original may say where it was taken, in a form that cannot be removed. Ask its owner to share the album"
        " with places, or take the preview."
    )
