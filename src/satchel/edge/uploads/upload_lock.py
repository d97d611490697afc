"""The lock of an upload: one request at a time changes it. In a server the newest request gets the lock.

A client that reconnects knows nothing of its old connection, which may stay half alive for a minute. So the request
that comes last asks the one before it to store what it has and release the lock. Between servers the lock is a lease;
another server asks its holder to release it by a key beside the lease, and waits for a moment. The bytes are right
without any of this, by the condition on every change of the row.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

from satchel.edge.uploads.records import LOCK, WANTED
from satchel.edge.uploads.refusals import UploadBusy, UploadTakenOver
from satchel.stores.patterns.lease import EphemeralLease, renewed
from satchel.stores.ports.ephemeral import Delete, Ephemeral, Put

# After a server's death, others refuse its uploads for so long. A lock that is lost too early costs a repeated request.
LEASE = timedelta(seconds=10)
RENEWED_EVERY = timedelta(seconds=2)
# Long enough to keep a part on a slow disk; who waits longer is better told to come back.
WAIT_SECONDS = 10.0
# A server that lives releases the lease within this time; one that has died lets it run out, which takes longer.
ELSEWHERE_SECONDS = 4.0
_ASKED_EVERY_SECONDS = 0.2


class UploadLock:
    """The right to change an upload, until somebody newer asks for it."""

    def __init__(self) -> None:
        self.stopped = False
        self._waiting: asyncio.Timeout | None = None

    def stop(self) -> None:
        """Ask the holder to release the lock."""
        self.stopped = True
        if self._waiting is not None and not self._waiting.expired():
            self._waiting.reschedule(asyncio.get_running_loop().time())

    @asynccontextmanager
    async def interruptible(self, seconds: float | None = None) -> AsyncGenerator[None]:
        """A block that only waits: it ends in `TimeoutError` after so long, in `UploadTakenOver` once stopped."""
        if self.stopped:
            raise self._taken_over()
        try:
            async with asyncio.timeout(seconds) as self._waiting:
                yield
        except TimeoutError:
            if self.stopped:
                raise self._taken_over() from None
            raise
        finally:
            self._waiting = None

    def _taken_over(self) -> UploadTakenOver:
        return UploadTakenOver("A newer request has continued this upload. Ask for its offset first.")


class _Queue:
    """The requests of this process that want to change one upload, and the lock of the one that does."""

    def __init__(self) -> None:
        self.mutex = asyncio.Lock()
        self.held: UploadLock | None = None
        self.waiting = 0


class UploadLocks:
    """The locks of all uploads."""

    def __init__(self, ephemeral: Ephemeral) -> None:
        self._ephemeral = ephemeral
        self._queues: dict[str, _Queue] = {}

    def stop_all(self) -> None:
        """Let every request at work keep what it has and end, because the server does."""
        for queue in self._queues.values():
            if queue.held is not None:
                queue.held.stop()

    @asynccontextmanager
    async def hold(self, upload_id: str) -> AsyncGenerator[UploadLock]:
        """Wait for the lock; `UploadBusy` if that takes too long, or another server has it."""
        queue = self._queues.setdefault(upload_id, _Queue())
        await self._wait(queue, upload_id)
        queue.held = lock = UploadLock()
        if queue.waiting:
            lock.stop()
        try:
            async with self._leased(upload_id, lock):
                yield lock
        finally:
            queue.held = None
            queue.mutex.release()
            self._forget(queue, upload_id)

    async def _wait(self, queue: _Queue, upload_id: str) -> None:
        if queue.held is not None:
            queue.held.stop()
        queue.waiting += 1
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await queue.mutex.acquire()
        except TimeoutError:
            raise _busy() from None
        finally:
            queue.waiting -= 1
            self._forget(queue, upload_id)

    def _forget(self, queue: _Queue, upload_id: str) -> None:
        if not queue.waiting and not queue.mutex.locked():
            self._queues.pop(upload_id, None)

    @asynccontextmanager
    async def _leased(self, upload_id: str, lock: UploadLock) -> AsyncGenerator[None]:
        lease = EphemeralLease(self._ephemeral, LOCK(upload_id=upload_id), LEASE)
        wanted = WANTED(upload_id=upload_id)
        await self._take(lease, wanted, lock)

        async def renew() -> None:
            is_ours, is_wanted = await lease.renew(Delete(wanted))
            if is_wanted or not is_ours:
                lock.stop()

        try:
            async with renewed(renew, RENEWED_EVERY):
                yield
        finally:
            await lease.release()

    async def _take(self, lease: EphemeralLease, wanted: str, lock: UploadLock) -> None:
        """Whoever has it looks for `wanted`, so nothing that is left of it may stop us."""
        until = asyncio.get_running_loop().time() + ELSEWHERE_SECONDS
        while not await lease.take(Delete(wanted)):
            await self._ephemeral.run(Put(wanted, b"1", ttl=LEASE))
            if asyncio.get_running_loop().time() > until:
                raise _busy()
            async with lock.interruptible():
                await asyncio.sleep(_ASKED_EVERY_SECONDS)


def _busy() -> UploadBusy:
    return UploadBusy("Another request is using this upload. Try again in a moment.")
