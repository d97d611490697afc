"""What clients send and get, and how a member's token is sent."""

from base64 import urlsafe_b64decode
from typing import TYPE_CHECKING, Annotated

import msgspec
from starlette.requests import Request

from satchel.edge.api.endpoints import Body
from satchel.edge.http.request_context import client_of
from satchel.features.drop.model import (
    MAX_SEALED_BYTES,
    MAX_SEALED_INTRODUCTION_BYTES,
    MAX_SEALED_REQUEST_BYTES,
    Declining,
    Refusal,
    SessionId,
)
from satchel.features.drop.service.context import Caller, Drop, missing
from satchel.features.drop.service.member_token import recognise
from satchel.stores.patterns.throttle import network_of

if TYPE_CHECKING:
    from starlette.types import Scope

SUBPROTOCOL = "satchel.drop.1"

Id = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{32}$", max_length=32)]
# base64url without `=`, of 32 bytes, of 64, and of what members seal for each other.
Key = Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9_-]{43}$", max_length=43)]
Tag = Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9_-]{86}$", max_length=86)]
Sealed = Annotated[str, msgspec.Meta(pattern="^[A-Za-z0-9_-]+$", max_length=-(-MAX_SEALED_BYTES * 4 // 3))]
SealedBriefly = Annotated[
    str, msgspec.Meta(pattern="^[A-Za-z0-9_-]+$", max_length=-(-MAX_SEALED_REQUEST_BYTES * 4 // 3))
]
Introduction = Annotated[
    str, msgspec.Meta(pattern="^[A-Za-z0-9_-]+$", max_length=-(-MAX_SEALED_INTRODUCTION_BYTES * 4 // 3))
]
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class NewSession(Body, frozen=True, kw_only=True):
    """A session to open. `admission` is the SHA-256 of what a joining member sends."""

    session_id: Id
    admission: Key
    member_id: Id
    sealed: Introduction


class SessionOpened(msgspec.Struct, frozen=True, kw_only=True):
    """The opened session. The link is `link_base`, `#` and the secret, which only clients know."""

    session_id: str
    name: str
    token: str
    link_base: str


class NewMember(Body, frozen=True, kw_only=True):
    """A member who joins with the admission."""

    member_id: Id
    admission: Key
    sealed: Introduction


class SessionJoined(msgspec.Struct, frozen=True, kw_only=True):
    """The joined session."""

    session_id: str
    name: str
    token: str


class NameView(msgspec.Struct, frozen=True, kw_only=True):
    """The session that has a name."""

    session_id: str


class NewKnock(Body, frozen=True, kw_only=True):
    """A guest's public value."""

    knock_id: Id
    suite: Annotated[int, msgspec.Meta(ge=0, le=255)]
    share: Key


class Share(Body, frozen=True, kw_only=True):
    """The door's public value."""

    share: Key


class GuestTag(Body, frozen=True, kw_only=True):
    """A guest's proof of knowing the code."""

    tag: Tag


class DoorVerdict(Body, frozen=True, kw_only=True):
    """The door's proof of knowing the code, with the encrypted secret; or why the guest is refused."""

    tag: Tag | None = None
    sealed: Sealed | None = None
    refused: Refusal | None = None


class VerdictView(msgspec.Struct, frozen=True, kw_only=True):
    """The door's proof, and the secret, encrypted so that only the right code opens it."""

    tag: str
    sealed: str


class ShareView(msgspec.Struct, frozen=True, kw_only=True):
    """The door's public value."""

    share: str


class NewFile(Body, frozen=True, kw_only=True):
    """A file to announce."""

    file_id: Id
    sealed: Sealed


class NewFiles(Body, frozen=True, kw_only=True):
    """Files to announce."""

    files: Annotated[list[NewFile], msgspec.Meta(min_length=1, max_length=1000)]


class NewRequest(Body, frozen=True, kw_only=True):
    """A file to request."""

    request_id: Id
    file_id: Id
    public_key: Key
    sealed: SealedBriefly


class Acknowledgement(Body, frozen=True, kw_only=True):
    """The owner's acknowledgement: `chunks` and `bytes` of the encrypted stream, null if not known."""

    public_key: Key
    sealed: SealedBriefly
    chunks: Count | None
    bytes: Count | None


class Decline(Body, frozen=True, kw_only=True):
    """The owner's no."""

    reason: Declining


class Progress(Body, frozen=True, kw_only=True):
    """How many chunks the receiver has written."""

    chunks: Count


class Done(Body, frozen=True, kw_only=True):
    """The receiver's proof of having everything."""

    receipt: Key


def network(request: Request) -> str:
    return network_of(client_of(request.scope).address)


def token_of(scope: "Scope") -> str:
    """The token of a member: in a header, or as a subprotocol where browsers cannot set one."""
    if scope["type"] == "websocket":
        offered: list[str] = scope.get("subprotocols") or []
        if SUBPROTOCOL in offered:
            return next((each for each in offered if each != SUBPROTOCOL), "")
    for name, value in scope["headers"]:
        if name == b"authorization":
            scheme, _, token = value.decode("latin-1").partition(" ")
            return token.strip() if scheme.lower() == "bearer" else ""
    return ""


async def count_call(drop: Drop, request: Request) -> None:
    await drop.limits.count_call(network(request))


async def caller_of(drop: Drop, session_id: str, request: Request, *, counted: bool = True) -> Caller:
    """The calling member. For everybody else the session does not exist."""
    if counted:
        await count_call(drop, request)
    token = token_of(request.scope)
    if not token:
        raise missing()
    return await recognise(drop, SessionId(session_id), token)


def bytes_of(written: str) -> bytes:
    return urlsafe_b64decode(written + "=" * (-len(written) % 4))
