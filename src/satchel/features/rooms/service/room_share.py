"""Copies files from a person's shelf into a room: all of them or none, and once for an idempotency key.

A key stands for a seed from which the ids of the copies follow. So a request that is repeated finds the copies that an
earlier one has made, also if the server died among them, and makes the rest. A lease lets one request at a time do so.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from satchel.features.rooms.model import MAX_FILES, FileId, PersonId, RoomId
from satchel.features.rooms.records import SHARE_LEASE, SHARES, RoomFile
from satchel.features.rooms.service.context import Rooms, find_room
from satchel.features.rooms.service.room_blobs import Content
from satchel.features.rooms.service.room_file_add import Brought, bring, bring_once, check_receiver, joined_path
from satchel.features.rooms.service.room_files import list_files, remove_file
from satchel.kernel.errors import NotFound, SatchelError
from satchel.kernel.handed_file import HandedFile
from satchel.kernel.ids import derived_id, new_id
from satchel.kernel.names import kept_path
from satchel.stores.patterns.idempotency_key import Claim, decode_claim, encode_claim, order_of
from satchel.stores.patterns.lease import turn
from satchel.stores.ports.ephemeral import HashDelete, HashGet, HashPut


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """Files and folders of a person's shelf for a room, or for one person in it."""

    room_id: RoomId
    person_id: PersonId
    entry_ids: Sequence[str]
    to: PersonId | None = None

    @property
    def order(self) -> str:
        return order_of(sorted(self.entry_ids), self.to)


async def share_from_shelf(rooms: Rooms, sharing: Sharing, idempotency_key: str | None) -> list[RoomFile]:
    """Copy files and folders from the sender's shelf: all or none. With a key, what the key became."""
    await find_room(rooms, sharing.room_id, sharing.person_id)
    if idempotency_key is None:
        return await _copy_all(rooms, sharing, new_id(rooms.clock))
    mine = SHARE_LEASE(room_id=sharing.room_id, person_id=sharing.person_id)
    async with turn(rooms.ephemeral, mine, "Files are being copied into this room. Try again in a moment."):
        return await _share_once(rooms, sharing, f"{sharing.person_id} {idempotency_key}")


async def _share_once(rooms: Rooms, sharing: Sharing, field: str) -> list[RoomFile]:
    shares = SHARES(room_id=sharing.room_id)
    found = await rooms.ephemeral.run(HashGet(shares, field))
    claim = Claim(made_id=new_id(rooms.clock), order=sharing.order) if found is None else decode_claim(found)
    claim.check(sharing.order)
    if claim.done:
        return await _copies_of(rooms, sharing, claim.made_id)
    await rooms.ephemeral.run(HashPut(shares, {field: encode_claim(claim)}))
    try:
        copies = await _copy_all(rooms, sharing, claim.made_id, again=found is not None)
    except SatchelError:
        await rooms.ephemeral.run(HashDelete(shares, field))
        raise
    await rooms.ephemeral.run(HashPut(shares, {field: encode_claim(claim.finished)}))
    return copies


async def _copy_all(rooms: Rooms, sharing: Sharing, seed: str, *, again: bool = False) -> list[RoomFile]:
    """The copies. `again` is whether an earlier request may have made some of them."""
    add = bring_once if again else bring
    try:
        await check_receiver(rooms, sharing.room_id, sharing.person_id, sharing.to)
        sources = await rooms.shelves.gather(sharing.person_id, sharing.entry_ids, MAX_FILES)
        await rooms.shelves.note_handed_on(sharing.person_id, sources)
        return [await add(rooms, _brought(sharing, seed, source)) for source in sources]
    except SatchelError:
        with suppress(NotFound):  # the room has ended, and everything in it
            for each in await _copies_of(rooms, sharing, seed):
                await remove_file(rooms, each)
        raise


async def _copies_of(rooms: Rooms, sharing: Sharing, seed: str) -> list[RoomFile]:
    found = (await list_files(rooms, sharing.room_id, sharing.person_id)).files
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
