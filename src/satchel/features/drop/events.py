"""The live events of drop sessions."""

from satchel.features.drop.model import Closing, Declining, FileView, MemberView, RequestView
from satchel.live import LiveEvent


class MemberChanged(LiveEvent, tag="drop.member", frozen=True):
    """A member has joined, reconnected or disconnected."""

    member: MemberView


class MemberLeft(LiveEvent, tag="drop.left", frozen=True):
    """A member has left the session. From now on `host_id` is the host."""

    member_id: str
    host_id: str


class FilesAnnounced(LiveEvent, tag="drop.files", frozen=True):
    """Files were announced, or described again."""

    files: list[FileView]


class FilesWithdrawn(LiveEvent, tag="drop.withdrawn", frozen=True):
    """Files were withdrawn."""

    file_ids: list[str]


class DoorChanged(LiveEvent, tag="drop.door", frozen=True):
    """Another member shows the code, or nobody does."""

    door_id: str | None


class LockChanged(LiveEvent, tag="drop.lock", frozen=True):
    """From now on nobody else may join, or people may again."""

    is_locked: bool


class Requested(LiveEvent, tag="drop.request", frozen=True):
    """A file was requested, or a request was acknowledged."""

    request: RequestView


class RequestDeclined(LiveEvent, tag="drop.declined", frozen=True):
    """The owner declined a request."""

    request_id: str
    reason: Declining


class RequestProgressed(LiveEvent, tag="drop.progress", frozen=True):
    """The receiver has written so many chunks."""

    request_id: str
    chunks: int


class RequestDone(LiveEvent, tag="drop.done", frozen=True):
    """The receiver has everything, with a proof for the owner."""

    request_id: str
    receipt: str


class RequestEnded(LiveEvent, tag="drop.ended", frozen=True):
    """A request was ended by either side, or replaced by another."""

    request_id: str


class SessionClosed(LiveEvent, tag="drop.closed", frozen=True):
    """The session has ended for you: it was closed, you were removed, or you left."""

    reason: Closing


class Knocked(LiveEvent, tag="drop.knock", frozen=True):
    """For the door: a guest knocks with the code."""

    knock_id: str
    suite: int
    share: str


class Tagged(LiveEvent, tag="drop.tag", frozen=True):
    """For the door: a guest proves that they know the code."""

    knock_id: str
    tag: str


LIVE_EVENTS = (
    MemberChanged,
    MemberLeft,
    FilesAnnounced,
    FilesWithdrawn,
    DoorChanged,
    LockChanged,
    Requested,
    RequestDeclined,
    RequestProgressed,
    RequestDone,
    RequestEnded,
    SessionClosed,
    Knocked,
    Tagged,
)
