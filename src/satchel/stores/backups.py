"""Backups, in a folder or in a bucket: made, listed, restored, and read again."""

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from satchel.config import BadSetting, Settings
from satchel.kernel.clock import Clock
from satchel.stores.embedded.backup_folder import BackupFolder
from satchel.stores.embedded.backup_repository import Backup, Repository
from satchel.stores.embedded.backup_restore import restore_backup
from satchel.stores.embedded.backup_shared import SharedStores
from satchel.stores.embedded.backup_take import BackupSource, LocalFiles, TakenBackup, take_backup
from satchel.stores.embedded.copy_journal import CopyJournal, snapshot
from satchel.stores.embedded.data_check import Verified, verify_backups, verify_data
from satchel.stores.embedded.data_files import Damage, DataFiles, Told
from satchel.stores.embedded.missing_restore import restore_missing
from satchel.stores.embedded.shared_check import SharedCheck
from satchel.stores.ports.backup_place import BackupPlace
from satchel.stores.ports.objects import Objects

__all__ = [
    "Backup",
    "BackupPlace",
    "CopyJournal",
    "Damage",
    "DataFiles",
    "SharedCheck",
    "SharedStores",
    "TakenBackup",
    "Told",
    "Verified",
    "backup",
    "backups_in",
    "open_place",
    "put_missing_back",
    "restore",
    "snapshot",
    "some_backups_in",
    "take",
    "verify",
    "verify_place",
]


def open_place(where: str, clock: Clock, *, scratch: Path | None = None) -> BackupPlace:
    """A folder, or `s3://bucket/prefix`. For a bucket, files are made in `scratch` or where temporary files are."""
    url = urlsplit(where)
    if url.scheme != "s3":
        return BackupFolder(Path(where).expanduser().absolute())
    from satchel.stores.distributed.backup_bucket import BackupBucket  # few need it, and it takes long to load

    options = parse_qs(url.query)
    unknown = options.keys() - {"endpoint", "region"}
    if unknown or not url.netloc:
        raise BadSetting(f"{where} is not a place for backups. It looks like s3://bucket/folder?endpoint=https://host.")
    return BackupBucket(
        url.netloc,
        url.path.strip("/"),
        region=options.get("region", ["us-east-1"])[0],
        endpoint=options.get("endpoint", [None])[0],
        clock=clock,
        scratch=scratch,
    )


def backup(settings: Settings, place: BackupPlace, clock: Clock, told: Told, *, keep: int | None = None) -> TakenBackup:
    """Add a backup of the files of a server on this machine, and leave only the newest `keep`."""
    files = files_of(settings)
    if not files.tables.exists():
        raise BadSetting(f"There is nothing to back up: {files.tables} is not there. Name the data folder with --data.")
    return take(LocalFiles(files, clock, told), place, clock, keep=keep)


def take(source: BackupSource, place: BackupPlace, clock: Clock, *, keep: int | None = None) -> TakenBackup:
    return take_backup(source, Repository(place), clock, keep=keep)


def backups_in(place: BackupPlace) -> list[Backup]:
    """Oldest first."""
    return Repository(place).complete()


def some_backups_in(place: BackupPlace) -> list[Backup]:
    """Oldest first; `NotFound` if there is none."""
    return Repository(place).some()


def restore(settings: Settings, place: BackupPlace, name: str | None, told: Told) -> Backup:
    """Make the server's files from the backup of this name, or from the newest."""
    return restore_backup(files_of(settings), Repository(place), name, told)


def verify(settings: Settings, told: Told, repair_from: BackupPlace | None = None) -> Verified:
    """Read the server's files again."""
    return verify_data(files_of(settings), told, None if repair_from is None else Repository(repair_from))


async def put_missing_back(objects: Objects, place: BackupPlace, keys: Iterable[str]) -> list[str]:
    """Put objects that are gone back from the newest backups that have them; which were."""
    return await restore_missing(objects, Repository(place), keys)


def verify_place(place: BackupPlace, told: Told) -> Verified:
    """Read the backups in a place again."""
    return verify_backups(Repository(place), told)


def files_of(settings: Settings) -> DataFiles:
    """Where a server that keeps everything on this machine has its files."""
    tables, objects = urlsplit(settings.table_url), urlsplit(settings.objects_url)
    if not settings.keeps_all_here:
        raise BadSetting(
            "A backup is restored to one machine. Restore it into a folder with --data, and copy it from there to"
            " shared stores by `satchel data copy`."
        )
    return DataFiles(settings.data.absolute(), Path(tables.path), Path(objects.path))
