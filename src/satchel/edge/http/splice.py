"""Splice the body of one request into the answer to another, from socket to socket where the two allow it.

The usual way through a server costs several copies of every piece and a task switch. Here all streams share one buffer.
What was read is sent before anything else is read. Only what the kernel does not take is held for a stream, and while
something is held, nothing more is read: a slow reader slows down its own sender alone. The descriptors are our own
copies, because either connection may be closed while we are at work.
"""

import asyncio
import socket
import threading
from contextlib import AsyncExitStack
from functools import cache
from typing import TYPE_CHECKING, Any

from starlette.requests import ClientDisconnect

from satchel.edge.http.extensions import SPLICE
from satchel.edge.http.problems import TooSlow

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

# A larger one moves no more bytes in the same time. This size still fits into a processor's cache.
BUFFER_BYTES = 256 * 1024


class BodyBroken(Exception):
    """The body ended before its announced length."""


async def splice(source: "Scope", receive: "Receive", target: "Scope", send: "Send") -> int:
    """Send the whole body of one request as the next part of an answer that has begun. Returns how many bytes it had.

    Raises `BodyBroken` or `TooSlow` when the body does not come to its end, `ClientDisconnect` when the answer's reader
    has left or takes nothing.
    """
    if SPLICE in source.get("extensions", ()) and SPLICE in target.get("extensions", ()):
        message: Message = {"type": SPLICE, "receive": receive, "more_body": True}
        await send(message)
        return message["count"]
    count, more = 0, True
    while more:
        piece, more = await next_piece(receive)
        count += len(piece)
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    return count


async def next_piece(receive: "Receive") -> tuple[bytes, bool]:
    """The next piece of a body, and whether more follows."""
    message = await receive()
    if message["type"] == "http.disconnect":
        raise BodyBroken
    return message.get("body", b""), message.get("more_body", False)


async def splice_sockets(source: asyncio.Transport, target: asyncio.Transport, count: int, *, timeout: float) -> None:
    """Move so many bytes from one connection to the other.

    Nobody else may read from the one or write to the other, and what was written to that has to have left it. Raises
    `BodyBroken` when the source ends, `TooSlow` when nothing came for `timeout` seconds, `ClientDisconnect` when the
    target is gone or took nothing for as long.
    """
    assert target.get_write_buffer_size() == 0, "the body would overtake what was written before it"
    async with AsyncExitStack() as opened:
        moving = _Splice(opened.enter_context(_copy_of(source)), opened.enter_context(_copy_of(target)), count)
        opened.callback(moving.stop)
        moving.go_on()
        while not moving.done.done():
            left = moving.left
            await asyncio.wait([moving.done], timeout=timeout)
            if moving.left == left and not moving.done.done():
                raise moving.stalled(timeout)
        moving.done.result()


class _Splice:
    """One splice under way. The loop calls it when a socket can be read or written."""

    def __init__(self, source: socket.socket, target: socket.socket, count: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._source = source
        self._target = target
        self._unread = count
        self._buffer = _buffer_of(threading.get_ident())
        # What the target has not taken yet. Nothing is read while there is some.
        self._pending = memoryview(b"")
        self.done: asyncio.Future[None] = self._loop.create_future()

    @property
    def left(self) -> int:
        return self._unread + len(self._pending)

    def go_on(self) -> None:
        self._loop.add_reader(self._source, self._read)

    def stop(self) -> None:
        self._loop.remove_reader(self._source)
        self._loop.remove_writer(self._target)

    def stalled(self, timeout: float) -> Exception:
        if self._pending:
            return ClientDisconnect()
        return TooSlow(f"Nothing arrived for {timeout:g} seconds. Send the request again.")

    def _read(self) -> None:
        try:
            size = self._source.recv_into(self._buffer, min(self._unread, BUFFER_BYTES))
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            size = 0
        if size == 0:
            self._end(BodyBroken())
            return
        self._unread -= size
        rest = self._send(self._buffer[:size])
        if rest:
            # A copy, because all splices share the buffer.
            self._pending = memoryview(bytes(rest))
            self._loop.remove_reader(self._source)
            self._loop.add_writer(self._target, self._write)
        elif not self._unread:
            self._end()

    def _write(self) -> None:
        self._pending = self._send(self._pending)
        if self._pending or self.done.done():
            return
        self._loop.remove_writer(self._target)
        if self._unread:
            self.go_on()
        else:
            self._end()

    def _send(self, data: memoryview) -> memoryview:
        """Send as much as possible; returns the rest."""
        try:
            return data[self._target.send(data) :]
        except (BlockingIOError, InterruptedError):
            return data
        except OSError:
            self._end(ClientDisconnect())
            return memoryview(b"")

    def _end(self, failure: Exception | None = None) -> None:
        self.stop()
        if self.done.done():
            return
        if failure is None:
            self.done.set_result(None)
        else:
            self.done.set_exception(failure)


@cache
def _buffer_of(_thread: int) -> memoryview:
    return memoryview(bytearray(BUFFER_BYTES))


def _copy_of(transport: asyncio.Transport) -> socket.socket:
    descriptor: Any = transport.get_extra_info("socket")
    copy = socket.fromfd(descriptor.fileno(), descriptor.family, descriptor.type)
    copy.setblocking(False)
    return copy
