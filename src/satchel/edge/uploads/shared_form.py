"""What other apps share with the installed app, when no service worker takes it: files of the sharer's own shelf.

The system posts a form (`share_target` in the manifest). Its files may be large and their sizes are told by nobody, so
the form goes to disk first, and from there the way of every upload.
"""

import asyncio
import errno
import tempfile
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING
from urllib.parse import urlencode

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import Request
from starlette.responses import RedirectResponse

from satchel.edge.api.endpoints import Router
from satchel.edge.api.identity import TokenExpired
from satchel.edge.http.callers import Member
from satchel.edge.http.problems import Malformed
from satchel.edge.http.request_body import stream_body
from satchel.edge.http.shared_addresses import MAX_FORM_BYTES, RENEWAL, SHARE_TARGET, SHARED_PAGE
from satchel.edge.uploads.context import Uploads
from satchel.edge.uploads.tus_headers import Metadata
from satchel.edge.uploads.upload_create import begin
from satchel.edge.uploads.upload_whole import send_whole
from satchel.kernel.errors import OutOfSpace, SatchelError, TooMany, Unauthenticated
from satchel.stores.disk_room import leave_room
from satchel.stores.object_rules import known_content_type

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks
    from starlette.types import Message, Receive

    from satchel.edge.api.identity import Identity

MAX_FILES = 100
MAX_TEXT_BYTES = 64 * 1024
# Forms of one member at once. Each may hold as many bytes on disk as a form may have, for as long as bytes come.
AT_ONCE = 2
_HEADER_BYTES = 16 * 1024
_READ_BYTES = 256 * 1024
_TEXTS = ("title", "text", "url")
_NAME_CHARACTERS = 60


@dataclass
class Part:
    """A field of the form, and where its bytes stand on the disk."""

    start: int
    headers: dict[str, bytes] = field(default_factory=dict[str, bytes])
    size_bytes: int = 0

    @property
    def described(self) -> dict[bytes, bytes]:
        return parse_options_header(self.headers.get("content-disposition", b""))[1]

    @property
    def field_name(self) -> str:
        return self.described.get(b"name", b"").decode("utf-8", "replace")

    @property
    def file_name(self) -> str | None:
        name = self.described.get(b"filename")
        return None if name is None else name.decode("utf-8", "replace")

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", b"").decode("latin-1")


def routes(uploads: Uploads, identity: "Identity", destination: str, folder: Path | None) -> Router:
    """`destination` is where the files of members go. Forms wait in `folder`, else where the system has such files."""
    router = Router("shared", prefix="")
    under_way = Counter[str]()

    @router.post(SHARE_TARGET, raises=())
    async def take_shared(request: Request) -> RedirectResponse:
        """Keep what another app shares, and lead to the page that asks where it should go.

        This is a page to whoever shares: problems are told there, too.
        """
        try:
            caller = await identity.caller_of(request.scope)
            if not isinstance(caller, Member):
                raise Unauthenticated("Sign in to do this.")
            with _turn(under_way, caller.user_id):
                kept = await keep_shared(uploads, caller, request, destination, folder)
        except TokenExpired:
            # The token that renews it is told to that address alone. The browser sends the form there, and then here.
            return RedirectResponse(RENEWAL, 307, {"cache-control": "no-store"})
        except SatchelError as problem:
            return _redirect({"problem": problem.slug})
        return _redirect({"kept": ",".join(kept)})

    return router


@contextmanager
def _turn(under_way: Counter[str], user_id: str) -> Generator[None]:
    """Bound what one member sends at once, so that slow forms of one keep nobody else from sharing."""
    if under_way[user_id] >= AT_ONCE:
        raise TooMany("You share several things just now. Try again in a moment.", retry_after=10)
    under_way[user_id] += 1
    try:
        yield
    finally:
        under_way[user_id] -= 1
        if not under_way[user_id]:
            del under_way[user_id]


def _redirect(query: dict[str, str]) -> RedirectResponse:
    return RedirectResponse(f"{SHARED_PAGE}?{urlencode(query)}", 303, {"cache-control": "no-store"})


async def keep_shared(
    uploads: Uploads, member: Member, request: Request, destination: str, folder: Path | None
) -> list[str]:
    """The ids of what became of each file. The text is a file, too."""
    with tempfile.TemporaryFile(dir=folder) as disk:
        files, texts = _sorted(await _read_form(request, disk), disk)
        if not files and not texts:
            raise Malformed("Nothing was shared.")
        kept: list[str] = []
        for part in files:
            kept.append(await _keep(uploads, member, part, disk, _described(part, destination)))
        if texts:
            start = disk.seek(0, 2)
            size_bytes = disk.write(texts.encode())
            part = Part(start, size_bytes=size_bytes)
            kept.append(await _keep(uploads, member, part, disk, _text_file(texts, destination)))
        return kept


