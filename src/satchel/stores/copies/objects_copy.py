"""Copy objects with what describes them, hash them on the way, and read the copies again."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Protocol

from satchel.kernel.errors import SatchelError
from satchel.stores.ports.objects import MAX_PARTS, MAX_PUT_BYTES, ObjectInfo, ObjectMissing, Objects, Part

_AT_ONCE = 8
_PART_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class CopiedObject:
    """An object as it was copied: what the source called these bytes, and their SHA-256."""

    key: str
    etag: str
    size_bytes: int
    sha256: str


class Copied(Protocol):
    """Remembers what was copied, so that it is not copied or read again."""

    def object(self, key: str) -> CopiedObject | None: ...

    def note_object(self, copied: CopiedObject) -> None: ...

    def note_seen(self, key: str) -> None: ...

    def unseen(self) -> list[str]: ...

    def forget(self, key: str) -> None: ...

    def unchecked(self, limit: int) -> list[CopiedObject]: ...

    def note_checked(self, key: str) -> None: ...


class ObjectsCopy:
    """A copy of all objects but those of which `is_left_out` holds; `told` is how many bytes were copied."""

    def __init__(
        self,
        source: Objects,
        target: Objects,
        copied: Copied,
        *,
        is_left_out: Callable[[str], bool],
        told: Callable[[int, int], None],
    ) -> None:
        self._source = source
        self._target = target
        self._copied = copied
        self._is_left_out = is_left_out
        self._told = told

    async def copy(self) -> None:
        """Copy what is new or another, and delete what has gone."""
        waiting = self._walk()
        lock = asyncio.Lock()

        async def some() -> None:
            while True:
                async with lock:
                    info = await anext(waiting, None)
                if info is None:
                    return
                known = self._copied.object(info.key)
                if known is None or (known.etag, known.size_bytes) != (info.etag, info.size_bytes):
                    await self._copy_one(info)
                self._copied.note_seen(info.key)

        try:
            async with asyncio.TaskGroup() as tasks:
                for _ in range(_AT_ONCE):
                    tasks.create_task(some())
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        for key in self._copied.unseen():
            await self._target.delete(key)
            self._copied.forget(key)

    async def check(self) -> list[str]:
        """Read every copy that was not read yet; the keys of those that are not what was copied."""
        wrong: list[str] = []
        while some := self._copied.unchecked(_AT_ONCE):
            found = await asyncio.gather(*(self._digest(each.key) for each in some))
            for each, sha256 in zip(some, found, strict=True):
                if sha256 == each.sha256:
                    self._copied.note_checked(each.key)
                else:
                    wrong.append(each.key)
                    self._copied.forget(each.key)
                self._told(1, each.size_bytes)
        return wrong

    async def _walk(self) -> AsyncIterator[ObjectInfo]:
        after = ""
        while True:
            page = await self._source.list(after=after)
            for info in page.objects:
                if not self._is_left_out(info.key):
                    yield info
            if page.after is None:
                return
            after = page.after

    async def _copy_one(self, info: ObjectInfo) -> None:
        digest = hashlib.sha256()
        try:
            async with self._source.read(info.key) as reading:
                found, length = reading.info, reading.length

                async def hashed() -> AsyncIterator[bytes]:
                    async for piece in reading:
                        await asyncio.to_thread(digest.update, piece)
                        yield piece

                if length <= MAX_PUT_BYTES:
                    await self._target.put(
                        info.key,
                        hashed(),
                        length=length,
                        content_type=found.content_type,
                        metadata=found.metadata,
                    )
                else:
                    await self._in_parts(found, hashed())
        except ObjectMissing:
            return  # deleted meanwhile
        self._copied.note_object(CopiedObject(info.key, found.etag, length, digest.hexdigest()))
        self._told(1, length)

    async def _in_parts(self, info: ObjectInfo, pieces: AsyncIterator[bytes]) -> None:
        key, length = info.key, info.size_bytes
        size = max(_PART_BYTES, -(-length // MAX_PARTS))
        upload = await self._target.begin(key, content_type=info.content_type, metadata=info.metadata)
        parts: list[Part] = []
        cut = _Cut(pieces)
        try:
            for start in range(0, length, size):
                part_bytes = min(size, length - start)
                number = len(parts) + 1
                body = cut.next(part_bytes)
                parts.append(await self._target.put_part(key, upload, number, body, length=part_bytes))
            await self._target.complete(key, upload, parts)
        except BaseException:
            await self._target.abort(key, upload)
            raise

    async def _digest(self, key: str) -> str | None:
        digest = hashlib.sha256()
        try:
            async with self._target.read(key) as reading:
                async for piece in reading:
                    await asyncio.to_thread(digest.update, piece)
        except SatchelError:
            return None
        return digest.hexdigest()


class _Cut:
    """A stream cut into parts of given sizes."""

    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = b""

    async def next(self, size: int) -> AsyncIterator[bytes]:
        while size:
            piece = self._rest or await anext(self._pieces)
            yield piece[:size]
            piece, self._rest = piece[:size], piece[size:]
            size -= len(piece)
