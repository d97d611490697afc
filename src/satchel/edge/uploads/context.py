"""What receiving uploads works with, and the one way in which their rows change."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from satchel.edge.uploads.body_buffers import BUFFER_BYTES, Buffers
from satchel.edge.uploads.destinations import Destination
from satchel.edge.uploads.digests import Digests
from satchel.edge.uploads.records import UPLOAD, UploadRow
from satchel.edge.uploads.refusals import UploadTakenOver
from satchel.edge.uploads.upload_lock import UploadLocks
from satchel.kernel.clock import Clock, from_iso, iso
from satchel.stores.patterns.idempotency_key import REPEATED_WITHIN
from satchel.stores.ports.direct_links import DirectLinks
from satchel.stores.ports.ephemeral import Ephemeral
from satchel.stores.ports.expressions import Action, assign, attr
from satchel.stores.ports.objects import MAX_PARTS, Objects
from satchel.stores.ports.table import ConditionFailed, Tables

RESUME_WITHIN = REPEATED_WITHIN
# However busy an upload is, the store may forget its parts some time after this.
LASTS_AT_MOST = timedelta(days=30)


class Uploads:
    """The stores, the destinations by name, and what is remembered between requests."""

    def __init__(
        self,
        *,
        tables: Tables,
        objects: Objects,
        ephemeral: Ephemeral,
        clock: Clock,
        destinations: Mapping[str, Destination],
        max_bytes: int,
        part_bytes: int = BUFFER_BYTES,
        buffers: Buffers | None = None,
        direct: DirectLinks | None = None,
    ) -> None:
        """`direct` makes links to the store of objects, if clients may send bytes straight to it."""
        self.tables = tables
        self.objects = objects
        self.clock = clock
        self.destinations = destinations
        self.max_bytes = max_bytes
        self.part_bytes = part_bytes
        self.buffers = buffers or Buffers()
        self.direct = direct
        self.ephemeral = ephemeral
        self.locks = UploadLocks(ephemeral)
        self.digests = Digests()

    def part_bytes_for(self, size_bytes: int) -> int:
        """All parts of an upload but the last have one size: what a part holds never depends on who wrote it."""
        return max(self.part_bytes, -(-size_bytes // MAX_PARTS))

    def expiry_of(self, created_at: float, after: timedelta = RESUME_WITHIN) -> str:
        return iso(min(self.clock() + after.total_seconds(), created_at + LASTS_AT_MOST.total_seconds()))

    async def change(self, row: UploadRow, actions: Sequence[Action], after: timedelta = RESUME_WITHIN) -> UploadRow:
        """Change the row if it still stands where it was read, and let it live on from now."""
        expiry = self.expiry_of(from_iso(row.created_at), after)
        try:
            item = await self.tables.update(
                UPLOAD.table,
                UPLOAD.key(upload_id=row.upload_id),
                [*actions, assign("AbsoluteExpiryTime", expiry)],
                when=(attr("OffsetBytes") == row.offset_bytes) & attr("Ended").absent(),
            )
        except ConditionFailed:
            raise UploadTakenOver("Another request has continued this upload. Ask for its offset.") from None
        return UPLOAD.read(item)
