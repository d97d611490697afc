"""Where backups are kept: files named by their digests, and a list of files for each backup."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol


class BackupPlace(Protocol):
    """A folder or a bucket. What it says goes for the moment unless one is `writing`: then nobody else changes it."""

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    def writing(self) -> AbstractContextManager[Path]:
        """Make it if it is missing, and be the only one who changes it; the folder is for files in the making.

        `Conflict` if somebody else is.
        """
        ...

    def has_file(self, sha256: str) -> bool: ...

    def keep_file(self, draft: Path, sha256: str) -> None:
        """Store a file for good. It survives a loss of power from the next `keep_list` on."""
        ...

    def file(self, sha256: str) -> AbstractContextManager[Path]:
        """A file to read; `FileNotFoundError` if it is missing."""
        ...

    def files(self) -> Iterator[str]:
        """The digests of all files."""
        ...

    def forget_files(self, digests: Iterator[str]) -> None: ...

    def lists(self) -> list[str]:
        """The names of all backups, in order."""
        ...

    def keep_list(self, draft: Path, name: str) -> None:
        """Store the list of a backup, whose files are kept. It survives a loss of power."""
        ...

    def list_lines(self, name: str) -> Iterator[bytes]: ...

    def list_end(self, name: str) -> bytes:
        """The last bytes of a list, at least so many as its last line has."""
        ...

    def forget_lists(self, names: list[str]) -> None: ...
