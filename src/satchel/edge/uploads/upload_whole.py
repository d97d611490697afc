"""Send all bytes of an upload that nobody else knows of yet. A failure cancels it, since nobody could continue it."""

from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect

from satchel.edge.uploads.context import Uploads
from satchel.edge.uploads.records import UploadRow
from satchel.edge.uploads.refusals import UploadUnwanted
from satchel.edge.uploads.tus_headers import Checksum
from satchel.edge.uploads.upload_append import write
from satchel.edge.uploads.upload_cancel import give_up
from satchel.edge.uploads.upload_create import find
from satchel.edge.uploads.upload_finish import settle
from satchel.kernel.errors import SatchelError, may_have_happened

if TYPE_CHECKING:
    from starlette.types import Receive


async def send_whole(
    uploads: Uploads, row: UploadRow, receive: "Receive", wanted: Checksum | None, *, is_repeatable: bool
) -> UploadRow:
    """With `is_repeatable`, the client can ask again under its key. Then what a store failed to finish stays, because
    the destination may have it already, and a repeat under another id would be a second file."""
    async with uploads.locks.hold(row.upload_id) as lock:
        try:
            row = await write(uploads, row, lock, receive, wanted)
            return await settle(uploads, row)
        except UploadUnwanted:
            raise
        except (SatchelError, ClientDisconnect) as error:
            # Another request with the key may have handed it over before this one had the lock.
            found = await find(uploads, row.upload_id, row.owner)
            in_doubt = isinstance(error, SatchelError) and may_have_happened(error)
            if not (found.is_whole and is_repeatable and in_doubt):
                await give_up(uploads, found)
            raise
