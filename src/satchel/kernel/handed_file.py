"""A file that one slice passes to another: the type that shelf, rooms, transfers and albums share."""

from collections.abc import Sequence
from dataclasses import dataclass

from satchel.kernel.events import Event
from satchel.kernel.patches import Patch


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedFile:
    """The file's name at its origin, its type, and where its bytes are stored. `folder` is "a/b", or empty."""

    file_id: str
    name: str
    folder: str
    key: str
    size_bytes: int
    sha256: str
    content_type: str
    # In a room: the only person, besides the one who added it, who may see it.
    to: str | None = None
    # When it was changed at its origin, and whether it was executable there.
    modified_at: str = ""
    executable: bool = False
    # The transfer by which it came to whoever hands it on.
    came_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchedFile(HandedFile):
    """A file whose bytes at its `key` get these patches. Its hash is that of the result."""

    alterations: Sequence[Patch] = ()


@dataclass(frozen=True, slots=True)
class HandedFileOpened(Event):
    """Somebody looked at, downloaded or changed a file on their shelf that came to them by a transfer."""

    user_id: str
    transfer_id: str


@dataclass(frozen=True, slots=True)
class ShelfFolderUsed(Event):
    """Somebody renamed, moved, restored or linked a folder of their shelf, with what has come to them in there."""

    user_id: str
    folder_id: str
