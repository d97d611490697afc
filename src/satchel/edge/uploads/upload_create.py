"""Begin an upload, find it, and sweep away what nobody goes on with."""

import logging
import re
from datetime import timedelta

import msgspec

from satchel.edge.http.callers import Caller, Guest, Member, Stranger
from satchel.edge.uploads.context import LASTS_AT_MOST, Uploads
from satchel.edge.uploads.destinations import Announced, Destination, OpenDestination
from satchel.edge.uploads.records import EXPIRY_INDEX, UNFINISHED, UPLOAD, UPLOAD_SORT, UnfinishedRow, UploadRow
from satchel.edge.uploads.refusals import (
    UnknownDestination,
    UploadBusy,
    UploadEnded,
    UploadMissing,
    UploadTakenOver,
    UploadTooLarge,
)
from satchel.edge.uploads.reservations import holder_of, release, reserve
from satchel.edge.uploads.tus_headers import Metadata
from satchel.edge.uploads.upload_cancel import free
from satchel.edge.uploads.upload_claims import Claim, begun_key, identity_of, read_claim, said_of, written
from satchel.edge.uploads.upload_finish import settle
from satchel.kernel.clock import from_iso, iso
from satchel.kernel.errors import SatchelError, Unauthenticated, may_have_happened
from satchel.kernel.ids import derived_id, new_id
from satchel.stores.patterns.idempotency_key import IdempotencyKey
from satchel.stores.patterns.optimistic_update import NEW
from satchel.stores.ports.expressions import assign, attr
from satchel.stores.ports.table import ConditionFailed, Range, TransactionCancelled, Write

_UPLOAD_ID = re.compile(r"[0-9a-z]{26}")
# How long the sweep leaves alone what its destination would not take.
TRY_AGAIN_AFTER = timedelta(hours=1)

_log = logging.getLogger("satchel.edge")


async def begin(
    uploads: Uploads,
    caller: Caller,
    size_bytes: int,
    metadata: Metadata,
    idempotency_key: str | None = None,
    *,
    address: str,
) -> tuple[UploadRow, bool]:
    """The upload, and whether it is new: asked again with the same idempotency key, it is the one that was begun."""
    destination = uploads.destinations.get(metadata.destination)
    owner = _sender(caller, destination, metadata)
    if size_bytes > uploads.max_bytes:
        limit = uploads.max_bytes
        raise UploadTooLarge(f"An upload may have at most {limit} bytes.", limit_bytes=limit)
    if destination is None:
        raise UnknownDestination(
            "Name in `Upload-Metadata` a `destination` that takes uploads.", destinations=sorted(uploads.destinations)
        )
    announced = Announced(
        owner=owner,
        name=metadata.name,
        content_type=metadata.content_type,
        size_bytes=size_bytes,
        details=metadata.details,
    )
    upload_id = new_id(uploads.clock)
    place = f"{metadata.destination}:{destination.place_of(announced)}"
    row = _new_row(uploads, upload_id, announced, metadata.destination, place)
    if isinstance(caller, Stranger):
        row = msgspec.structs.replace(row, owner_kind="stranger")
    key = None if idempotency_key is None else IdempotencyKey(uploads.ephemeral, begun_key(owner, idempotency_key))
    if key is not None:
        said = said_of(metadata.destination, metadata.name, size_bytes, metadata.details)
        row, is_there = await _claimed(uploads, key, said, row)
        if is_there:
            return row, False
    try:
        holder = holder_of(caller, address)
        reserved_bytes = await reserve(uploads.ephemeral, place, row.upload_id, size_bytes, holder)
        await destination.admit(msgspec.structs.replace(announced, reserved_bytes=reserved_bytes))
    except SatchelError as error:
        await release(uploads.ephemeral, place, row.upload_id)
        # What a store failed to say is no refusal: another request with the key may be further, under the same id.
        if key is not None and not may_have_happened(error):
            await key.release()
        raise
    try:
        return await _put_row(uploads, row)
    except BaseException:
        # Nothing sweeps a reservation without its row. If the row is there after all, its quota is checked at the end.
        await release(uploads.ephemeral, place, row.upload_id)
        raise


def _new_row(uploads: Uploads, upload_id: str, announced: Announced, destination: str, place: str) -> UploadRow:
    now, owner = uploads.clock(), announced.owner
    return UploadRow(
        upload_id=upload_id,
        owner_kind="member" if isinstance(owner, Member) else "guest",
        owner_id=owner.user_id if isinstance(owner, Member) else owner.id,
        owner_name=owner.email if isinstance(owner, Member) else owner.name,
        session_id=owner.session_id if isinstance(owner, Member) else "",
        destination=destination,
        place=place,
        name=announced.name,
        content_type=announced.content_type,
        details=dict(announced.details),
        size_bytes=announced.size_bytes,
        part_bytes=uploads.part_bytes_for(announced.size_bytes),
        offset_bytes=0,
        created_at=iso(now),
        absolute_expiry=uploads.expiry_of(now),
    )


