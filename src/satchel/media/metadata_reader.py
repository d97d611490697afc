"""Reads the metadata of stored files in a process of its own, which is killed when it takes too long.

A file whose process died or was killed is described by its name alone, so that it can be stored all the same.
"""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import msgspec

from satchel.media.metadata.media_facts import MediaFacts
from satchel.media.metadata_job import READY, MetadataJob
from satchel.stores.ports.objects import Objects, Reading

# The process has a limit of its own for the time that it computes. This one is for a machine that does not stand still.
TIME_LIMIT = timedelta(seconds=30)
# Starting takes long on a busy machine, and says nothing about the file.
START_LIMIT = timedelta(seconds=60)
IDLE_LIMIT = timedelta(seconds=60)
# Of an object that is not a file on this machine, these parts are fetched. Videos have their headers at either end.
HEAD_BYTES = 1024 * 1024
TAIL_BYTES = 4 * 1024 * 1024
# It reads files of strangers, and must not know our secrets.
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE")

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(MediaFacts).decode


class MetadataReader:
    """One process, used by one job at a time. It is started for the first job and ends when there are none."""

    def __init__(
        self, objects: Objects, *, time_limit: timedelta = TIME_LIMIT, idle_limit: timedelta = IDLE_LIMIT
    ) -> None:
        self._objects = objects
        self._time_limit = time_limit
        self._idle_limit = idle_limit
        self._lock = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._jobs: socket.socket | None = None
        self._idle: asyncio.TimerHandle | None = None

    @property
    def process_id(self) -> int | None:
        return None if self._process is None else self._process.pid

    async def read_object(self, job: MetadataJob, key: str) -> MediaFacts:
        async with self._objects.read(key) as reading:
            file = reading.file
            if file is not None:
                return await self._read(job, file.fileno())
        async with _fetched(self._objects, key, job.size_bytes) as descriptor:
            return await self._read(job, descriptor)

    async def read_bytes(self, job: MetadataJob, data: bytes) -> MediaFacts:
        descriptor = os.memfd_create("photo")
        try:
            os.pwrite(descriptor, data, 0)
            return await self._read(job, descriptor)
        finally:
            os.close(descriptor)

    async def _read(self, job: MetadataJob, descriptor: int) -> MediaFacts:
        async with self._lock:
            if self._idle is not None:
                self._idle.cancel()
            try:
                await self._be_started()
                async with asyncio.timeout(self._time_limit.total_seconds()):
                    return await self._ask(job, descriptor)
            except (OSError, TimeoutError, asyncio.IncompleteReadError, msgspec.DecodeError):
                await self._kill()
                return described_by_name(job)
            except BaseException:
                # Whoever asks next must not get the answer to this job.
                await self._kill()
                raise
            finally:
                loop = asyncio.get_running_loop()
                self._idle = loop.call_later(self._idle_limit.total_seconds(), self._end)

    async def _be_started(self) -> None:
        if self._process is None or self._process.returncode is not None:
            await self._kill()
            async with asyncio.timeout(START_LIMIT.total_seconds()):
                await self._start()

    async def _ask(self, job: MetadataJob, descriptor: int) -> MediaFacts:
        assert self._process is not None and self._process.stdout is not None and self._jobs is not None
        socket.send_fds(self._jobs, [_encode(job)], [descriptor])
        length = await self._process.stdout.readexactly(4)
        return _decode(await self._process.stdout.readexactly(int.from_bytes(length, "big")))

    async def _start(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                self._process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-m",
                    "satchel.media.metadata_process",
                    str(theirs.fileno()),
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    env={name: os.environ[name] for name in _PASSED_ON if name in os.environ},
                )
            except BaseException:
                ours.close()
                raise
        self._jobs = ours
        assert self._process.stdout is not None
        await self._process.stdout.readexactly(len(READY))

    def _end(self) -> None:
        """Let the process end by itself, since it gets no more jobs."""
        if self._jobs is not None and not self._lock.locked():
            self._jobs.close()
            self._jobs = None
            self._process = None

    async def _kill(self) -> None:
        process, jobs, self._process, self._jobs = self._process, self._jobs, None, None
        if jobs is not None:
            jobs.close()
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.communicate()

    async def close(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        await self._kill()


def described_by_name(job: MetadataJob) -> MediaFacts:
    """What can be said of a file without its bytes."""
    # Imported here, since a server seldom needs them.
    from satchel.media.metadata.media_read import read_media
    from satchel.media.metadata_process import circumstances

    return read_media(b"", circumstances(job))


@asynccontextmanager
async def _fetched(objects: Objects, key: str, size_bytes: int) -> AsyncGenerator[int]:
    """An open file with both ends of an object. In between it has zeros, and takes no memory."""
    descriptor = os.memfd_create("photo")
    try:
        os.ftruncate(descriptor, size_bytes)
        tail = max(HEAD_BYTES, size_bytes - TAIL_BYTES)
        for start, length in ((0, HEAD_BYTES), (tail, size_bytes - tail)):
            if length > 0 and start < size_bytes:
                async with objects.read(key, start=start, length=length) as reading:
                    await _copy(reading, descriptor, start)
        yield descriptor
    finally:
        os.close(descriptor)


async def _copy(reading: Reading, descriptor: int, offset: int) -> None:
    async for piece in reading:
        os.pwrite(descriptor, piece, offset)
        offset += len(piece)
