"""A folder as one content: what is in it is sent file by file in a lasting order, and no archive is made of it."""

import os
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

import msgspec

from satchel.cli.drop.contents import Changed, FileContent, FileSource, iso_of
from satchel.cli.drop.folders import Header
from satchel.cli.drop.secrets import Description
from satchel.cli.shelf.sources import sendable


@dataclass(slots=True)
class Missing:
    """What of a folder is left out by intention, and what cannot be read: paths, and why."""

    left_out: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    unreadable: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


@dataclass(frozen=True, slots=True)
class Inside:
    """Something in a folder: the header that announces it, and the file if it is one."""

    header: bytes
    file: FileSource | None

    @property
    def length(self) -> int:
        return len(self.header) + (self.file.size if self.file else 0)


@dataclass(frozen=True, slots=True)
class FolderSource:
    """A folder and, in order, all that is in it."""

    path: str
    inside: tuple[Inside, ...]

    @property
    def description(self) -> Description:
        files = [each.file for each in self.inside if each.file]
        size = sum(file.size for file in files)
        return Description("folder", sendable(Path(self.path).name) or "folder", size, len(files), None, "")

    def begin(self) -> "FolderContent":
        if self.as_it_is_now() != self:
            raise Changed
        return FolderContent(self)

    def as_it_is_now(self) -> "FolderSource":
        Path(self.path).stat()
        return folder_at(self.path, Missing())


class FolderContent:
    """One content made of many files: a header, the bytes of its file, the next header."""

    def __init__(self, source: FolderSource) -> None:
        self._inside = source.inside
        self._ends = [*accumulate(each.length for each in source.inside)]
        self.length = self._ends[-1] if self._ends else 0
        self._file: FileContent | None = None
        self.seek(0)

    def seek(self, offset: int) -> None:
        self._close_file()
        self._at = bisect_right(self._ends, offset)
        self._header = memoryview(b"")
        if self._at < len(self._inside):
            self._enter(offset - (self._ends[self._at - 1] if self._at else 0))

    def read_into(self, buffer: memoryview) -> int:
        filled = 0
        while filled < len(buffer) and self._at < len(self._inside):
            if self._header:
                piece = min(len(self._header), len(buffer) - filled)
                buffer[filled : filled + piece] = self._header[:piece]
                self._header = self._header[piece:]
                filled += piece
            elif self._file and (piece := self._file.read_into(buffer[filled:])):
                filled += piece
            else:
                self._close_file()
                self._at += 1
                if self._at < len(self._inside):
                    self._enter(0)
        return filled

    def close(self) -> None:
        self._close_file()

    def _enter(self, offset: int) -> None:
        """Be so far into the thing that is next."""
        inside = self._inside[self._at]
        self._header = memoryview(inside.header)[offset:]
        if inside.file:
            self._file = _reading(inside.file)
            self._file.seek(max(0, offset - len(inside.header)))

    def _close_file(self) -> None:
        if self._file:
            self._file.close()
            self._file = None


def folder_at(path: str, missing: Missing) -> FolderSource:
    return FolderSource(path, tuple(_inside(path, missing)))


def _inside(path: str, missing: Missing) -> Iterator[Inside]:
    # No recursion: folders can be nested deeper than calls can.
    waiting = [(path, "")]
    while waiting:
        folder, there = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            missing.unreadable.append((folder, error.strerror or str(error)))
            continue
        if not listed and there:
            yield Inside(_framed(Header(there.removesuffix("/"), kind="folder")), None)
        below = [entry for entry in listed if entry.is_dir(follow_symlinks=False)]
        waiting += [(entry.path, f"{there}{sendable(entry.name)}/") for entry in reversed(below)]
        for entry in listed:
            if not entry.is_dir(follow_symlinks=False) and (file := _listed(entry, missing)):
                path_there = there + sendable(entry.name)
                yield Inside(_framed(Header(path_there, file.size, iso_of(file.modified_ns))), file)


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


def _framed(header: Header) -> bytes:
    encoded = msgspec.json.encode(header)
    return len(encoded).to_bytes(4, "big") + encoded


def _reading(file: FileSource) -> FileContent:
    """Which was no link when it was announced."""
    try:
        return FileContent(file, os.O_NOFOLLOW)
    except OSError as error:
        raise Changed from error
