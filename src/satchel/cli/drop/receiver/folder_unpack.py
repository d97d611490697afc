"""Unpacks a folder while it arrives: one content of headers and bytes becomes files, without an archive in between.

Headers are untrusted until they are cleaned. A name depends only on the headers before it. So the stored headers of a
partial folder are enough to find its files again and resume.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from struct import Struct
from typing import Annotated, Literal

import msgspec

from satchel.cli.drop.crypto.session_keys import Sum
from satchel.cli.drop.receiver.not_as_offered import NotAsOffered
from satchel.cli.drop.receiver.target_folder import TargetFolder, keep_mode, keep_time, name_inside, write_sparsely
from satchel.cli.engine.terminal.output import CommandFailed
from satchel.kernel.names import FileName, numbered, sameness

_LENGTH = Struct(">I")
_LENGTH_BYTES = _LENGTH.size
MAX_HEADER_BYTES = 64 * 1024
# Deeper than any real folder. More would be an attack.
_MAX_DEPTH = 100
_READ_BYTES = 1024**2


class BadFolder(CommandFailed):
    """The content arrived undamaged, but it is not a folder."""

    def __init__(self) -> None:
        super().__init__("The folder from the sender's program has an unknown format. Update both programs.")


class Header(msgspec.Struct, frozen=True):
    """The description of one entry, before its bytes."""

    path: str
    size: Annotated[int, msgspec.Meta(ge=0, le=2**62)] = 0
    modified: str | None = None
    kind: Literal["file", "folder"] = "file"
    executable: bool | msgspec.UnsetType = msgspec.UNSET

    @property
    def content_bytes(self) -> int:
        return self.size if self.kind == "file" else 0


_headers = msgspec.json.Decoder(Header)


@dataclass(slots=True)
class _Level:
    """A folder inside, and the names that are taken in it, each with the last number that was tried behind it."""

    names: tuple[FileName, ...]
    taken: dict[str, int] = field(default_factory=dict[str, int])
    below: "dict[str, _Level]" = field(default_factory=dict[str, "_Level"])


class Places:
    """Chooses the names of all entries. The first entry with a name gets it, the next one gets it with a number.

    `renamed` has every path that could not stay as it was, with the one that it has.
    """

    def __init__(self, *, caseless: bool, narrow: bool = False) -> None:
        self._key: Callable[[FileName], str] = sameness if caseless else str
        self._narrow = narrow
        self.renamed: list[tuple[str, str]] = []
        self._top = _Level(())
        self._levels: dict[str, _Level] = {"": self._top}

    def folder(self, written: str) -> tuple[FileName, ...]:
        return self._level(written).names

    def file(self, written: str) -> tuple[tuple[FileName, ...], FileName]:
        """The folders above it, and its name."""
        above, _, last = written.rpartition("/")
        level = self._level(above)
        name = self._free(level, name_inside(last, narrow=self._narrow))
        if name != last:
            self.renamed.append((written, "/".join((*level.names, name))))
        return level.names, name

    def _level(self, written: str) -> _Level:
        known = self._levels.get(written)
        return known or self._levels.setdefault(written, self._walk(written))

    def _walk(self, written: str) -> _Level:
        level = self._top
        parts = [part for part in written.split("/") if part not in ("", ".", "..")]
        if len(parts) > _MAX_DEPTH:
            raise BadFolder
        for part in parts:
            if part not in level.below:
                name = self._free(level, name_inside(part, narrow=self._narrow))
                if name != part:
                    self.renamed.append(("/".join((*level.names, part)), "/".join((*level.names, name))))
                level.below[part] = _Level((*level.names, name))
            level = level.below[part]
        return level

    def _free(self, level: _Level, name: FileName) -> FileName:
        key = self._key(name)
        number = level.taken.get(key)
        if number is None:
            level.taken[key] = 0
            return name
        # From where the search ended before: otherwise thousands of equal names would take thousands of tries each.
        free, number = next(
            (free, n) for n in count(number + 1) if self._key(free := numbered(name, n)) not in level.taken
        )
        level.taken[key] = number
        level.taken[self._key(free)] = 0
        return free


class Unpacking:
    """Writes what arrives, in pieces of any size, below one folder."""

    def __init__(self, target: TargetFolder, *, caseless: bool, offered: Sum | None = None) -> None:
        self._target = target
        self._offered = offered
        self._places = Places(caseless=caseless, narrow=target.is_narrow)
        self._folder_times: list[tuple[tuple[FileName, ...], str]] = []
        self._pending = bytearray()
        self._file: int | None = None
        self._header = Header("")
        self._left = 0
        self._here: tuple[tuple[FileName, ...], TargetFolder] = ((), target)
        # The headers since the last journal entry.
        self.headers = bytearray()
        self._begun = Sum(0, 0)

    @property
    def written(self) -> Sum:
        """What is in the files that are complete."""
        return self._begun if self._file is None else Sum((self._begun.size or 0) - self._left, self._begun.files - 1)

    @property
    def renamed(self) -> list[tuple[str, str]]:
        return self._places.renamed

    def write(self, data: memoryview) -> None:
        at = 0
        while at < len(data):
            if self._file is not None:
                at += self._write_on(data[at : at + self._left])
            else:
                at += self._take_header(data[at:])

    def finish(self) -> None:
        """Raises `BadFolder` if something is missing, `NotAsOffered` if it is less than was announced."""
        if self._file is not None or self._pending:
            raise BadFolder
        if self._offered is not None and self._offered.size is not None and self._begun != self._offered:
            raise NotAsOffered(self._offered, self._begun)
        self._keep_folder_times()

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
        if self._here[1] is not self._target:
            self._here[1].close()
            self._here = ((), self._target)

    def go_on(self, headers: bytes, position: int) -> None:
        """Restore the state after the first `position` bytes of the content, whose headers these are."""
        at = 0
        for frame, header in frames(headers):
            if len(frame) > position:
                break
            at += len(frame)
            position -= len(frame)
            folders, name = self._place(header)
            self._count(header)
            if header.kind == "file" and header.size > position:
                file = self._folder(folders).known_file(name)
                os.ftruncate(file, position)
                os.lseek(file, position, os.SEEK_SET)
                self._file, self._header, self._left = file, header, header.size - position
                return
            position -= header.content_bytes
        self._pending += headers[at : at + position]

    def _take_header(self, data: memoryview) -> int:
        """Read a header. Returns how many bytes belonged to it, and to a whole file after it."""
        if self._pending:
            return self._take_split_header(data)
        end = _frame_end(data)
        if end is None or end > len(data):
            self._pending += data
            self.headers += data
            return len(data)
        self.headers += data[:end]
        return end + self._begin(_decoded(data[_LENGTH_BYTES:end]), data[end:])

    def _take_split_header(self, data: memoryview) -> int:
        before = len(self._pending)
        wanted = _frame_end(self._pending) or _LENGTH_BYTES
        self._pending += data[: wanted - before]
        self.headers += data[: wanted - before]
        taken = len(self._pending) - before
        if len(self._pending) == _frame_end(self._pending):
            header = _decoded(self._pending[_LENGTH_BYTES:])
            self._pending.clear()
            taken += self._begin(header, data[taken:])
        return taken

    def _begin(self, header: Header, data: memoryview) -> int:
        """Create the entry of the header. Returns how many of the following bytes were written."""
        self._count(header)
        folders, name = self._place(header)
        folder = self._folder(folders)
        if header.kind == "folder":
            return 0
        file = self._new_file(folder, name)
        self._file, self._header, self._left = file, header, header.size
        return self._write_on(data[: header.size])

    def _write_on(self, data: memoryview) -> int:
        if self._file is None:
            return 0
        written = write_sparsely(self._file, data) if data else 0
        self._left -= written
        if self._left == 0:
            keep_mode(self._file, executable=self._header.executable is True)
            keep_time(self._file, self._header.modified)
            os.close(self._file)
            self._file = None
        return written

    def _keep_folder_times(self) -> None:
        """Last, because every file that is made in a folder changes its time."""
        for names, modified in self._folder_times:
            folder = self._target.folder(*names, make=False)
            keep_time(folder.descriptor, modified)
            folder.close()

    def _count(self, header: Header) -> None:
        """Raises `NotAsOffered` before anything is written that is more than was announced."""
        begun, offered = self._begun, self._offered
        self._begun = Sum((begun.size or 0) + header.content_bytes, begun.files + (header.kind == "file"))
        if offered is None or offered.size is None:
            return
        if self._begun.files > offered.files or (self._begun.size or 0) > offered.size:
            raise NotAsOffered(offered, self._begun)

    def _place(self, header: Header) -> tuple[tuple[FileName, ...], FileName]:
        if header.kind == "folder":
            names = self._places.folder(header.path)
            if header.modified and names:
                self._folder_times.append((names, header.modified))
            return names, FileName("")
        return self._places.file(header.path)

    def _folder(self, names: tuple[FileName, ...]) -> TargetFolder:
        """Open the folder of an entry. Files of one folder come together, so only the last folder stays open."""
        if self._here[0] != names:
            folder = self._target.folder(*names)
            if self._here[1] is not self._target:
                self._here[1].close()
            self._here = (names, folder)
        return self._here[1]

    def _new_file(self, folder: TargetFolder, name: FileName) -> int:
        try:
            return folder.new_file(name)
        except FileExistsError:
            # The folder is ours and names are unique, so this file is newer than the last journal entry.
            folder.remove(name)
            return folder.new_file(name)


def frames(headers: bytes) -> Iterator[tuple[bytes, Header]]:
    """Every whole header, with and without its length."""
    at = 0
    view = memoryview(headers)
    while (end := _frame_end(view[at:])) is not None and at + end <= len(headers):
        yield headers[at : at + end], _decoded(view[at + _LENGTH_BYTES : at + end])
        at += end


def unpacked(target: TargetFolder, headers: bytes, *, caseless: bool) -> Iterator[bytes]:
    """Reproduce the content from the headers and the files on disk, as far as they exist."""
    places = Places(caseless=caseless, narrow=target.is_narrow)
    rest = len(headers)
    for frame, header in frames(headers):
        rest -= len(frame)
        yield frame
        if header.kind == "folder":
            places.folder(header.path)
            continue
        folders, name = places.file(header.path)
        left = header.size
        for piece in _read(target, folders, name, left):
            left -= len(piece)
            yield piece
        if left:
            return
    yield headers[len(headers) - rest :]


def _read(target: TargetFolder, folders: tuple[FileName, ...], name: FileName, size: int) -> Iterator[bytes]:
    try:
        folder = target.folder(*folders, make=False)
    except FileNotFoundError:
        return
    try:
        file = folder.known_file(name)
    except FileNotFoundError:
        return
    finally:
        folder.close()
    try:
        while size and (piece := os.read(file, min(size, _READ_BYTES))):
            size -= len(piece)
            yield piece
    finally:
        os.close(file)


def _frame_end(data: memoryview | bytearray) -> int | None:
    if len(data) < _LENGTH_BYTES:
        return None
    (length,) = _LENGTH.unpack_from(data)
    if length > MAX_HEADER_BYTES:
        raise BadFolder
    return _LENGTH_BYTES + length


def _decoded(header: memoryview | bytearray) -> Header:
    try:
        return _headers.decode(header)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise BadFolder from error
