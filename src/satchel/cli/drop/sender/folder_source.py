"""A folder as one content: its files one after another in a fixed order, without an archive."""

import os
import stat
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from operator import attrgetter
from pathlib import Path
from typing import TypeAlias

import msgspec

from satchel.cli.drop.crypto.session_keys import Description
from satchel.cli.drop.receiver.folder_unpack import Header
from satchel.cli.drop.sender.send_content import Changed, FileContent, FileSource, iso_of, read_whole
from satchel.cli.engine.files.local_files import sendable

_MYSELF = os.geteuid()


@dataclass(slots=True)
class Missing:
    """What is left out of a folder: on purpose, or because it cannot be read. Paths, with the reason."""

    left_out: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    unreadable: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


class EmptyFolder(msgspec.Struct, frozen=True):
    """An empty folder, which no file inside announces."""

    path: str


Inside: TypeAlias = FileSource | EmptyFolder


@dataclass(frozen=True, slots=True)
class FolderSource:
    """A folder and its entries in order, each with its header."""

    path: str
    inside: tuple[Inside, ...]
    headers: tuple[bytes, ...]

    @property
    def description(self) -> Description:
        sizes = [each.size for each in self.inside if isinstance(each, FileSource)]
        return Description("folder", sendable(Path(self.path).name) or "folder", sum(sizes), len(sizes), None, "")

    def begin(self) -> "FolderContent":
        if tuple(_inside(self.path, Missing())) != self.inside:
            raise Changed
        return FolderContent(self)

    def as_it_is_now(self) -> "FolderSource":
        Path(self.path).stat()
        return folder_at(self.path, Missing())


class FolderContent:
    """One content made of many files: a header, the bytes of its file, the next header."""

    def __init__(self, source: FolderSource) -> None:
        self._inside = source.inside
        self._headers = source.headers
        self._lengths = [len(header) + _size(each) for header, each in zip(source.headers, source.inside, strict=True)]
        self._ends = [*accumulate(self._lengths)]
        self.length = self._ends[-1] if self._ends else 0
        self._file: FileContent | None = None
        self.seek(0)

    def seek(self, offset: int) -> None:
        self._close_file()
        # The current entry, and how much of its header and then of its file was read.
        self._at = bisect_right(self._ends, offset)
        self._read = offset - (self._ends[self._at - 1] if self._at else 0)

    def read_into(self, buffer: memoryview) -> int:
        filled, room = 0, len(buffer)
        while filled < room and self._at < len(self._inside):
            length = self._lengths[self._at]
            if not self._read and length <= room - filled:
                _copy(self._headers[self._at], self._inside[self._at], buffer[filled : filled + length])
                filled += length
            else:
                filled += self._read_on(buffer[filled:])
                if self._read < length:
                    continue
                self._close_file()
            self._at += 1
            self._read = 0
        return filled

    def close(self) -> None:
        self._close_file()

    def _read_on(self, buffer: memoryview) -> int:
        header, each = self._headers[self._at], self._inside[self._at]
        if self._read < len(header) or isinstance(each, EmptyFolder):
            piece = header[self._read : self._read + len(buffer)]
            read = len(piece)
            buffer[:read] = piece
        else:
            read = self._opened(each, self._read - len(header)).read_into(buffer)
        self._read += read
        return read

    def _opened(self, file: FileSource, offset: int) -> FileContent:
        if self._file is None:
            self._file = _reading(file)
            self._file.seek(offset)
        return self._file

    def _close_file(self) -> None:
        if self._file:
            self._file.close()
            self._file = None


def folder_at(path: str, missing: Missing) -> FolderSource:
    inside = tuple(_inside(path, missing))
    below = len(path.rstrip("/")) + 1
    return FolderSource(path, inside, tuple(_header(each, sendable(each.path[below:])) for each in inside))


def _inside(path: str, missing: Missing) -> Iterator[Inside]:
    # No recursion: folders can be nested deeper than calls can.
    waiting = [path]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=attrgetter("name"))
        except OSError as error:
            missing.unreadable.append((folder, error.strerror or str(error)))
            continue
        if not listed and folder != path:
            yield EmptyFolder(folder)
        below: list[str] = []
        for entry in listed:
            if entry.is_dir(follow_symlinks=False):
                below.append(entry.path)
            elif file := _listed(entry, missing):
                yield file
        waiting += reversed(below)


def _listed(entry: "os.DirEntry[str]", missing: Missing) -> FileSource | None:
    if not entry.is_file(follow_symlinks=False):
        why = "a symbolic link" if entry.is_symlink() else "neither a file nor a folder"
        missing.left_out.append((entry.path, why))
        return None
    try:
        facts = entry.stat(follow_symlinks=False)
    except OSError as error:
        missing.unreadable.append((entry.path, error.strerror or str(error)))
        return None
    if not _is_readable(entry.path, facts):
        missing.unreadable.append((entry.path, "Permission denied"))
        return None
    return FileSource(entry.path, facts.st_size, facts.st_mtime_ns)


def _is_readable(path: str, facts: os.stat_result) -> bool:
    # For files of the same user no system call is needed, which saves time with ten thousand.
    return (facts.st_uid == _MYSELF and bool(facts.st_mode & stat.S_IRUSR)) or os.access(path, os.R_OK)


def _header(inside: Inside, path_there: str) -> bytes:
    if isinstance(inside, FileSource):
        header = Header(path_there, inside.size, iso_of(inside.modified_ns))
    else:
        header = Header(path_there, kind="folder")
    encoded = msgspec.json.encode(header)
    return len(encoded).to_bytes(4, "big") + encoded


def _size(inside: Inside) -> int:
    return inside.size if isinstance(inside, FileSource) else 0


def _reading(file: FileSource) -> FileContent:
    """Open a file. It was no link when it was announced, so no link is followed."""
    try:
        return FileContent(file, os.O_NOFOLLOW)
    except OSError as error:
        raise Changed from error


def _copy(header: bytes, inside: Inside, room: memoryview) -> None:
    """Copy the header and the whole file into `room`, which has exactly their size."""
    room[: len(header)] = header
    if isinstance(inside, FileSource):
        try:
            read_whole(inside, room[len(header) :], os.O_NOFOLLOW)
        except OSError as error:
            raise Changed from error
