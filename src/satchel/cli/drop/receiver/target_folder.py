"""Stores files whose names come from strangers: inside one folder, under clean names, without overwriting anything.

Everything is opened relative to a folder that is held open and without following links, so that nobody who renames or
links something meanwhile can redirect a file.
"""

import os
import re
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Self

from satchel.cli.engine.terminal.output import CommandFailed
from satchel.cli.engine.terminal.sizes import shown_bytes
from satchel.kernel.names import MAX_NAME_BYTES, NAMELESS, FileName, clean_name, numbered

# Free space that is left for everything else on the machine.
MARGIN_BYTES = 64 * 1024**2

_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_KNOWN = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# The umask removes further permissions.
_MODE = 0o666
# Names that need no cleaning. This check takes a fiftieth of a full one, which matters for ten thousand files.
_PLAIN = re.compile(r"(?!con|prn|aux|nul|com|lpt)[a-z0-9_](?:[a-z0-9_ .-]{0,98}[a-z0-9_])?", re.IGNORECASE | re.ASCII)
# Smaller holes save nothing on most disks.
_HOLE_BYTES = 64 * 1024
_FRACTION = re.compile(r"[.,]([0-9]+)")
# Windows and the disks that are made for it refuse this name.
_PROBE = "satchel-probe:?*\x01"


class NotSafe(CommandFailed):
    """Writing there would follow a link."""


class TargetFolder:
    """A folder, held open. Names are such as `clean_name` leaves."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.descriptor = descriptor

    @classmethod
    def at(cls, path: Path) -> Self:
        """The folder that the person named, created if it is missing. It may be a link, because they chose it."""
        try:
            path.mkdir(parents=True, exist_ok=True)
            return cls(path, os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        except OSError as error:
            raise CommandFailed(f"The folder {path} cannot be used: {error.strerror}.") from error

    def close(self) -> None:
        os.close(self.descriptor)

    @cached_property
    def is_narrow(self) -> bool:
        """Whether the file system here refuses names that others can store."""
        try:
            os.close(self.new_file(_PROBE))
        except FileExistsError:
            return False
        except OSError:
            return True
        self.remove(_PROBE)
        return False

    def new_file(self, name: str) -> int:
        """Raises `FileExistsError` if anything has this name, even a dangling link."""
        return os.open(name, _NEW, _MODE, dir_fd=self.descriptor)

    def known_file(self, name: str) -> int:
        """Open a file that we began earlier. Anything else with this name is refused, even a hard link."""
        try:
            descriptor = os.open(name, _KNOWN, dir_fd=self.descriptor)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise NotSafe(f"{self.path / name} was not made by this command.") from error
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_nlink != 1:
            os.close(descriptor)
            raise NotSafe(f"{self.path / name} was not made by this command.")
        return descriptor

    def folder(self, *names: str, make: bool = True) -> "TargetFolder":
        """Open a folder inside this one."""
        descriptor, path = os.dup(self.descriptor), self.path
        try:
            for name in names:
                path /= name
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(name, dir_fd=descriptor)
                below = os.open(name, _FOLDER, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = below
        except OSError as error:
            os.close(descriptor)
            if isinstance(error, FileNotFoundError):
                raise
            raise NotSafe(f"{path} is not a plain folder, so nothing is written there.") from error
        return TargetFolder(path, descriptor)

    def has(self, name: str) -> bool:
        try:
            os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return True

    def remove(self, name: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.descriptor)

    def remove_folder(self, name: str) -> None:
        """Delete it with everything inside. Links are removed, not followed."""
        with suppress(FileNotFoundError):
            shutil.rmtree(name, dir_fd=self.descriptor)

    def settle(self, part: str, name: FileName, *, is_folder: bool) -> FileName:
        """Rename a finished part to its name, or to the first free numbered one."""
        return self._first_free(name, lambda free: self._settle(part, free, is_folder=is_folder))

    def _settle(self, part: str, name: FileName, *, is_folder: bool) -> None:
        # The name is created exclusively first, so that the rename cannot replace anything.
        if is_folder:
            os.mkdir(name, dir_fd=self.descriptor)
        else:
            os.close(self.new_file(name))
        os.rename(part, name, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)

    def _first_free(self, name: FileName, take: Callable[[FileName], None]) -> FileName:
        number, free = 0, name
        while True:
            try:
                take(free)
            except FileExistsError:
                number += 1
                free = numbered(name, number)
            else:
                return free

    def refuse_if_full(self, needed_bytes: int) -> None:
        free = shutil.disk_usage(self.descriptor).free
        if needed_bytes + MARGIN_BYTES > free:
            raise CommandFailed(
                f"Not enough space in {self.path}: {shown_bytes(needed_bytes)} needed, {shown_bytes(free)} free. "
                "Free space, or choose another folder with --into."
            )


def top_name(written: str, *, narrow: bool = False) -> FileName:
    """The name for a file or folder that is received: as it is, if it can be stored and does not begin with a dot.

    Programs obey files whose names begin with a dot, and this one comes from a stranger into any folder.
    """
    return clean_name(written) or NAMELESS if written.startswith(".") else name_inside(written, narrow=narrow)


def name_inside(written: str, *, narrow: bool = False) -> FileName:
    """The same for names inside a folder. They may begin with a dot, because no program looks for settings there."""
    if _PLAIN.fullmatch(written):
        return FileName(written)
    is_storable = written not in ("", ".", "..") and "/" not in written and "\0" not in written
    if is_storable and not narrow and len(written.encode()) <= MAX_NAME_BYTES:
        return FileName(written)
    name = clean_name(written) or NAMELESS
    is_hidden = written.startswith(".") and name != NAMELESS and len(name.encode()) < MAX_NAME_BYTES
    return FileName(f".{name}") if is_hidden else name


def keep_mode(descriptor: int, *, executable: bool) -> None:
    """Let everybody execute it who may read it, if its owner could."""
    if executable:
        mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
        os.fchmod(descriptor, mode | (mode & 0o444) >> 2)


def keep_time(descriptor: int, modified: str | None) -> None:
    """Set the modification time of the original, to the nanosecond. An invalid time is ignored."""
    if not modified:
        return
    try:
        seconds = int(datetime.fromisoformat(modified).replace(microsecond=0).timestamp())
        rest = _FRACTION.search(modified)
        moment_ns = seconds * 10**9 + (int(rest[1][:9].ljust(9, "0")) if rest else 0)
        os.utime(descriptor, ns=(moment_ns, moment_ns))
    except (ValueError, OverflowError, OSError):
        return


def write_sparsely(descriptor: int, data: memoryview) -> int:
    """Write at the current position. A block of zeros becomes a hole, so that a sparse file stays one."""
    if len(data) < _HOLE_BYTES or any(data[:64]) or any(data[-64:]) or bytes(data).strip(b"\0"):
        return os.write(descriptor, data)
    os.ftruncate(descriptor, os.lseek(descriptor, len(data), os.SEEK_CUR))
    return len(data)
