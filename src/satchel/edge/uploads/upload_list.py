"""The unfinished uploads of a member or guest, so that they see what takes their space and can cancel it."""

from dataclasses import dataclass

from satchel.edge.http.callers import Guest, Member
from satchel.edge.uploads.context import Uploads
from satchel.edge.uploads.records import UNFINISHED, UPLOAD, UploadRow
from satchel.edge.uploads.upload_claims import identity_of
from satchel.kernel.clock import iso


@dataclass(frozen=True, slots=True)
class UploadPage:
    """A page of unfinished uploads, and the cursor of the next."""

    uploads: list[UploadRow]
    cursor: str | None


async def list_unfinished(uploads: Uploads, caller: Member | Guest, limit: int, cursor: str | None) -> UploadPage:
    """What has begun and neither become anything nor ended, the newest first."""
    kind, owner_id = identity_of(caller)
    page = await UNFINISHED.list(
        uploads.tables, descending=True, limit=limit, cursor=cursor, owner_kind=kind, owner_id=owner_id
    )
    items = await uploads.tables.get_many(
        UPLOAD.table, [UPLOAD.key(upload_id=record.upload_id) for record in page.records]
    )
    now = iso(uploads.clock())
    rows = [UPLOAD.read(item) for item in items if item is not None]
    return UploadPage(
        [row for row in rows if not row.ended and not row.became and row.absolute_expiry > now], page.cursor
    )


async def unlist(uploads: Uploads, row: UploadRow) -> None:
    """Take an upload off its owner's list."""
    if row.owner_kind == "stranger":
        return
    key = UNFINISHED.key(owner_kind=row.owner_kind, owner_id=row.owner_id, upload_id=row.upload_id)
    await uploads.tables.delete(UNFINISHED.table, key)
