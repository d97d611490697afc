"""A folder of backups: every file once, by the SHA-256 of what it holds, and a list of files for each backup.

    files/3f/3f9a…                 a file, named by its digest, so that a backup adds only what is new
    backups/2026-11-18T10-30-00Z   a backup: one line of JSON for each of its files, and a last one that sums them up
    drafts/                        files in the making

A backup exists once its list has its name, and every file of it was flushed before that.
"""

import fcntl
import hashlib
import os
import re
import sqlite3
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

import msgspec

from satchel.kernel.errors import Conflict, Invalid, NotFound, Unavailable
from satchel.stores.embedded.folder_files import disk_errors, flush_folder, write_all

_FORMAT = 1
_LAST_LINE_BYTES = 4096
_NAME = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ(\.\d{4})?")
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file of a backup. Of two entries with one path, the later one counts.

    `inode` and `changed` are those of the file that was copied: while they stay, so does the file.
    """

    path: str
    size_bytes: int
    sha256: str
    inode: int = 0
    changed: int = 0
    damage: str | None = None


class _Summary(msgspec.Struct, frozen=True, kw_only=True):
    format: int
    made_at: str
    files: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that is complete."""

    name: str
    made_at: str
    files: int
    size_bytes: int


_encode = msgspec.json.Encoder().encode
_read_entry = msgspec.json.Decoder(Entry).decode
_read_summary = msgspec.json.Decoder(_Summary).decode


