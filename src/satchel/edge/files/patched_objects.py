"""Stored objects as somebody gets them who does not get every byte: with patches, made while they are sent."""

import hashlib
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import BinaryIO

from satchel.edge.files.downloads import Readable
from satchel.kernel.patches import Patch, patched_pieces
from satchel.stores.ports.objects import ObjectInfo, Reading


def with_patches(objects: Readable, patches: Sequence[Patch]) -> Readable:
    """A view of the store for one object. Without patches it is the store itself, whose files the kernel sends."""
    return PatchedObjects(objects, patches) if patches else objects


@dataclass(frozen=True, slots=True)
class PatchedObjects:
    """The patches are in order and do not overlap."""

    objects: Readable
    patches: Sequence[Patch]

    @asynccontextmanager
    async def read(self, key: str, *, start: int = 0, length: int | None = None) -> AsyncGenerator[Reading]:
        async with self.objects.read(key, start=start, length=length) as reading:
            yield _PatchedReading(reading, self.patches, self._changed(reading.info))

    async def head(self, key: str) -> ObjectInfo:
        return self._changed(await self.objects.head(key))

    def _changed(self, info: ObjectInfo) -> ObjectInfo:
        """Other bytes have another tag, so that no cache mixes both."""
        mark = hashlib.sha256(f"{info.etag}:{self.patches}".encode()).hexdigest()
        return replace(info, etag=mark)


@dataclass(frozen=True, slots=True)
class _PatchedReading:
    reading: Reading
    patches: Sequence[Patch]
    info: ObjectInfo

    @property
    def start(self) -> int:
        return self.reading.start

    @property
    def length(self) -> int:
        return self.reading.length

    @property
    def file(self) -> BinaryIO | None:
        return None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in patched_pieces(self.reading, self.patches, self.reading.start):
            yield piece
