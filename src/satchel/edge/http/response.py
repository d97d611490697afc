"""Write one HTTP/1.1 answer: head and body in one packet where possible, files by the kernel, stalled readers dropped.

Takes the place of uvicorn's own `send`, which checks every header with two regular expressions, sends head and body
apart, and waits for ever for a reader that has stopped reading.
"""

import asyncio
from typing import Any, ClassVar, Protocol

from starlette.requests import ClientDisconnect
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from satchel.edge.http.limits import Limits
from satchel.edge.http.problems import TooSlow
from satchel.edge.http.sendfile import send_file
from satchel.edge.http.splice import BREAK_OFF, POUR, BodyBroken, next_piece, pour_socket

# Reading up to this much of a body that nobody wants is cheaper than a new connection.
_WORTH_READING_BYTES = 64 * 1024

# https://asgi.readthedocs.io/en/latest/extensions.html#zero-copy-send
ZERO_COPY = "http.response.zerocopysend"


class Connection(Protocol):
    """What an answer asks of the connection it goes out on."""

    limits: ClassVar[Limits]
    loop: asyncio.AbstractEventLoop

    def linger(self) -> None: ...

    def body_taken(self) -> None: ...


class Cycle(RequestResponseCycle):
    """One request and its answer, on a connection that may carry many."""

    connection: Connection
    _head = b""
    _without_body = False
    _lingers = False
    _was_read = False
    _was_tapped = False

    async def receive(self) -> Any:
        """uvicorn's, but silence in the middle of a body ends, and what came before a connection broke is told."""
        self._was_read = True
        if self.disconnected and self.body and not self.response_complete:
            body, self.body = self.body, b""
            return {"type": "http.request", "body": bytes(body), "more_body": True}
        if not self.more_body or self.message_event.is_set():
            return await super().receive()
        seconds = self.connection.limits.stalled_seconds
        try:
            async with asyncio.timeout(seconds):
                return await super().receive()
        except TimeoutError:
            raise TooSlow(f"Nothing arrived for {seconds:g} seconds, so the request was given up.") from None

    async def send(self, message: Any) -> None:
        if self.flow.write_paused:
            await self._drain()
        if self.disconnected:
            raise ClientDisconnect
        kind = message["type"]
        if self.response_complete or (kind == "http.response.start") is self.response_started:
            raise RuntimeError(f"{kind} does not belong here")
        if kind == "http.response.start":
            self._begin(message["status"], message.get("headers", ()))
            return
        if kind == BREAK_OFF:
            self._break_off()
            return
        if kind == ZERO_COPY:
            await self._send_file(message)
        elif kind == POUR:
            message["count"] = await self._pour(message["receive"])
        else:
            self._write(message.get("body", b""), last=not message.get("more_body", False))
        if not message.get("more_body", False):
            self._finish()

    def _begin(self, status: int, headers: Any) -> None:
        parts = [STATUS_LINE[status]]
        length: int | None = None
        for name, value in (*self.default_headers, *headers):
            if b"\n" in value or b"\r" in value or b"\0" in value:
                raise ValueError(f"the value of the header {name!r} would break the answer")
            if name == b"content-length":
                length = int(value)
            elif name == b"connection" and value == b"close":
                self.keep_alive = False
                continue
            parts += (name, b": ", value, b"\r\n")
        self._frame(status, length, parts)
        if self.more_body and self._much_to_come():
            self._lingers, self.keep_alive = True, False
        if not self.keep_alive:
            parts.append(b"connection: close\r\n")
        parts.append(b"\r\n")
        self._head = b"".join(parts)
        self.response_started = True
        self.waiting_for_100_continue = False
        # It waits for a body to leave with, but no longer than this turn of the loop.
        self.connection.loop.call_soon(self._flush_head)

    def _frame(self, status: int, length: int | None, parts: list[bytes]) -> None:
        """Decide how the client will know where the body ends."""
        self._without_body = self.scope["method"] == "HEAD" or status in (204, 304)
        self.expected_content_length = 0 if self._without_body else length or 0
        self.chunked_encoding = False
        if length is None and not self._without_body:
            if self.scope["http_version"] == "1.1":
                self.chunked_encoding = True
                parts.append(b"transfer-encoding: chunked\r\n")
            else:
                self.keep_alive = False
                self.expected_content_length = -1

    def _flush_head(self) -> None:
        if self._head and not self.disconnected:
            self.transport.write(self._head)
            self._head = b""

    def _write(self, body: bytes, *, last: bool) -> None:
        if self._without_body:
            body = b""
        elif self.chunked_encoding:
            body = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
            body += b"0\r\n\r\n" if last else b""
        else:
            self._use_up(len(body))
        head, self._head = self._head, b""
        # Joining costs a copy, which pays for small bodies only.
        if head and len(body) > 64 * 1024:
            self.transport.write(head)
            head = b""
        self.transport.write(head + body if head else body)

    def _use_up(self, count: int) -> None:
        """Of the length that the answer has said, if it has."""
        if self.expected_content_length < 0:
            return
        if count > self.expected_content_length:
            raise RuntimeError("the answer is longer than it said")
        self.expected_content_length -= count

    def _finish(self) -> None:
        if self.expected_content_length > 0:
            raise RuntimeError("the answer is shorter than it said")
        self._flush_head()
        self.response_complete = True
        self.message_event.set()
        if self._lingers:
            self.connection.linger()
        elif not self.keep_alive:
            self.transport.close()
        self.on_response()

    def _break_off(self) -> None:
        self._flush_head()
        self.disconnected = True
        self.transport.close()
        self.connection.loop.call_later(self.connection.limits.linger_seconds, self.transport.abort)

    def _much_to_come(self) -> bool:
        length = self._declared_length()
        # Of a body that was taken past the parser, only the connection's end can tell where it would have ended.
        return length is None or length > _WORTH_READING_BYTES or self._was_tapped

    def _declared_length(self) -> int | None:
        return next((int(value) for name, value in self.scope["headers"] if name == b"content-length"), None)

    async def _pour(self, receive: Any) -> int:
        """Pass on the body of another request on a connection of this server; how many bytes it had."""
        source: Cycle = receive.__self__
        count = source._declared_length()
        if count is None or source._was_read or self.chunked_encoding or self._without_body:
            return await self._pour_pieces(receive)
        first, left = source._tap(count)
        self._write(first, last=False)
        if left:
            await self._flush_transport()
            self._use_up(left)
            await self._pour_socket(source, left)
        return count

    async def _pour_pieces(self, receive: Any) -> int:
        count, more = 0, True
        while more:
            piece, more = await next_piece(receive)
            count += len(piece)
            if self.flow.write_paused:
                await self._drain()
            if self.disconnected:
                raise ClientDisconnect
            self._write(piece, last=False)
        return count

    async def _pour_socket(self, source: "Cycle", left: int) -> None:
        try:
            await pour_socket(source.transport, self.transport, left, patience=self.connection.limits.stalled_seconds)
        except ClientDisconnect:
            self.transport.abort()
            raise
        source.connection.body_taken()

    def _tap(self, count: int) -> tuple[bytes, int]:
        """Leave the rest of the body in the socket: what of it has come already, and how much has not."""
        first, self.body = bytes(self.body), bytearray()
        left = count - len(first) if self.more_body else 0
        if left:
            if self.disconnected:
                raise BodyBroken
            self.flow.pause_reading()
            self._was_tapped = True
            if self.waiting_for_100_continue:
                self.waiting_for_100_continue = False
                self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        return first, left

    async def _send_file(self, message: Any) -> None:
        count: int = message["count"]
        if self._without_body:
            return
        if self.chunked_encoding:
            raise RuntimeError("a file is sent only where its length was said")
        self._use_up(count)
        self._flush_head()
        await self._flush_transport()
        offset, patience = message.get("offset", 0), self.connection.limits.stalled_seconds
        try:
            await send_file(
                self.transport, message["file"], offset, count, patience=patience, moving=message.get("moving")
            )
        except (OSError, TimeoutError):
            self.transport.abort()
            raise ClientDisconnect from None

    async def _flush_transport(self) -> None:
        """Wait until everything written has left for the kernel."""
        low, high = self.transport.get_write_buffer_limits()
        self.transport.set_write_buffer_limits(high=0)
        try:
            if self.flow.write_paused:
                await self._drain()
        finally:
            if not self.transport.is_closing():
                self.transport.set_write_buffer_limits(high=high, low=low)
        if self.disconnected:
            raise ClientDisconnect

    async def _drain(self) -> None:
        try:
            async with asyncio.timeout(self.connection.limits.stalled_seconds):
                await self.flow.drain()
        except TimeoutError:
            self.transport.abort()
            raise ClientDisconnect from None
