"""Files that describe themselves, so that one rename changes an object and everything known of it.

    <the object's bytes> <description, as JSON> <its length and checksum, "satchel1">

The bytes stand first, so that a file can be handed to `sendfile` with the object's own offsets. The description stands
in the same file, so that a put costs no second flush, needs no extended attributes, and a lost index can be rebuilt.
"""

import errno
import fcntl
import hashlib
import os
import struct
import threading
import zlib
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO

import msgspec

from satchel.kernel.errors import OutOfSpace, Unavailable
from satchel.stores.disk_room import leave_room
from satchel.stores.ports.objects import DEFAULT_TYPE

# Reading a file begins with this much of its end: more than any description needs, so that one read finds it, and
# enough that a small object comes along with it.
TAIL_BYTES = 16 * 1024

# How much is written at a time. For more, Linux 6.18 takes large folios of memory that was not in use before: 256 MiB
# in writes of 4 MiB took 0.3 s of processor time on a virtual machine, in writes of this size 0.06 s.
WRITE_BYTES = 256 * 1024
# How much is handed to the disk at a time. Measured with 256 MiB: a fifth less time until it is durable.
WRITE_BACK_BYTES = 8 * 1024 * 1024
# Linux alone has this, and Python has no name for it.
_START_WRITING = 2
_FOOTER = struct.Struct(">II8s")
_MAGIC = b"satchel1"
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_RIGHT = {errno.EROFS, errno.EACCES, errno.EPERM}
_KERNEL_CANNOT_COPY = {errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP}


class Damaged(Unavailable):
    """A file is not as it was written; only a backup can help."""

    slug = "object-damaged"


class Shared(msgspec.Struct, frozen=True, kw_only=True):
    """Where the bytes are if they are not here: a name in the folder of shared files (see `folder_shared`)."""

    file: str
    size_bytes: int


class Placed(msgspec.Struct, frozen=True, kw_only=True):
    """Where the bytes of a part are if they are not here: in the body of its upload (see `folder_uploads`)."""

    offset: int
    size_bytes: int


