"""Pour the body of one request into the answer to another, from socket to socket where the two allow it.

A server's usual way costs a body that only passes through several copies and a task's turn for every piece. Here all
streams share one buffer: what was read is sent before anything else is read, and what the kernel does not take of it is
all that is ever held of a stream. While it is full, nothing is read, so a slow reader slows down its own sender alone.
The descriptors are our own copies, because either connection may be closed while we are at work.
"""

import asyncio
import socket
import threading
from contextlib import AsyncExitStack
from functools import cache
from typing import TYPE_CHECKING, Any

from starlette.requests import ClientDisconnect

from satchel.edge.http.problems import TooSlow

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

# An extension of our own, of a request's scope and as a message of its answer: `receive` is that of the other request.
# Who handles the message says in its `count` how many bytes there were.
POUR = "satchel.response.pour"
# Another one: end an answer so that its reader knows that it is not whole.
BREAK_OFF = "satchel.response.break_off"

# Larger ones move no more bytes in the same time: this still fits into a processor's own memory.
BUFFER_BYTES = 256 * 1024


class BodyBroken(Exception):
    """The body ended before its time."""


async def pour(source: "Scope", receive: "Receive", target: "Scope", send: "Send") -> int:
    """Send the whole body of one request as the next part of an answer that has begun; how many bytes it had.

    Raises `BodyBroken` or `TooSlow` when the body does not come to its end, `ClientDisconnect` when the answer's reader
    has left or takes nothing.
    """
    if POUR in source.get("extensions", ()) and POUR in target.get("extensions", ()):
        message: Message = {"type": POUR, "receive": receive, "more_body": True}
        await send(message)
        return message["count"]
    count, more = 0, True
    while more:
        piece, more = await next_piece(receive)
        count += len(piece)
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    return count


async def next_piece(receive: "Receive") -> tuple[bytes, bool]:
    """What comes next of a body, and whether more follows."""
    message = await receive()
    if message["type"] == "http.disconnect":
        raise BodyBroken
    return message.get("body", b""), message.get("more_body", False)


async def pour_socket(source: asyncio.Transport, target: asyncio.Transport, count: int, *, patience: float) -> None:
    """Move so many bytes from one connection to the other.

    Nobody else may read from the one or write to the other, and what was written to that has to have left it. Raises
    `BodyBroken` when the source ends, `TooSlow` when nothing came for `patience` seconds, `ClientDisconnect` when the
    target is gone or took nothing for as long.
    """
    assert target.get_write_buffer_size() == 0, "the body would overtake what was written before it"
    async with AsyncExitStack() as opened:
        streaming = _Streaming(opened.enter_context(_copy_of(source)), opened.enter_context(_copy_of(target)), count)
        opened.callback(streaming.stop)
        streaming.go_on()
        while not streaming.done.done():
            left = streaming.left
            await asyncio.wait([streaming.done], timeout=patience)
            if streaming.left == left and not streaming.done.done():
                raise streaming.stalled(patience)
        streaming.done.result()


class _Streaming:
    """Bytes on their way; driven by the loop, which says when a socket can be read or written."""

    def __init__(self, source: socket.socket, target: socket.socket, count: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._source = source
        self._target = target
        self._unread = count
        self._buffer = _buffer_of(threading.get_ident())
        # What the target has not taken yet; nothing is read before it has.
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

    def stalled(self, patience: float) -> Exception:
        if self._pending:
            return ClientDisconnect()
        return TooSlow(f"Nothing arrived for {patience:g} seconds, so the request was given up.")

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
            # A copy, since the buffer is everybody's.
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
        """What of it could not be sent."""
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
