"""What a server answers and tells of a drop session, as far as the command reads it."""

from typing import Annotated, TypeAlias

import msgspec

# Ids become parts of paths and of what is computed, so that nothing else may come in their place.
Id: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{32}\Z")]
Name: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"\A[a-z]+(-[a-z]+)*-[0-9]+\Z")]


class Opened(msgspec.Struct, frozen=True):
    """A session that we opened; `token` proves to the server which member we are."""

    session_id: Id
    name: Name
    token: str
    link_base: str


class Joined(msgspec.Struct, frozen=True):
    """A session that we came into."""

    session_id: Id
    name: Name
    token: str


class Named(msgspec.Struct, frozen=True):
    """The session behind a name."""

    session_id: Id


class MemberView(msgspec.Struct, frozen=True):
    """Somebody in the session; who they are is sealed."""

    member_id: Id
    sealed: str
    here: bool
    joined_at: str


class FileView(msgspec.Struct, frozen=True):
    """Something announced; what it is is sealed."""

    file_id: Id
    owner_id: Id
    sealed: str


class AcknowledgedView(msgspec.Struct, frozen=True):
    """The owner's yes to a request."""

    public_key: str
    sealed: str
    chunks: int | None = None
    bytes: int | None = None


class RequestView(msgspec.Struct, frozen=True):
    """Somebody wants a file; `chunks` is how many the receiver says it has written."""

    request_id: Id
    file_id: Id
    receiver_id: Id
    owner_id: Id
    public_key: str
    sealed: str
    acknowledged: AcknowledgedView | None = None
    chunks: int = 0
    is_flowing: bool = False


class ReceiptView(msgspec.Struct, frozen=True):
    """A receiver has everything of a request to us, and proves it by the receipt."""

    request_id: Id
    receipt: str


class SessionView(msgspec.Struct, frozen=True):
    """All that a server knows of a session; `receipts` are for what we have handed over, however long ago."""

    session_id: Id
    name: str
    host_id: Id
    door_id: Id | None
    created_at: str
    members: list[MemberView]
    files: list[FileView]
    requests: list[RequestView]
    receipts: list[ReceiptView]


class Hello(msgspec.Struct, frozen=True, tag="hello"):
    """From here on nothing is missed."""


class Resync(msgspec.Struct, frozen=True, tag="resync"):
    """Something may have been missed."""


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


Happened: TypeAlias = (
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
TOLD: msgspec.json.Decoder[Hello | Resync | Happened] = msgspec.json.Decoder(Hello | Resync | Happened)
