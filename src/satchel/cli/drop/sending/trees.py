"""A folder as one content: what is in it is sent file by file in a lasting order, and no archive is made of it."""

import os
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import TypeAlias

import msgspec

from satchel.cli.drop.receiving.folders import Header
from satchel.cli.drop.sealing.secrets import Description
from satchel.cli.drop.sending.contents import Changed, FileContent, FileSource, iso_of, read_whole
from satchel.cli.shelf.sources import sendable


@dataclass(slots=True)
class Missing:
    """What of a folder is left out by intention, and what cannot be read: paths, and why."""

    left_out: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    unreadable: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


@dataclass(frozen=True, slots=True)
class EmptyFolder:
    """A folder of which nothing would be known if it were not announced itself."""

    path: str


Inside: TypeAlias = FileSource | EmptyFolder


@dataclass(frozen=True, slots=True)
class FolderSource:
    """A folder and, in order, all that is in it, each with the header that announces it."""

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
        # What is next, and how much of it has been read: of its header, then of its file.
        self._at = bisect_right(self._ends, offset)
        self._read = offset - (self._ends[self._at - 1] if self._at else 0)

    def read_into(self, buffer: memoryview) -> int:
        filled, room = 0, len(buffer)
        while filled < room and self._at < len(self._inside):
            filled += self._read_on(buffer[filled:])
            if self._read == self._lengths[self._at]:
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
        elif self._read == len(header) and each.size <= len(buffer):
            read = _read_whole(each, buffer)
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
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            missing.unreadable.append((folder, error.strerror or str(error)))
            continue
        if not listed and folder != path:
            yield EmptyFolder(folder)
        below = [entry.path for entry in listed if entry.is_dir(follow_symlinks=False)]
        waiting += reversed(below)
        for entry in listed:
            if not entry.is_dir(follow_symlinks=False) and (file := _listed(entry, missing)):
                yield file


def _listed(entry: "os.DirEntry[str]", missing: Missing) -> FileSource | None:
    if entry.is_symlink():
        missing.left_out.append((entry.path, "a symbolic link"))
    elif not entry.is_file(follow_symlinks=False):
        missing.left_out.append((entry.path, "neither a file nor a folder"))
    elif not os.access(entry.path, os.R_OK):
        missing.unreadable.append((entry.path, "Permission denied"))
    else:
        try:
            facts = entry.stat(follow_symlinks=False)
        except OSError as error:
            missing.unreadable.append((entry.path, error.strerror or str(error)))
        else:
            return FileSource(entry.path, facts.st_size, facts.st_mtime_ns)
    return None


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
    """Which was no link when it was announced."""
    try:
        return FileContent(file, os.O_NOFOLLOW)
    except OSError as error:
        raise Changed from error


def _read_whole(file: FileSource, buffer: memoryview) -> int:
    """As above, for what is small enough to be opened, read and closed at once."""
    try:
        return read_whole(file, buffer, os.O_NOFOLLOW)
    except OSError as error:
        raise Changed from error