class Repository:
    """The backups in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._files = root / "files"
        self._backups = root / "backups"
        self._drafts = root / "drafts"
        # What was added since this was made.
        self.new_files = 0
        self.new_bytes = 0

    @contextmanager
    def writing(self) -> Generator[None]:
        """Make the folder if it is missing, and keep others from changing it meanwhile."""
        with disk_errors(self.root):
            for folder in (self.root, self._files, self._backups, self._drafts):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for left in self._drafts.iterdir():
                    left.unlink()
                yield
            except BlockingIOError as error:
                raise Conflict(f"Another backup into {self.root} is running. Try again when it is done.") from error
            finally:
                os.close(lock)

    def names(self) -> list[str]:
        """Of all backups, oldest first."""
        if not self._backups.is_dir():
            raise NotFound(f"There are no backups in {self.root}. Make one with `satchel data backup`.")
        return sorted(path.name for path in self._backups.iterdir() if _NAME.fullmatch(path.name))

    def read(self, name: str) -> Backup:
        """May raise `Invalid` if its list is damaged."""
        if name not in self.names():
            raise NotFound(f"There is no backup {name} in {self.root}. See `satchel data backups`.")
        return _summed_up(self._backups / name)

    def complete(self) -> list[Backup]:
        """Those whose lists are good, oldest first."""
        found: list[Backup] = []
        for name in self.names():
            with suppress(Invalid):
                found.append(self.read(name))
        return found

    def find(self, name: str | None) -> Backup:
        """The one of this name, or the newest."""
        if name is not None:
            return self.read(name)
        if not (found := self.complete()):
            raise NotFound(f"There is no backup in {self.root}. Make one with `satchel data backup`.")
        return found[-1]

    def entries(self, backup: Backup) -> Iterator[Entry]:
        """The files of a backup, in the order in which they were copied."""
        with (self._backups / backup.name).open("rb") as lines:
            held: bytes | None = None
            for line in lines:
                if held is not None:
                    try:
                        yield _read_entry(held)
                    except msgspec.DecodeError as error:
                        raise _damaged_list(self._backups / backup.name) from error
                held = line

    def path(self, sha256: str) -> Path:
        return self._files / sha256[:2] / sha256

    def add(self, copy: Callable[[Callable[[bytes], object]], str]) -> str:
        """Store what `copy` passes on, under the digest that it returns."""
        with self._draft() as (draft, file):
            sha256 = copy(lambda data: write_all(file, data))
            self._keep(draft, file, sha256)
            return sha256

    def add_database(self, name: str, path: Path) -> Entry:
        """Copy an SQLite file as it is at one moment, while others write into it."""
        with self._draft() as (draft, file):
            try:
                source, target = sqlite3.connect(path, timeout=30), sqlite3.connect(draft)
                try:
                    # All pages in one step: a reader of a write-ahead log sees one moment, and keeps nobody waiting.
                    source.backup(target, pages=-1)
                    target.execute("PRAGMA journal_mode = DELETE")
                finally:
                    target.close()
                    source.close()
            except sqlite3.Error as error:
                raise Unavailable(f"The database {path} cannot be copied: {error}.") from error
            entry = Entry(path=name, size_bytes=draft.stat().st_size, sha256=digest_of(draft))
            self._keep(draft, file, entry.sha256)
            return entry

    @contextmanager
    def _draft(self) -> Generator[tuple[Path, int]]:
        """A new file, open for writing; it is deleted unless it gets another name."""
        draft = self._drafts / token_hex(16)
        file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            yield draft, file
        finally:
            os.close(file)
            draft.unlink(missing_ok=True)

    def _keep(self, draft: Path, file: int, sha256: str) -> None:
        target = self.path(sha256)
        if not target.exists():
            os.fsync(file)
            target.parent.mkdir(mode=0o700, exist_ok=True)
            draft.rename(target)
            self.new_files += 1
            self.new_bytes += target.stat().st_size

    def publish(self, made_at: str, entries: Iterable[Entry]) -> Backup:
        """Write the list of a backup whose files are stored, and give it its name."""
        draft, files, size_bytes = self._drafts / token_hex(16), 0, 0
        with open(draft, "xb", opener=lambda path, flags: os.open(path, flags | os.O_CLOEXEC, 0o600)) as lines:
            for entry in entries:
                lines.write(_encode(entry) + b"\n")
                files, size_bytes = files + 1, size_bytes + entry.size_bytes
            summary = _Summary(format=_FORMAT, made_at=made_at, files=files, size_bytes=size_bytes)
            lines.write(_encode(summary) + b"\n")
            lines.flush()
            os.fsync(lines.fileno())
        for folder in (*self._files.iterdir(), self._files):
            flush_folder(folder)
        name = self._next_name(made_at)
        draft.rename(self._backups / name)
        flush_folder(self._backups)
        flush_folder(self.root)
        return Backup(name, made_at, files, size_bytes)

    def _next_name(self, made_at: str) -> str:
        """After every other one, though the clock was set back."""
        name, names = made_at[:19].replace(":", "-") + "Z", self.names()
        if not names or name > names[-1]:
            return name
        last, _, number = names[-1].partition(".")
        return f"{last}.{int(number or 0) + 1:04}"

    def prune(self, keep: int) -> list[str]:
        """Delete all backups but the newest, and files that no other one has; the names of those deleted.

        None while a list is damaged, since nobody knows which files it had.
        """
        backups = self.complete()
        if len(backups) < len(self.names()):
            return []
        gone = backups[: max(0, len(backups) - keep)]
        try:
            needed = {bytes.fromhex(entry.sha256) for each in backups[len(gone) :] for entry in self.entries(each)}
        except Invalid:
            return []
        for each in gone:
            (self._backups / each.name).unlink()
        if gone:
            flush_folder(self._backups)
            for file in self._files.glob("*/*"):
                if _DIGEST.fullmatch(file.name) and bytes.fromhex(file.name) not in needed:
                    file.unlink()
        return [each.name for each in gone]


def digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _damaged_list(path: Path) -> Invalid:
    return Invalid(f"The list of the backup {path} is damaged. Use another backup, and delete this one.")


def _summed_up(path: Path) -> Backup:
    with path.open("rb") as lines:
        lines.seek(max(0, path.stat().st_size - _LAST_LINE_BYTES))
        *_, last = lines.read().splitlines() or [b""]
    try:
        summary = _read_summary(last)
    except msgspec.DecodeError as error:
        raise _damaged_list(path) from error
    if summary.format != _FORMAT:
        raise Invalid(f"The backup {path} is of a newer Satchel. Update this one first.")
    return Backup(path.name, summary.made_at, summary.files, summary.size_bytes)
