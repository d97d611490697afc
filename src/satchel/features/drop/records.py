"""What is stored of a drop session, all of it short-lived: every key of the ephemeral store, declared once.

The keys are the seed's but for the last few, which are ours. Where the seed has a file's name, there is the file's id;
where it has a user, the id of a member (decision 12 says what else has changed, and why). Every key expires, so what
a crash leaves is gone within a day.
"""

from collections.abc import Mapping

import msgspec

from satchel.features.drop.model import FileId, KnockId, MemberId, RequestId, SessionId, SessionName
from satchel.stores.schema import EphemeralKey, EphemeralKind


def _key(
    pattern: str, kind: EphemeralKind, about: str, *, durable: bool = True, essential: bool = False
) -> EphemeralKey:
    """A restart forgets neither sessions nor requests; only what flows, and what is counted by the second."""
    return EphemeralKey(pattern, kind, owner="drop", about=about, durable=durable, essential=essential)


SESSION = _key(
    "session:{session_id}",
    "hash",
    "`name`; `code`: SHA-256 of the admission; host, door, times, lock",
    essential=True,
)
NAME = EphemeralKey(
    "session:{name}", "value", owner="drop", about="Name of a session → its id", durable=True, apart_from=(SESSION,)
)
FILES = _key("files:{session_id}", "set", "Ids of the files that are announced in a session")
FILE = _key("files:{session_id}:{file_id}", "hash", "`name`: the sealed announcement, size included; `owner.id`")
CREATED = _key("created.sessions:{network}", "set", "Ids of sessions that were opened from a network")
ATTEMPTS = _key(
    "access.attempts:{session_id}:{network}", "value", "How often a network failed to join; expires soon", durable=False
)
CALLS = _key("calls", "hash", "Network → calls within this second", durable=False)
REQUESTED = _key("file.reqs:{session_id}", "set", "Ids of files that somebody has asked for")
REQUESTERS = _key("file.reqs:{session_id}:{file_id}", "set", "Members who have asked for a file")
REQUEST = _key(
    "file.req:{session_id}:{file_id}:{member_id}",
    "value",
    "`<request id>@<public key>` of the request that a member has open for a file",
)
ACKNOWLEDGED = _key(
    "file.req.ackn:{session_id}:{file_id}:{member_id}",
    "value",
    "Id of that request, once its owner has acknowledged it",
)
PARTIES = _key("file.req.users:{request_id}", "set", "Receiver and owner of a request")
SENDING = _key("file.reqs.sender:{member_id}", "set", "Ids of the requests that a member is asked to serve")
RECEIVING = _key("file.reqs.receiver:{member_id}", "set", "Ids of the requests that a member has made")
DETAILS = _key(
    "file.req.prep:{request_id}",
    "hash",
    "All of a request: `filename`, who, sealed texts; `public.key` and `amount.of.chunks` once acknowledged",
)
READY = _key("file.req.ready:{request_id}", "value", "That the receiver of a stream is connected", durable=False)
CHUNKS = _key(
    "file.req.chunks:{request_id}",
    "list",
    "`<nr>@@<bytes>` of a stream, at most 16, only between two servers",
    durable=False,
)
LAST_CHUNK = _key(
    "file.req.last.chunk:{request_id}", "value", "How many chunks the receiver has written", durable=False
)
MEMBERS = _key("members:{session_id}", "hash", "Member id → SHA-256 of the token, introduction, when they joined")
MEMBER = _key("member:{member_id}", "value", "The session that a member is in, so that no id is used twice")
SEEN = _key("seen:{session_id}", "hash", "Member id → time of their last call", essential=True)
KNOCK = _key(
    "knock:{session_id}",
    "value",
    "`<knock id>@<stage>` of the one knock that is open at the door of a session",
    durable=False,
)
RECEIPTS = _key(
    "file.req.receipts:{member_id}", "list", "`<request id>@<receipt>` of what was taken from a member, latest first"
)
OFFERS = _key(
    "file.req.offers:{request_id}",
    "list",
    "Segments of a stream that wait at other servers than its receiver",
    durable=False,
)
ANSWERS = _key(
    "file.req.answers:{offer_id}",
    "list",
    "What the receiver's server tells one of them: continue, or how it ended",
    durable=False,
)
SIZES = _key("drop.sizes:{session_id}", "hash", "Kind and id of a thing in a session → bytes that it takes")
TOTALS = _key(
    "drop.totals", "hash", "Session id → `<bytes>@<network>`: what it takes, and where it was opened", essential=True
)
PASSED = _key(
    "drop.passed:{network}:{day}",
    "value",
    "Bytes that a network has sent in a day, if there is a limit",
    durable=False,
)
EPHEMERAL_KEYS = (
    *(SESSION, NAME, FILES, FILE, CREATED, ATTEMPTS, CALLS, REQUESTED, REQUESTERS, REQUEST, ACKNOWLEDGED, PARTIES),
    *(SENDING, RECEIVING, DETAILS, READY, CHUNKS, LAST_CHUNK, MEMBERS, MEMBER, SEEN, KNOCK),
    *(RECEIPTS, OFFERS, ANSWERS, SIZES, TOTALS, PASSED),
)


class SessionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A session. `code` is the SHA-256 of the admission, `renewed_at` when the expiry of its keys was last extended.

    Since `locked_at`, nobody else may join.
    """

    session_id: SessionId
    name: SessionName
    code: str
    host_id: MemberId
    created_at: str
    renewed_at: str
    door_id: MemberId | None = None
    locked_at: str = ""


class MemberRow(msgspec.Struct, frozen=True, kw_only=True):
    """A member of a session."""

    token_sha256: str
    sealed: str
    joined_at: str


class AcknowledgementRow(msgspec.Struct, frozen=True, kw_only=True):
    """The owner's acknowledgement of a request."""

    public_key: str
    sealed: str
    chunks: int | None
    bytes: int | None


class RequestRow(msgspec.Struct, frozen=True, kw_only=True):
    """An open request."""

    request_id: RequestId
    session_id: SessionId
    file_id: FileId
    receiver_id: MemberId
    owner_id: MemberId
    public_key: str
    sealed: str
    acknowledged: AcknowledgementRow | None = None


encode_member = msgspec.json.Encoder().encode
decode_member = msgspec.json.Decoder(MemberRow).decode


def read_session(session_id: SessionId, fields: Mapping[str, bytes]) -> SessionRow | None:
    """None if the session does not exist. What a late change left behind does not count as a session."""
    if not fields.keys() >= {"name", "code", "host_id", "created_at", "renewed_at"}:
        return None
    texts = {name: value.decode() for name, value in fields.items() if value}
    return msgspec.convert({**texts, "session_id": session_id}, SessionRow)


def request_fields(row: RequestRow) -> dict[str, bytes]:
    return {
        "session_id": row.session_id.encode(),
        "filename": row.file_id.encode(),
        "receiver_id": row.receiver_id.encode(),
        "owner_id": row.owner_id.encode(),
        "receiver_public_key": row.public_key.encode(),
        "sealed": row.sealed.encode(),
    }


def acknowledgement_fields(row: AcknowledgementRow) -> dict[str, bytes]:
    return {
        "public.key": row.public_key.encode(),
        "sealed_acknowledgement": row.sealed.encode(),
        "amount.of.chunks": _number(row.chunks),
        "bytes": _number(row.bytes),
    }


def read_request(request_id: RequestId, fields: Mapping[str, bytes]) -> RequestRow | None:
    if not fields.keys() >= {"session_id", "filename", "receiver_id", "owner_id", "receiver_public_key", "sealed"}:
        return None
    texts = {name: value.decode() for name, value in fields.items()}
    acknowledged = None
    if "public.key" in texts:
        acknowledged = AcknowledgementRow(
            public_key=texts["public.key"],
            sealed=texts["sealed_acknowledgement"],
            chunks=int(texts["amount.of.chunks"]) if texts["amount.of.chunks"] else None,
            bytes=int(texts["bytes"]) if texts["bytes"] else None,
        )
    return RequestRow(
        request_id=request_id,
        session_id=SessionId(texts["session_id"]),
        file_id=FileId(texts["filename"]),
        receiver_id=MemberId(texts["receiver_id"]),
        owner_id=MemberId(texts["owner_id"]),
        public_key=texts["receiver_public_key"],
        sealed=texts["sealed"],
        acknowledged=acknowledged,
    )


def request_channel(request_id: RequestId) -> str:
    """The channel that says that a request has ended, so that its stream ends, too."""
    return f"drop-request:{request_id}"


def knock_channel(session_id: SessionId, knock_id: KnockId) -> str:
    """The channel on which the guest's call waits for the door's answer."""
    return f"drop-knock:{session_id}:{knock_id}"


def _number(value: int | None) -> bytes:
    return b"" if value is None else str(value).encode()
