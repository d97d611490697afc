"""The kinds of connection that a stream can have at either end: the body of a request, an answer, a websocket."""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect, Request

from satchel.edge.http.extensions import BREAK_OFF
from satchel.edge.http.problems import Malformed, TooSlow
from satchel.edge.http.request_body import declared_length
from satchel.edge.http.splice import BodyBroken, next_piece, splice
from satchel.features.drop.relay.refusals import StreamOver
from satchel.features.drop.relay.relay_ends import PIECE_BYTES, Inlet, ReceiverLeft

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

# How long a plain connection may be silent, or stalled.
_STALLED_SECONDS = 60.0


class BodyInlet:
    """The body of a request."""

    def __init__(self, request: Request) -> None:
        self.length = declared_length(request.scope)
        self.scope = request.scope
        self.receive = request.receive

    async def pieces(self) -> AsyncIterator[bytes]:
        more = True
        while more:
            try:
                piece, more = await next_piece(self.receive)
            except BodyBroken:
                raise _broken() from None
            yield piece


class AnswerOutlet:
    """The answer to a request."""

    def __init__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self.has_begun = False

    async def begin(self, total: int | None) -> None:
        headers = [
            (b"content-type", b"application/octet-stream"),
            (b"cache-control", b"no-store"),
            # A buffering proxy would read from the sender what the receiver does not read.
            (b"x-accel-buffering", b"no"),
        ]
        if total is not None:
            headers.append((b"content-length", b"%d" % total))
        await self._say({"type": "http.response.start", "status": 200, "headers": headers})
        self.has_begun = True

    async def write(self, piece: bytes) -> None:
        await self._say({"type": "http.response.body", "body": piece, "more_body": True})

    async def pour(self, inlet: Inlet) -> int:
        if not isinstance(inlet, BodyInlet):
            return await _write_all(self, inlet)
        try:
            return await splice(inlet.scope, inlet.receive, self._scope, self._send)
        except BodyBroken:
            raise _broken() from None
        except ClientDisconnect:
            raise ReceiverLeft from None

    async def finish(self) -> None:
        await self._say({"type": "http.response.body", "body": b""})

    async def left(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def break_off(self) -> None:
        """End the answer so that the receiver knows that it is incomplete."""
        await self._send({"type": BREAK_OFF})

    async def _say(self, message: "Message") -> None:
        try:
            await self._send(message)
        except ClientDisconnect:
            raise ReceiverLeft from None


class SocketInlet:
    """Binary frames of a websocket, up to an empty one."""

    length = None

    def __init__(self, receive: "Receive") -> None:
        self._receive = receive

    async def pieces(self) -> AsyncIterator[bytes]:
        while piece := await self._next():
            yield piece

    async def _next(self) -> bytes:
        try:
            async with asyncio.timeout(_STALLED_SECONDS):
                message = await self._receive()
        except TimeoutError:
            raise TooSlow(
                f"No data arrived for {_STALLED_SECONDS:g} seconds, so the stream was ended. Ask for the file again."
            ) from None
        if message["type"] == "websocket.disconnect":
            raise _broken()
        frame = message.get("bytes")
        if frame is None:
            raise Malformed("Send the stream in binary frames. An empty frame ends it.")
        return frame


class SocketOutlet:
    """A websocket that is sent binary frames, and an empty one at the end."""

    def __init__(self, receive: "Receive", send: "Send") -> None:
        self._receive = receive
        self._send = send

    async def begin(self, total: int | None) -> None:
        """The receiver knows how much to expect from the acknowledgement."""

    async def write(self, piece: bytes) -> None:
        for start in range(0, len(piece), PIECE_BYTES):
            await self._say(piece[start : start + PIECE_BYTES])

    async def pour(self, inlet: Inlet) -> int:
        return await _write_all(self, inlet)

    async def finish(self) -> None:
        await self._say(b"")

    async def left(self) -> None:
        while (await self._receive())["type"] != "websocket.disconnect":
            pass

    async def _say(self, frame: bytes) -> None:
        try:
            async with asyncio.timeout(_STALLED_SECONDS):
                await self._send({"type": "websocket.send", "bytes": frame})
        except (OSError, TimeoutError):
            raise ReceiverLeft from None


async def _write_all(outlet: AnswerOutlet | SocketOutlet, inlet: Inlet) -> int:
    count = 0
    async for piece in inlet.pieces():
        await outlet.write(piece)
        count += len(piece)
    return count


def _broken() -> StreamOver:
    return StreamOver("The connection ended before the last byte.")
