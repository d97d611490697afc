"""Files of objects that lose their names while a backup runs, and keep another one until it has copied them.

    held/objects/<name>, held/shared/<name>     one more name (a hard link) for a file that was deleted or replaced

A backup copies the tables first and the objects after them. What the tables speak of at that moment has to be there
until it is copied, though somebody delete it meanwhile. The folder exists only while a backup runs, and whoever made
it holds its lock; one that nobody holds was left by a crash.
"""

import fcntl
import os
import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from satchel.kernel.clock import Clock
from satchel.kernel.errors import Conflict, Unavailable
from satchel.kernel.ids import new_id

SHARDED = ("objects", "shared")
_FAILED = "failed"


class FolderHold:
    """The files that a backup still needs, of a folder of objects."""

    def __init__(self, root: Path, clock: Clock) -> None:
        self._root = root
        self._clock = clock
        self._folder = root / "held"

    def keep(self, path: Path) -> None:
        """Call this before a file of an object loses its name."""
        if not self._folder.exists():
            return
        try:
            (self._folder / path.parent.parent.name / path.name).hardlink_to(path)
        except FileNotFoundError:
            return  # there was no such file, or the backup is done
        except FileExistsError:
            return  # the first one counts: that is what the tables spoke of
        except OSError:
            # Deleting goes on. The backup that misses this file must not be taken for a whole one.
            with suppress(OSError):
                (self._folder / _FAILED).touch()

    def check(self) -> None:
        """Raise `Unavailable` if a file could not be kept."""
        if (self._folder / _FAILED).exists():
            raise Unavailable("A file that was deleted meanwhile could not be kept. Make the backup again.")

    def kept(self) -> Iterator[tuple[str, Path]]:
        """What has lost its name since the hold began: `objects` or `shared`, and its file."""
        for kind in SHARDED:
            for path in sorted((self._folder / kind).iterdir()):
                yield kind, path

    @contextmanager
    def begun(self) -> Generator[None]:
        """Keep everything that is deleted until the block ends."""
        self.clean()
        draft = self._aside()
        owner = self._root.stat()
        for folder in (draft, *(draft / kind for kind in SHARDED)):
            folder.mkdir(mode=0o700, parents=True)
            if owner.st_uid != os.geteuid():
                os.chown(folder, owner.st_uid, owner.st_gid)  # it is the server that writes here
        lock = os.open(draft, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                draft.rename(self._folder)
            except OSError as error:
                shutil.rmtree(draft)
                raise Conflict("Another backup of these files is running. Try again when it is done.") from error
            try:
                yield
            finally:
                self._end()
        finally:
            os.close(lock)

    def clean(self) -> None:
        """Remove what a backup that died has left."""
        try:
            lock = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        try:
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._end()
        finally:
            os.close(lock)

    def _end(self) -> None:
        aside = self._aside()
        self._folder.rename(aside)
        shutil.rmtree(aside, ignore_errors=True)

    def _aside(self) -> Path:
        """A name among the drafts, where garbage collection finds it."""
        return self._root / "drafts" / new_id(self._clock)
