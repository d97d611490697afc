"""Backups of a server on embedded stores. Of stores that servers share, a copy on such stores is backed up."""

from pathlib import Path
from urllib.parse import urlsplit

from satchel.config import BadSetting, Settings
from satchel.kernel.clock import Clock
from satchel.stores.embedded.backup_repository import Backup, Repository
from satchel.stores.embedded.backup_restore import restore_backup
from satchel.stores.embedded.backup_take import TakenBackup, take_backup
from satchel.stores.embedded.copy_journal import CopyJournal, snapshot
from satchel.stores.embedded.data_check import Verified, verify_backups, verify_data
from satchel.stores.embedded.data_files import DataFiles, Told

__all__ = [
    "Backup",
    "CopyJournal",
    "TakenBackup",
    "Verified",
    "backup",
    "backups_in",
    "restore",
    "snapshot",
    "verify",
    "verify_folder",
]


def backup(settings: Settings, folder: Path, clock: Clock, told: Told, *, keep: int | None = None) -> TakenBackup:
    """Add a backup to a folder of them, and leave only the newest `keep`."""
    return take_backup(_files(settings), Repository(folder), clock, told, keep=keep)


def backups_in(folder: Path) -> list[Backup]:
    """Oldest first."""
    return Repository(folder).complete()


def restore(settings: Settings, folder: Path, name: str | None, told: Told) -> Backup:
    """Make the server's files from the backup of this name, or from the newest."""
    return restore_backup(_files(settings), Repository(folder), name, told)


def verify(settings: Settings, told: Told, repair_from: Path | None = None) -> Verified:
    """Read the server's files again."""
    return verify_data(_files(settings), told, None if repair_from is None else Repository(repair_from))


def verify_folder(folder: Path, told: Told) -> Verified:
    """Read the backups in a folder again."""
    return verify_backups(Repository(folder), told)


def _files(settings: Settings) -> DataFiles:
    tables, objects = urlsplit(settings.table_url), urlsplit(settings.objects_url)
    if tables.scheme != "sqlite" or objects.scheme != "file" or not settings.ephemeral.startswith("memory:"):
        raise BadSetting(
            "This reads the files of a server that keeps everything on this machine. Of a backup of DynamoDB, Redis and"
            " S3, name the folder: `satchel data verify FOLDER`. Restore it into a folder with --data, and from there"
            " to shared stores by `satchel data copy`."
        )
    return DataFiles(settings.data.absolute(), Path(tables.path), Path(objects.path))
