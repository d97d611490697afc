"""What can be sent is a content that can be read from any offset; here a file and a text."""

import os
from dataclasses import dataclass
from mimetypes import guess_type
from pathlib import Path
from typing import Protocol

import msgspec

from satchel.cli.drop.crypto.session_keys import Description
from satchel.cli.engine.files.local_files import sendable
from satchel.kernel.clock import iso

_OPEN = os.O_RDONLY | os.O_CLOEXEC
_NO_TYPE = "application/octet-stream"


class Changed(Exception):
    """It is no longer what was announced."""


class Stalled(Exception):
    """Nothing more has come for longer than a stream may stand still; the receiver asks again."""


class Content(Protocol):
    """Bytes of one source, for one reader. `length` is None while it is not known."""

    @property
    def length(self) -> int | None: ...

    def seek(self, offset: int) -> None: ...

    def read_into(self, buffer: memoryview) -> int:
        """How many bytes were read: whole chunks until the end comes, 0 behind it; raises `Changed` or `Stalled`."""
        ...

    def close(self) -> None: ...


class Source(Protocol):
    """Something that can be announced, and begun anew for everybody who takes it."""

    @property
    def description(self) -> Description: ...

    def begin(self) -> Content:
        """Raises `Changed`, or OSError if it cannot be read any more."""
        ...

    def as_it_is_now(self) -> "Source":
        """Raises OSError if it is gone."""
        ...


class FileSource(msgspec.Struct, frozen=True):
    """A file, which stays the same while its size and its time do. A struct, since a folder may have thousands."""

    path: str
    size: int
    modified_ns: int

    @property
    def description(self) -> Description:
        name = sendable(Path(self.path).name)
        return Description("file", name, self.size, 1, iso_of(self.modified_ns), type_of(name))

    def begin(self) -> "FileContent":
        return FileContent(self)

    def as_it_is_now(self) -> "FileSource":
        facts = Path(self.path).stat()
        return FileSource(self.path, facts.st_size, facts.st_mtime_ns)


class FileContent:
    """A file that is read; a mixture of two versions of it never becomes whole."""

    def __init__(self, source: FileSource, flags: int = 0) -> None:
        self.length = source.size
        self._source = source
        self._descriptor = os.open(source.path, _OPEN | flags)
        self._left = source.size
        try:
            self._refuse_if_changed()
        except Changed:
            self.close()
            raise

    def seek(self, offset: int) -> None:
        os.lseek(self._descriptor, offset, os.SEEK_SET)
        self._left = self.length - offset

    def read_into(self, buffer: memoryview) -> int:
        wanted = min(len(buffer), self._left)
        _fill(self._descriptor, buffer[:wanted])
        self._left -= wanted
        if not self._left:
            self._refuse_if_changed()
        return wanted

    def close(self) -> None:
        os.close(self._descriptor)

    def _refuse_if_changed(self) -> None:
        _refuse_if_changed(self._source, self._descriptor)


def read_whole(source: FileSource, room: memoryview, flags: int = 0) -> None:
    """A file into as much room as it needs: half of what a `FileContent` takes, which counts for ten thousand."""
    descriptor = os.open(source.path, _OPEN | flags)
    try:
        _fill(descriptor, room)
        _refuse_if_changed(source, descriptor)
    finally:
        os.close(descriptor)


def _fill(descriptor: int, buffer: memoryview) -> None:
    filled = 0
    while filled < len(buffer):
        read = os.readv(descriptor, [buffer[filled:]])
        if not read:
            raise Changed
        filled += read


def _refuse_if_changed(source: FileSource, descriptor: int) -> None:
    facts = os.fstat(descriptor)
    if (facts.st_size, facts.st_mtime_ns) != (source.size, source.modified_ns):
        raise Changed


@dataclass(frozen=True, slots=True)
class TextSource:
    """A few words."""

    text: str

    @property
    def description(self) -> Description:
        return Description("text", "text", len(self.text.encode()), 1, None, "text/plain")

    def begin(self) -> "TextContent":
        return TextContent(self.text.encode())

    def as_it_is_now(self) -> "TextSource":
        return self


class TextContent:
    """Bytes that are here already."""

    def __init__(self, content: bytes) -> None:
        self.length = len(content)
        self._content = memoryview(content)
        self._at = 0

    def seek(self, offset: int) -> None:
        self._at = offset

    def read_into(self, buffer: memoryview) -> int:
        piece = self._content[self._at : self._at + len(buffer)]
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def close(self) -> None:
        pass


def iso_of(modified_ns: int) -> str:
    return iso(modified_ns / 1e9)


def type_of(name: str) -> str:
    filetype, encoding = guess_type(name, strict=False)
    return _NO_TYPE if encoding or not filetype else filetype
