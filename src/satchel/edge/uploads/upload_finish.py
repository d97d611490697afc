"""Finish an upload: join its parts into one object and hand it over, in steps that can be repeated after a crash."""

import asyncio
import hashlib
from collections.abc import Sequence
from datetime import timedelta

from satchel.edge.uploads.body_buffers import Held
from satchel.edge.uploads.context import Uploads
from satchel.edge.uploads.destinations import Arrived
from satchel.edge.uploads.digests import RunningDigest
from satchel.edge.uploads.records import UploadRow
from satchel.edge.uploads.refusals import UploadEnded, UploadUnwanted
from satchel.edge.uploads.reservations import release
from satchel.edge.uploads.upload_cancel import give_up
from satchel.edge.uploads.upload_list import unlist
from satchel.kernel.errors import Invalid, Unavailable
from satchel.stores.ports.expressions import assign
from satchel.stores.ports.objects import ObjectMissing, Part

# After this the sweep finishes an upload that is complete and was not handed over.
FINISH_WITHIN = timedelta(minutes=10)


async def settle(uploads: Uploads, row: UploadRow) -> UploadRow:
    """Finish an upload that is complete, or continue to finish it. An incomplete one is left alone.

    What the destination raises comes through, and the next call tries again; after `UploadUnwanted` there is none.
    """
    if not row.is_whole or row.became:
        return row
    destination = uploads.destinations.get(row.destination)
    if destination is None:
        raise Unavailable(f"This server no longer takes uploads for {row.destination!r}.")
    if not row.sha256:
        row = await uploads.change(row, [assign("SHA256", await _sealed(uploads, row))], FINISH_WITHIN)
    arrived = Arrived(
        owner=row.owner,
        name=row.name,
        content_type=row.content_type,
        size_bytes=row.size_bytes,
        details=row.details,
        upload_id=row.upload_id,
        key=row.key,
        sha256=row.sha256,
    )
    try:
        became = await destination.receive(arrived)
    except UploadUnwanted:
        await give_up(uploads, row)
        raise
    await release(uploads.ephemeral, row.place, row.upload_id)
    finished, _ = await asyncio.gather(uploads.change(row, [assign("Became", became)]), unlist(uploads, row))
    return finished


async def _sealed(uploads: Uploads, row: UploadRow) -> str:
    """Make sure that the object exists at its key. Returns its SHA-256."""
    digest = uploads.digests.take(row.upload_id, row.offset_bytes)
    if row.multipart:
        try:
            if digest is not None and not await _completed(uploads, row, digest):
                digest = None
            if digest is None:
                await uploads.objects.complete(row.key, row.multipart, await _parts(uploads, row))
        except ObjectMissing:
            # A server may have completed it and died before it wrote that down. If not, the head fails and says so.
            await _have_object(uploads, row)
    elif not row.size_bytes:
        await uploads.objects.put(row.key, Held(), length=0, content_type=row.content_type)
    return await _read_digest(uploads, row.key) if digest is None else digest.hexdigest()


async def _completed(uploads: Uploads, row: UploadRow, digest: RunningDigest) -> bool:
    """Whether the object could be joined from exactly the parts that were hashed while they arrived."""
    try:
        await uploads.objects.complete(row.key, row.multipart, digest.parts, sha256=digest.hexdigest())
    except Invalid:
        return False
    return True


async def _parts(uploads: Uploads, row: UploadRow) -> Sequence[Part]:
    parts = await uploads.objects.parts(row.key, row.multipart)
    if sum(part.size_bytes for part in parts) != row.size_bytes:
        raise _lost()
    return parts


async def _have_object(uploads: Uploads, row: UploadRow) -> None:
    try:
        await uploads.objects.head(row.key)
    except ObjectMissing:
        raise _lost() from None


def _lost() -> UploadEnded:
    return UploadEnded("What was stored of this upload is not all there any more. Start it again.")


async def _read_digest(uploads: Uploads, key: str) -> str:
    sha256 = hashlib.sha256()
    async with uploads.objects.read(key) as reading:
        async for chunk in reading:
            await asyncio.to_thread(sha256.update, chunk)
    return sha256.hexdigest()
