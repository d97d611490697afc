"""Backups in a folder of this machine, or of a disk that is mounted here.

files/3f/3f9a…                 a file
backups/2026-11-18T10-30-00Z   the list of a backup
drafts/                        files in the making
"""

import fcntl
import os
import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

from satchel.kernel.errors import Conflict
from satchel.stores.embedded.folder_files import disk_errors, flush_file, flush_folder

_LAST_LINE_BYTES = 4096


class BackupFolder:
    """See `satchel.stores.ports.backup_place`."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files = root / "files"
        self._lists = root / "backups"
        self._drafts = root / "drafts"
        self.name = str(root)

    @contextmanager
    def writing(self) -> Generator[Path]:
        with disk_errors(self._root):
            for folder in (self._root, self._files, self._lists, self._drafts):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _empty(self._drafts)
                yield self._drafts
                _empty(self._drafts)
            except BlockingIOError as error:
                raise Conflict(f"Another backup into {self._root} is running. Try again when it is done.") from error
            finally:
                os.close(lock)

    def has_file(self, sha256: str) -> bool:
        return self._path(sha256).exists()

    def keep_file(self, draft: Path, sha256: str) -> None:
        flush_file(draft)
        target = self._path(sha256)
        target.parent.mkdir(mode=0o700, exist_ok=True)
        draft.rename(target)

    @contextmanager
    def file(self, sha256: str) -> Generator[Path]:
        path = self._path(sha256)
        if not path.exists():
            raise FileNotFoundError(path)
        yield path

    def files(self) -> Iterator[str]:
        return (file.name for file in self._files.glob("*/*"))

    def forget_files(self, digests: Iterator[str]) -> None:
        for sha256 in digests:
            self._path(sha256).unlink(missing_ok=True)

    def lists(self) -> list[str]:
        return sorted(path.name for path in self._lists.iterdir()) if self._lists.is_dir() else []

    def keep_list(self, draft: Path, name: str) -> None:
        flush_file(draft)
        for folder in (*self._files.iterdir(), self._files):
            flush_folder(folder)
        draft.rename(self._lists / name)
        flush_folder(self._lists)
        flush_folder(self._root)

    def list_lines(self, name: str) -> Iterator[bytes]:
        with (self._lists / name).open("rb") as lines:
            yield from lines

    def list_end(self, name: str) -> bytes:
        path = self._lists / name
        with path.open("rb") as lines:
            lines.seek(max(0, path.stat().st_size - _LAST_LINE_BYTES))
            return lines.read()

    def forget_lists(self, names: list[str]) -> None:
        for name in names:
            (self._lists / name).unlink()
        flush_folder(self._lists)

    def _path(self, sha256: str) -> Path:
        return self._files / sha256[:2] / sha256


def _empty(folder: Path) -> None:
    for left in folder.iterdir():
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink()
