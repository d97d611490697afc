"""Several files and folders as one zip file, read from the store while it is sent."""

from collections.abc import AsyncGenerator, Iterator, Sequence
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


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """An entry of an archive: its path, its time, the key of its object and what changes in it. A folder has no key."""

    path: str
    modified: float
    key: str | None
    executable: bool = False
    patches: Sequence[Patch] = ()
    # Why it is left out, if it is. The archive says so in a file of its own.
    withheld: str = ""


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
            async with aclosing(self._zipped()) as pieces:
                await send_pieces(send, pieces, sent)

    async def _zipped(self) -> AsyncGenerator[bytes]:
        zip_file, withheld = ZipWriter(), list[ArchiveEntry]()
        async with aclosing(self._entries) as entries:
            async for entry in entries:
                if entry.withheld:
                    withheld.append(entry)
                    continue
                async with aclosing(self._entry(zip_file, entry)) as pieces:
                    async for piece in pieces:
                        yield piece
        for piece in _left_out(zip_file, withheld):
            yield piece
        for piece in zip_file.finish():
            yield piece

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


def _left_out(zip_file: ZipWriter, withheld: Sequence[ArchiveEntry]) -> Iterator[bytes]:
    if withheld:
        text = "".join(f"{entry.path}\n  {entry.withheld}\n" for entry in withheld).encode()
        yield zip_file.begin(LEFT_OUT, withheld[0].modified, size_bytes=len(text))
        yield zip_file.count(text)
        yield zip_file.end()
