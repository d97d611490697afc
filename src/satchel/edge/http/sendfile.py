"""Send a part of a file down a connection without its bytes passing through Python.

The kernel moves the bytes in a thread; a thread is held only while they move. When the reader is slow the event loop
waits for the socket instead. The descriptors are our own copies, because the connection or the file may be closed
while a thread is still at work with them.
"""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import BinaryIO

_CHUNK_BYTES = 8 * 1024 * 1024
_THREADS = 8


class FileShrank(Exception):
    """The file ended before the announced number of bytes."""


@cache
def _threads() -> ThreadPoolExecutor:
    # Apart from the loop's default threads, so that a slow disk delays downloads alone.
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="sendfile")


async def send_file(
    transport: asyncio.Transport,
    file: BinaryIO,
    offset: int,
    count: int,
    *,
    timeout: float,
    on_sent: Callable[[int], None] | None = None,
) -> None:
    """Send `count` bytes from `offset`. Everything written to the transport before has to have left it.

    `on_sent` is called with the number of bytes that have left, also if the rest never will.
    Raises `OSError` when the connection breaks, `TimeoutError` when nothing could be sent for `timeout` seconds.
    """
    assert transport.get_write_buffer_size() == 0, "the file would overtake what was written before it"
    to_socket = os.dup(transport.get_extra_info("socket").fileno())
    from_file = os.dup(file.fileno())
    job: Future[tuple[int, bool]] | None = None
    try:
        while count > 0:
            job = _threads().submit(_push, to_socket, from_file, offset, count)
            moved, blocked = await asyncio.wrap_future(job)
            offset += moved
            count -= moved
            if on_sent is not None:
                on_sent(moved)
            if blocked:
                await _writable(to_socket, timeout)
    finally:
        if job is None:
            _close(to_socket, from_file)
        else:
            job.add_done_callback(lambda _: _close(to_socket, from_file))


def _push(to_socket: int, from_file: int, offset: int, count: int) -> tuple[int, bool]:
    """Send until the socket is full or a chunk is done: how much was sent, and whether the socket is full."""
    count = min(count, _CHUNK_BYTES)
    moved = 0
    while moved < count:
        try:
            step = os.sendfile(to_socket, from_file, offset + moved, count - moved)
        except BlockingIOError:
            return moved, True
        except OSError:
            if moved:
                # Report what has left first; the next attempt meets the same error.
                return moved, False
            raise
        if step == 0:
            raise FileShrank
        moved += step
    return moved, False


async def _writable(descriptor: int, timeout: float) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_writer(descriptor, ready.set)
    try:
        async with asyncio.timeout(timeout):
            await ready.wait()
    finally:
        loop.remove_writer(descriptor)


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