class Description(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is kept with the bytes."""

    key: str
    etag: str
    modified: float
    content_type: str = DEFAULT_TYPE
    metadata: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    shared: Shared | None = None
    placed: Placed | None = None
    # The size of all parts but the last, of an object whose etag is that of its parts: nobody writes such any more.
    part_bytes: int | None = None


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Description).decode


@contextmanager
def disk_errors(root: Path) -> Generator[None]:
    """Say what is wrong with the disk, and what to do, in the contract's words."""
    try:
        yield
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise OutOfSpace("The disk that holds the objects is full. Free some space and try again.") from error
        if error.errno in _NO_RIGHT:
            raise Unavailable(f"Satchel may not write to {root}. Give its user the right to do so.") from error
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise Unavailable(f"The folder {root} cannot be used: {reason}.") from error


def flush_folder(path: Path) -> None:
    """Make names that were added to, changed in or taken from a folder survive a loss of power."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def flush_file(path: Path) -> None:
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def begin_writing_back(file: int, offset: int, count: int) -> None:
    """Start writing to disk while more arrives, so that the final flush has little to do. A hint, not a guarantee."""
    if (sync_file_range := _sync_file_range()) is not None:
        sync_file_range(file, offset, count, _START_WRITING)


@cache
def _sync_file_range() -> Callable[[int, int, int, int], int] | None:
    import ctypes  # only large files need it, so that a start does without

    found = getattr(ctypes.CDLL(None), "sync_file_range", None)
    if found is not None:
        found.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)
    return found


def write_all(target: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(target, view[:WRITE_BYTES]) :]


def copy_range(source: int, target: int, count: int, start: int = 0) -> None:
    """Append `count` bytes of one file to another inside the kernel, which may only share the blocks."""
    offset, end = start, start + count
    while offset < end:
        try:
            moved = os.copy_file_range(source, target, end - offset, offset)
        except OSError as error:
            if error.errno not in _KERNEL_CANNOT_COPY:
                raise
            data = os.pread(source, min(end - offset, 1 << 20), offset)
            write_all(target, data)
            moved = len(data)
        if moved == 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        offset += moved


class Draft:
    """A file in the making: nobody reads it until it is sealed and published under another name.

    It is locked for as long as its maker lives, so that garbage collection can tell an abandoned one. Calls may come
    from different threads. A call that follows a cancelled one waits until that has released the file.
    """

    def __init__(self, path: Path, *, hashed: bool = True) -> None:
        self._path = path
        self._file: int | None = None
        self._turn = threading.Lock()
        self._digest = hashlib.sha256() if hashed else None
        self._begun_bytes = 0
        # Where in the file it begins, if something stands before it.
        self._starts_at = 0
        self.size_bytes = 0

    @property
    def name(self) -> str:
        return self._path.name

    @property
    def sha256(self) -> str:
        """Of what was written. What was not hashed on the way is read again."""
        if self._digest is not None:
            return self._digest.hexdigest()
        with self._path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def write(self, chunks: Sequence[bytes]) -> None:
        with self._turn:
            if self._digest is not None:
                for chunk in chunks:
                    self._digest.update(chunk)
            leave_room(self._open(), sum(map(len, chunks)))
            for chunk in chunks:
                write_all(self._open(), chunk)
                self.size_bytes += len(chunk)
            if self.size_bytes - self._begun_bytes >= WRITE_BACK_BYTES:
                begun = self._starts_at + self._begun_bytes
                begin_writing_back(self._open(), begun, self.size_bytes - self._begun_bytes)
                self._begun_bytes = self.size_bytes

    def append(self, source: BinaryIO, count: int, start: int = 0) -> None:
        with self._turn:
            copy_range(source.fileno(), self._open(), count, start)
            self.size_bytes += count

    def seal(self, description: Description, *, durable: bool = True) -> None:
        """Append the description. From here on the file is complete, and durable if it is to be flushed."""
        with self._turn:
            text = _encode(description)
            file = self._open()
            write_all(file, text + _FOOTER.pack(len(text), zlib.crc32(text), _MAGIC))
            if durable:
                os.fsync(file)

    def publish(self, target: Path) -> None:
        """Give a sealed draft its name; the caller flushes the folder."""
        with self._turn:
            self._path.rename(target)
            self._close()

    def discard(self) -> None:
        """Delete the draft. A published file is not touched."""
        with self._turn:
            if self._file is not None:
                self._close()
                with suppress(OSError):  # what cannot be removed now is collected later
                    self._path.unlink(missing_ok=True)

    def _open(self) -> int:
        while self._file is None:
            file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            fcntl.flock(file, fcntl.LOCK_EX)
            # Garbage collection may have found it just before it was locked.
            if os.fstat(file).st_nlink:
                self._file = file
            else:
                os.close(file)
        return self._file

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


@dataclass(frozen=True, slots=True)
class SealedFile:
    """A whole file opened for reading; `held` is the object itself if it is so small that it came along."""

    file: BinaryIO
    description: Description
    size_bytes: int
    held: bytes | None


def open_sealed(path: Path) -> SealedFile:
    file = path.open("rb")
    try:
        total = os.fstat(file.fileno()).st_size
        tail = os.pread(file.fileno(), TAIL_BYTES, max(0, total - TAIL_BYTES))
        description, beyond = _read_tail(tail, path)
        size_bytes = total - beyond
        return SealedFile(file, description, size_bytes, tail[:size_bytes] if len(tail) == total else None)
    except BaseException:
        file.close()
        raise


def read_description(path: Path) -> tuple[Description, int]:
    """What a file says of itself, and how many bytes the object has."""
    sealed = open_sealed(path)
    sealed.file.close()
    return sealed.description, sealed.size_bytes


def _read_tail(tail: bytes, path: Path) -> tuple[Description, int]:
    if len(tail) >= _FOOTER.size:
        length, checksum, magic = _FOOTER.unpack(tail[-_FOOTER.size :])
        text = tail[-_FOOTER.size - length : -_FOOTER.size]
        if magic == _MAGIC and len(text) == length and zlib.crc32(text) == checksum:
            return _decode(text), length + _FOOTER.size
    raise Damaged(f"The file {path} is damaged. Restore it from a backup.")
