"""Copy everything that a server on embedded stores keeps, as it is at one moment, while it runs."""

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Protocol

from satchel.kernel.clock import Clock, iso
from satchel.kernel.errors import Invalid
from satchel.stores.embedded.backup_repository import Backup, Entry, Repository
from satchel.stores.embedded.data_files import DATABASES, SECRET_FILE, Damage, DataFiles, Told, object_folders, scan
from satchel.stores.embedded.file_check import CheckedFile, Unreadable, check_file
from satchel.stores.embedded.folder_hold import FolderHold

# Sorts after every folder.
_NO_MORE: tuple[str, Iterator[Entry]] = "~", iter(())
# Most of the time they wait for the disk.
_THREADS = 4


@dataclass(frozen=True, slots=True)
class TakenBackup:
    """A backup that was made; `new_files` and `new_bytes` are what it added to the folder of backups."""

    backup: Backup
    new_files: int
    new_bytes: int
    damages: list[Damage]
    pruned: list[str]


class BackupSource(Protocol):
    """What is backed up. `entries` stores it in the repository; files in the making go into `drafts`."""

    damages: list[Damage]

    def entries(self, repository: Repository, drafts: Path, before: Iterable[Entry]) -> Iterator[Entry]:
        """`before` is the last backup, whose files need not be read again."""
        ...


def take_backup(source: BackupSource, repository: Repository, clock: Clock, *, keep: int | None = None) -> TakenBackup:
    """Copy everything, and leave only the newest `keep` backups."""
    with repository.writing() as drafts:
        earlier = repository.complete()
        before = repository.entries(earlier[-1]) if earlier else iter(())
        backup = repository.publish(iso(clock()), source.entries(repository, drafts, before))
        # Older backups may have the only good copies of what is damaged.
        pruned = [] if keep is None or source.damages else repository.prune(keep)
        return TakenBackup(backup, repository.new_files, repository.new_bytes, source.damages, pruned)


class LocalFiles:
    """Everything that a server on embedded stores keeps, as it is at one moment, while the server may be running."""

    def __init__(self, files: DataFiles, clock: Clock, told: Told) -> None:
        self._files = files
        self._hold = FolderHold(files.objects, clock)
        self._told = told
        self._done = 0
        self._done_bytes = 0
        self.damages: list[Damage] = []

    def entries(self, repository: Repository, drafts: Path, before: Iterable[Entry]) -> Iterator[Entry]:  # noqa: ARG002
        """Tables first."""
        has_objects = (self._files.objects / "objects").is_dir()
        with self._hold.begun() if has_objects else nullcontext():
            # Whatever the tables speak of from here on is there until it is copied.
            began = time.time_ns()
            for name in DATABASES:
                if self._files.database(name).exists():
                    yield self._counted(repository.add_database(name, self._files.database(name)))
            if (self._files.data / SECRET_FILE).exists():
                yield self._counted(copy_secret(repository, self._files.data / SECRET_FILE))
            if has_objects:
                yield from self._objects(repository, before, began)

    def _objects(self, repository: Repository, before: Iterable[Entry], began: int) -> Iterator[Entry]:
        known = by_folder(before)
        with ThreadPoolExecutor(_THREADS, thread_name_prefix="backup") as threads:
            for folder in object_folders():
                last = known(folder)
                paths = [(f"{folder}/{each.name}", Path(each.path)) for each in scan(self._files.path(folder))]
                copied = threads.map(partial(self._copy_object, repository, last), paths)
                yield from (self._counted(entry) for entry in copied if entry is not None)
        self._hold.check()
        for kind, path in self._hold.kept():
            name = f"objects/{kind}/{path.name[:2]}/{path.name}"
            # An object that was written after the tables were copied does not count, the one before it does.
            now = self._files.path(name)
            if not now.exists() or now.stat().st_mtime_ns >= began:
                held = self._copy(repository, name, path, None)
                yield from () if held is None else [self._counted(held)]

    def _copy_object(self, repository: Repository, last: Mapping[str, Entry], given: tuple[str, Path]) -> Entry | None:
        name, path = given
        try:
            return self._copy(repository, name, path, last.get(name))
        except FileNotFoundError:
            return None  # deleted meanwhile, so it is held

    def _copy(self, repository: Repository, name: str, path: Path, last: Entry | None) -> Entry | None:
        """Copy a file of an object, unless the last backup has it. One that cannot be read stays as it was there."""
        seen = path.stat()
        now = seen.st_ino, seen.st_mtime_ns, seen.st_size
        if last is not None and (last.inode, last.changed, last.size_bytes) == now:
            if last.damage is not None:
                self.damages.append(Damage(name, last.damage))
            return last
        checked: list[CheckedFile] = []

        def copy(write: Callable[[bytes], object]) -> str:
            checked.append(check_file(path, write))
            return checked[0].sha256

        try:
            sha256 = repository.add(copy)
        except Unreadable as error:
            self.damages.append(Damage(name, error.detail))
            return last
        damage = checked[0].damage
        if damage is not None:
            self.damages.append(Damage(name, damage, checked[0].key))
        return Entry(
            path=name,
            size_bytes=seen.st_size,
            sha256=sha256,
            inode=seen.st_ino,
            changed=seen.st_mtime_ns,
            damage=damage,
        )

    def _counted(self, entry: Entry) -> Entry:
        self._done += 1
        self._done_bytes += entry.size_bytes
        self._told(self._done, self._done_bytes)
        return entry


def copy_secret(repository: Repository, path: Path) -> Entry:
    secret = path.read_bytes()

    def copy(write: Callable[[bytes], object]) -> str:
        write(secret)
        return hashlib.sha256(secret).hexdigest()

    return Entry(path=SECRET_FILE, size_bytes=len(secret), sha256=repository.add(copy))


def by_folder(entries: Iterable[Entry]) -> Callable[[str], Mapping[str, Entry]]:
    """Gives the entries of one folder after the other, without holding them all."""
    groups = groupby(entries, key=lambda entry: entry.path.rpartition("/")[0])
    ahead: list[tuple[str, dict[str, Entry]]] = []

    def following() -> None:
        try:
            folder, some = next(groups, _NO_MORE)
            ahead.append((folder, {entry.path: entry for entry in some}))
        except Invalid:
            ahead.append(("~", {}))  # where the list is damaged, it knows no more

    def of(folder: str) -> Mapping[str, Entry]:
        if not ahead:
            following()
        # What comes before the folders of objects, and what was held, is read anew.
        while ahead[0][0] < folder:
            ahead.clear()
            following()
        return ahead[0][1] if ahead[0][0] == folder else {}

    return of
