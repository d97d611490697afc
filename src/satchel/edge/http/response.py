"""One request and its answer on a connection: the body is handed to the application, its answer is written out.

A small answer leaves in one packet. The kernel moves files, and bodies that only pass through. A reader that has
stopped reading is dropped.
"""

import asyncio
import logging
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Protocol

from starlette.requests import ClientDisconnect

from satchel.edge.http.extensions import BREAK_OFF, KEEPS_BODY, SPLICE, WHOLE, ZERO_COPY
from satchel.edge.http.held_bytes import bytes_of_head
from satchel.edge.http.limits import Limits
from satchel.edge.http.problems import TooSlow
from satchel.edge.http.sendfile import send_file
from satchel.edge.http.server_state import ServerState
from satchel.edge.http.splice import BodyBroken, next_piece, splice_sockets

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message

_log = logging.getLogger("satchel.edge")

# Reading up to this much of a body that nobody wants is cheaper than a new connection.
_WORTH_READING_BYTES = 64 * 1024
# Joining head and body costs a copy, which pays for small bodies only.
_WORTH_JOINING_BYTES = 64 * 1024


def _status_line(status: int) -> bytes:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = ""
    return f"HTTP/1.1 {status} {phrase}\r\n".encode("ascii")


STATUS_LINES = {status: _status_line(status) for status in range(100, 600)}


class Connection(Protocol):
    """What an answer asks of the connection it goes out on."""

    limits: Limits
    loop: asyncio.AbstractEventLoop
    state: ServerState
    transport: asyncio.Transport
    write_paused: bool

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    async def drain(self) -> None: ...

    def count_held(self) -> None: ...

    def close(self) -> None: ...

    def response_complete(self) -> None: ...

    def linger(self) -> None: ...

    def body_taken(self) -> None: ...


