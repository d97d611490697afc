"""Backups: every file once, by the SHA-256 of what it holds, and a list of files for each backup.

A list has one line of JSON for each of its files, and a last one that sums them up. A backup exists once its list has
its name, and every file of it is stored before that.
"""

import hashlib
import os
import re
import sqlite3
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

import msgspec

from satchel.kernel.errors import Invalid, NotFound, Unavailable
from satchel.stores.embedded.folder_files import write_all
from satchel.stores.ports.backup_place import BackupPlace

_FORMAT = 1
_NAME = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ(\.\d{4})?")
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file of a backup. Of two entries with one path, the later one counts.

    `inode` and `changed` are those of the file that was copied: while they stay, so does the file. `source` is the
    etag and size of an object that was copied from a store that servers share, and goes for its bytes alike.
    """

    path: str
    size_bytes: int
    sha256: str
    inode: int = 0
    changed: int = 0
    source: str = ""
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
    """The backups in a place."""

    def __init__(self, place: BackupPlace) -> None:
        self.place = place
        self._drafts: Path | None = None
        # What was added since this was made.
        self.new_files = 0
        self.new_bytes = 0

    @contextmanager
    def writing(self) -> Generator[Path]:
        """Keep others from changing the place meanwhile; gives a folder for files in the making."""
        with self.place.writing() as drafts:
            self._drafts = drafts
            try:
                yield drafts
            finally:
                self._drafts = None

    def names(self) -> list[str]:
        """Of all backups, oldest first."""
        return [name for name in self.place.lists() if _NAME.fullmatch(name)]

    def read(self, name: str) -> Backup:
        """May raise `Invalid` if its list is damaged."""
        if name not in self.names():
            raise NotFound(f"There is no backup {name} in {self.place.name}. See `satchel data backups`.")
        *_, last = self.place.list_end(name).splitlines() or [b""]
        try:
            summary = _read_summary(last)
        except msgspec.DecodeError as error:
            raise self._damaged_list(name) from error
        if summary.format != _FORMAT:
            raise Invalid(f"The backup {name} is of a newer Satchel. Update this one first.")
        return Backup(name, summary.made_at, summary.files, summary.size_bytes)

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
        return self.some()[-1]

    def some(self) -> list[Backup]:
        """All that are complete, oldest first; `NotFound` if there is none."""
        if not (found := self.complete()):
            raise NotFound(f"There are no backups in {self.place.name}. Make one with `satchel data backup`.")
        return found

    def entries(self, backup: Backup) -> Iterator[Entry]:
        """The files of a backup, in the order in which they were copied."""
        held: bytes | None = None
        for line in self.place.list_lines(backup.name):
            if held is not None:
                try:
                    yield _read_entry(held)
                except msgspec.DecodeError as error:
                    raise self._damaged_list(backup.name) from error
            held = line

    def file(self, sha256: str) -> AbstractContextManager[Path]:
        """A file of a backup; `FileNotFoundError` if it is missing."""
        return self.place.file(sha256)

    def add(self, copy: Callable[[Callable[[bytes], object]], str]) -> str:
        """Store what `copy` passes on, under the digest that it returns."""
        with self._draft() as draft:
            with open(draft, "xb", buffering=0, opener=_private) as file:
                sha256 = copy(lambda data: write_all(file.fileno(), data))
            self._keep(draft, sha256)
            return sha256

    def add_made(self, path: Path) -> str:
        """Store a file that is made already, and take it away from where it is; its digest."""
        sha256 = digest_of(path)
        self._keep(path, sha256)
        return sha256

    def add_database(self, name: str, path: Path) -> Entry:
        """Copy an SQLite file as it is at one moment, while others write into it."""
        with self._draft() as draft:
            try:
                with open(draft, "xb", opener=_private):
                    pass
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
            self._keep(draft, entry.sha256)
            return entry

    @contextmanager
    def _draft(self) -> Generator[Path]:
        """The name of a new file, which is deleted unless it gets another name."""
        if self._drafts is None:
            raise RuntimeError("only while `writing`")
        draft = self._drafts / token_hex(16)
        try:
            yield draft
        finally:
            draft.unlink(missing_ok=True)

    def _keep(self, draft: Path, sha256: str) -> None:
        if not self.place.has_file(sha256):
            size_bytes = draft.stat().st_size
            self.place.keep_file(draft, sha256)
            self.new_files += 1
            self.new_bytes += size_bytes

    def publish(self, made_at: str, entries: Iterable[Entry]) -> Backup:
        """Write the list of a backup whose files are stored, and give it its name."""
        files = size_bytes = 0
        with self._draft() as draft:
            with open(draft, "xb", opener=_private) as lines:
                for entry in entries:
                    lines.write(_encode(entry) + b"\n")
                    files, size_bytes = files + 1, size_bytes + entry.size_bytes
                summary = _Summary(format=_FORMAT, made_at=made_at, files=files, size_bytes=size_bytes)
                lines.write(_encode(summary) + b"\n")
            name = self._next_name(made_at)
            self.place.keep_list(draft, name)
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
        if gone:
            self.place.forget_lists([each.name for each in gone])
            digests = (name for name in self.place.files() if _DIGEST.fullmatch(name))
            self.place.forget_files(each for each in digests if bytes.fromhex(each) not in needed)
        return [each.name for each in gone]

    def _damaged_list(self, name: str) -> Invalid:
        return Invalid(
            f"The list of the backup {name} in {self.place.name} is damaged. Use another backup, and delete this one."
        )


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)


def digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
