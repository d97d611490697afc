"""Begin an upload, find it, and sweep away what nobody goes on with."""

import logging
import re
from datetime import timedelta

import msgspec

from satchel.edge.http.callers import Caller, Guest, Member, Stranger
from satchel.edge.uploads.context import LASTS_AT_MOST, Uploads
from satchel.edge.uploads.destinations import Announced, Destination, OpenDestination
from satchel.edge.uploads.records import BEGUN, BEGUN_BY_STRANGER, EXPIRY_INDEX, UPLOAD, UPLOAD_SORT, UploadRow
from satchel.edge.uploads.refusals import (
    UnknownDestination,
    UploadBusy,
    UploadEnded,
    UploadMissing,
    UploadTakenOver,
    UploadTooLarge,
)
from satchel.edge.uploads.reservations import release, reserve
from satchel.edge.uploads.tus_headers import Metadata
from satchel.edge.uploads.upload_cancel import free
from satchel.edge.uploads.upload_finish import settle
from satchel.kernel.clock import from_iso, iso
from satchel.kernel.errors import SatchelError, Unauthenticated
from satchel.kernel.ids import new_id
from satchel.stores.patterns.idempotency_key import IdempotencyKey
from satchel.stores.ports.expressions import assign, attr
from satchel.stores.ports.table import ConditionFailed, Range

_UPLOAD_ID = re.compile(r"[0-9a-z]{26}")
# How long the sweep leaves alone what its destination would not take.
TRY_AGAIN_AFTER = timedelta(hours=1)
# How long a key stands for an upload that is not there.
BEGUN_WITHIN = timedelta(seconds=5)

_log = logging.getLogger("satchel.edge")


async def begin(
    uploads: Uploads, caller: Caller, size_bytes: int, metadata: Metadata, idempotency_key: str | None = None
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
    if key is not None and (earlier := await _begun_before(uploads, key, upload_id)) is not None:
        return earlier, False
    reserved_bytes = await reserve(uploads.ephemeral, place, upload_id, size_bytes)
    try:
        await destination.admit(msgspec.structs.replace(announced, reserved_bytes=reserved_bytes))
    except SatchelError:
        await release(uploads.ephemeral, place, upload_id)
        if key is not None:
            await key.release()
        raise
    await uploads.tables.put(UPLOAD.table, UPLOAD.item(row))
    return row, True


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


def begun_key(owner: Member | Guest, idempotency_key: str) -> str:
    """Where it is stored which upload a client's idempotency key stands for."""
    kind, owner_id = _identity_of(owner)
    proof, separator, proof_id = owner_id.partition(":")
    if separator:
        return BEGUN_BY_STRANGER(proof=proof, proof_id=proof_id, key=idempotency_key)
    return BEGUN(kind=kind, owner_id=owner_id, key=idempotency_key)


async def _begun_before(uploads: Uploads, key: IdempotencyKey, upload_id: str) -> UploadRow | None:
    """What the same key began earlier, if that can still be gone on with; else the key is for the new one."""
    earlier = await key.claim(upload_id)
    if earlier is None:
        return None
    row = await UPLOAD.get(uploads.tables, upload_id=earlier)
    if row is None:
        # It is being begun at this moment, or its server died in the middle of that.
        await key.expire(BEGUN_WITHIN)
        raise UploadBusy("This upload is being created. Try again in a moment.")
    if row.ended or _is_expired(uploads, row):
        await key.settle(upload_id)
        return None
    return row


async def find(uploads: Uploads, upload_id: str, caller: Caller) -> UploadRow:
    """The caller's own upload, or a stranger's; somebody else's looks like none."""
    row = await UPLOAD.get(uploads.tables, upload_id=upload_id) if _UPLOAD_ID.fullmatch(upload_id) else None
    if row is None or row.owner_kind != "stranger":
        if isinstance(caller, Stranger):
            raise _nobody()
        if row is None or _owner_of(row) != _identity_of(caller):
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


def _identity_of(caller: Member | Guest) -> tuple[str, str]:
    return ("member", caller.user_id) if isinstance(caller, Member) else ("guest", caller.id)


def _is_expired(uploads: Uploads, row: UploadRow) -> bool:
    return row.absolute_expiry <= iso(uploads.clock())


def _is_to_be_settled(row: UploadRow) -> bool:
    return row.is_whole and not row.became and not row.ended


def _is_young(uploads: Uploads, row: UploadRow) -> bool:
    return uploads.clock() < from_iso(row.created_at) + LASTS_AT_MOST.total_seconds()
