"""Downloads of stored objects: ranges, conditions, sending by the kernel, and headers that make the bytes harmless."""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol, TypeAlias

from starlette.responses import Response

from satchel.edge.files.ranges import asks_first, etag_of, is_unchanged, last_modified, wanted_range
from satchel.edge.http.extensions import ZERO_COPY
from satchel.edge.http.request_context import header
from satchel.kernel.errors import Forbidden
from satchel.stores.object_rules import attachment, direct_links
from satchel.stores.ports.objects import DEFAULT_TYPE, ObjectInfo, RangeUnsatisfiable, Reading

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

# A browser that shows the bytes runs nothing, loads nothing and gives them no origin, whatever they are.
USER_CONTENT_POLICY = "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'"
# Below this size, writing the bytes costs less than asking the kernel to send them.
_WORTH_SENDFILE_BYTES = 64 * 1024
# The end of an answer, before which whoever meters it is asked.
_TAIL_BYTES = 4 * 1024
_RUN_BY_PAGES = {
    *(b"script", b"style", b"worker", b"sharedworker", b"serviceworker", b"audioworklet", b"paintworklet", b"xslt")
}
_CODE = re.compile(
    r"\s*((text|application)/(x-)?(javascript|ecmascript|jscript|livescript)|text/(css|xsl)|application/wasm|module)",
    re.IGNORECASE,
)
# By this header a client says that it follows signed links.
PREFERS_LINK = b"signed-link"
# A download that is paused for longer begins anew.
LINKS_LAST = timedelta(hours=6)
# Not a frame, which may load from here only.
_SAVING = (b"document", b"empty")
# Characters that reverse the reading direction can make `gpj.exe` look like `exe.jpg`.
_DECEIVING = re.compile("[\\x00-\\x1f\\x7f-\\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class Readable(Protocol):
    """What a download needs of a store of objects."""

    def read(self, key: str, *, start: int = 0, length: int | None = None) -> AbstractAsyncContextManager[Reading]: ...

    async def head(self, key: str) -> ObjectInfo: ...


class Sent:
    """How many bytes of the body have been sent so far. `before_last` is awaited before the last of them go."""

    def __init__(self, before_last: Callable[[], Awaitable[None]] | None = None) -> None:
        self.count = 0
        self.before_last = before_last

    def add(self, count: int) -> None:
        self.count += count


# A context around the sending of a body. It is entered before the first byte, with the offset in the object and the
# number of bytes (None if that is unknown), and may refuse by raising. It is left when all bytes have been sent, or by
# the error that prevented it.
Meter: TypeAlias = Callable[[int, int | None], AbstractAsyncContextManager[Sent]]


@asynccontextmanager
async def unmetered(_start: int, _length: int | None) -> AsyncGenerator[Sent]:
    yield Sent()


class SpanNotes(Protocol):
    """Hears which bytes go in one answer, from the first to the one after the last."""

    async def closing(self, span: tuple[int, int]) -> None:
        """The last of these bytes are about to go."""
        ...

    async def ended(self, span: tuple[int, int]) -> None:
        """These bytes went, of an answer that has told that it was closing, or of which any went."""
        ...


def spans_of(heard_by: SpanNotes | None) -> Meter:
    """A meter that says which bytes go, if anybody hears it, though they go through here in any case.

    An answer of unknown length is one byte, which goes when the answer has come to its end.
    """

    @asynccontextmanager
    async def metered(start: int, length: int | None) -> AsyncGenerator[Sent]:
        if (notes := heard_by) is None:
            yield Sent()
            return
        is_closing = False

        async def closing() -> None:
            nonlocal is_closing
            is_closing = True
            await notes.closing((start, start + (1 if length is None else length)))

        sent, is_whole = Sent(closing), False
        try:
            yield sent
            is_whole = True
        finally:
            count = int(is_whole) if length is None else sent.count
            if count or is_closing:
                await notes.ended((start, start + count))

    return metered


def attached_as(name: str) -> str:
    """The Content-Disposition that makes browsers save the bytes under this name, without characters that deceive."""
    return attachment(_DECEIVING.sub("", name).replace("/", "_").replace("\\", "_").strip() or "download")


class Download(Response):
    """An answer that opens the object when it is sent and closes it when the last byte has left.

    `disposition` is how browsers treat it; make it with `attached_as`. `cache` is the Cache-Control. A `content_type`
    takes the place of the stored one, which bytes that several files share have from the first of them. `policy` is the
    Content-Security-Policy. `metered` sees how many bytes of a GET go out. Without it, a client that follows signed
    links is sent to the bucket, if there is one. `sha256` of the bytes is their ETag; what the store calls them depends
    on how they were uploaded.
    """

    def __init__(
        self,
        objects: Readable,
        key: str,
        *,
        disposition: str = "attachment",
        cache: str = "private, no-cache",
        content_type: str | None = None,
        policy: str = USER_CONTENT_POLICY,
        metered: Meter = unmetered,
        sha256: str = "",
    ) -> None:
        super().__init__()
        self._sha256 = sha256
        self._metered = metered
        self._objects = objects
        self._key = key
        self._content_type = content_type
        self._disposition = disposition
        self._cache = cache
        self._fixed = [
            (b"content-disposition", disposition.encode("latin-1")),
            (b"cache-control", cache.encode("ascii")),
            (b"content-security-policy", policy.encode("ascii")),
            (b"accept-ranges", b"bytes"),
        ]

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:  # noqa: ARG002 -- ASGI
        refuse_as_code(scope)
        if (link := await self._link(scope)) is not None:
            await _redirect(send, link)
            return
        is_head = scope["method"] == "HEAD"
        if not is_head and not asks_first(scope):
            await self._send_whole(scope, send)
            return
        info = self._tagged(await self._objects.head(self._key))
        if is_unchanged(scope, info):
            await self._start(send, 304, info)
            await send({"type": "http.response.body", "body": b""})
        elif is_head:
            await self._start(send, 200, info, info.size_bytes)
            await send({"type": "http.response.body", "body": b""})
        elif (part := wanted_range(scope, info)) is not None:
            await self._send_part(scope, send, info, *part)
        else:
            await self._send_whole(scope, send)

    async def _link(self, scope: "Scope") -> str | None:
        """Where the client can fetch the object from the bucket itself.

        What is counted as it goes out goes through here. So does what pages show, since they load only from here.
        """
        direct = direct_links(self._objects)
        is_counted = self._metered is not unmetered
        if direct is None or is_counted or not self._disposition.startswith("attachment") or not _follows(scope):
            return None
        content_type = without_code(self._content_type or DEFAULT_TYPE)
        return await direct.to_read(
            self._key, LINKS_LAST, disposition=self._disposition, content_type=content_type, cache=self._cache
        )

    async def _send_whole(self, scope: "Scope", send: "Send") -> None:
        async with self._objects.read(self._key) as reading, self._metered(0, reading.length) as sent:
            await self._start(send, 200, self._tagged(reading.info), reading.length)
            await _send_bytes(scope, send, reading, sent)

    async def _send_part(self, scope: "Scope", send: "Send", info: ObjectInfo, start: int, length: int) -> None:
        if length == 0:
            raise RangeUnsatisfiable(f"The file has only {info.size_bytes} bytes.", size_bytes=info.size_bytes)
        async with self._objects.read(self._key, start=start, length=length) as reading:
            if self._tagged(reading.info).etag == info.etag:
                last = reading.start + reading.length - 1
                shown = (b"content-range", b"bytes %d-%d/%d" % (reading.start, last, info.size_bytes))
                async with self._metered(reading.start, reading.length) as sent:
                    await self._start(send, 206, info, reading.length, shown)
                    await _send_bytes(scope, send, reading, sent)
                return
        # The object was replaced meanwhile: the client would join a part of the new one to the old one.
        await self._send_whole(scope, send)

    def _tagged(self, info: ObjectInfo) -> ObjectInfo:
        return replace(info, etag=self._sha256) if self._sha256 else info

    async def _start(
        self,
        send: "Send",
        status: int,
        info: ObjectInfo,
        length: int | None = None,
        *more: tuple[bytes, bytes],
    ) -> None:
        headers = [
            *self._fixed,
            (b"etag", etag_of(info).encode("latin-1")),
            (b"last-modified", last_modified(info).encode("ascii")),
            *more,
        ]
        if length is not None:
            headers.append((b"content-type", without_code(self._content_type or info.content_type).encode("latin-1")))
            headers.append((b"content-length", b"%d" % length))
        await send({"type": "http.response.start", "status": status, "headers": headers})


def _follows(scope: "Scope") -> bool:
    """Whether the client fetches what a redirect leads to: a browser that saves a file, or whoever says so."""
    if scope["method"] != "GET":
        return False
    is_saved = header(scope, b"sec-fetch-mode") == b"navigate" and header(scope, b"sec-fetch-dest") in _SAVING
    return is_saved or header(scope, b"prefer") == PREFERS_LINK


async def _redirect(send: "Send", link: str) -> None:
    headers = [
        (b"location", link.encode("ascii")),
        (b"preference-applied", PREFERS_LINK),
        (b"cache-control", b"no-store"),
        (b"content-length", b"0"),
    ]
    await send({"type": "http.response.start", "status": 307, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


def refuse_as_code(scope: "Scope") -> None:
    """Refuse what a page wants to run: whatever somebody has stored is never part of a page."""
    for name, value in scope["headers"]:
        if name == b"sec-fetch-dest" and value in _RUN_BY_PAGES:
            raise Forbidden("Somebody's file cannot be used as a script or a style of a page. Download it instead.")


def without_code(content_type: str) -> str:
    """The type, unless browsers run it: our own pages may run what comes from here."""
    return "application/octet-stream" if _CODE.match(content_type) else content_type


async def _send_bytes(scope: "Scope", send: "Send", reading: Reading, sent: Sent) -> None:
    file = reading.file
    can_zero_copy = ZERO_COPY in scope.get("extensions", {})
    if file is not None and can_zero_copy and reading.length >= _WORTH_SENDFILE_BYTES:
        part = {"type": ZERO_COPY, "file": file, "on_sent": sent.add}
        tail = _TAIL_BYTES if sent.before_last else 0
        first = reading.length - tail
        await send({**part, "offset": reading.start, "count": first, "more_body": bool(tail)})
        if sent.before_last:
            await sent.before_last()
            await send({**part, "offset": reading.start + first, "count": tail})
        return
    await send_pieces(send, aiter(reading), sent)


async def send_pieces(send: "Send", pieces: AsyncIterator[bytes], sent: Sent) -> None:
    """Send a body piece by piece, to its end."""

    async def send_one(piece: bytes) -> None:
        await send({"type": "http.response.body", "body": piece, "more_body": True})
        sent.add(len(piece))

    held: bytes | None = None
    async for piece in pieces:
        if held is not None:
            await send_one(held)
        held = piece
        if sent.before_last is None:
            await send_one(piece)
            held = None
    if sent.before_last is not None:
        await sent.before_last()
        if held is not None:
            await send_one(held)
    await send({"type": "http.response.body", "body": b""})
