"""Several files and folders as one zip file, read from the store while it goes out."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.responses import Response

from satchel.edge.downloads import attached_as
from satchel.edge.zip_format import ZipWriter
from satchel.stores.ports.objects import ObjectMissing, Objects

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """Something in an archive: its path there, when it was made, and the key of its object; a folder has none."""

    path: str
    modified: float
    key: str | None


class Archive(Response):
    """A zip file that is made while it is sent. What is deleted meanwhile is left out."""

    def __init__(self, objects: Objects, name: str, entries: AsyncGenerator[ArchiveEntry]) -> None:
        super().__init__()
        self._objects = objects
        self._name = name
        self._entries = entries

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:  # noqa: ARG002 -- ASGI
        headers = [
            (b"content-type", b"application/zip"),
            (b"content-disposition", attached_as(f"{self._name}.zip").encode("latin-1")),
            (b"cache-control", b"private, no-store"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if scope["method"] != "HEAD":
            async with aclosing(self._zipped()) as pieces:
                async for piece in pieces:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def _zipped(self) -> AsyncGenerator[bytes]:
        zip_file = ZipWriter()
        async with aclosing(self._entries) as entries:
            async for entry in entries:
                async with aclosing(self._entry(zip_file, entry)) as pieces:
                    async for piece in pieces:
                        yield piece
        for piece in zip_file.finish():
            yield piece

    async def _entry(self, zip_file: ZipWriter, entry: ArchiveEntry) -> AsyncGenerator[bytes]:
        if entry.key is None:
            yield zip_file.begin(f"{entry.path}/", entry.modified)
            yield zip_file.end()
            return
        try:
            async with self._objects.read(entry.key) as reading:
                yield zip_file.begin(entry.path, entry.modified, size_bytes=reading.length)
                async for piece in reading:
                    yield zip_file.count(piece)
                yield zip_file.end()
        except ObjectMissing:
            return
