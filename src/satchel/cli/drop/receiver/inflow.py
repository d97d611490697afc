"""Download one announced file through as many requests as it takes."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path
from socket import SHUT_RDWR
from typing import TYPE_CHECKING, Protocol

from satchel.cli.drop.crypto.sealed_records import BrokenOff, Digest, Opener, ReadInto
from satchel.cli.drop.crypto.session_keys import Asked, Description, Have, Stream, Sum, Tampered, b64, from_b64
from satchel.cli.drop.receiver.not_as_offered import NotAsOffered
from satchel.cli.drop.receiver.write_behind import HELD_CHUNKS, WriteBehind
from satchel.cli.drop.session.drop_session import Announced, DropSession
from satchel.cli.drop.session.session_listener import SessionListener, SessionOver
from satchel.cli.drop.session.stream_connection import RefusedByProxy, StreamConnection, body_of
from satchel.cli.drop.stream_wait import Wait
from satchel.cli.engine.api_types.drop_types import RequestView, SessionView
from satchel.cli.engine.http.failures import Refused, Unreachable
from satchel.cli.engine.http.retry import Backoff, Stopped, is_transient
from satchel.cli.engine.terminal.output import CommandFailed

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

_FIRST_PAUSE_SECONDS = 0.5
# A break that is shorter than this is not reported.
_QUIET_PAUSE_SECONDS = 1.0
_TELL_EVERY_SECONDS = 1.0
# On a slow line, where a chunk takes long: the sender hears at least that something comes.
_TELL_AGAIN_SECONDS = 3.0
_NOTHING_COMES = "Nothing has come for 5 s. The sender's program or the connection may have stopped. Waiting for more."
_NOTHING_WRITTEN = (
    "Nothing could be written for 5 s. The disk, or the program that reads this, may have stopped. Waiting for it."
)
# If no byte comes for so long, a proxy may be buffering the stream.
_FIRST_BYTE_SECONDS = 10.0
# After so many attempts without a byte, the websocket is tried.
_FRUITLESS = 2
_DONE_TRIES = 5
_WAITING = (
    "Waiting for the sender to come back. If they start again with another code, press Ctrl-C and receive with "
    "that code; it resumes from here."
)
_GONE = "The sender can no longer send it."
_ENDS = {"declined": "The sender declined.", "gone": _GONE}
# Refusals that end one stream, after which a new request is made.
_STREAM_IS_OVER = {"request-unknown", "stream-over", "receiver-gone", "other-side-missing"}
_FOR_GOOD = {"drop-limit", "own-file", "too-many-requests-open"}


class NotHandedOver(CommandFailed):
    """The owner declines to send this, or cannot."""


class Changed(CommandFailed):
    """The owner's file has changed, and is announced again."""


class Sink(Protocol):
    """Where a file is written. `digest` is that of the chunks that it has."""

    digest: Digest

    @property
    def written(self) -> Sum:
        """How many bytes of how many files were written."""
        ...

    def have(self) -> Have | None: ...

    def begin(self, chunk: int, first: int) -> None:
        """Prepare for chunk number `first`: 0, or the one after those that it has."""
        ...

    def write(self, chunk: memoryview) -> None: ...

    def finish(self) -> Path | None:
        """Complete the file. Returns its path, if it is on a disk. Raises `NotAsOffered`, and keeps nothing then."""
        ...

    def close(self) -> None: ...


class Watcher(Protocol):
    """Is told about progress."""

    def begun(self, stream: Stream) -> None: ...

    def moved(self, written_bytes: int) -> None: ...

    def say(self, sentence: str) -> None: ...


