"""Make the files of a server from a backup: all of them in a new folder, or one in place of a damaged one."""

import fcntl
import os
import shutil
from pathlib import Path

from satchel.kernel.clock import system_clock
from satchel.kernel.errors import Conflict
from satchel.kernel.ids import new_id
from satchel.stores.disk_room import leave_room
from satchel.stores.embedded.backup_repository import Backup, Entry, Repository, digest_of
from satchel.stores.embedded.data_files import DataFiles, Told
from satchel.stores.embedded.file_check import check_file
from satchel.stores.embedded.folder_files import (
    Damaged,
    copy_range,
    disk_errors,
    flush_folder,
    read_description,
)
from satchel.stores.embedded.folder_shared import WORTH_SHARING_BYTES

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def restore_backup(files: DataFiles, repository: Repository, name: str | None, told: Told) -> Backup:
    """Make a new data folder from a backup; every byte is compared with what was copied.

    Under another name until it is whole, if everything is in one folder.
    """
    backup = repository.find(name)
    for folder in {files.data, files.tables.parent, files.objects}:
        if folder.exists() and any(folder.iterdir()):
            raise Conflict(f"{folder} is not empty. Restore into a new folder: give another one with --data.")
    with disk_errors(files.data):
        if files.data == files.tables.parent == files.objects.parent:
            aside = files.data.with_name(f"{files.data.name}.restoring")
            shutil.rmtree(aside, ignore_errors=True)
            inside = DataFiles(aside, aside / files.tables.name, aside / files.objects.name)
            _restore_all(inside, repository, backup, told)
            aside.rename(files.data)
            flush_folder(files.data.parent)
        else:
            _restore_all(files, repository, backup, told)
    return backup


def _restore_all(files: DataFiles, repository: Repository, backup: Backup, told: Told) -> None:
    done, done_bytes = 0, 0
    made: dict[str, Path] = {}
    for entry in repository.entries(backup):
        for folder in (files.path(entry.path).parent, files.drafts(entry.path)):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _restore_file(repository, entry, files, made)
        done, done_bytes = done + 1, done_bytes + entry.size_bytes
        told(done, done_bytes)
    if done != backup.files:
        raise Damaged(f"The list of the backup {backup.name} is not complete. Restore another backup.")
    sharded = (folder for folder in files.objects.glob("*/*") if folder.is_dir())
    for folder in {files.data, files.tables.parent, files.objects, *files.objects.glob("*"), *sharded}:
        if folder.is_dir():
            flush_folder(folder)


def _restore_file(repository: Repository, entry: Entry, files: DataFiles, made: dict[str, Path]) -> None:
    target = files.path(entry.path)
    target.unlink(missing_ok=True)
    # Files of objects never change, so those that shared their bytes are one file again.
    can_share = entry.path.startswith("objects/") and entry.size_bytes >= WORTH_SHARING_BYTES
    if can_share and (same := made.get(entry.sha256)) is not None and same.exists():
        os.link(same, target)
        return
    _put_in_place(repository, entry, files)
    if can_share:
        made[entry.sha256] = target


def _put_in_place(repository: Repository, entry: Entry, files: DataFiles) -> None:
    """Copy a file of a backup to its place: whole, on the disk, and as it was copied, or not at all."""
    target, draft = files.path(entry.path), files.drafts(entry.path) / new_id(system_clock)
    try:
        with (
            repository.file(entry.sha256) as kept,
            kept.open("rb") as source,
            open(draft, "xb", opener=lambda path, flags: os.open(path, flags | os.O_CLOEXEC, 0o600)) as copy,
        ):
            leave_room(copy.fileno(), entry.size_bytes)
            copy_range(source.fileno(), copy.fileno(), os.fstat(source.fileno()).st_size)
            os.fsync(copy.fileno())
        if digest_of(draft) != entry.sha256:
            raise Damaged(f"The backup of {entry.path} is damaged. Restore another backup.")
        draft.rename(target)
    except FileNotFoundError as error:
        raise Damaged(f"The backup of {entry.path} is missing. Restore another backup.") from error
    finally:
        draft.unlink(missing_ok=True)


def repair_file(repository: Repository, entry: Entry, files: DataFiles, needed_by: str | None) -> bool:
    """Put the copy of a backup in the place of a damaged file, or of one that `needed_by` misses; whether it was done.

    Under the lock of its shard, as every name of an object comes and goes: what was replaced or deleted since, or was
    another object when the backup was made, stays as it is.
    """
    target = files.path(entry.path)
    shard = os.open((target if needed_by is None else files.path(needed_by)).parent, _FOLDER)
    try:
        fcntl.flock(shard, fcntl.LOCK_EX)
        if needed_by is None:
            with repository.file(entry.sha256) as good:
                wanted = target.exists() and _is_damaged_copy(target, good)
        else:
            wanted = not target.exists() and _uses(files.path(needed_by), target.name)
        if wanted:
            _put_in_place(repository, entry, files)
            flush_folder(target.parent)
        return wanted
    finally:
        os.close(shard)


def _is_damaged_copy(path: Path, good: Path) -> bool:
    """Whether a file is damaged, and was once what a file of a backup is."""
    try:
        if check_file(path).damage is None:
            return False
        return read_description(path)[0].etag == read_description(good)[0].etag
    except Damaged:
        return True  # not even its description can be read


def _uses(path: Path, name: str) -> bool:
    try:
        shared = read_description(path)[0].shared
    except FileNotFoundError:
        return False
    return shared is not None and shared.file == name
