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
from satchel.cli.drop.sender.folder_walk import open_below, open_real_folder
from satchel.cli.drop.sender.send_content import Changed, FileContent, FileSource, iso_of, read_whole, sent_name

_MYSELF = os.geteuid()


@dataclass(slots=True)
class Missing:
    """What is left out of a folder: on purpose, or because it cannot be read. Paths, with the reason."""

    left_out: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    unreadable: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


class InnerFolder(msgspec.Struct, frozen=True):
    """A folder inside, for its time, and because no file announces an empty one."""

    path: str
    modified_ns: int


Inside: TypeAlias = FileSource | InnerFolder


@dataclass(frozen=True, slots=True)
class FolderSource:
    """A folder and its entries in order, each with its header. `path` has no links in it."""

    path: str
    called: str
    modified_ns: int
    inside: tuple[Inside, ...]
    headers: tuple[bytes, ...]

    @property
    def description(self) -> Description:
        sizes = [each.size for each in self.inside if isinstance(each, FileSource)]
        name = sent_name(self.called) or "folder"
        return Description("folder", name, sum(sizes), len(sizes), iso_of(self.modified_ns), "")

    def begin(self) -> "FolderContent":
        now = folder_at(self.path, Missing(), self.called)
        # The time of a folder changes with every temporary file. What was announced is still what is in it.
        if [*map(_identity, now.inside)] != [*map(_identity, self.inside)]:
            raise Changed
        return FolderContent(self)

    def as_it_is_now(self) -> "FolderSource":
        return folder_at(self.path, Missing(), self.called)


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
        if self._read < len(header) or isinstance(each, InnerFolder):
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


def folder_at(path: str, missing: Missing, called: str = "") -> FolderSource:
    """Raises OSError if it is gone, or if a link leads to it that was not there before."""
    top = open_real_folder(path)
    try:
        inside = tuple(_inside(top, path, missing))
        modified_ns = os.fstat(top).st_mtime_ns
    finally:
        os.close(top)
    below = len(path.rstrip("/")) + 1
    headers = tuple(_header(each, sent_name(each.path[below:])) for each in inside)
    return FolderSource(path, called or Path(path).name, modified_ns, inside, headers)


def _inside(top: int, path: str, missing: Missing) -> Iterator[Inside]:
    # No recursion: folders can be nested deeper than calls can.
    waiting: list[tuple[str, ...]] = [()]
    while waiting:
        names = waiting.pop()
        folder = "/".join((path.rstrip("/"), *names))
        try:
            descriptor = open_below(top, names)
        except OSError as error:
            missing.unreadable.append((folder, error.strerror or str(error)))
            continue
        try:
            if names:
                yield InnerFolder(folder, os.fstat(descriptor).st_mtime_ns)
            with os.scandir(descriptor) as entries:
                listed = sorted(entries, key=attrgetter("name"))
            below: list[tuple[str, ...]] = []
            for entry in listed:
                if entry.is_dir(follow_symlinks=False):
                    below.append((*names, entry.name))
                elif file := _listed(entry, f"{folder}/{entry.name}", missing):
                    yield file
            waiting += reversed(below)
        finally:
            os.close(descriptor)


def _listed(entry: "os.DirEntry[str]", path: str, missing: Missing) -> FileSource | None:
    if not entry.is_file(follow_symlinks=False):
        why = "a symbolic link" if entry.is_symlink() else "neither a file nor a folder"
        missing.left_out.append((path, why))
        return None
    try:
        facts = entry.stat(follow_symlinks=False)
    except OSError as error:
        missing.unreadable.append((path, error.strerror or str(error)))
        return None
    if not _is_readable(path, facts):
        missing.unreadable.append((path, "Permission denied"))
        return None
    return FileSource.of(path, facts)


def _identity(inside: Inside) -> Inside | str:
    return inside if isinstance(inside, FileSource) else inside.path


def _is_readable(path: str, facts: os.stat_result) -> bool:
    # For files of the same user no system call is needed, which saves time with ten thousand.
    return (facts.st_uid == _MYSELF and bool(facts.st_mode & stat.S_IRUSR)) or os.access(path, os.R_OK)


def _header(inside: Inside, path_there: str) -> bytes:
    if isinstance(inside, FileSource):
        executable = True if inside.executable else msgspec.UNSET
        header = Header(path_there, inside.size, iso_of(inside.modified_ns), executable=executable)
    else:
        header = Header(path_there, modified=iso_of(inside.modified_ns), kind="folder")
    encoded = msgspec.json.encode(header)
    return len(encoded).to_bytes(4, "big") + encoded


def _size(inside: Inside) -> int:
    return inside.size if isinstance(inside, FileSource) else 0


def _reading(file: FileSource) -> FileContent:
    try:
        return FileContent(file)
    except OSError as error:
        raise Changed from error


def _copy(header: bytes, inside: Inside, room: memoryview) -> None:
    """Copy the header and the whole file into `room`, which has exactly their size."""
    room[: len(header)] = header
    if isinstance(inside, FileSource):
        try:
            read_whole(inside, room[len(header) :])
        except OSError as error:
            raise Changed from error
