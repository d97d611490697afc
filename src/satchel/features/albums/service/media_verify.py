"""Says of files which are stored, and reads stored bytes again to say that they are still what they were."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from satchel.features.albums.media_records import LOCATION, MEDIA, LocationRow
from satchel.features.albums.model import BIN, AlbumId, MediaId, OwnerId, media_id_of
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.photos_context import Photos
from satchel.stores.ports.expressions import assign, attr
from satchel.stores.ports.objects import ObjectMissing
from satchel.stores.ports.table import ConditionFailed

KnownState = Literal["stored", "binned", "unknown"]
VerifiedState = Literal["verified", "damaged", "missing", "binned", "unknown", "later"]

# A request does not read any longer. What is left is answered with `later`, and asked for again.
READ_FOR = timedelta(seconds=20)


@dataclass(frozen=True, slots=True)
class Signature:
    """What identifies a file: its digest and its size."""

    sha256: str
    size_bytes: int

    @property
    def media_id(self) -> MediaId:
        return media_id_of(self.sha256, self.size_bytes)


@dataclass(frozen=True, slots=True)
class Known:
    """A file of the owner, if it is stored. `media_id` is that of the photo which it belongs to."""

    state: KnownState
    media_id: MediaId | None = None
    album_id: AlbumId | None = None
    location: LocationRow | None = None


@dataclass(frozen=True, slots=True)
class Verified:
    """What reading a file's stored bytes again has shown, and when they were last seen to be right."""

    state: VerifiedState
    media_id: MediaId | None = None
    verified_at: str = ""


async def find_known(albums: Albums, owner: OwnerId, files: Sequence[Signature]) -> list[Known]:
    """One answer per file, in their order."""
    keys = [LOCATION.key(owner=owner, media_id=file.media_id) for file in files]
    items = await albums.tables.get_many(LOCATION.table, keys)
    locations = [None if item is None else LOCATION.read(item) for item in items]
    shown = [None if row is None else row.part_of or row.media_id for row in locations]
    wanted = sorted({media_id for media_id in shown if media_id is not None})
    medias = await albums.tables.get_many(MEDIA.table, [MEDIA.key(owner=owner, media_id=each) for each in wanted])
    homes = {each: AlbumId(item["AlbumId"]) for each, item in zip(wanted, medias, strict=True) if item is not None}
    return [
        Known("unknown")
        if media_id is None or media_id not in homes
        else Known("binned" if homes[media_id] == BIN else "stored", media_id, homes[media_id], location)
        for media_id, location in zip(shown, locations, strict=True)
    ]


async def verify(
    photos: Photos, owner: OwnerId, files: Sequence[Signature], since: str, read_for: timedelta = READ_FOR
) -> list[Verified]:
    """Read again what was not verified since then. One answer per file, in their order."""
    ends = asyncio.get_running_loop().time() + read_for.total_seconds()
    answers: list[Verified] = []
    for file, known in zip(files, await find_known(photos.albums, owner, files), strict=True):
        location = known.location
        if location is None:
            answers.append(Verified("unknown"))
        elif known.state == "binned":
            answers.append(Verified("binned", known.media_id, location.verified_at))
        elif since and location.verified_at >= since:
            answers.append(Verified("verified", known.media_id, location.verified_at))
        elif answers and asyncio.get_running_loop().time() >= ends:
            answers.append(Verified("later", known.media_id, location.verified_at))
        else:
            answers.append(await _verify(photos, location, file, known.media_id))
    return answers


async def _verify(photos: Photos, location: LocationRow, file: Signature, media_id: MediaId | None) -> Verified:
    try:
        size_bytes, sha256 = await _digest(photos, location.key)
    except ObjectMissing:
        return Verified("missing", media_id, location.verified_at)
    if (size_bytes, sha256) != (file.size_bytes, file.sha256):
        return Verified("damaged", media_id, location.verified_at)
    now = photos.albums.now()
    place = LOCATION.key(owner=location.owner, media_id=location.media_id)
    try:
        unchanged = attr("LocationKey") == location.key
        await photos.albums.tables.update(LOCATION.table, place, [assign("VerifiedAt", now)], when=unchanged)
    except ConditionFailed:
        return Verified("unknown")
    return Verified("verified", media_id, now)


async def _digest(photos: Photos, key: str) -> tuple[int, str]:
    digest, size_bytes = hashlib.sha256(), 0
    async with photos.objects.read(key) as reading:
        async for piece in reading:
            size_bytes += len(piece)
            # It lets go of the interpreter only while it works on long pieces.
            await asyncio.to_thread(digest.update, piece)
    return size_bytes, digest.hexdigest()
