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
from satchel.kernel.errors import SatchelError

if TYPE_CHECKING:
    from starlette.types import Receive


async def send_whole(uploads: Uploads, row: UploadRow, receive: "Receive", wanted: Checksum | None) -> UploadRow:
    async with uploads.locks.hold(row.upload_id) as lock:
        try:
            return await settle(uploads, await write(uploads, row, lock, receive, wanted))
        except UploadUnwanted:
            raise
        except (SatchelError, ClientDisconnect):
            await give_up(uploads, await find(uploads, row.upload_id, row.owner))
            raise
