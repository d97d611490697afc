"""Writes to standard output: a text for people, or bytes for the next program."""

import os
import sys
from pathlib import Path

from satchel.cli.drop.crypto.sealed_records import Digest
from satchel.cli.drop.crypto.session_keys import Have, Sum
from satchel.cli.engine.terminal.output import CommandFailed, printable

# A text is kept in memory until it is complete and verified. A longer one is written to a file.
MAX_TEXT_BYTES = 4 * 1024**2


class Text:
    """A text, kept in memory until it is complete."""

    def __init__(self, empty: Digest) -> None:
        self._empty = empty
        self.digest = empty.copy()
        self._chunk = 0
        self._written = bytearray()

    @property
    def written(self) -> Sum:
        return Sum(len(self._written), 1)

    @property
    def text(self) -> str:
        return self._written.decode(errors="replace")

    def have(self) -> Have | None:
        return None

    def begin(self, chunk: int, first: int) -> None:  # noqa: ARG002  # always the first
        self.digest = self._empty.copy()
        self._written.clear()

    def write(self, chunk: memoryview) -> None:
        if len(self._written) + len(chunk) > MAX_TEXT_BYTES:
            raise CommandFailed("The text is longer than the sender said.")
        self._written += chunk

    def finish(self) -> Path | None:
        return None

    def close(self) -> None:
        pass


class Output:
    """Bytes, written at once. Every chunk is authenticated by then; only the end may still be missing."""

    def __init__(self, empty: Digest) -> None:
        self.digest = empty.copy()
        self._chunk = 0
        self._is_whole_chunks = True
        self._bytes = 0
        sys.stdout.flush()

    @property
    def written(self) -> Sum:
        return Sum(self._bytes, 1)

    def have(self) -> Have | None:
        if not self.digest.chunks or not self._is_whole_chunks:
            return None
        return Have.of(self._chunk, self.digest.chunks, self.digest.value)

    def begin(self, chunk: int, first: int) -> None:
        if self.digest.chunks and not first:
            raise CommandFailed("The sender has another content by now, and what was written cannot be taken back.")
        self._chunk = chunk

    def write(self, chunk: memoryview) -> None:
        self._is_whole_chunks = len(chunk) == self._chunk
        self._bytes += len(chunk)
        while chunk:
            chunk = chunk[os.write(sys.stdout.fileno(), chunk) :]

    def finish(self) -> Path | None:
        return None

    def close(self) -> None:
        pass


def print_text(text: str) -> None:
    """The text as it is, but without control characters in a terminal, so that a sender cannot control it."""
    if sys.stdout.isatty():
        print("\n".join(printable(line.replace("\t", "    ")) for line in text.splitlines()))
    else:
        print(text, end="")
    sys.stdout.flush()
