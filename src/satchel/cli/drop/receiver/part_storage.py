"""The bytes of a part on a disk: a file, or a folder with everything in it."""

import os
from collections.abc import Iterator
from typing import Protocol

from satchel.cli.drop.crypto.session_keys import Sum
from satchel.cli.drop.receiver.folder_unpack import Unpacking, unpacked
from satchel.cli.drop.receiver.target_folder import NotSafe, TargetFolder, keep_mode, keep_time, write_sparsely

_READ_BYTES = 1024**2
# What the system has not begun to write by the end would hold up the renaming: ext4 begins it there, so that after a
# crash no empty file has the final name.
_BEGUN_BYTES = 16 * 1024**2


class PartStorage(Protocol):
    """The bytes of a part, which is a file or a folder."""

    is_folder: bool

    @property
    def written(self) -> Sum: ...

    @property
    def renamed(self) -> list[tuple[str, str]]:
        """Paths inside that could not stay as they were, with those that they have."""
        ...

    def begin(self) -> None:
        """Create it empty. Anything that was there is deleted."""
        ...

    def read(self, headers: bytes) -> Iterator[bytes]: ...

    def go_on(self, headers: bytes, position: int) -> None:
        """Restore the state after so many bytes of the content."""
        ...

    def write(self, data: memoryview) -> None: ...

    def take_headers(self) -> bytes:
        """The headers since the last call."""
        ...

    def finish(self, modified: str | None) -> None: ...

    def close(self) -> None: ...

    def remove(self) -> None: ...


class FilePart:
    """One file."""

    is_folder = False

    def __init__(self, target: TargetFolder, name: str, *, executable: bool) -> None:
        self._target = target
        self._name = name
        self._executable = executable
        self._file = -1
        self._begun_to = 0
        self.renamed: list[tuple[str, str]] = []

    def begin(self) -> None:
        self.close()
        self._begun_to = 0
        try:
            self._file = self._target.known_file(self._name)
            os.ftruncate(self._file, 0)
        except FileNotFoundError:
            self._file = self._target.new_file(self._name)

    def read(self, headers: bytes) -> Iterator[bytes]:  # noqa: ARG002  # a file has none
        try:
            file = self._target.known_file(self._name)
        except (FileNotFoundError, NotSafe):
            return
        with os.fdopen(file, "rb", buffering=0) as reading:
            while piece := reading.read(_READ_BYTES):
                yield piece

    def go_on(self, headers: bytes, position: int) -> None:  # noqa: ARG002
        self._file = self._target.known_file(self._name)
        os.ftruncate(self._file, position)
        self._begun_to = os.lseek(self._file, position, os.SEEK_SET)

    def write(self, data: memoryview) -> None:
        while data:  # the next write raises, if the disk is full
            data = data[write_sparsely(self._file, data) :]
        position = os.lseek(self._file, 0, os.SEEK_CUR)
        if position - self._begun_to >= _BEGUN_BYTES and hasattr(os, "posix_fadvise"):
            # It stays in memory, because it is not on the disk yet.
            os.posix_fadvise(self._file, self._begun_to, position - self._begun_to, os.POSIX_FADV_DONTNEED)
            self._begun_to = position

    def take_headers(self) -> bytes:
        return b""

    @property
    def written(self) -> Sum:
        return Sum(os.fstat(self._file).st_size, 1)

    def finish(self, modified: str | None) -> None:
        keep_mode(self._file, executable=self._executable)
        keep_time(self._file, modified)
        self.close()

    def remove(self) -> None:
        self._target.remove(self._name)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


class FolderPart:
    """A folder with everything in it."""

    is_folder = True

    def __init__(self, target: TargetFolder, name: str, offered: Sum) -> None:
        self._target = target
        self._name = name
        self._offered = offered
        self._inside: TargetFolder | None = None
        self._unpacking: Unpacking | None = None

    def begin(self) -> None:
        self.close()
        self._target.remove_folder(self._name)
        self._open()

    def read(self, headers: bytes) -> Iterator[bytes]:
        try:
            inside = self._target.folder(self._name, make=False)
        except (FileNotFoundError, NotSafe):
            return
        try:
            yield from unpacked(inside, headers, caseless=self._is_caseless())
        finally:
            inside.close()

    def go_on(self, headers: bytes, position: int) -> None:
        self._open().go_on(headers, position)

    def write(self, data: memoryview) -> None:
        if self._unpacking is not None:
            self._unpacking.write(data)

    def take_headers(self) -> bytes:
        if self._unpacking is None:
            return b""
        headers = bytes(self._unpacking.headers)
        self._unpacking.headers.clear()
        return headers

    @property
    def written(self) -> Sum:
        return self._unpacking.written if self._unpacking else Sum(0, 0)

    @property
    def renamed(self) -> list[tuple[str, str]]:
        return self._unpacking.renamed if self._unpacking else []

    def remove(self) -> None:
        self._target.remove_folder(self._name)

    def finish(self, modified: str | None) -> None:
        if self._unpacking is not None and self._inside is not None:
            self._unpacking.finish()
            keep_time(self._inside.descriptor, modified)
        self.close()

    def close(self) -> None:
        if self._unpacking is not None and self._inside is not None:
            self._unpacking.close()
            self._inside.close()
        self._unpacking = self._inside = None

    def _open(self) -> Unpacking:
        self._inside = self._target.folder(self._name)
        self._unpacking = Unpacking(self._inside, caseless=self._is_caseless(), offered=self._offered)
        return self._unpacking

    def _is_caseless(self) -> bool:
        """Whether this file system ignores case."""
        return self._target.has(self._name.swapcase())
