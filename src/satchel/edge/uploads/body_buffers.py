"""Read a request body into buffers in memory, with a limit on how many buffers exist."""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect

from satchel.edge.uploads.refusals import UploadTooLarge
from satchel.edge.uploads.upload_lock import UploadLock

if TYPE_CHECKING:
    from starlette.types import Receive

BUFFER_BYTES = 8 * 1024 * 1024
BUFFERS = 6
SMALL_BYTES = 16 * 1024


class Buffers:
    """Memory for so many buffers. A request that finds none free waits, and so does its client.

    A sender so slow that its buffer is not full after `slow_seconds` lets others use the memory, if they wait for it.
    """

    def __init__(self, count: int = BUFFERS, *, slow_seconds: float = 5.0) -> None:
        self.slow_seconds = slow_seconds
        self._free = asyncio.Semaphore(count)
        self._waiting = 0

    @property
    def wanted(self) -> bool:
        return self._waiting > 0

    async def take(self, lock: UploadLock) -> None:
        self._waiting += 1
        try:
            async with lock.interruptible():
                await self._free.acquire()
        finally:
            self._waiting -= 1

    def release(self) -> None:
        self._free.release()


class Held:
    """Bytes in memory. Small chunks are joined, because each object would cost more than its bytes."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._small = bytearray()
        self.size_bytes = 0

    def add(self, chunk: bytes) -> None:
        self.size_bytes += len(chunk)
        if len(chunk) >= SMALL_BYTES and not self._small:
            self._chunks.append(chunk)
            return
        self._small += chunk
        if len(self._small) >= SMALL_BYTES:
            self._seal()

    @property
    def chunks(self) -> list[bytes]:
        if self._small:
            self._seal()
        return self._chunks

    def _seal(self) -> None:
        self._chunks.append(bytes(self._small))
        self._small = bytearray()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self.chunks:
            yield chunk


class Incoming:
    """The body of one request."""

    def __init__(self, receive: "Receive", lock: UploadLock, buffers: Buffers) -> None:
        self._receive = receive
        self._lock = lock
        self._buffers = buffers
        self._ended = False
        # Bytes that have arrived and do not fit into the buffer that is being filled.
        self._rest = b""

    async def more(self) -> bool:
        """Wait for the next byte without holding a buffer. Returns whether there is one."""
        while not self._rest and not self._ended:
            async with self._lock.interruptible():
                await self._arrive()
        return bool(self._rest)

    async def fill(self, held: Held, room_bytes: int, *, last: bool) -> None:
        """Read until the buffer is full, the body ends, or another request needs the memory more.

        `last` says that nothing may follow what there is room for; one byte more raises `UploadTooLarge`.
        """
        while not self._done(held, room_bytes, last=last):
            try:
                async with self._lock.interruptible(self._buffers.slow_seconds):
                    while not self._done(held, room_bytes, last=last):
                        self._take(held, room_bytes)
                        if not self._rest and not self._ended and (last or held.size_bytes < room_bytes):
                            await self._arrive()
            except TimeoutError:
                if self._buffers.wanted:
                    return

    def _done(self, held: Held, room_bytes: int, *, last: bool) -> bool:
        full = held.size_bytes == room_bytes
        if full and last and self._rest:
            raise UploadTooLarge("More bytes arrived than were announced for this upload.")
        return (full and not last) or (self._ended and not self._rest)

    def _take(self, held: Held, room_bytes: int) -> None:
        room = room_bytes - held.size_bytes
        if self._rest and room:
            held.add(self._rest[:room])
            self._rest = self._rest[room:]

    async def _arrive(self) -> None:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        self._rest = message.get("body", b"")
        self._ended = not message.get("more_body", False)
