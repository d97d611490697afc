"""Download files: resume partial ones, verify each by its SHA-256, and never overwrite a file."""

import hashlib
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

import msgspec

from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.failures import Refused, Unreachable
from satchel.cli.engine.http.retry import Retry, Stopped
from satchel.cli.engine.terminal.output import CommandFailed
from satchel.kernel.errors import Invalid
from satchel.kernel.file_time import nanoseconds_of

# Half a surrogate pair cannot be written, as UTF-8 or in a name of a file.
_IMPOSSIBLE = re.compile(r"[\x00/\ud800-\udfff]")
# What some file systems ignore at the beginning of a name.
_UNSEEN = "\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u206a\u206b\u206c\u206d\u206e\u206f\ufeff"
_GIT_ON_NTFS = re.compile(r"git~\d+", re.IGNORECASE)
_UNUSABLE = re.compile(r"[\x00-\x1f\x7f-\x9f/\\]")
_MAX_NAME_BYTES = 255
_MAX_EXTENSION = 16
_READ_BYTES = 1024**2


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file of a server, where the API has its bytes, and under which name it shall stand here."""

    content: str
    size_bytes: int
    sha256: str
    target: Path
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    # What it is called at the server, to tell people about another name here.
    called: str = ""
    modified_at: str | None = None
    executable: bool = False

    def is_renamed(self, saved_as: Path) -> bool:
        """Whether the file, or a folder above it, is called otherwise here than at the server."""
        names = tuple(name for name in self.called.split("/") if name)
        return saved_as.parts[len(saved_as.parts) - len(names) :] != names

    @property
    def missing_bytes(self) -> int:
        """How much disk space it needs, if the partial file can be resumed."""
        here = [_size_of(path) for path in (self.target, _part_name(self.target))]
        return self.size_bytes - max(size if size <= self.size_bytes else 0 for size in here)


class _Begun(msgspec.Struct, frozen=True):
    """Of which bytes a `.part` file is the beginning."""

    sha256: str
    etag: str


def own_name(name: str) -> str:
    """The name of one's own file as this system can store it. It stays in its folder, whatever a server may say."""
    cleaned = _IMPOSSIBLE.sub("_", name)
    if cleaned in ("", ".", ".."):
        return "file"
    return _fitting(PurePosixPath(cleaned))


def local_name(name: str) -> str:
    """The same for a name that somebody else chose.

    Nothing of theirs can become a setting or a Git hook: a dot in front, which hides such files, becomes `_`.
    Characters that steer a terminal become `_`, too.
    """
    cleaned = _UNUSABLE.sub("_", name).strip()
    seen = cleaned.lstrip(_UNSEEN)
    if seen.startswith(".") and cleaned not in (".", ".."):
        cleaned = f"_{seen[1:]}"
    elif _GIT_ON_NTFS.fullmatch(seen):
        cleaned = f"_{seen}"
    return own_name(cleaned)


def _fitting(path: PurePosixPath, addition: str = "") -> str:
    """The name with an addition before its extension, cut where it would be too long for this system."""
    stem, extension = (path.stem, path.suffix) if len(path.suffix) <= _MAX_EXTENSION else (path.name, "")
    room = _MAX_NAME_BYTES - len(os.fsencode(addition + extension))
    return os.fsencode(stem)[: max(room, 1)].decode(errors="ignore") + addition + extension


def local_path(path: str) -> Path:
    """The same for a name with the folders above it."""
    return Path(*([local_name(part) for part in path.split("/") if part] or [local_name("")]))


class InFolder(Protocol):
    """A file of a transfer or of a room."""

    @property
    def folder(self) -> str: ...

    @property
    def name(self) -> str: ...


def full_name(file: InFolder) -> str:
    """The name with the folders above it."""
    return f"{file.folder}/{file.name}" if file.folder else file.name


def numbered(target: Path, number: int) -> Path:
    return target.with_name(_fitting(PurePosixPath(target.name), f" ({number})")) if number else target