async def _read_form(request: Request, disk: IO[bytes]) -> list[Part]:
    kind, options = parse_options_header(request.headers.get("content-type"))
    if kind != b"multipart/form-data" or b"boundary" not in options:
        raise Malformed("Send a form as `multipart/form-data`.")
    parts: list[Part] = []
    with _refusing():
        parser = MultipartParser(options[b"boundary"], _Reader(parts, disk).callbacks())

        def take(chunk: bytes) -> None:
            leave_room(disk.fileno(), len(chunk))
            parser.write(chunk)

        async for chunk in stream_body(request, MAX_FORM_BYTES):
            await asyncio.to_thread(take, chunk)
        parser.finalize()
    return parts


@contextmanager
def _refusing() -> Generator[None]:
    try:
        yield
    except FormParserError:
        raise Malformed("This form cannot be read.") from None
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise OutOfSpace("The disk of this server is nearly full. Ask its administrator to make room.") from error


class _Reader:
    """Collects the parts of a form while it arrives."""

    def __init__(self, parts: list[Part], disk: IO[bytes]) -> None:
        self._parts = parts
        self._disk = disk
        self._header = b""
        self._value = b""

    def callbacks(self) -> "MultipartCallbacks":
        return {
            "on_part_begin": self._begin,
            "on_part_data": self._data,
            "on_header_field": self._field,
            "on_header_value": self._content,
            "on_header_end": self._header_end,
        }

    def _begin(self) -> None:
        if len(self._parts) >= MAX_FILES + len(_TEXTS):
            raise Malformed(f"At most {MAX_FILES} files can be shared at once.")
        self._parts.append(Part(self._disk.tell()))

    def _data(self, data: bytes, start: int, end: int) -> None:
        self._parts[-1].size_bytes += self._disk.write(memoryview(data)[start:end])

    def _field(self, data: bytes, start: int, end: int) -> None:
        self._header = self._bounded(self._header + data[start:end])

    def _content(self, data: bytes, start: int, end: int) -> None:
        self._value = self._bounded(self._value + data[start:end])

    def _header_end(self) -> None:
        self._parts[-1].headers[self._header.decode("latin-1").lower()] = self._value
        self._header = self._value = b""

    @staticmethod
    def _bounded(text: bytes) -> bytes:
        if len(text) > _HEADER_BYTES:
            raise Malformed("A header of this form is too long.")
        return text


def _sorted(parts: list[Part], disk: IO[bytes]) -> tuple[list[Part], str]:
    """The files, and the text. An app puts the address of a page into any of three fields, and some into two."""
    lines: list[str] = []
    said = {part.field_name: part for part in parts if part.file_name is None}
    for name in _TEXTS:
        part = said.get(name)
        if part is None:
            continue
        disk.seek(part.start)
        line = disk.read(min(part.size_bytes, MAX_TEXT_BYTES)).decode("utf-8", "replace").strip()
        if line and not any(line in before for before in lines):
            lines.append(line)
    return [part for part in parts if part.file_name], "\n".join(lines)


def _described(part: Part, destination: str) -> Metadata:
    return Metadata(destination, part.file_name or "", known_content_type(part.content_type), {})


def _text_file(text: str, destination: str) -> Metadata:
    """Named by its first words."""
    allowed = (" " if not each.isprintable() or each in '\\/:*?"<>|' else each for each in text.partition("\n")[0])
    name = " ".join("".join(allowed).split())[:_NAME_CHARACTERS].strip() or "Text"
    return Metadata(destination, f"{name}.txt", "text/plain", {})


async def _keep(uploads: Uploads, member: Member, part: Part, disk: IO[bytes], described: Metadata) -> str:
    row, _ = await begin(uploads, member, part.size_bytes, described, address="")
    return (await send_whole(uploads, row, _from_disk(disk, part), None, is_repeatable=False)).became


def _from_disk(disk: IO[bytes], part: Part) -> "Receive":
    """The part, as if a client were sending it."""
    at = 0

    def read() -> bytes:
        disk.seek(part.start + at)
        return disk.read(min(_READ_BYTES, part.size_bytes - at))

    async def receive() -> "Message":
        nonlocal at
        body = await asyncio.to_thread(read)
        at += len(body)
        return {"type": "http.request", "body": body, "more_body": at < part.size_bytes}

    return receive
