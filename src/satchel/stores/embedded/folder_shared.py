"""Bytes that several objects of a folder share, so that copying a large object takes no space and no time.

    shared/<xx>/<name of the object's file>-<id>     one more name (a hard link) for the file that holds the bytes

Files of objects never change once they have a name, so they can be shared. A copy has a file of its own for what is
known of it, which says where its bytes are. A link is made before that file has its name, and removed after it has
lost it: what a crash leaves in between belongs to nobody, and is garbage-collected.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from satchel.stores.embedded.folder_files import Draft, Shared, flush_folder
from satchel.stores.embedded.folder_hold import FolderHold

# Below this a copy of the bytes costs no more than a link to them, and is read faster.
WORTH_SHARING_BYTES = 32 * 1024


class SharedBytes:
    """The links, by name."""

    def __init__(self, folder: Path, hold: FolderHold) -> None:
        self.folder = folder
        self._hold = hold

    def link(self, origin: Path, file: BinaryIO, size_bytes: int, target: Path, draft: Draft) -> Shared | None:
        """One more name for the opened file, named after the target and the draft that will speak of it.

        None where that is not possible: too many links, a file system without them, or another file at the origin by
        now.
        """
        draft.write([])  # It is locked from here on, so neither it nor the link named after it is collected.
        link = self.path(f"{target.name}-{draft.name}")
        try:
            link.hardlink_to(origin)
        except OSError:
            return None
        if not os.path.samestat(link.stat(), os.fstat(file.fileno())):
            link.unlink()
            return None
        flush_folder(link.parent)
        return Shared(file=link.name, size_bytes=size_bytes)

    def open(self, shared: Shared) -> BinaryIO:
        return self.path(shared.file).open("rb")

    def path(self, name: str) -> Path:
        """In one of 256 folders, so that none grows too large."""
        return self.folder / name[:2] / name

    def free(self, shared: Shared | None) -> None:
        """Remove a link that no file refers to. What cannot be removed now is collected later."""
        if shared is not None:
            self._hold.keep(self.path(shared.file))
            with suppress(OSError):
                self.path(shared.file).unlink()

    def links(self, shards: Iterable[str]) -> Iterator[tuple[Path, str, str]]:
        """The links in some of the folders, the name of the object's file that each was made for, and of the draft."""
        for shard in shards:
            for link in self.folder.glob(f"{shard}/*"):
                name, _, draft = link.name.partition("-")
                yield link, name, draft
