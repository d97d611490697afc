"""A file on its way from one slice to another, so that shelves, rooms and transfers speak of it in the same words."""

from dataclasses import dataclass

from satchel.kernel.events import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedFile:
    """What it is called where it comes from, what it is, and where its bytes stand; `folder` is "a/b", or empty."""

    file_id: str
    name: str
    folder: str
    key: str
    size_bytes: int
    sha256: str
    content_type: str
    # In a room: the only one, besides who brought it, who may see it.
    to: str | None = None


@dataclass(frozen=True, slots=True)
class HandedFileOpened(Event):
    """Somebody looked at, downloaded or changed a file on their shelf that came to them by a transfer."""

    user_id: str
    transfer_id: str