class Inflow:
    """Downloads for one receiver: by HTTP streams, or by a websocket where a proxy holds those back."""

    def __init__(self, session: DropSession, listener: SessionListener) -> None:
        self._session = session
        self._listener = listener
        self._reading, self._writing = Wait(), Wait()
        self._pipe = StreamConnection(session, self._reading)
        self._fruitless = 0
        self._by_socket = False
        self._came_at = 0.0
        self._interrupt: Callable[[], None] = self._pipe.interrupt

    def close(self) -> None:
        self._pipe.close()

    def interrupt(self) -> None:
        """Called from another thread: ends a read that waits for bytes."""
        self._interrupt()

    def take(self, file: Announced, sink: Sink, watcher: Watcher) -> Path | None:
        """Download a file, and resume as often as needed. Raises `Changed` or `NotHandedOver` if it cannot be had.

        Raises `Stopped` when nothing more is wanted.
        """
        backoff = Backoff(_FIRST_PAUSE_SECONDS)
        while True:
            had = sink.digest.chunks
            try:
                return self._try(file, sink, watcher)
            except (BrokenOff, RefusedByProxy, Refused, Unreachable) as error:
                self._pipe.close()
                if self._listener.stop.is_set():
                    raise Stopped from error
                self._raise_if_final(error)
                if isinstance(error, RefusedByProxy):
                    self._by_socket = True
            if sink.digest.chunks > had:
                backoff.reset()
                watcher.say("The connection was lost. Resuming.")
            elif backoff.seconds > _QUIET_PAUSE_SECONDS:
                watcher.say("No data arrives. Trying again until some does.")
            if self._listener.stop.wait(backoff.next_seconds()):
                raise Stopped

    def _raise_if_final(self, error: CommandFailed) -> None:
        """Raise errors that a retry cannot fix."""
        if not isinstance(error, Refused) or error.slug in _STREAM_IS_OVER:
            return
        if error.slug == "session-unknown":
            raise SessionOver from error
        if error.slug == "file-unknown":
            raise NotHandedOver(_GONE) from error
        if error.slug in _FOR_GOOD or not is_transient(error):
            raise error

    def _is_here(self, member_id: str) -> bool:
        member = self._session.state.members.get(member_id)
        return member is not None and member.here

    def _try(self, file: Announced, sink: Sink, watcher: Watcher) -> Path | None:
        have = sink.have()
        asked = self._session.keys.ask(file.file_id, self._session.member_id, file.owner_id, have)
        stream = self._ask(file, asked, watcher)
        self._refuse_if_other(file.description, asked.request_id, stream)
        if have and not stream.first:
            watcher.say("The partial file does not match what the sender has. Starting again.")
        sink.begin(stream.chunk, stream.first)
        watcher.begun(stream)
        with self._listener.ticking(lambda: self._tell_silence(watcher)):
            try:
                self._flow(asked.request_id, stream, sink, watcher)
            except Tampered:
                # Only the receiver can say so, and only the owner can read it.
                self._post(f"/requests/{asked.request_id}/done", {"receipt": b64(stream.refusal)})
                raise
            # The digest has been compared with the owner's, so the file is complete even if the receipt is lost.
            receipt = stream.receipt(sink.digest.value)
            with self._writing:
                path = sink.finish()
        self._confirm(asked.request_id, receipt)
        return path

    def _tell_silence(self, watcher: Watcher) -> None:
        if self._writing.is_silent:  # nothing is read then, either
            watcher.say(_NOTHING_WRITTEN)
        elif self._reading.is_silent:
            watcher.say(_NOTHING_COMES)

    def _ask(self, file: Announced, asked: Asked, watcher: Watcher) -> Stream:
        body = {
            "request_id": asked.request_id,
            "file_id": file.file_id,
            "public_key": b64(asked.public_key),
            "sealed": b64(asked.sealed),
        }
        readings = self._listener.readings
        self._session.call("POST", "/requests", RequestView, body)
        while (answer := self._listener.wait_for(lambda: self._answer(asked.request_id, readings), 3.0)) is None:
            watcher.say("Waiting for the sender to answer." if self._is_here(file.owner_id) else _WAITING)
        if isinstance(answer, str):
            if answer == "changed":
                raise Changed("The file has changed since it was announced.")
            if answer in _ENDS:
                raise NotHandedOver(_ENDS[answer])
            raise BrokenOff("The request was lost.")
        yes = answer.acknowledged
        if yes is None:
            raise BrokenOff("The request was lost.")
        return asked.accept(from_b64(yes.public_key) or b"", from_b64(yes.sealed) or b"")

    def _refuse_if_other(self, offered: Description, request_id: str, stream: Stream) -> None:
        """Compare what was announced with what the owner is about to send, before the first byte of it."""
        sent = stream.sum or offered.sum
        # The length of a folder includes its headers, which nobody has announced.
        if offered.size is not None and offered.kind != "folder" and stream.length != offered.size:
            sent = Sum(stream.length, sent.files)
        if sent != offered.sum:
            self._withdraw(request_id)
            raise NotAsOffered(offered.sum, sent)

    def _withdraw(self, request_id: str) -> None:
        with suppress(Refused, Unreachable):
            self._session.call("DELETE", f"/requests/{request_id}", type(None))

    def _answer(self, request_id: str, readings: int) -> RequestView | str | None:
        """The request with its acknowledgement, or the reason why it ended."""
        if (ending := self._listener.endings.pop(request_id, None)) is not None:
            return ending
        request = self._session.state.requests.get(request_id)
        if request is not None and request.acknowledged:
            return request
        return "lost" if request is None and self._listener.readings > readings else None

    def _flow(self, request_id: str, stream: Stream, sink: Sink, watcher: Watcher) -> None:
        written = stream.first * stream.chunk
        if self._fruitless == _FRUITLESS:
            self._by_socket, self._fruitless = not self._by_socket, 0
        self._fruitless += 1
        way = self._from_socket if self._by_socket else self._from_pipe
        opener = Opener(stream, sink.digest.copy())

        def come_in(room: memoryview) -> int:
            with self._reading:
                read = read_into(room)
            self._came_at = time.monotonic()
            return read

        with self._telling(request_id, stream, sink) as something_came, way(request_id) as read_into:
            something_came()
            with WriteBehind(sink, self._writing) as behind:
                # One more than are held, because one is being decrypted.
                for chunk in opener.records(come_in, held=HELD_CHUNKS + 1):
                    self._fruitless = 0
                    behind.put(chunk, opener.digest.copy())
                    written += len(chunk)
                    watcher.moved(written)
        self._fruitless = 0

    @contextmanager
    def _from_pipe(self, request_id: str) -> Generator[ReadInto]:
        self._interrupt = self._pipe.interrupt
        self._pipe.begin("GET", f"/requests/{request_id}/bytes")
        read_some = body_of(self._pipe.response())

        def read_into(room: memoryview) -> int:
            try:
                return read_some(room)
            except (OSError, HTTPException):  # the last record is then missing, which the reader notices
                return 0

        yield read_into

    @contextmanager
    def _from_socket(self, request_id: str) -> Generator[ReadInto]:
        with self._reading:
            connection = self._session.listen(f"/requests/{request_id}/socket")
        self._interrupt = lambda: connection.socket.shutdown(SHUT_RDWR)
        try:
            yield _frames(connection)
        finally:
            connection.close()

    @contextmanager
    def _telling(self, request_id: str, stream: Stream, sink: Sink) -> Generator[Callable[[], None]]:
        """Report our progress to the others, from the listening thread, and check that bytes arrive at all."""
        told_at = begun_at = self._came_at = time.monotonic()
        told_chunks = sink.digest.chunks
        has_come = False

        def something_came() -> None:
            nonlocal has_come
            has_come = True

        def tick() -> None:
            nonlocal told_at, told_chunks
            now = time.monotonic()
            is_late = not has_come and now - begun_at > _FIRST_BYTE_SECONDS and not self._by_socket
            # A sender that reads from a pipe may have nothing to send yet.
            if is_late and (stream.length is not None or self._is_flowing(request_id)):
                self._by_socket = True
                self._pipe.interrupt()
            if self._listener.stop.is_set() or request_id in self._listener.endings:
                self._interrupt()
            chunks = sink.digest.chunks
            is_news = chunks != told_chunks or (self._came_at > told_at and now - told_at >= _TELL_AGAIN_SECONDS)
            if has_come and is_news and now - told_at >= _TELL_EVERY_SECONDS:
                told_at, told_chunks = now, chunks
                self._post(f"/requests/{request_id}/progress", {"chunks": chunks})

        with self._listener.ticking(tick):
            yield something_came

    def _is_flowing(self, request_id: str) -> bool:
        try:
            requests = self._session.call("GET", "", SessionView).requests
        except (Refused, Unreachable):
            return False
        return any(each.request_id == request_id and each.is_flowing for each in requests)

    def _confirm(self, request_id: str, receipt: bytes) -> None:
        for _ in range(_DONE_TRIES):
            if self._post(f"/requests/{request_id}/done", {"receipt": b64(receipt)}):
                return
            time.sleep(_FIRST_PAUSE_SECONDS)

    def _post(self, path: str, body: dict[str, object]) -> bool:
        """Whether the server has accepted it, or refused it for good. Otherwise a retry may help."""
        try:
            self._session.call("POST", path, type(None), body)
        except Unreachable:
            return False
        except Refused as refusal:
            return not is_transient(refusal)
        return True


def _frames(connection: "ClientConnection") -> ReadInto:
    """Reads websocket frames as one stream. An empty frame is the end."""
    from websockets.exceptions import ConnectionClosed

    left = memoryview(b"")

    def read_into(room: memoryview) -> int:
        nonlocal left
        if not left:
            try:
                frame = connection.recv()
            except ConnectionClosed:
                return 0
            left = memoryview(frame.encode() if isinstance(frame, str) else frame)
        size = min(len(room), len(left))
        room[:size] = left[:size]
        left = left[size:]
        return size

    return read_into
