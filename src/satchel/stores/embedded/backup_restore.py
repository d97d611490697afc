"""Make the files of a server from a backup: all of them in a new folder, or one in place of a damaged one."""

import fcntl
import os
from pathlib import Path

from satchel.kernel.clock import system_clock
from satchel.kernel.errors import Conflict
from satchel.kernel.ids import new_id
from satchel.stores.embedded.backup_repository import Backup, Entry, Repository, digest_of
from satchel.stores.embedded.data_files import DataFiles, Told
from satchel.stores.embedded.folder_files import Damaged, copy_range, disk_errors, flush_folder, leave_room
from satchel.stores.embedded.folder_shared import WORTH_SHARING_BYTES


def restore_backup(files: DataFiles, repository: Repository, name: str | None, told: Told) -> Backup:
    """Make a new data folder from a backup; every byte is compared with what was copied."""
    backup = repository.find(name)
    for folder in {files.data, files.tables.parent, files.objects}:
        if folder.exists() and any(folder.iterdir()):
            raise Conflict(f"{folder} is not empty. Restore into a new folder: give another one with --data.")
    done, done_bytes = 0, 0
    made: dict[str, Path] = {}
    with disk_errors(files.data):
        for entry in repository.entries(backup):
            target = files.path(entry.path)
            files.drafts(entry.path).mkdir(mode=0o700, parents=True, exist_ok=True)
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _restore_file(repository, entry, files, made)
            done, done_bytes = done + 1, done_bytes + entry.size_bytes
            told(done, done_bytes)
        for folder in {files.data, files.tables.parent, files.objects, *files.objects.glob("*/*")}:
            if folder.is_dir():
                flush_folder(folder)
    return backup


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
            repository.path(entry.sha256).open("rb") as source,
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


def replace_file(repository: Repository, entry: Entry, files: DataFiles) -> None:
    """Under the lock of its shard, as every name of an object comes and goes. One that was deleted stays so."""
    target = files.path(entry.path)
    shard = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(shard, fcntl.LOCK_EX)
        if target.exists():
            _put_in_place(repository, entry, files)
            os.fsync(shard)
    finally:
        os.close(shard)
