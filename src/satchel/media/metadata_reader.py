"""Reads the metadata of stored files in a process, which is killed when it takes too long, and finds what others get.

A file whose process died or was killed is described by its name alone, so that it can be stored all the same.
"""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from satchel.media.child import Child, ChildDied, ChildTooSlow
from satchel.media.metadata.media_facts import MediaFacts
from satchel.media.metadata_job import MetadataJob
from satchel.media.redaction.redaction import Redaction
from satchel.media.source_file import opened
from satchel.stores.ports.objects import Objects, Reading

# The process has a limit of its own for the time that it computes. This one is for a machine that does not stand still.
TIME_LIMIT = timedelta(seconds=30)
IDLE_LIMIT = timedelta(seconds=60)
# Of an object that is not a file on this machine, these parts are fetched. Videos have their headers at either end.
HEAD_BYTES = 1024 * 1024
TAIL_BYTES = 4 * 1024 * 1024


class MetadataReader:
    """One process, used by one job at a time. It is started for the first job and ends when there are none."""

    def __init__(
        self, objects: Objects, *, time_limit: timedelta = TIME_LIMIT, idle_limit: timedelta = IDLE_LIMIT
    ) -> None:
        self._objects = objects
        self._child = Child(time_limit)
        self._idle_limit = idle_limit
        self._lock = asyncio.Lock()
        self._idle: asyncio.TimerHandle | None = None

    @property
    def process_id(self) -> int | None:
        return self._child.process_id

    async def read_object(self, job: MetadataJob, key: str) -> MediaFacts:
        async with self._objects.read(key) as reading:
            file = reading.file
            if file is not None:
                return await self._read(job, file.fileno())
        async with _fetched(self._objects, key, job.size_bytes) as descriptor:
            return await self._read(job, descriptor)

    async def describe_object(self, job: MetadataJob, key: str) -> tuple[MediaFacts, Redaction | None]:
        """Metadata, and what others get if the object is a file on this machine: both in one go."""
        async with self._objects.read(key) as reading:
            if reading.file is not None:
                return await self._describe(job, reading.file.fileno())
        return await self.read_object(job, key), None

    async def describe_bytes(self, job: MetadataJob, data: bytes) -> tuple[MediaFacts, Redaction | None]:
        descriptor = os.memfd_create("photo")
        try:
            os.pwrite(descriptor, data, 0)
            return await self._describe(job, descriptor)
        finally:
            os.close(descriptor)

    async def redact_object(self, name: str, key: str) -> Redaction | None:
        """What others get of an object, which is copied first if it is no file on this machine.

        None if the process died or was killed.
        """
        async with self._objects.read(key) as reading, opened(reading) as file:
            return await self._redact(name, reading.info.size_bytes, file.fileno())

    async def _describe(self, job: MetadataJob, descriptor: int) -> tuple[MediaFacts, Redaction | None]:
        async with self._used():
            with suppress(ChildDied, ChildTooSlow):
                return await self._child.describe(descriptor, job)
        # It may have been killed by somebody else, or for the second half of its work, which can be done later.
        return await self._read(job, descriptor), None

    async def _read(self, job: MetadataJob, descriptor: int) -> MediaFacts:
        async with self._used():
            try:
                return await self._child.read(descriptor, job)
            except (ChildDied, ChildTooSlow):
                return described_by_name(job)

    async def _redact(self, name: str, size_bytes: int, descriptor: int) -> Redaction | None:
        async with self._used():
            try:
                return await self._child.redact(descriptor, size_bytes, name)
            except (ChildDied, ChildTooSlow):
                return None

    @asynccontextmanager
    async def _used(self) -> AsyncGenerator[None]:
        async with self._lock:
            if self._idle is not None:
                self._idle.cancel()
            try:
                yield
            finally:
                loop = asyncio.get_running_loop()
                self._idle = loop.call_later(self._idle_limit.total_seconds(), self._end)

    def _end(self) -> None:
        if not self._lock.locked():
            self._child.end()

    async def close(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        await self._child.stop()


def described_by_name(job: MetadataJob) -> MediaFacts:
    """What can be said of a file without its bytes."""
    # Imported here, since a server seldom needs it.
    from satchel.media.facts_read import read_without_bytes

    return read_without_bytes(job)


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
