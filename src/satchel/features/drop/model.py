"""Plain types of drop sessions, their limits, and the errors of this slice."""

import re
from datetime import timedelta
from typing import Literal, NewType

import msgspec

from satchel.kernel.errors import Conflict, Forbidden, Gone, NotFound, TooLarge

# All of these but the name are drawn by clients: 16 random bytes as 32 hexadecimal digits.
SessionId = NewType("SessionId", str)
MemberId = NewType("MemberId", str)
FileId = NewType("FileId", str)
RequestId = NewType("RequestId", str)
KnockId = NewType("KnockId", str)
# Two words and a number, by which people find a session.
SessionName = NewType("SessionName", str)

Declining = Literal["declined", "changed", "gone"]
Refusal = Literal["code-wrong", "code-dead", "versions-differ"]
Closing = Literal["closed", "removed", "left"]

MAX_MEMBERS = 100
MAX_FILES = 1000
MAX_REQUESTS_OF_ONE = 64
# Of one owner, for the time while they are away.
MAX_RECEIPTS = 200
MAX_SEALED_BYTES = 16 * 1024
# Of what is sealed for a request, of which there can be thousands in a session.
MAX_SEALED_REQUEST_BYTES = 1024
# Of a name and a device.
MAX_SEALED_INTRODUCTION_BYTES = 2 * 1024
# What the state of sessions takes in memory at most: of one session, of those that one network opened (an IPv4 address,
# a /64 of IPv6), of those from the /56 or /48 around it, of all. Without these bounds the numbers above multiply to
# gigabytes.
MAX_SESSION_BYTES = 8 * 1024**2
MAX_NETWORK_BYTES = 24 * 1024**2
MAX_WIDE_NETWORK_BYTES = 32 * 1024**2
# The last quarter of the server's is for networks that have not taken more than this.
MAX_SMALL_BYTES = 1024**2
MAX_SERVER_BYTES = 64 * 1024**2
# Of all announcements of a session together: strangers must not fill the store that everybody shares.
MAX_ANNOUNCED_BYTES = 2 * 1024 * 1024
# A session ends this long after the last call of any member. A member is removed after the same time.
LASTS = timedelta(hours=24)
# That is extended no more often than this, since it writes every key of the session. So keys live so much longer.
NOTED_EVERY = timedelta(minutes=10)
KEPT = LASTS + NOTED_EVERY
# How long the door has to answer a knock, and the guest to send their tag.
KNOCK_LASTS = timedelta(seconds=30)

_ID = re.compile(r"[0-9a-f]{32}")


class SessionUnknown(NotFound):
    """The session does not exist, or the caller is not in it. The two look alike on purpose."""

    slug = "session-unknown"
    title = "Drop session not found"


class SessionExists(Conflict):
    """A session with this id is already open. Draw another id."""

    slug = "session-exists"
    title = "This session already exists"


class SessionFull(Conflict):
    """The session has reached its limit of members."""

    slug = "session-full"
    title = "This session is full"


class SessionLocked(Conflict):
    """The host lets nobody else join. Who is in the session stays."""

    slug = "session-locked"
    title = "Nobody else may join this session"


class TooManySessions(Conflict):
    """One network has reached its limit of open sessions."""

    slug = "too-many-sessions"
    title = "Too many sessions are open"


class AdmissionRefused(Forbidden):
    """The admission does not match this session: the link is incomplete or belongs to another session."""

    slug = "admission-refused"
    title = "This link does not open the session"


class DoorClosed(Conflict):
    """No member who shows a code is connected."""

    slug = "door-closed"
    title = "Nobody is showing a code"


class DoorBusy(Conflict):
    """The door is answering somebody else's knock. Retry in a moment."""

    slug = "door-busy"
    title = "Somebody else is joining"
    retry_after = 1


class CodeWrong(Forbidden):
    """The code is not the one that the door shows. After a few wrong ones it stops working."""

    slug = "code-wrong"
    title = "This code is wrong"


class CodeDead(Gone):
    """The code was wrong too often and no longer works. The door shows a new one."""

    slug = "code-dead"
    title = "This code no longer works"


class VersionsDiffer(Conflict):
    """The guest's program and the door's speak different versions of the protocol. The code was not tried."""

    slug = "versions-differ"
    title = "The two programs speak different versions"


class KnockUnanswered(Conflict):
    """The door did not answer in time. The member who shows the code may have disconnected."""

    slug = "knock-unanswered"
    title = "Nobody answered"


class FileUnknown(NotFound):
    """The file was never announced, or was withdrawn."""

    slug = "file-unknown"
    title = "This file is no longer offered"


class OwnFile(Conflict):
    """The caller announced this file, and so has it already."""

    slug = "own-file"
    title = "This is your own file"


class TooManyFiles(Conflict):
    """The session has reached its limit of announced files or of announced bytes. Nothing was changed."""

    slug = "too-many-files"
    title = "Too many files are announced"


class StateFull(TooLarge):
    """What members have announced and requested takes as much memory as it may: in this session, of this network, or
    on this server. Withdraw something, or wait until requests have ended."""

    slug = "drop-state-full"
    title = "There is no room for more in this session"


class RequestUnknown(NotFound):
    """The request does not exist, has ended, or is not the caller's."""

    slug = "request-unknown"
    title = "This request has ended"


class TooManyRequestsOpen(Conflict):
    """One member has reached the limit of open requests."""

    slug = "too-many-requests-open"
    title = "Too many requests are open"


class MemberView(msgspec.Struct, frozen=True, kw_only=True):
    """A member. Their introduction is encrypted. `here` if they are connected."""

    member_id: str
    sealed: str
    here: bool
    joined_at: str


class FileView(msgspec.Struct, frozen=True, kw_only=True):
    """An announced file. Its name, size and kind are encrypted."""

    file_id: str
    owner_id: str
    sealed: str


class AcknowledgementView(msgspec.Struct, frozen=True, kw_only=True):
    """The owner's acknowledgement: `chunks` and `bytes` of the encrypted stream, null if the owner does not know."""

    public_key: str
    sealed: str
    chunks: int | None
    bytes: int | None


class RequestView(msgspec.Struct, frozen=True, kw_only=True):
    """A request for a file. `chunks` have arrived so far, `is_flowing` while the receiver gets more."""

    request_id: str
    file_id: str
    receiver_id: str
    owner_id: str
    public_key: str
    sealed: str
    acknowledged: AcknowledgementView | None
    chunks: int
    is_flowing: bool


class ReceiptView(msgspec.Struct, frozen=True, kw_only=True):
    """The proof of a receiver to the owner that a request was completed."""

    request_id: str
    receipt: str


class SessionView(msgspec.Struct, frozen=True, kw_only=True):
    """A session as its members see it. `door_id` is the member who shows the code, `receipts` are the latest for what
    the caller has sent. While it `is_locked`, nobody else may join."""

    session_id: str
    name: str
    host_id: str
    door_id: str | None
    is_locked: bool
    created_at: str
    members: list[MemberView]
    files: list[FileView]
    requests: list[RequestView]
    receipts: list[ReceiptView]


def is_id(written: str) -> bool:
    return _ID.fullmatch(written) is not None
