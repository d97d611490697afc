"""Standard input as a content of unknown length, spooled to disk so that several receivers can read it."""

import os
import threading
from tempfile import TemporaryFile
from typing import BinaryIO

from satchel.cli.drop.crypto.session_keys import CHUNK, Description
from satchel.cli.drop.sender.send_content import Stalled, type_of
from satchel.cli.engine.files.local_files import sendable

_READ_BYTES = 1024**2
# Less than the minute after which a server ends a stream without data.
_STALLED_SECONDS = 45.0


class PipeSource:
    """Standard input in an unnamed file, so that every receiver can read it at their own speed, and resume."""

    def __init__(self, pipe: BinaryIO, name: str) -> None:
        self._name = sendable(name)
        with TemporaryFile() as spool:
            self._spool = os.dup(spool.fileno())  # open for as long as the command runs
        self._growing = threading.Condition()
        self._size = 0
        self._is_whole = False
        self._failure: OSError | None = None
        threading.Thread(target=self._fill, args=(pipe,), daemon=True).start()

    @property
    def description(self) -> Description:
        return Description("file", self._name, self.length, 1, None, type_of(self._name))

    @property
    def length(self) -> int | None:
        with self._growing:
            return self._size if self._is_whole else None

    def begin(self) -> "PipeContent":
        return PipeContent(self)

    def as_it_is_now(self) -> "PipeSource":
        return self

    def read_at(self, offset: int, buffer: memoryview) -> int:
        """Read whole chunks, as many as there are. Waits for one, up to a timeout."""
        with self._growing:
            if not self._growing.wait_for(
                lambda: self._size >= offset + CHUNK or self._is_whole or self._failure, _STALLED_SECONDS
            ):
                raise Stalled
            if self._failure:
                raise self._failure
            here = min(self._size - offset, len(buffer))
            is_rest = self._is_whole and offset + here == self._size
        return os.preadv(self._spool, [buffer[: here if is_rest else here - here % CHUNK]], offset)

    def _fill(self, pipe: BinaryIO) -> None:
        try:
            while piece := os.read(pipe.fileno(), _READ_BYTES):
                self._write(memoryview(piece))
        except OSError as error:
            self._end(error)
        else:
            self._end(None)

    def _write(self, piece: memoryview) -> None:
        while piece:
            written = os.write(self._spool, piece)
            piece = piece[written:]
            with self._growing:
                self._size += written
                self._growing.notify_all()

    def _end(self, failure: OSError | None) -> None:
        with self._growing:
            self._failure = failure
            self._is_whole = failure is None
            self._growing.notify_all()


class PipeContent:
    """The position of one reader in a pipe."""

    def __init__(self, source: PipeSource) -> None:
        self._source = source
        self._at = 0

    @property
    def length(self) -> int | None:
        return self._source.length

    def seek(self, offset: int) -> None:
        self._at = offset

    def read_into(self, buffer: memoryview) -> int:
        read = self._source.read_at(self._at, buffer)
        self._at += read
        return read

    def close(self) -> None:
        pass