class RequestCycle:
    """One request and its answer; `receive` and `send` are what the application is called with."""

    __slots__ = (
        "_body_told",
        "_buffered_bytes",
        "_changed",
        "_chunked",
        "_disconnected",
        "_given_bytes",
        "_head",
        "_head_bytes",
        "_left_bytes",
        "_lingers",
        "_more_body",
        "_pieces",
        "_response_started",
        "_was_asked",
        "_was_read",
        "_was_tapped",
        "_without_body",
        "connection",
        "keep_alive",
        "response_complete",
        "scope",
        "task",
    )

    def __init__(self, connection: Connection, scope: dict[str, Any], *, keep_alive: bool) -> None:
        self.scope = scope
        self.keep_alive = keep_alive
        self.task: asyncio.Task[None] | None = None
        self.response_complete = False
        self.connection = connection
        self._disconnected = False
        self._head_bytes = bytes_of_head(scope["headers"])
        # The body: what has come and was not asked for yet, whether more will, and whether its end was told.
        self._pieces: list[bytes] = []
        self._buffered_bytes = self._given_bytes = 0
        self._more_body = True
        self._body_told = self._was_asked = self._was_read = self._was_tapped = False
        self._changed: asyncio.Event | None = None
        # The answer: a head that waits for its body, and how many bytes are missing; None if that is not known.
        self._response_started = False
        self._head = b""
        self._left_bytes: int | None = 0
        self._chunked = self._without_body = self._lingers = False

    async def run(self, application: "ASGIApp") -> None:
        """Let the application answer. Our middleware answers every failure, so none is expected here."""
        try:
            await application(self.scope, self.receive, self.send)
        except Exception:  # noqa: BLE001 -- it is logged, and the reader sees that the answer is not whole
            _log.exception("an application failed without an answer")
        finally:
            if not self.response_complete and not self._disconnected:
                # The reader notices by the end of the connection that this is not the whole answer.
                self._flush_head()
                self.connection.transport.close()
            if self.task is not None:
                self.connection.state.tasks.discard(self.task)

    # Called by the connection.

    @property
    def held_bytes(self) -> int:
        """What of the request is in memory: its head, and of its body what waits, was given last, or has to be kept."""
        return 0 if self.response_complete else self._head_bytes + self._buffered_bytes + self._given_bytes

    def add_body(self, piece: bytes) -> int:
        """Keep a piece of the body; answers how many bytes wait to be asked for."""
        if self.response_complete:
            return 0
        self._pieces.append(piece)
        self._buffered_bytes += len(piece)
        self._wake()
        return self._buffered_bytes

    def end_body(self) -> None:
        if not self.response_complete:
            self._more_body = False
            self._wake()

    def connection_lost(self) -> None:
        if not self.response_complete:
            self._disconnected = True
        self._wake()

    # Called by the application.

    async def receive(self) -> "Message":
        """The next part of the body; at its end, that the client has gone or has its answer.

        Silence in the middle of a body ends it. What came before a connection broke is told first.
        """
        self._was_read = True
        if not self._is_news():
            self._ask_for_body()
            await self._news()
        if self.response_complete or (self._disconnected and not self._pieces):
            return {"type": "http.disconnect"}
        body, self._pieces, self._buffered_bytes = b"".join(self._pieces), [], 0
        more = self._more_body
        self._body_told = not more
        self._given_bytes = len(body) + (self._given_bytes if KEEPS_BODY in self.scope else 0)
        if more:
            self.connection.count_held()
        if more and not self._disconnected:
            self.connection.resume_reading()
        return {"type": "http.request", "body": body, "more_body": more}

    async def send(self, message: "Message") -> None:
        if self.connection.write_paused:
            await self._drain()
        if self._disconnected:
            raise ClientDisconnect
        kind = message["type"]
        if self.response_complete or (kind in (WHOLE, "http.response.start")) is self._response_started:
            raise RuntimeError(f"{kind} does not belong here")
        if kind == WHOLE:
            self._write_whole(message["status"], message["header_lines"], message["body"])
            return
        if kind == "http.response.start":
            self._begin(message["status"], message.get("headers", ()))
            return
        if kind == BREAK_OFF:
            self._break_off()
            return
        if kind == ZERO_COPY:
            await self._send_file(message)
        elif kind == SPLICE:
            message["count"] = await self._splice(message["receive"])
        else:
            self._write(message.get("body", b""), last=not message.get("more_body", False))
            if self.connection.write_paused and message.get("more_body", False):
                # Not to have the next piece made as well, while nobody takes this one.
                await self._drain()
        if not message.get("more_body", False):
            self._finish()

    # The body.

    def _is_news(self) -> bool:
        return bool(
            self._pieces or self._disconnected or self.response_complete or not (self._more_body or self._body_told)
        )

    def _wake(self) -> None:
        if self._changed is not None:
            self._changed.set()

    def _ask_for_body(self) -> None:
        connection = self.connection
        if self._expects_to_be_asked() and not connection.transport.is_closing():
            connection.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        connection.resume_reading()

    def _expects_to_be_asked(self) -> bool:
        """Whether the client waits for a `100 Continue`; it gets no more than one."""
        if self._was_asked or not self._more_body or self._response_started:
            return False
        self._was_asked = True
        return any(name == b"expect" and value.lower() == b"100-continue" for name, value in self.scope["headers"])

    async def _news(self) -> None:
        if self._changed is None:
            self._changed = asyncio.Event()
        if not self._more_body:
            await self._wait_for_news()
            return
        seconds = self.connection.limits.stalled_seconds
        try:
            async with asyncio.timeout(seconds):
                await self._wait_for_news()
        except TimeoutError:
            raise TooSlow(f"Nothing arrived for {seconds:g} seconds. Send the request again.") from None

    async def _wait_for_news(self) -> None:
        assert self._changed is not None
        while not self._is_news():
            self._changed.clear()
            await self._changed.wait()

    # The answer.

    def _write_whole(self, status: int, header_lines: bytes, body: bytes) -> None:
        self._response_started = True
        self._decide_end()
        connection = self.connection
        end = b"\r\n" if self.keep_alive else b"connection: close\r\n\r\n"
        if status in (204, 304):
            body = b""
        else:
            end = b"content-length: %d\r\n%b" % (len(body), end)
            if self.scope["method"] == "HEAD":
                body = b""
        connection.transport.write(
            b"".join((STATUS_LINES[status], connection.state.date_line(), header_lines, end, body))
        )
        self._finish()

    def _begin(self, status: int, headers: Any) -> None:
        parts = [STATUS_LINES[status], self.connection.state.date_line()]
        length: int | None = None
        for name, value in headers:
            if b"\n" in value or b"\r" in value or b"\0" in value:
                raise ValueError(f"the value of the header {name!r} would break the answer")
            if name == b"content-length":
                length = int(value)
            elif name == b"connection" and value == b"close":
                self.keep_alive = False
                continue
            parts += (name, b": ", value, b"\r\n")
        self._frame(status, length, parts)
        self._decide_end()
        if not self.keep_alive:
            parts.append(b"connection: close\r\n")
        parts.append(b"\r\n")
        self._head = b"".join(parts)
        self._response_started = True
        # It waits for a body to leave with, but no longer than this turn of the loop.
        self.connection.loop.call_soon(self._flush_head)

    def _frame(self, status: int, length: int | None, parts: list[bytes]) -> None:
        """Decide how the client will know where the body ends."""
        self._without_body = self.scope["method"] == "HEAD" or status in (204, 304)
        self._left_bytes = 0 if self._without_body else length or 0
        if length is None and not self._without_body:
            if self.scope["http_version"] == "1.1":
                self._chunked = True
                parts.append(b"transfer-encoding: chunked\r\n")
            else:
                self.keep_alive = False
                self._left_bytes = None

    def _decide_end(self) -> None:
        """Whether the connection goes on behind this answer, though the body of the request may not have ended."""
        if self._more_body and self._much_to_come():
            self._lingers, self.keep_alive = True, False

    def _flush_head(self) -> None:
        if self._head and not self._disconnected:
            self.connection.transport.write(self._head)
            self._head = b""

    def _write(self, body: bytes, *, last: bool) -> None:
        if self._without_body:
            body = b""
        elif self._chunked:
            body = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
            body += b"0\r\n\r\n" if last else b""
        else:
            self._use_up(len(body))
        head, self._head = self._head, b""
        transport = self.connection.transport
        if head and len(body) > _WORTH_JOINING_BYTES:
            transport.write(head)
            head = b""
        transport.write(head + body if head else body)

    def _use_up(self, count: int) -> None:
        """Of the length that the answer has said, if it has."""
        if self._left_bytes is None:
            return
        if count > self._left_bytes:
            raise RuntimeError("the answer is longer than it said")
        self._left_bytes -= count

    def _finish(self) -> None:
        if self._left_bytes:
            raise RuntimeError("the answer is shorter than it said")
        if self._head:
            self._flush_head()
        self.response_complete = True
        self._wake()
        connection = self.connection
        if self._lingers:
            connection.linger()
        elif not self.keep_alive:
            connection.close()
        connection.response_complete()

    def _break_off(self) -> None:
        self._flush_head()
        self._disconnected = True
        connection = self.connection
        connection.transport.close()
        connection.loop.call_later(connection.limits.linger_seconds, connection.transport.abort)

    def _much_to_come(self) -> bool:
        length = self._declared_length()
        # Of a body that was taken past the parser, only the connection's end can tell where it would have ended.
        return length is None or length > _WORTH_READING_BYTES or self._was_tapped

    def _declared_length(self) -> int | None:
        return next((int(value) for name, value in self.scope["headers"] if name == b"content-length"), None)

    async def _splice(self, receive: Any) -> int:
        """Pass on the body of another request on a connection of this server; answers how many bytes it had."""
        source: RequestCycle = receive.__self__
        count = source._declared_length()
        if count is None or source._was_read or self._chunked or self._without_body:
            return await self._splice_pieces(receive)
        first, left = source._tap(count)
        self._write(first, last=False)
        if left:
            await self._flush_transport()
            self._use_up(left)
            await self._splice_sockets(source, left)
        return count

    async def _splice_pieces(self, receive: Any) -> int:
        count, more = 0, True
        while more:
            piece, more = await next_piece(receive)
            count += len(piece)
            if self.connection.write_paused:
                await self._drain()
            if self._disconnected:
                raise ClientDisconnect
            self._write(piece, last=False)
        return count

    async def _splice_sockets(self, source: "RequestCycle", left: int) -> None:
        connection = self.connection
        try:
            await splice_sockets(
                source.connection.transport, connection.transport, left, timeout=connection.limits.stalled_seconds
            )
        except ClientDisconnect:
            connection.transport.abort()
            raise
        source.connection.body_taken()

    def _tap(self, count: int) -> tuple[bytes, int]:
        """Leave the rest of the body in the socket: what of it has come already, and how much has not."""
        first, self._pieces, self._buffered_bytes = b"".join(self._pieces), [], 0
        left = count - len(first) if self._more_body else 0
        if left:
            if self._disconnected:
                raise BodyBroken
            self.connection.pause_reading()
            self._was_tapped = True
            if self._expects_to_be_asked():
                self.connection.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        return first, left

    async def _send_file(self, message: Any) -> None:
        count: int = message["count"]
        if self._without_body:
            return
        if self._chunked:
            raise RuntimeError("a file is sent only where its length was said")
        self._use_up(count)
        self._flush_head()
        await self._flush_transport()
        connection = self.connection
        try:
            await send_file(
                connection.transport,
                message["file"],
                message.get("offset", 0),
                count,
                timeout=connection.limits.stalled_seconds,
                on_sent=message.get("on_sent"),
            )
        except (OSError, TimeoutError):
            connection.transport.abort()
            raise ClientDisconnect from None

    async def _flush_transport(self) -> None:
        """Wait until everything written has left for the kernel."""
        transport = self.connection.transport
        low, high = transport.get_write_buffer_limits()
        transport.set_write_buffer_limits(high=0)
        try:
            if self.connection.write_paused:
                await self._drain()
        finally:
            if not transport.is_closing():
                transport.set_write_buffer_limits(high=high, low=low)
        if self._disconnected:
            raise ClientDisconnect

    async def _drain(self) -> None:
        try:
            async with asyncio.timeout(self.connection.limits.stalled_seconds):
                await self.connection.drain()
        except TimeoutError:
            self.connection.transport.abort()
            raise ClientDisconnect from None