async def _claimed(uploads: Uploads, key: IdempotencyKey, said: str, row: UploadRow) -> tuple[UploadRow, bool]:
    """The upload that the key stands for, and whether it is there; else it is to be begun, under the id it answers."""
    stored = await key.claim(written(Claim(row.upload_id, said)))
    if stored is None:
        return row, False
    earlier = read_claim(stored)
    earlier.check(said)
    found = await UPLOAD.get(uploads.tables, upload_id=earlier.upload_id)
    if found is None:
        row = msgspec.structs.replace(row, upload_id=earlier.upload_id)
        if not earlier.became:
            # It is being begun at this moment, or was in a bundle that failed. One id becomes one file.
            return row, False
        # It came in a bundle, of which no upload was left to ask about.
        row = msgspec.structs.replace(row, offset_bytes=row.size_bytes, sha256=earlier.sha256, became=earlier.became)
        await uploads.tables.put(UPLOAD.table, UPLOAD.item(row))
        return row, True
    if found.ended or _is_expired(uploads, found):
        # Whoever else comes with the key now goes on under the same id.
        row = msgspec.structs.replace(row, upload_id=derived_id(found.upload_id, "again"))
        await key.settle(written(Claim(row.upload_id, said)))
        return row, False
    return found, True


async def _put_row(uploads: Uploads, row: UploadRow) -> tuple[UploadRow, bool]:
    """The upload, and whether it is new: another request with the same idempotency key may have been faster."""
    writes: list[Write] = [UPLOAD.put(row, when=NEW)]
    if row.owner_kind != "stranger":
        writes.append(
            UNFINISHED.put(UnfinishedRow(owner_kind=row.owner_kind, owner_id=row.owner_id, upload_id=row.upload_id))
        )
    try:
        await uploads.tables.transact(writes)
    except TransactionCancelled:
        found = await UPLOAD.get(uploads.tables, upload_id=row.upload_id)
        if found is None:
            raise
        return found, False
    return row, True


async def find(uploads: Uploads, upload_id: str, caller: Caller) -> UploadRow:
    """The caller's own upload, or a stranger's; somebody else's looks like none."""
    row = await UPLOAD.get(uploads.tables, upload_id=upload_id) if _UPLOAD_ID.fullmatch(upload_id) else None
    if row is None or row.owner_kind != "stranger":
        if isinstance(caller, Stranger):
            raise _nobody()
        if row is None or _owner_of(row) != identity_of(caller):
            raise UploadMissing("There is no such upload. Start a new one.")
    if row.ended or (_is_expired(uploads, row) and not _is_to_be_settled(row)):
        raise UploadEnded("This upload has ended. Start a new one.")
    return row


async def sweep_expired_uploads(uploads: Uploads) -> int:
    """Free what has expired, and hand over what has arrived whole and was left lying; how many were freed."""
    page = await uploads.tables.query(UPLOAD.table, UPLOAD_SORT, Range(high=iso(uploads.clock())), index=EXPIRY_INDEX)
    items = await uploads.tables.get_many(UPLOAD.table, [UPLOAD.table.key_of(item) for item in page.items])
    return sum([await _sweep(uploads, UPLOAD.read(item).upload_id) for item in items if item is not None])


async def _sweep(uploads: Uploads, upload_id: str) -> bool:
    """Whether it has been freed."""
    try:
        async with uploads.locks.hold(upload_id):
            row = await UPLOAD.get(uploads.tables, upload_id=upload_id)
            if row is None or not _is_expired(uploads, row):
                return False
            if _is_to_be_settled(row) and _is_young(uploads, row):
                await _settle_later(uploads, row)
                return False
            if not row.ended:
                # From here on nobody goes on with it, whoever else thinks that it is theirs.
                row = await uploads.change(row, [assign("Ended", value=True)], timedelta(0))
            await free(uploads, row)
            await uploads.tables.delete(UPLOAD.table, UPLOAD.key(upload_id=upload_id), when=attr("Ended").exists())
            return True
    except (UploadBusy, UploadTakenOver, ConditionFailed):
        return False


async def _settle_later(uploads: Uploads, row: UploadRow) -> None:
    try:
        await settle(uploads, row)
    except SatchelError as error:
        _log.warning("the upload %s could not be handed over: %s", row.upload_id, error)
        current = await UPLOAD.get(uploads.tables, upload_id=row.upload_id)
        if current is not None:
            await uploads.change(current, [], TRY_AGAIN_AFTER)


def _sender(caller: Caller, destination: Destination | None, metadata: Metadata) -> Member | Guest:
    if not isinstance(caller, Stranger):
        return caller
    if isinstance(destination, OpenDestination):
        return destination.stranger_of(metadata.details)
    raise _nobody()


def _nobody() -> Unauthenticated:
    return Unauthenticated("Sign in to do this.")


def _owner_of(row: UploadRow) -> tuple[str, str]:
    return row.owner_kind, row.owner_id


def _is_expired(uploads: Uploads, row: UploadRow) -> bool:
    return row.absolute_expiry <= iso(uploads.clock())


def _is_to_be_settled(row: UploadRow) -> bool:
    return row.is_whole and not row.became and not row.ended


def _is_young(uploads: Uploads, row: UploadRow) -> bool:
    return uploads.clock() < from_iso(row.created_at) + LASTS_AT_MOST.total_seconds()
