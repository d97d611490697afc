"""Upload a stream: in a few large requests, in many small ones, or in websocket frames, as proxies on the way allow.

No record is sealed twice, because the file may have changed in between. What a proxy refused is sent again as it was
sealed.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from satchel.cli.drop.crypto.sealed_records import TAG, Digest, Sealer, sealed_bytes
from satchel.cli.drop.crypto.session_keys import CHUNK
from satchel.cli.drop.sender.send_content import Content
from satchel.cli.drop.session.drop_session import DropSession
from satchel.cli.drop.session.stream_connection import RefusedByProxy, StreamConnection
from satchel.cli.drop.stream_wait import Wait
from satchel.cli.engine.http.failures import Refused, Unreachable

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

# If the length is known, a batch is small enough to stay in the processor's cache while it is read, sealed and sent. If
# not, a batch is one request.
_BATCH_CHUNKS = 8
_FOLLOWED_CHUNKS = 16
# The usual limit of proxies for a request, and the limit of a frame.
_SMALL_BYTES = 1024**2 - 1024
_LARGE_BYTES = 64 * 1024**2
# What is larger and refused is not sent again as it was: the receiver asks again, and resumes. Most proxies with a
# limit have a lower one, and to keep more takes memory and time.
_KEPT_BYTES = 16 * 1024**2
_STEP = 4
# Between the two the size stays. A receiver who gets nothing for a minute gives up.
_QUICK_SECONDS, _SLOW_SECONDS = 3.0, 12.0


class Records:
    """The records of a stream, in pieces of any size. `sealed` is called for every chunk."""

    def __init__(self, content: Content, sealer: Sealer, sealed: Callable[[Digest], None], reading: Wait) -> None:
        self._batches = self._seal(content, sealer, sealed)
        self._reading = reading
        self._again: deque[memoryview] = deque()
        self._left = memoryview(b"")
        self._is_all_sealed = False

    def take(self, most_bytes: int) -> memoryview:
        """The next bytes, valid until the next call. There may be fewer, if more would mean waiting."""
        if not self._left:
            self._left = self._again.popleft() if self._again else next(self._batches)
        piece, self._left = self._left[:most_bytes], self._left[most_bytes:]
        return piece

    def take_back(self, pieces: list[bytes]) -> None:
        """Return pieces that did not arrive. They are the next to be taken."""
        self._again.extendleft(memoryview(piece) for piece in reversed([*pieces, bytes(self._left)]) if piece)
        self._left = memoryview(b"")

    @property
    def is_all_taken(self) -> bool:
        return self._is_all_sealed and not self._left and not self._again

    def _seal(self, content: Content, sealer: Sealer, sealed: Callable[[Digest], None]) -> Iterator[memoryview]:
        chunks = _FOLLOWED_CHUNKS if sealer.stream.length is None else _BATCH_CHUNKS
        plain = memoryview(bytearray(chunks * CHUNK))
        out = memoryview(bytearray(chunks * (CHUNK + TAG)))
        while read := self._read(content, plain):
            size = 0
            for start in range(0, read, CHUNK):
                size += sealer.seal_into(plain[start : min(start + CHUNK, read)], out[size:])
                sealed(sealer.digest)
            yield out[:size]
        last = sealer.final(sealer.length)
        self._is_all_sealed = True
        yield memoryview(last)

    def _read(self, content: Content, plain: memoryview) -> int:
        with self._reading:
            return content.read_into(plain)


class SegmentSize:
    """The size of a request: larger while requests are quick, smaller after one was refused, slow or lost.

    A proxy may buffer a whole request before it passes anything on. Meanwhile the receiver gets nothing.
    """

    def __init__(self) -> None:
        self.bytes = _SMALL_BYTES
        # The largest request that has passed.
        self.proven_bytes = 0
        self._most_bytes = _LARGE_BYTES

    def passed(self, length: int, seconds: float) -> None:
        self.proven_bytes = max(self.proven_bytes, length)
        if seconds > _SLOW_SECONDS:
            self.lost()
        elif seconds < _QUICK_SECONDS and length >= self.bytes:
            self.bytes = min(_STEP * self.bytes, self._most_bytes)

    def lost(self) -> None:
        self.bytes = max(self.bytes // _STEP, _SMALL_BYTES)

    def cut_off(self, length: int) -> None:
        """The connection was closed without an answer, as proxies do when a request is too large."""
        if length > max(self.proven_bytes, _SMALL_BYTES):
            self.refused()
        else:
            self.lost()

    def refused(self) -> None:
        self.bytes = self._most_bytes = max(self.proven_bytes, _SMALL_BYTES)


class Outflow:
    """Sends streams to the server. What it learns about proxies on the way serves all streams."""

    def __init__(self, session: DropSession) -> None:
        self._session = session
        self._size = SegmentSize()
        self._takes_requests = True

    def send(self, request_id: str, records: Records, total_bytes: int | None, passing: Wait) -> None:
        """Send until the server has taken everything. `passing` is what waits for that."""
        if self._takes_requests:
            with closing(StreamConnection(self._session, passing)) as connection:
                offset = 0
                while not records.is_all_taken and self._takes_requests:
                    offset += self._send_segment(connection, request_id, offset, records, total_bytes)
        if not records.is_all_taken:
            self._send_frames(request_id, records, passing)

    def _send_segment(
        self, connection: StreamConnection, request_id: str, offset: int, records: Records, total_bytes: int | None
    ) -> int:
        """Send one request. Returns how many bytes of the stream it has carried."""
        most = self._size.bytes
        piece = records.take(most)
        length = len(piece) if total_bytes is None else min(most, total_bytes - offset)
        is_last = records.is_all_taken if total_bytes is None else offset + length == total_bytes
        is_kept = self._size.proven_bytes < length <= _KEPT_BYTES
        kept: list[bytes] = []
        sent, begun_at = 0, time.monotonic()
        try:
            connection.begin("PUT", f"/requests/{request_id}/bytes/{offset}{'?last=true' if is_last else ''}", length)
            while True:
                if is_kept:
                    kept.append(bytes(piece))
                connection.send(piece)
                sent += len(piece)
                if sent == length:
                    break
                piece = records.take(length - sent)
            connection.finish()
        except RefusedByProxy as error:
            if not is_kept:
                self._size.cut_off(length)
                raise Unreachable(str(error)) from error
            connection.close()
            records.take_back(kept)
            self._takes_requests = length > _SMALL_BYTES
            self._size.refused()
            return 0
        except Refused:
            self._size.lost()
            raise
        except Unreachable:
            self._size.cut_off(length)
            raise
        self._size.passed(length, time.monotonic() - begun_at)
        return sent

    def _send_frames(self, request_id: str, records: Records, passing: Wait) -> None:
        from websockets.exceptions import ConnectionClosed

        with closing(self._session.listen(f"/requests/{request_id}/socket")) as socket:
            try:
                while not records.is_all_taken:
                    piece = records.take(_SMALL_BYTES)
                    with passing.on(socket.socket):
                        socket.send(piece)
                with passing.on(socket.socket):
                    socket.send(b"")
                    _wait_until_closed(socket)
            except ConnectionClosed as error:
                raise self._session.client.unreachable(error) from error


def _wait_until_closed(socket: "ClientConnection") -> None:
    """The server closes the websocket when it has taken everything."""
    from websockets.exceptions import ConnectionClosedOK

    try:
        while True:
            socket.recv()
    except ConnectionClosedOK:
        return


def sealed_length(length: int | None, first: int) -> int | None:
    return None if length is None else sealed_bytes(length, CHUNK, first)