def _part_name(target: Path) -> Path:
    """Where the bytes of a file stand until all are there. A long name leaves no room for an ending."""
    name = f"{target.name}.part"
    if len(os.fsencode(name)) > _MAX_NAME_BYTES:
        name = f".{hashlib.blake2b(os.fsencode(target.name), digest_size=12).hexdigest()}.part"
    return target.with_name(name)


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Fetches files; many threads use it at once. `memory` is where it is kept what `.part` files belong to."""

    client: Client
    memory: Path
    is_stopped: Callable[[], bool]

    def fetch(self, wanted: Wanted, retry: Retry, moved: Callable[[int], None]) -> Path:
        """Where the file stands, whole and verified; also one that was here before with these very bytes."""
        if (here := _here_already(wanted)) is not None:
            return here
        part, record = self._part_of(wanted)
        for _ in range(2):
            if self._fill(wanted, part, record, retry, moved) == wanted.sha256:
                give_facts(part, wanted)
                placed = _place(part, wanted.target)
                record.unlink(missing_ok=True)
                return placed
            part.unlink()  # what was here before was not what it seemed
        record.unlink(missing_ok=True)
        raise CommandFailed("the download does not match the server's SHA-256")

    def _part_of(self, wanted: Wanted) -> tuple[Path, Path]:
        """The `.part` file to resume or begin, and the record of what it is; other programs' are left alone."""
        number = 0
        while True:
            target = numbered(wanted.target, number)
            part = _part_name(target)
            record = self.memory / hashlib.blake2b(os.fsencode(part.absolute()), digest_size=12).hexdigest()
            if not part.exists() or _begun(record).sha256 == wanted.sha256:
                return part, record
            number += 1

    def _fill(self, wanted: Wanted, part: Path, record: Path, retry: Retry, moved: Callable[[int], None]) -> str:
        """Have all bytes in the `.part` file, and answer their SHA-256."""
        with part.open("ab+") as file:
            digest = hashlib.sha256()
            file.seek(0)
            while chunk := file.read(_READ_BYTES):
                digest.update(chunk)
            while file.tell() < wanted.size_bytes:
                moved(file.tell())
                headers = {"range": f"bytes={file.tell()}-", "if-range": _begun(record).etag} if file.tell() else {}
                try:
                    with self.client.receive_bytes(wanted.content, headers) as response:
                        if response.status != 206:
                            file.truncate(0)
                            digest = hashlib.sha256()
                        _remember(record, _Begun(wanted.sha256, response.headers.get("etag", "")))
                        for chunk in response.chunks(_READ_BYTES):
                            if self.is_stopped():
                                raise Stopped
                            file.write(chunk)
                            digest.update(chunk)
                            retry.progressed()
                            moved(file.tell())
                except (Refused, Unreachable) as error:
                    file.flush()
                    retry.wait_after(error)
            return digest.hexdigest()


def is_begun(wanted: Wanted) -> bool:
    """Whether a part of it may be here."""
    return _part_name(wanted.target).exists()


def give_facts(path: Path, wanted: Wanted) -> None:
    """Give a file the time and the executable bit of the original, as far as this system can."""
    with suppress(OSError):
        if wanted.executable:
            mode = path.stat().st_mode
            path.chmod(mode | (mode & 0o444) >> 2)  # for whoever may read it
    keep_time(path, wanted.modified_at)


def keep_time(path: Path, modified_at: str | None) -> None:
    with suppress(OSError, Invalid, OverflowError):
        if modified_at:
            nanoseconds = nanoseconds_of(modified_at)
            os.utime(path, ns=(nanoseconds, nanoseconds))


@dataclass(slots=True)
class MadeFolders:
    """Folders that are made for what is downloaded. Files that come change their times, so these are set last."""

    _made: list[tuple[Path, str | None]] = field(default_factory=list[tuple[Path, str | None]])

    def make(self, path: Path, modified_at: str | None = None) -> None:
        """A folder that was here before keeps its time."""
        if not path.is_dir():
            path.mkdir(parents=True)
            self._made.append((path, modified_at))

    def keep_times(self) -> None:
        """The innermost first."""
        for path, modified_at in reversed(self._made):
            keep_time(path, modified_at)


def _here_already(wanted: Wanted) -> Path | None:
    """Under its name, or under one with a number if others had taken it."""
    number = 0
    while (target := numbered(wanted.target, number)).exists():
        if _size_of(target) == wanted.size_bytes:
            with target.open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() == wanted.sha256:
                    return target
        number += 1
    return None


def _place(part: Path, target: Path) -> Path:
    """Give the file its name, or the next one with a number that is free: linking never takes a name from another."""
    number = 0
    while True:
        placed = numbered(target, number)
        try:
            os.link(part, placed)
        except FileExistsError:
            number += 1
        except OSError:  # a file system without links; the name is free, or was a moment ago
            if placed.exists():
                number += 1
                continue
            part.rename(placed)
            return placed
        else:
            part.unlink()
            return placed


def _size_of(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _begun(record: Path) -> _Begun:
    with suppress(FileNotFoundError, msgspec.DecodeError):
        return msgspec.json.decode(record.read_bytes(), type=_Begun)
    return _Begun("", "")


def _remember(record: Path, begun: _Begun) -> None:
    record.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    record.write_bytes(msgspec.json.encode(begun))
