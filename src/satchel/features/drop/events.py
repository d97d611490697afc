"""What members of a drop session are told while they are connected."""

from satchel.features.drop.model import Closing, Declining, FileView, MemberView, RequestView
from satchel.live import LiveEvent


class MemberChanged(LiveEvent, tag="drop.member", frozen=True):
    """Somebody has joined, come back or gone away."""

    member: MemberView


class MemberLeft(LiveEvent, tag="drop.left", frozen=True):
    """Somebody is no longer in the session; from now on `host_id` is the host."""

    member_id: str
    host_id: str


class FilesAnnounced(LiveEvent, tag="drop.files", frozen=True):
    """Files can be had, or are described anew."""

    files: list[FileView]


class FilesWithdrawn(LiveEvent, tag="drop.withdrawn", frozen=True):
    """Files can no longer be had."""

    file_ids: list[str]


class DoorChanged(LiveEvent, tag="drop.door", frozen=True):
    """Somebody else lets people in by a code, or nobody."""

    door_id: str | None


class Requested(LiveEvent, tag="drop.request", frozen=True):
    """Somebody asked for a file, or was told yes."""

    request: RequestView


class RequestDeclined(LiveEvent, tag="drop.declined", frozen=True):
    """The owner said no."""

    request_id: str
    reason: Declining


class RequestProgressed(LiveEvent, tag="drop.progress", frozen=True):
    """The receiver has written so many chunks."""

    request_id: str
    chunks: int


class RequestDone(LiveEvent, tag="drop.done", frozen=True):
    """The receiver has everything, and proves it to the owner."""

    request_id: str
    receipt: str


class RequestEnded(LiveEvent, tag="drop.ended", frozen=True):
    """A request was given up by either side, or another has taken its place."""

    request_id: str


class SessionClosed(LiveEvent, tag="drop.closed", frozen=True):
    """The session is over for you: it was closed, you were put out, or you left."""

    reason: Closing


class Knocked(LiveEvent, tag="drop.knock", frozen=True):
    """For the door: a guest says they know the code."""

    knock_id: str
    suite: int
    share: str


class Tagged(LiveEvent, tag="drop.tag", frozen=True):
    """For the door: a guest proves it."""

    knock_id: str
    tag: str


LIVE_EVENTS = (
    MemberChanged,
    MemberLeft,
    FilesAnnounced,
    FilesWithdrawn,
    DoorChanged,
    Requested,
    RequestDeclined,
    RequestProgressed,
    RequestDone,
    RequestEnded,
    SessionClosed,
    Knocked,
    Tagged,
)
