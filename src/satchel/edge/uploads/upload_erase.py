"""Cancels the unfinished uploads of a person, when their account is deleted."""

from contextlib import suppress
from dataclasses import dataclass

from satchel.edge.uploads.context import Uploads
from satchel.edge.uploads.records import EXPIRY_INDEX, UNFINISHED, UPLOAD, UPLOAD_SORT
from satchel.edge.uploads.refusals import UploadTakenOver
from satchel.edge.uploads.upload_cancel import free, give_up
from satchel.kernel.departure import Leaver, Tally

_PAGE = 1000


@dataclass(frozen=True, slots=True)
class UploadHoldings:
    """What people have begun to upload, and not finished."""

    uploads: Uploads

    async def count(self, leaver: Leaver) -> Tally:
        page = await UNFINISHED.list(self.uploads.tables, owner_kind="member", owner_id=leaver.user_id, limit=_PAGE)
        return Tally(uploads=len(page.records))

    async def delete(self, leaver: Leaver) -> None:
        """Cancel what is unfinished, and forget by whom the rest was sent, which would be known for a week."""
        tables, user_id = self.uploads.tables, leaver.user_id
        while found := (await UNFINISHED.list(tables, limit=_PAGE, owner_kind="member", owner_id=user_id)).records:
            for each in found:
                row = await UPLOAD.get(tables, upload_id=each.upload_id)
                if row is not None and not row.became:
                    with suppress(UploadTakenOver):
                        await give_up(self.uploads, row)
                    await free(self.uploads, row)
            keys = [UNFINISHED.key(owner_kind="member", owner_id=user_id, upload_id=each.upload_id) for each in found]
            await tables.write_many(UNFINISHED.table, delete=keys)
        await self._forget_finished(user_id)

    async def _forget_finished(self, user_id: str) -> None:
        """They are listed by their end only, so all are looked at."""
        tables, cursor = self.uploads.tables, None
        while True:
            page = await tables.query(UPLOAD.table, UPLOAD_SORT, index=EXPIRY_INDEX, limit=_PAGE, cursor=cursor)
            keys = [UPLOAD.table.key_of(item) for item in page.items]
            rows = [UPLOAD.read(item) for item in await tables.get_many(UPLOAD.table, keys) if item is not None]
            theirs = [row for row in rows if (row.owner_kind, row.owner_id) == ("member", user_id)]
            done = [UPLOAD.key(upload_id=row.upload_id) for row in theirs if row.became or row.ended]
            await tables.write_many(UPLOAD.table, delete=done)
            if (cursor := page.cursor) is None:
                return
