"""Contents that can be sent, which are readable from any offset: a file and a text."""

import errno
import os
import stat
from dataclasses import dataclass
from datetime import UTC, datetime
from mimetypes import guess_type
from pathlib import Path
from typing import Protocol

import msgspec

from satchel.cli.drop.crypto.session_keys import Description
from satchel.cli.drop.sender.folder_walk import stat_real_file

# A pipe that took the place of a file must not be waited for.
_OPEN = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_NO_TYPE = "application/octet-stream"


class Changed(Exception):
    """The content is no longer what was announced."""


class Stalled(Exception):
    """No data has come for longer than a stream may pause. The receiver makes a new request."""


class Content(Protocol):
    """Bytes of one source, for one reader. `length` is None while it is not known."""

    @property
    def length(self) -> int | None: ...

    def seek(self, offset: int) -> None: ...

    def read_into(self, buffer: memoryview) -> int:
        """Read whole chunks, less only at the end. Returns how many bytes, 0 after it. Raises `Changed`, `Stalled`."""
        ...

    def close(self) -> None: ...


class Source(Protocol):
    """Something that can be announced, and read from the beginning for each receiver."""

    @property
    def description(self) -> Description: ...

    def begin(self) -> Content:
        """Raises `Changed`, or OSError if it cannot be read any more."""
        ...

    def as_it_is_now(self) -> "Source":
        """Raises OSError if it is gone."""
        ...


class FileSource(msgspec.Struct, frozen=True):
    """A file, unchanged while its size and time are. It is a struct, because a folder may have thousands.

    `path` has no links in it. `device` and `inode` are those of the file that was listed: whatever its path leads to
    later, no other file is read. `called` is its name, if it was named by a link.
    """

    path: str
    size: int
    modified_ns: int
    device: int
    inode: int
    executable: bool = False
    called: str = ""

    @classmethod
    def of(cls, path: str, facts: os.stat_result, called: str = "") -> "FileSource":
        executable = bool(facts.st_mode & stat.S_IXUSR)
        return cls(path, facts.st_size, facts.st_mtime_ns, facts.st_dev, facts.st_ino, executable, called)

    @property
    def description(self) -> Description:
        name = sent_name(self.called or Path(self.path).name)
        executable = True if self.executable else msgspec.UNSET
        return Description("file", name, self.size, 1, iso_of(self.modified_ns), type_of(name), executable)

    def begin(self) -> "FileContent":
        return FileContent(self)

    def as_it_is_now(self) -> "FileSource":
        facts = stat_real_file(self.path)
        if not stat.S_ISREG(facts.st_mode):
            raise FileNotFoundError(errno.ENOENT, "It is no file any more")
        return FileSource.of(self.path, facts, self.called)


class FileContent:
    """A file that is being read. A mixture of two of its versions is never completed."""

    def __init__(self, source: FileSource) -> None:
        self.length = source.size
        self._source = source
        self._descriptor = os.open(source.path, _OPEN)
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


def read_whole(source: FileSource, room: memoryview) -> None:
    """Read a whole file at once, in half the time of a `FileContent`, which matters for ten thousand."""
    descriptor = os.open(source.path, _OPEN)
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
    found = (facts.st_size, facts.st_mtime_ns, facts.st_ino, facts.st_dev)
    if found != (source.size, source.modified_ns, source.inode, source.device):
        raise Changed


@dataclass(frozen=True, slots=True)
class TextSource:
    """A short text."""

    text: str

    @property
    def description(self) -> Description:
        return Description("text", "text", len(self.text.encode()), 1, None, "text/plain")

    def begin(self) -> "TextContent":
        return TextContent(self.text.encode())

    def as_it_is_now(self) -> "TextSource":
        return self


class TextContent:
    """Bytes in memory."""

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


def sent_name(name: str) -> str:
    """A name as it is. What is not UTF-8 in it becomes `�`, because a sealed text has to be."""
    return os.fsencode(name).decode(errors="replace")


def iso_of(modified_ns: int) -> str:
    """To the nanosecond, as file systems keep it."""
    seconds, rest = divmod(modified_ns, 10**9)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09}Z"


def type_of(name: str) -> str:
    filetype, encoding = guess_type(name, strict=False)
    return _NO_TYPE if encoding or not filetype else filetype
