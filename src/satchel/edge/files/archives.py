"""Several files and folders as one zip file, read from the store while it is sent."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.responses import Response

from satchel.edge.files.downloads import Meter, attached_as, send_pieces, unmetered
from satchel.edge.files.patched_objects import with_patches
from satchel.edge.files.zip_format import ZipWriter
from satchel.kernel.clock import from_iso
from satchel.kernel.file_time import nanoseconds_of
from satchel.kernel.patches import Patch
from satchel.stores.ports.objects import ObjectMissing, Objects

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

# The file that names what is not in the archive.
LEFT_OUT = "left-out.txt"
# Smaller pieces go out together: what is around a small file would cost more than the file.
_TOGETHER_BYTES = 64 * 1024
# Small files are read together, for the same reason: in all no more than a piece of a large one.
_SMALL_BYTES = 32 * 1024
_SMALL_AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """An entry of an archive: its path, its time, the key of its object and what changes in it. A folder has no key.

    `size_bytes` is that of the object, where it is known.
    """

    path: str
    modified: float
    key: str | None
    executable: bool = False
    patches: Sequence[Patch] = ()
    # Why it is left out, if it is. The archive says so in a file of its own.
    withheld: str = ""
    size_bytes: int | None = None

    @property
    def is_small(self) -> bool:
        is_plain = self.key is not None and not self.patches and not self.withheld
        return is_plain and self.size_bytes is not None and self.size_bytes <= _SMALL_BYTES


def modified_of(modified_at: str, created_at: str) -> float:
    """The time of an entry: when it was changed at its origin or, where that is unknown, when it came here."""
    return nanoseconds_of(modified_at) / 1e9 if modified_at else from_iso(created_at)


class Archive(Response):
    """A zip file that is made while it is sent. What is deleted meanwhile is left out.

    `metered` sees how many bytes go out, and from how it is left whether that was all.
    """

    def __init__(
        self, objects: Objects, name: str, entries: AsyncGenerator[ArchiveEntry], *, metered: Meter = unmetered
    ) -> None:
        super().__init__()
        self._metered = metered
        self._objects = objects
        self._name = name
        self._entries = entries

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:  # noqa: ARG002 -- ASGI
        headers = [
            (b"content-type", b"application/zip"),
            (b"content-disposition", attached_as(f"{self._name}.zip").encode("latin-1")),
            (b"cache-control", b"private, no-store"),
        ]
        start = {"type": "http.response.start", "status": 200, "headers": headers}
        if scope["method"] == "HEAD":
            await send(start)
            await send({"type": "http.response.body", "body": b""})
            return
        async with self._metered(0, None) as sent:
            await send(start)
            async with aclosing(self._zipped()) as pieces, aclosing(_together(pieces)) as larger:
                await send_pieces(send, larger, sent)

    async def _zipped(self) -> AsyncGenerator[bytes]:
        zip_file, withheld = ZipWriter(), list[ArchiveEntry]()
        async with aclosing(self._entries) as entries, aclosing(_in_runs(entries)) as runs:
            async for run in runs:
                if run[0].withheld:
                    withheld += run
                    continue
                made = self._small(zip_file, run) if run[0].is_small else self._entry(zip_file, run[0])
                async with aclosing(made) as pieces:
                    async for piece in pieces:
                        yield piece
        for piece in _left_out(zip_file, withheld):
            yield piece
        for piece in zip_file.finish():
            yield piece

    async def _small(self, zip_file: ZipWriter, run: Sequence[ArchiveEntry]) -> AsyncGenerator[bytes]:
        contents = await self._objects.read_many([entry.key for entry in run if entry.key is not None])
        for entry, content in zip(run, contents, strict=True):
            if content is not None:
                head = zip_file.begin(entry.path, entry.modified, executable=entry.executable)
                yield b"".join((head, zip_file.count(content), zip_file.end()))

    async def _entry(self, zip_file: ZipWriter, entry: ArchiveEntry) -> AsyncGenerator[bytes]:
        if entry.key is None:
            yield zip_file.begin(f"{entry.path}/", entry.modified)
            yield zip_file.end()
            return
        try:
            async with with_patches(self._objects, entry.patches).read(entry.key) as reading:
                yield zip_file.begin(entry.path, entry.modified, size_bytes=reading.length, executable=entry.executable)
                async for piece in reading:
                    yield zip_file.count(piece)
                yield zip_file.end()
        except ObjectMissing:
            return


async def _in_runs(entries: AsyncIterator[ArchiveEntry]) -> AsyncGenerator[list[ArchiveEntry]]:
    """Small files that follow one another together, each other entry for itself."""
    run: list[ArchiveEntry] = []
    async for entry in entries:
        if run and (not entry.is_small or len(run) == _SMALL_AT_ONCE):
            yield run
            run = []
        if entry.is_small:
            run.append(entry)
        else:
            yield [entry]
    if run:
        yield run


async def _together(pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    held: list[bytes] = []
    size_bytes = 0
    async for piece in pieces:
        if len(piece) < _TOGETHER_BYTES:
            held.append(piece)
            size_bytes += len(piece)
            piece = b""
        if piece or size_bytes >= _TOGETHER_BYTES:
            if held:
                yield b"".join(held)
            if piece:
                yield piece
            held, size_bytes = [], 0
    if held:
        yield b"".join(held)


def _left_out(zip_file: ZipWriter, withheld: Sequence[ArchiveEntry]) -> Iterator[bytes]:
    if withheld:
        text = "".join(f"{entry.path}\n  {entry.withheld}\n" for entry in withheld).encode()
        yield zip_file.begin(LEFT_OUT, withheld[0].modified, size_bytes=len(text))
        yield zip_file.count(text)
        yield zip_file.end()
