"""One request at a time changes an upload: here the newest one wins, between servers whoever holds the lease.

A client that reconnects knows nothing of its old connection, which may stay half alive for a minute. So the request
that comes last asks the one before it to keep what it has and let go. Another server is asked by a note beside the
lease. None of this is what keeps the bytes right: that is the condition on every change of the row.
"""

import asyncio
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from satchel.edge.uploads.refusals import UploadBusy, UploadTakenOver
from satchel.kernel.errors import Unavailable
from satchel.stores.ports.ephemeral import Delete, Ephemeral, Expire, Get, Put

LEASE = timedelta(seconds=30)
RENEWED_EVERY_SECONDS = 2.0
# Long enough to keep a part on a slow disk; who waits longer is better told to come back.
PATIENCE_SECONDS = 10.0


class Turn:
    """The right to change an upload, until somebody newer asks for it."""

    def __init__(self) -> None:
        self.stopped = False
        self._waiting: asyncio.Timeout | None = None

    def stop(self) -> None:
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
        return UploadTakenOver("A newer request has gone on with this upload. Ask for its offset before you do.")


class _Line:
    """Those who want to change one upload in this process."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.turn: Turn | None = None
        self.waiting = 0


class Turns:
    """Hands out turns, one per upload at a time."""

    def __init__(self, ephemeral: Ephemeral) -> None:
        self._ephemeral = ephemeral
        self._lines: dict[str, _Line] = {}

    def stop_all(self) -> None:
        """Let every request at work keep what it has and end, because the server does."""
        for line in self._lines.values():
            if line.turn is not None:
                line.turn.stop()

    @asynccontextmanager
    async def hold(self, upload_id: str) -> AsyncGenerator[Turn]:
        """Wait for the turn; `UploadBusy` if that takes too long, or another server has it."""
        line = self._lines.setdefault(upload_id, _Line())
        await self._wait(line, upload_id)
        line.turn = turn = Turn()
        if line.waiting:
            turn.stop()
        try:
            async with self._leased(upload_id, turn):
                yield turn
        finally:
            line.turn = None
            line.lock.release()
            self._forget(line, upload_id)

    async def _wait(self, line: _Line, upload_id: str) -> None:
        if line.turn is not None:
            line.turn.stop()
        line.waiting += 1
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await line.lock.acquire()
        except TimeoutError:
            raise _busy() from None
        finally:
            line.waiting -= 1
            self._forget(line, upload_id)

    def _forget(self, line: _Line, upload_id: str) -> None:
        if not line.waiting and not line.lock.locked():
            self._lines.pop(upload_id, None)

    @asynccontextmanager
    async def _leased(self, upload_id: str, turn: Turn) -> AsyncGenerator[None]:
        lease, mine = f"uploading:{upload_id}", secrets.token_bytes(16)
        if not await self._ephemeral.run(Put(lease, mine, ttl=LEASE, only_if_absent=True)):
            await self._ephemeral.run(Put(_wanted(upload_id), b"1", ttl=LEASE))
            raise _busy()
        renewing = asyncio.create_task(self._renew(upload_id, lease, mine, turn))
        try:
            yield
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
            # What cannot be given back now runs out by itself.
            with suppress(Unavailable):
                if await self._ephemeral.run(Get(lease)) == mine:
                    await self._ephemeral.run(Delete(lease))

    async def _renew(self, upload_id: str, lease: str, mine: bytes, turn: Turn) -> None:
        while True:
            await asyncio.sleep(RENEWED_EVERY_SECONDS)
            with suppress(Unavailable):
                held, _, wanted = await self._ephemeral.together(
                    Get(lease), Expire(lease, LEASE), Delete(_wanted(upload_id))
                )
                if wanted or held != mine:
                    turn.stop()


def _wanted(upload_id: str) -> str:
    return f"upload-wanted:{upload_id}"


def _busy() -> UploadBusy:
    return UploadBusy("This upload is being worked on. Try again in a moment.")
