"""Where the files of a server on embedded stores are: what backups copy, and what is read again."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from satchel.stores.embedded.folder_hold import SHARDED

DATABASES = ("satchel.db", "ephemeral.db")
SECRET_FILE = "secret"  # noqa: S105  # its name
_SHARDS = [f"{number:02x}" for number in range(256)]

# Told how many files and bytes are done.
Told: TypeAlias = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Damage:
    """A file that is not as it was written; `key` is that of the object, if it is known.

    `needed_by` is the file that uses its bytes, if it is gone.
    """

    path: str
    why: str
    key: str | None = None
    needed_by: str | None = None

    def __str__(self) -> str:
        return f"{self.path}{f' ({self.key})' if self.key else ''}: {self.why}"


@dataclass(frozen=True, slots=True)
class DataFiles:
    """Where the files are. Tables and objects may be outside of the data folder."""

    data: Path
    tables: Path
    objects: Path

    def database(self, name: str) -> Path:
        return self.tables if name == DATABASES[0] else self.data / name

    def path(self, entry: str) -> Path:
        """The file of this name in a backup."""
        if entry.startswith("objects/"):
            return self.objects / entry.removeprefix("objects/")
        return self.data / SECRET_FILE if entry == SECRET_FILE else self.database(entry)

    def drafts(self, entry: str) -> Path:
        """Where a file is made until it has its name, on the same disk."""
        return self.objects / "drafts" if entry.startswith("objects/") else self.path(entry).parent


def object_folders() -> Iterator[str]:
    return (f"objects/{kind}/{shard}" for kind in SHARDED for shard in _SHARDS)


def scan(folder: Path) -> list[os.DirEntry[str]]:
    if not folder.is_dir():
        return []
    with os.scandir(folder) as found:
        return sorted((each for each in found if not each.name.startswith(".")), key=lambda each: each.name)
