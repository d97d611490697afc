"""Read everything again, and tell what is not as it was written: the files of a server, or those of its backups."""

import sqlite3
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from satchel.kernel.errors import Invalid, SatchelError
from satchel.stores.embedded.backup_repository import Backup, Entry, Repository, digest_of
from satchel.stores.embedded.backup_restore import repair_file
from satchel.stores.embedded.data_files import DATABASES, Damage, DataFiles, Told, object_folders, scan
from satchel.stores.embedded.file_check import Unreadable, check_file
from satchel.stores.embedded.folder_files import read_description


@dataclass(slots=True)
class Verified:
    """What reading everything again has shown; `unproved` files have no digest to compare them with.

    `missing` are objects that are gone though something needs them, so they are not among the files.
    """

    files: int = 0
    size_bytes: int = 0
    unproved: int = 0
    damages: list[Damage] = field(default_factory=list[Damage])
    missing: list[Damage] = field(default_factory=list[Damage])
    repaired: list[str] = field(default_factory=list[str])


def verify_data(files: DataFiles, told: Told, repair_from: Repository | None = None) -> Verified:
    """Read every byte again, and put good copies in place of what is damaged, if there is a backup that has them."""
    found = Verified()
    for name in DATABASES:
        path = files.database(name)
        if path.exists():
            found.files, found.size_bytes = found.files + 1, found.size_bytes + path.stat().st_size
            if (why := _damage_of_database(path)) is not None:
                found.damages.append(Damage(name, why))
    for folder in object_folders():
        for each in scan(files.path(folder)):
            _verify_object(files, f"{folder}/{each.name}", found)
            told(found.files, found.size_bytes)
    if repair_from is not None and found.damages:
        _repair(files, repair_from, found)
    return found


def _verify_object(files: DataFiles, name: str, found: Verified) -> None:
    path = files.path(name)
    try:
        found.size_bytes += path.stat().st_size
        checked = check_file(path)
        shared = None if checked.damage else read_description(path)[0].shared
    except FileNotFoundError:
        return  # deleted meanwhile
    except Unreadable as error:
        found.files += 1
        found.damages.append(Damage(name, error.detail))
        return
    found.files += 1
    found.unproved += not checked.proved
    if checked.damage is not None:
        found.damages.append(Damage(name, checked.damage, checked.key))
    elif shared is not None:
        of_bytes = f"objects/shared/{shared.file[:2]}/{shared.file}"
        # In this order: whoever deletes an object deletes its bytes last.
        if not files.path(of_bytes).exists() and path.exists():
            found.damages.append(Damage(of_bytes, "it is gone, and an object needs it", checked.key, needed_by=name))


def _damage_of_database(path: Path) -> str | None:
    try:
        connection = sqlite3.connect(path, timeout=30)
        try:
            (said,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        finally:
            connection.close()
    except sqlite3.Error as error:
        return str(error)
    return None if said == "ok" else said


def _repair(files: DataFiles, repository: Repository, found: Verified) -> None:
    """What was replaced or deleted since it was read is left alone: it is not damaged any more."""
    left = {damage.path: damage for damage in found.damages}
    for backup in reversed(repository.complete()):
        with suppress(Invalid):  # a damaged list: an older one may be good
            for entry in repository.entries(backup):
                if entry.path in left and entry.damage is None and entry.path.startswith("objects/"):
                    _repair_one(files, repository, entry, left, found)
    found.damages = list(left.values())


def _repair_one(
    files: DataFiles, repository: Repository, entry: Entry, left: dict[str, Damage], found: Verified
) -> None:
    damage = left[entry.path]
    try:
        if repair_file(repository, entry, files, damage.needed_by):
            found.repaired.append(entry.path)
    except (SatchelError, OSError):
        return  # an older backup may have a good one
    if not _is_damaged(files, damage):
        del left[entry.path]


def _is_damaged(files: DataFiles, damage: Damage) -> bool:
    path = files.path(damage.path)
    if not path.exists():
        return damage.needed_by is not None and files.path(damage.needed_by).exists()
    try:
        return check_file(path).damage is not None
    except Unreadable:
        return True


def verify_backups(repository: Repository, told: Told) -> Verified:
    """Read every file of every backup again."""
    found = Verified()
    seen: set[bytes] = set()
    for name in repository.names():
        try:
            _verify_backup(repository, repository.read(name), seen, found, told)
        except Invalid as error:
            found.damages.append(Damage(f"backups/{name}", error.detail))
    return found


def _verify_backup(repository: Repository, backup: Backup, seen: set[bytes], found: Verified, told: Told) -> None:
    for entry in repository.entries(backup):
        if (digest := bytes.fromhex(entry.sha256)) in seen:
            continue
        seen.add(digest)
        found.files, found.size_bytes = found.files + 1, found.size_bytes + entry.size_bytes
        try:
            with repository.file(entry.sha256) as path:
                why = None if digest_of(path) == entry.sha256 else "its bytes are not those that were copied"
        except FileNotFoundError:
            why = "its file is missing"
        if why is not None:
            found.damages.append(Damage(f"{backup.name}: {entry.path}", why))
        told(found.files, found.size_bytes)
