"""The store of bytes in a folder: streams come in through here, and every step on the disk runs in a thread.

Small bodies take one hop to a thread for everything, large ones one per MiB, hashed and written there while the next
MiB arrives, or up to four if that takes longer. The pool has more threads than processors, because most of them wait
for a flush and the file system makes those that wait together durable together.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, ParamSpec, TypeAlias, TypeVar

from satchel.kernel.clock import Clock
from satchel.kernel.errors import Unavailable
from satchel.kernel.signature import Signer
from satchel.stores.embedded.folder_disk import FolderDisk, object_info
from satchel.stores.embedded.folder_files import Damaged, Description, Draft, SealedFile, disk_errors
from satchel.stores.embedded.folder_links import FolderLinks, LinkClaim
from satchel.stores.embedded.folder_uploads import FolderUploads
from satchel.stores.object_rules import (
    Declared,
    check_content_type,
    check_key,
    check_listing,
    check_part_number,
    check_small_objects,
    encode_metadata,
    resolve_range,
)
from satchel.stores.ports.objects import (
    DEFAULT_TYPE,
    MAX_LIST,
    MAX_PART_BYTES,
    Listed,
    ObjectInfo,
    Part,
    SmallObject,
    Stored,
)

BATCH_BYTES = 1024 * 1024
# How much waits for a thread at most, if the last batch is still being written.
LARGEST_BATCH_BYTES = 4 * BATCH_BYTES
THREADS = 16
# Many objects are divided among this many threads: measured, more threads are slower. A thread has all files of its
# share open at once. Two go together, as both sizes of a picture do: another thread costs more than it saves.
THREADS_FOR_MANY = 8
SMALLEST_SHARE = 2
LARGEST_SHARE = 64

P = ParamSpec("P")
T = TypeVar("T")
ReadAt: TypeAlias = Callable[[int, int], Awaitable[bytes]]


class FolderObjects:
    """See `satchel.stores.ports.objects`; besides that, `open_link` checks the links it signs."""

    def __init__(self, disk: FolderDisk, links: FolderLinks) -> None:
        self._disk = disk
        self._uploads = FolderUploads(disk)
        self._links = links
        self._clock = disk.clock
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="objects")
        self._closed = False

    @classmethod
    async def open(cls, root: Path, *, clock: Clock, signer: Signer, base_url: str) -> "FolderObjects":
        """Create the folder if it is missing. Links are `<base_url>/objects/<token>`; serve them with `open_link`."""
        disk = await asyncio.to_thread(FolderDisk, root, clock)
        return cls(disk, FolderLinks(signer, base_url, clock))

    async def put(
        self,
        key: str,
        body: AsyncIterable[bytes],
        *,
        length: int | None = None,
        sha256: str | None = None,
        content_type: str = DEFAULT_TYPE,
        metadata: Mapping[str, str] | None = None,
    ) -> Stored:
        check_key(key)
        check_content_type(content_type)
        kept = _checked(metadata)
        declared = Declared(length, sha256)

        def keep(draft: Draft) -> Stored:
            stored = Stored(draft.size_bytes, draft.sha256, draft.sha256)
            declared.check(stored.size_bytes, stored.sha256)
            draft.seal(
                Description(
                    key=key,
                    etag=stored.etag,
                    modified=self._clock(),
                    content_type=content_type,
                    metadata=kept,
                )
            )
            self._disk.publish(draft, key)
            return stored

        return await self._receive(declared.bounded(body), keep, self._disk.draft())

    async def put_many(self, objects: Sequence[SmallObject]) -> None:
        check_small_objects(objects)
        share = min(max(-(-len(objects) // THREADS_FOR_MANY), SMALLEST_SHARE), LARGEST_SHARE)
        shares = [objects[start : start + share] for start in range(0, len(objects), share)]
        done = await asyncio.gather(*(self._run(self._disk.put_all, some) for some in shares), return_exceptions=True)
        for failure in done:
            if failure is not None:
                raise failure

    @asynccontextmanager
    async def read(self, key: str, *, start: int = 0, length: int | None = None) -> AsyncGenerator["FolderReading"]:
        sealed = await self._run(self._disk.open, check_key(key))
        try:
            first, count = resolve_range(sealed.size_bytes, start, length)
            file = sealed.file.fileno()
            yield FolderReading(sealed, first, count, lambda count, offset: self._run(os.pread, file, count, offset))
        finally:
            if os.fstat(sealed.file.fileno()).st_nlink == 0:
                # The last one to close a replaced file frees its blocks, which takes time if they are many.
                await asyncio.to_thread(sealed.file.close)
            else:
                sealed.file.close()

    async def read_many(self, keys: Sequence[str]) -> list[bytes | None]:
        # In one thread: threads that take turns at small files cost more than the files.
        return await self._run(self._disk.read_all, [check_key(key) for key in keys])

    async def head(self, key: str) -> ObjectInfo:
        return await self._run(self._disk.head, check_key(key))

    async def list(self, prefix: str = "", *, after: str = "", limit: int = MAX_LIST) -> Listed:
        check_listing(prefix, after, limit)
        return await self._run(self._disk.list, prefix, after, limit)

    async def delete(self, *keys: str) -> None:
        for key in keys:
            check_key(key)
        await self._run(self._disk.delete, keys)

    async def copy(
        self,
        source: str,
        target: str,
        *,
        metadata: Mapping[str, str] | None = None,
        content_type: str | None = None,
        size_bytes: int | None = None,
    ) -> None:
        del size_bytes  # the file is opened anyway
        kept = None if metadata is None else _checked(metadata)
        kind = None if content_type is None else check_content_type(content_type)
        await self._run(self._disk.copy, check_key(source), check_key(target), kept, kind)

    async def begin(
        self, key: str, *, content_type: str = DEFAULT_TYPE, metadata: Mapping[str, str] | None = None
    ) -> str:
        check_content_type(content_type)
        return await self._run(self._uploads.begin, check_key(key), content_type, _checked(metadata))

    async def put_part(
        self, key: str, upload: str, number: int, body: AsyncIterable[bytes], *, length: int, durable: bool = True
    ) -> Part:
        check_key(key)
        check_part_number(number)
        declared = Declared(length, largest=MAX_PART_BYTES)
        draft = await self._run(self._uploads.draft, key, upload, number)

        def keep(draft: Draft) -> Part:
            declared.check_size(draft.size_bytes)
            return self._uploads.keep_part(key, upload, number, draft, durable=durable)

        return await self._receive(declared.bounded(body), keep, draft)

    async def flush_parts(self, key: str, upload: str, parts: Sequence[Part]) -> None:
        await self._run(self._uploads.flush, check_key(key), upload, parts)

    async def parts(self, key: str, upload: str) -> Sequence[Part]:
        return await self._run(self._uploads.parts, check_key(key), upload)

    async def complete(self, key: str, upload: str, parts: Sequence[Part], *, sha256: str | None = None) -> ObjectInfo:
        return await self._run(self._uploads.complete, check_key(key), upload, parts, sha256)

    async def abort(self, key: str, upload: str) -> None:
        await self._run(self._uploads.abort, check_key(key), upload)

    async def sign_get(self, key: str, lifetime: timedelta, *, download_name: str | None = None) -> str:
        return self._links.to_get(key, lifetime, download_name)

    async def sign_put(self, key: str, lifetime: timedelta, *, content_type: str = DEFAULT_TYPE) -> str:
        return self._links.to_put(key, lifetime, content_type)

    def open_link(self, token: str, method: str) -> LinkClaim:
        """What a link made by `sign_get` or `sign_put` allows: `LinkUnknown` if nothing, `LinkExpired` if no more."""
        return self._links.open(token, method)

    async def clean(self, older_than: timedelta) -> int:
        return await self._run(self._disk.clean, older_than)

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._threads.shutdown)
            self._disk.close()

    async def _receive(self, body: AsyncGenerator[bytes], keep: Callable[[Draft], T], draft: Draft) -> T:
        """Stream into a draft and pass it to `keep`. On any error the draft is deleted."""
        writing: asyncio.Future[None] | None = None
        batch: list[bytes] = []
        size_bytes = 0

        def finish(last: list[bytes]) -> T:
            draft.write(last)
            return keep(draft)

        try:
            async with aclosing(body) as chunks:
                async for chunk in chunks:
                    batch.append(chunk)
                    size_bytes += len(chunk)
                    is_free = writing is None or writing.done()
                    if size_bytes >= (BATCH_BYTES if is_free else LARGEST_BATCH_BYTES):
                        if writing is not None:
                            await writing
                        writing = self._start(draft.write, batch)
                        batch, size_bytes = [], 0
            if writing is not None:
                await writing
            return await self._run(finish, batch)
        except BaseException:
            if writing is not None:
                await asyncio.gather(writing, return_exceptions=True)
            await asyncio.to_thread(draft.discard)
            raise

    def _start(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> asyncio.Future[T]:
        if self._closed:
            raise Unavailable("The store of objects is closed.")

        def guarded() -> T:
            with disk_errors(self._disk.root):
                return work(*args, **kwargs)

        return asyncio.get_running_loop().run_in_executor(self._threads, guarded)

    async def _run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._start(work, *args, **kwargs)


def _checked(metadata: Mapping[str, str] | None) -> dict[str, str]:
    encode_metadata(metadata)
    return dict(metadata or {})


class FolderReading:
    """An open file, of which a part is wanted."""

    def __init__(self, sealed: SealedFile, start: int, length: int, read_at: ReadAt) -> None:
        self.info = object_info(sealed.description, sealed.size_bytes)
        self.start = start
        self.length = length
        self._sealed = sealed
        self._read_at = read_at

    @property
    def file(self) -> BinaryIO:
        """Holds the object from offset 0, and after its end what is known of it: send no more than `length`."""
        return self._sealed.file

    async def __aiter__(self) -> AsyncIterator[bytes]:
        offset, end = self.start, self.start + self.length
        if self._sealed.held is not None and self.length:
            yield self._sealed.held[offset:end]
            return
        while offset < end:
            chunk = await self._read_at(min(BATCH_BYTES, end - offset), offset)
            if not chunk:
                raise Damaged("The file of this object was cut short. Restore it from a backup.")
            yield chunk
            offset += len(chunk)
