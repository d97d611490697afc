"""Cancel an upload before it became anything, and free its bytes."""

from satchel.edge.uploads.context import Uploads
from satchel.edge.uploads.records import UploadRow
from satchel.edge.uploads.reservations import release
from satchel.edge.uploads.upload_list import unlist
from satchel.stores.ports.expressions import assign


async def give_up(uploads: Uploads, row: UploadRow) -> None:
    """Cancel an upload and free its bytes. What it may have become belongs to its destination."""
    await uploads.change(row, [assign("Ended", value=True)])
    await free(uploads, row)


async def free(uploads: Uploads, row: UploadRow) -> None:
    await release(uploads.ephemeral, row.place, row.upload_id)
    await unlist(uploads, row)
    if row.multipart:
        await uploads.objects.abort(row.key, row.multipart)
    while (listed := await uploads.objects.list(row.folder)).objects:
        await uploads.objects.delete(*(info.key for info in listed.objects))
