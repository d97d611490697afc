"""Finds the bytes of a transfer for one of its parties, which also decides who may read them.

In a room they are the room's, while it is open and the person is in it. By e-mail they are on the sender's shelf until
they are on the receiver's. From then on each has a copy. So has a receiver in a room to whose shelf they came.
"""

import asyncio
import hashlib
from collections.abc import Sequence

from satchel.features.transfers.model import ENDED, FilesGone, PersonId, RoomId, TransferFile, TransferId
from satchel.features.transfers.service.context import Transfers
from satchel.features.transfers.service.history import Involved
from satchel.kernel.errors import NotFound
from satchel.kernel.handed_file import HandedFile
from satchel.kernel.ids import derived_id
from satchel.stores.ports.objects import ObjectMissing

WORTH_A_THREAD_BYTES = 256 * 1024
GONE = "The files no longer exist. Ask the sender to send them again."


def saved_id(transfer_id: TransferId, place: int) -> str:
    """The id of a file of a transfer on the receiver's shelf. It is derived, so that the file is saved once."""
    return derived_id(transfer_id, str(place))


def handed(transfer_id: TransferId, file: TransferFile, key: str) -> HandedFile:
    """A file as it will be on the receiver's shelf, with its bytes at the key."""
    return HandedFile(
        file_id=saved_id(transfer_id, file.place),
        name=file.name,
        folder=file.folder,
        key=key,
        size_bytes=file.size_bytes,
        sha256=file.sha256,
        content_type=file.content_type,
        modified_at=file.modified_at,
        executable=file.executable,
    )


async def keys_of(transfers: Transfers, involved: Involved, files: Sequence[TransferFile]) -> dict[int, str]:
    """The objects of these files, by place. Those that are gone, or not for this person, are left out."""
    transfer, receipt = involved.transfer, involved.receipt
    own: dict[int, str] = {}
    if receipt is not None and receipt.saved_at:
        own = await saved_keys(transfers, involved, files)
        if not transfer.room_id:
            return own
    if receipt is not None and receipt.state in ENDED:
        return own
    missing = [file for file in files if file.place not in own]
    if transfer.room_id:
        found = await _keys_in_room(transfers, transfer.room_id, involved.person_id, missing)
    else:
        shelf = await transfers.shelf.locate(transfer.sent_by.person_id, [file.file_id for file in missing])
        found = {file.place: shelf[file.file_id] for file in missing if file.file_id in shelf}
    return own | found


async def saved_keys(transfers: Transfers, involved: Involved, files: Sequence[TransferFile]) -> dict[int, str]:
    """The same for files on the receiver's own shelf."""
    ids = {saved_id(involved.transfer.transfer_id, file.place): file.place for file in files}
    located = await transfers.shelf.locate(involved.person_id, list(ids))
    return {ids[file_id]: key for file_id, key in located.items()}


async def key_of(transfers: Transfers, involved: Involved, file: TransferFile) -> str:
    found = await keys_of(transfers, involved, [file])
    if file.place not in found:
        raise FilesGone(GONE)
    return found[file.place]


async def is_in_room(transfers: Transfers, room_id: RoomId, person_id: PersonId) -> bool:
    try:
        await transfers.rooms.audience(room_id, person_id)
    except NotFound:
        return False
    return True


async def are_available(transfers: Transfers, page: Sequence[Involved]) -> list[bool]:
    """Whether the files still exist, as far as receipts and rooms say. One read for each room."""
    rooms = {each.transfer.room_id: each.person_id for each in page if each.transfer.room_id}
    entered = await asyncio.gather(*(is_in_room(transfers, *each) for each in rooms.items()))
    open_to_us = {room_id for room_id, is_open in zip(rooms, entered, strict=True) if is_open}
    return [
        not _is_over(each) and (_is_saved(each) or not (room := each.transfer.room_id) or room in open_to_us)
        for each in page
    ]


async def proof_of(transfers: Transfers, key: str, challenge: bytes) -> str | None:
    """The SHA-256 of the challenge and the stored bytes behind it. Reads them. None if there are none."""
    digest = hashlib.sha256(challenge)
    try:
        async with transfers.objects.read(key) as reading:
            async for piece in reading:
                if len(piece) < WORTH_A_THREAD_BYTES:
                    digest.update(piece)
                else:
                    await asyncio.to_thread(digest.update, piece)
    except ObjectMissing:
        return None
    return digest.hexdigest()


async def _keys_in_room(
    transfers: Transfers, room_id: RoomId, person_id: PersonId, files: Sequence[TransferFile]
) -> dict[int, str]:
    if not files or not await is_in_room(transfers, room_id, person_id):
        return {}
    keys = await transfers.rooms.keys_of(room_id, [file.file_id for file in files])
    return {file.place: keys[file.file_id] for file in files if file.file_id in keys}


def _is_saved(involved: Involved) -> bool:
    return involved.receipt is not None and bool(involved.receipt.saved_at)


def _is_over(involved: Involved) -> bool:
    if involved.receipt is not None:
        return involved.receipt.state in ENDED
    return bool(involved.transfer.withdrawn_at)
