"""Copies files from a person's shelf into a room: all of them or none, and once for an idempotency key.

A key stands for a seed from which the ids of the copies follow. So a request that is repeated finds the copies that an
earlier one has made, also if the server died among them, and makes the rest. A lease lets one request at a time do so.
"""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta

import msgspec

from satchel.features.rooms.model import MAX_FILES, FileId, PersonId, RoomId, ShareKeyReused
from satchel.features.rooms.records import SHARE_LEASE, SHARES, RoomFile, ShareRow, decode_share, encode
from satchel.features.rooms.service.context import Rooms, find_room
from satchel.features.rooms.service.room_blobs import Content
from satchel.features.rooms.service.room_file_add import Brought, bring, bring_once, check_receiver, joined_path
from satchel.features.rooms.service.room_files import list_files, remove_file
from satchel.kernel.errors import NotFound, SatchelError, Unavailable
from satchel.kernel.handed_file import HandedFile
from satchel.kernel.ids import derived_id, new_id
from satchel.kernel.names import kept_path
from satchel.stores.patterns.backoff import Backoff, Retries
from satchel.stores.patterns.lease import EphemeralLease, renewed
from satchel.stores.ports.ephemeral import HashDelete, HashGet, HashPut

_LEASE = timedelta(seconds=10)
_RENEWED_EVERY = timedelta(seconds=3)
# Longer than the lease of a server that died, and less long than clients wait for an answer.
_WAITS = Backoff(attempts=100, first_seconds=0.05, longest_seconds=0.5, within_seconds=20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """Files and folders of a person's shelf for a room, or for one person in it."""

    room_id: RoomId
    person_id: PersonId
    entry_ids: Sequence[str]
    to: PersonId | None = None

    @property
    def order(self) -> str:
        return hashlib.sha256(msgspec.json.encode((sorted(self.entry_ids), self.to))).hexdigest()


async def share_from_shelf(rooms: Rooms, sharing: Sharing, idempotency_key: str | None) -> list[RoomFile]:
    """Copy files and folders from the sender's shelf: all or none. With a key, what the key became."""
    await find_room(rooms, sharing.room_id, sharing.person_id)
    if idempotency_key is None:
        return await _copy_all(rooms, sharing, new_id(rooms.clock))
    async with _turn(rooms, sharing):
        return await _share_once(rooms, sharing, f"{sharing.person_id} {idempotency_key}")


async def _share_once(rooms: Rooms, sharing: Sharing, field: str) -> list[RoomFile]:
    shares = SHARES(room_id=sharing.room_id)
    found = await rooms.ephemeral.run(HashGet(shares, field))
    row = ShareRow(seed=new_id(rooms.clock), order=sharing.order) if found is None else decode_share(found)
    if row.order != sharing.order:
        raise ShareKeyReused("This idempotency key was used for other files. Use a new key.")
    if row.done:
        return await _copies_of(rooms, sharing, row.seed)
    await rooms.ephemeral.run(HashPut(shares, {field: encode(row)}))
    try:
        copies = await _copy_all(rooms, sharing, row.seed, again=found is not None)
    except SatchelError:
        await rooms.ephemeral.run(HashDelete(shares, field))
        raise
    await rooms.ephemeral.run(HashPut(shares, {field: encode(msgspec.structs.replace(row, done=True))}))
    return copies


async def _copy_all(rooms: Rooms, sharing: Sharing, seed: str, *, again: bool = False) -> list[RoomFile]:
    """The copies. `again` is whether an earlier request may have made some of them."""
    add = bring_once if again else bring
    try:
        await check_receiver(rooms, sharing.room_id, sharing.person_id, sharing.to)
        sources = await rooms.shelves.gather(sharing.person_id, sharing.entry_ids, MAX_FILES)
        return [await add(rooms, _brought(sharing, seed, source)) for source in sources]
    except SatchelError:
        with suppress(NotFound):  # the room has ended, and everything in it
            for each in await _copies_of(rooms, sharing, seed):
                await remove_file(rooms, each)
        raise


async def _copies_of(rooms: Rooms, sharing: Sharing, seed: str) -> list[RoomFile]:
    found = await list_files(rooms, sharing.room_id, sharing.person_id)
    return [file for file in found if file.row.seed == seed]


def _brought(sharing: Sharing, seed: str, source: HandedFile) -> Brought:
    folders = kept_path(source.folder)
    joined_path(folders)
    return Brought(
        room_id=sharing.room_id,
        file_id=FileId(derived_id(seed, source.file_id)),
        by=sharing.person_id,
        to=sharing.to,
        folders=folders,
        content=Content(key=source.key, name=source.name, size_bytes=source.size_bytes, sha256=source.sha256),
        content_type=source.content_type,
        modified_at=source.modified_at,
        executable=source.executable,
        seed=seed,
    )


@asynccontextmanager
async def _turn(rooms: Rooms, sharing: Sharing) -> AsyncGenerator[None]:
    """One request of a person at a time copies into a room under a key. The others wait."""
    key = SHARE_LEASE(room_id=sharing.room_id, person_id=sharing.person_id)
    lease = EphemeralLease(rooms.ephemeral, key, _LEASE)
    retries = Retries(_WAITS)
    while not await lease.take():
        await retries.pause_or_raise(Unavailable("Files are being copied into this room. Try again in a moment."))
    try:
        async with renewed(lease.renew, _RENEWED_EVERY):
            yield
    finally:
        await asyncio.shield(lease.release())
