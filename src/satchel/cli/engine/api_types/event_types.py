"""Events that a server tells through a websocket, as far as the command reads them; written by hand.

The OpenAPI document describes answers and not events. Unknown fields are ignored, and so are events of other types.
"""

from typing import TypeAlias

import msgspec

from satchel.cli.engine.api_types.drop_types import FileView, Id, MemberView, RequestView


class LiveEvent(msgspec.Struct, frozen=True):
    """An event of the account's live connection; which of the fields it has depends on its type."""

    type: str
    room_id: str = ""
    message: msgspec.Raw = msgspec.Raw()
    file: msgspec.Raw = msgspec.Raw()
    file_id: str = ""
    reason: str = ""
    transfer_id: str = ""

    @property
    def asks_for_reload(self) -> bool:
        """At the beginning, after a lost connection, and when the server may have dropped an event."""
        return self.type in ("hello", "resync")


class Hello(msgspec.Struct, frozen=True, tag="hello"):
    """The connection is open; every later event will be told."""


class Resync(msgspec.Struct, frozen=True, tag="resync"):
    """The server may have dropped an event."""


class Came(msgspec.Struct, frozen=True, tag="drop.member"):
    """Somebody came, or is here again, or has gone for a while."""

    member: MemberView


class Left(msgspec.Struct, frozen=True, tag="drop.left"):
    """Somebody left for good; from now on `host_id` is the host."""

    member_id: Id
    host_id: Id


class FilesAnnounced(msgspec.Struct, frozen=True, tag="drop.files"):
    """Somebody announced files."""

    files: list[FileView]


class FilesWithdrawn(msgspec.Struct, frozen=True, tag="drop.withdrawn"):
    """Files can no longer be had."""

    file_ids: list[Id]


class DoorChanged(msgspec.Struct, frozen=True, tag="drop.door"):
    """Somebody else, or nobody, answers those who knock."""

    door_id: Id | None


class Requested(msgspec.Struct, frozen=True, tag="drop.request"):
    """A file is asked for, or the owner said yes."""

    request: RequestView


class Declined(msgspec.Struct, frozen=True, tag="drop.declined"):
    """The owner said no."""

    request_id: Id
    reason: str


class Progressed(msgspec.Struct, frozen=True, tag="drop.progress"):
    """The receiver has written so many chunks."""

    request_id: Id
    chunks: int


class Done(msgspec.Struct, frozen=True, tag="drop.done"):
    """The receiver has everything, and proves it by the receipt."""

    request_id: Id
    receipt: str


class Ended(msgspec.Struct, frozen=True, tag="drop.ended"):
    """One side gave a request up."""

    request_id: Id


class Closed(msgspec.Struct, frozen=True, tag="drop.closed"):
    """The session is over for us."""

    reason: str = ""


class Knocked(msgspec.Struct, frozen=True, tag="drop.knock"):
    """Somebody wants to come in by the spoken code; told to the door alone."""

    knock_id: Id
    suite: int
    share: str


class Tagged(msgspec.Struct, frozen=True, tag="drop.tag"):
    """Whoever knocked claims to know the code; told to the door alone."""

    knock_id: Id
    tag: str


DropEvent: TypeAlias = (
    Came
    | Left
    | FilesAnnounced
    | FilesWithdrawn
    | DoorChanged
    | Requested
    | Declined
    | Progressed
    | Done
    | Ended
    | Closed
    | Knocked
    | Tagged
)
DROP_EVENTS: msgspec.json.Decoder[Hello | Resync | DropEvent] = msgspec.json.Decoder(Hello | Resync | DropEvent)
