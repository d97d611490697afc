"""Append the bytes of one request so that whatever arrived stays, even if the connection or the server fails.

    parts    of one fixed size, in a multipart upload that is begun with the first of them
    pieces   what is there of the part that is not full yet, each an object of its own: `uploads/<id>/<name>`

A part is joined from pieces and memory as it is stored, so no more than two buffers are ever held: one that is stored
and one that is filled meanwhile. While more arrives, what is stored is flushed and the row moves forward, if nobody
else has moved it: one flush for all that was stored during the flush before. The last one comes before the answer. With
a checksum the row moves once, at the end.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect

from satchel.edge.http.problems import TooSlow
from satchel.edge.uploads.body_buffers import BUFFER_BYTES, Held, Incoming
from satchel.edge.uploads.context import RESUME_WITHIN, Uploads
from satchel.edge.uploads.records import Piece, UploadRow
from satchel.edge.uploads.refusals import UploadTakenOver
from satchel.edge.uploads.tus_headers import Checksum
from satchel.edge.uploads.upload_finish import FINISH_WITHIN
from satchel.edge.uploads.upload_lock import UploadLock
from satchel.stores.ports.expressions import assign
from satchel.stores.ports.objects import Part

# More than this are joined into one, so that a client that sends single bytes cannot fill the row with sizes.
MAX_PIECES = 32


async def write(
    uploads: Uploads, row: UploadRow, lock: UploadLock, receive: Any, checksum: Checksum | None = None
) -> UploadRow:
    """Append a body to what is stored. Returns the row as it is afterwards.

    Cut off, it keeps what came and raises what happened; with a checksum it keeps all or nothing.
    """
    return await _Writer(uploads, row, checksum).write(Incoming(receive, lock, uploads.buffers), lock)


class _Writer:
    """One request that appends. `_row` is how far its bytes are stored, `_committed` what the table knows of that."""

    def __init__(self, uploads: Uploads, row: UploadRow, checksum: Checksum | None) -> None:
        self._uploads = uploads
        self._objects = uploads.objects
        self._row = self._committed = row
        self._check = checksum.begin() if checksum else None
        self._digest = uploads.digests.take(row.upload_id, row.offset_bytes)
        # Parts that are not flushed, pieces that this request has made, and those that became part of something else.
        self._unflushed: list[Part] = []
        self._made: set[str] = set()
        self._used_up: list[str] = []
        self._is_change_open = False
        self._has_failed = False
        self._committing: asyncio.Task[None] | None = None
        # How far the bytes go that were taken in, stored or not; where the storing of the last of them is; and what
        # ended the body too early.
        self._taken_bytes = row.offset_bytes
        self._storing: asyncio.Task[None] | None = None
        self._cut_off: Exception | None = None

    async def write(self, incoming: Incoming, lock: UploadLock) -> UploadRow:
        try:
            await self._take_in_all(incoming, lock)
            if self._check is not None:
                self._check.verify()
                await self._commit()
        except BaseException:
            # A change that failed may still have happened, so what it refers to has to stay.
            if not self._is_change_open:
                await self._forget_uncommitted()
            raise
        finally:
            # Bytes that were hashed and then not stored would put the digest ahead of the upload.
            if self._digest is not None and self._digest.offset_bytes == self._committed.offset_bytes:
                self._uploads.digests.put_back(self._committed.upload_id, self._digest)
        return self._committed

    async def _take_in_all(self, incoming: Incoming, lock: UploadLock) -> None:
        try:
            while self._cut_off is None and await incoming.more():
                await self._uploads.buffers.take(lock)
                await self._take_in(incoming)
        finally:
            try:
                await self._have_stored()
            finally:
                await self._have_committed()
        if self._cut_off is not None:
            raise self._cut_off

    async def _take_in(self, incoming: Incoming) -> None:
        """Fill a buffer, and begin to store it as soon as the one before is stored. It is freed after that."""
        held = Held()
        try:
            await self._fill(held, incoming)
            await self._have_stored()
        except BaseException:
            self._uploads.buffers.release()
            raise
        self._taken_bytes += held.size_bytes
        self._storing = asyncio.create_task(self._store(held))
        self._storing.add_done_callback(lambda _: self._uploads.buffers.release())

    async def _fill(self, held: Held, incoming: Incoming) -> None:
        row = self._committed
        rest = row.size_bytes - self._taken_bytes
        room = min(BUFFER_BYTES, row.part_bytes - self._taken_bytes % row.part_bytes, rest)
        try:
            await incoming.fill(held, room, last=room == rest)
        except (ClientDisconnect, TooSlow, UploadTakenOver) as error:
            if self._check is not None:
                raise
            self._cut_off = error

    async def _have_stored(self) -> None:
        storing, self._storing = self._storing, None
        if storing is not None:
            await storing

    async def _store(self, held: Held) -> None:
        if not held.size_bytes:
            return
        if self._becomes_one_object(held):
            # Its store hashes all of it on the way.
            self._digest = None
        hashing = asyncio.create_task(self._hash(held.chunks))
        try:
            self._row = await self._stored(held)
        finally:
            await hashing
        if self._check is None and (self._committing is None or self._committing.done()):
            await self._committed_so_far()
            self._committing = asyncio.create_task(self._commit())

    def _becomes_one_object(self, held: Held) -> bool:
        """Whether these are the last bytes, of an upload that has no parts."""
        return self._row.offset_bytes + held.size_bytes == self._row.size_bytes and not self._row.multipart

    async def _hash(self, chunks: list[bytes]) -> None:
        for digest in (self._digest, self._check):
            if digest is not None:
                await asyncio.to_thread(digest.update, chunks)

    async def _stored(self, held: Held) -> UploadRow:
        """Store the bytes as parts and pieces. Returns the row as it will be."""
        row = self._row
        waiting_bytes = row.waiting_bytes + held.size_bytes
        offset = row.offset_bytes + held.size_bytes
        body = _joined(self._uploads, row, held)
        if self._becomes_one_object(held):
            stored = await self._objects.put(row.key, body, length=waiting_bytes, content_type=row.content_type)
            self._used_up += _piece_keys(row)
            return msgspec.structs.replace(row, offset_bytes=offset, pieces=[], sha256=stored.sha256)
        if offset == row.size_bytes or waiting_bytes == row.part_bytes:
            return await self._stored_part(row, body, waiting_bytes)
        if len(row.pieces) == MAX_PIECES:
            pieces = [_new_piece(waiting_bytes)]
            used_up = _piece_keys(row)
        else:
            pieces = [*row.pieces, _new_piece(held.size_bytes)]
            body = aiter(held)
            used_up = []
        new = msgspec.structs.replace(row, offset_bytes=offset, pieces=pieces)
        key = _piece_keys(new)[-1]
        self._made.add(key)
        await self._objects.put(key, body, length=pieces[-1].size_bytes)
        self._used_up += used_up
        return new

    async def _stored_part(self, row: UploadRow, body: AsyncIterator[bytes], size_bytes: int) -> UploadRow:
        start = row.offset_bytes - row.waiting_bytes
        multipart = row.multipart or await self._objects.begin(row.key, content_type=row.content_type)
        # Remembered at once, so that a multipart upload that comes to nothing is aborted.
        self._row = msgspec.structs.replace(row, multipart=multipart)
        number = start // row.part_bytes + 1
        part = await self._objects.put_part(row.key, multipart, number, body, length=size_bytes, durable=False)
        self._unflushed.append(part)
        self._used_up += _piece_keys(row)
        if self._digest is not None:
            self._digest.parts.append(part)
        return msgspec.structs.replace(row, offset_bytes=start + size_bytes, pieces=[], multipart=multipart)

    async def _have_committed(self) -> None:
        await self._committed_so_far()
        if self._check is None:
            await self._commit()

    async def _committed_so_far(self) -> None:
        committing, self._committing = self._committing, None
        if committing is not None:
            await committing

    async def _commit(self) -> None:
        old, new = self._committed, self._row
        # After a flush that failed, another one that succeeds proves nothing.
        if old.offset_bytes == new.offset_bytes or self._has_failed:
            return
        self._has_failed = True
        unflushed, self._unflushed = self._unflushed, []
        used_up, self._used_up = self._used_up, []
        if unflushed:
            await self._objects.flush_parts(new.key, new.multipart, unflushed)
        actions = [assign("OffsetBytes", new.offset_bytes), assign("Pieces", msgspec.to_builtins(new.pieces))]
        if new.multipart:
            actions.append(assign("MultipartId", new.multipart))
        if new.sha256:
            actions.append(assign("SHA256", new.sha256))
        self._is_change_open = True
        lives_on = FINISH_WITHIN if new.is_whole else RESUME_WITHIN
        self._committed = await self._uploads.change(old, actions, lives_on)
        self._is_change_open = self._has_failed = False
        if self._row is new:
            self._row = self._committed
        if used_up:
            await self._objects.delete(*used_up)

    async def _forget_uncommitted(self) -> None:
        """Free what the table does not know of. What a killed server leaves is freed when the upload expires."""
        old, new = self._committed, self._row
        if new.multipart and not old.multipart:
            await self._objects.abort(new.key, new.multipart)
        if unused := self._made.difference(_piece_keys(old)):
            await self._objects.delete(*unused)


async def _joined(uploads: Uploads, row: UploadRow, held: Held) -> AsyncIterator[bytes]:
    """The stored pieces, then the bytes in memory."""
    for key in _piece_keys(row):
        async with uploads.objects.read(key) as reading:
            async for chunk in reading:
                yield chunk
    for chunk in held.chunks:
        yield chunk


def _new_piece(size_bytes: int) -> Piece:
    return Piece(size_bytes, f"piece-{secrets.token_hex(8)}")


def _piece_keys(row: UploadRow) -> list[str]:
    return [row.folder + piece.name for piece in row.pieces]
