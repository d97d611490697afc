"""The context of a request while it is being answered: its id, its route, its caller and its client."""

import itertools
import re
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from satchel.edge.http.callers import Caller
from satchel.edge.http.proxies import LOOPBACK, Networks, came_by_unknown_proxy

if TYPE_CHECKING:
    from starlette.types import Scope

THIS_MACHINE = Networks(LOOPBACK)
_KEY = "satchel.request_context"
_SANE_ID = re.compile(rb"[A-Za-z0-9._-]{8,64}")


class Client(msgspec.Struct, frozen=True):
    """Where a request comes from. `is_here` if it is from this very machine, and no proxy has passed it on."""

    address: str
    user_agent: str
    https: bool
    is_here: bool = False


class RequestContext:
    """One per request or websocket, kept in its scope. Later steps fill it in; log and problems read it."""

    __slots__ = ("caller", "headers", "id", "route")

    def __init__(self, request_id: str) -> None:
        self.id = request_id
        # The template, never the path itself: paths can hold the secret of a link.
        self.route = ""
        self.caller: Caller | None = None
        # Headers of every answer of the route, refusals included.
        self.headers: Sequence[tuple[bytes, bytes]] = ()


# An id says which server process had the request, and which of its requests it was. It has to be unique, not secret.
_PROCESS = secrets.token_hex(8)
_numbers = itertools.count()


def new_request_id() -> str:
    return f"{_PROCESS}{next(_numbers):08x}"


def begin(scope: "Scope", proposed_id: bytes | None = None) -> RequestContext:
    """Start the context of a scope. An id that a trusted proxy proposes is kept if it is harmless in a log."""
    if proposed_id is not None and _SANE_ID.fullmatch(proposed_id):
        context = RequestContext(proposed_id.decode("ascii"))
    else:
        context = RequestContext(new_request_id())
    scope[_KEY] = context
    return context


def context_of(scope: "Scope") -> RequestContext:
    found: Any = scope.get(_KEY)
    return found if found is not None else begin(scope)


def header(scope: "Scope", name: bytes) -> bytes | None:
    """The first header of that (lower-case) name."""
    for key, value in scope["headers"]:
        if key == name:
            return value
    return None


def client_of(scope: "Scope") -> Client:
    user_agent = b""
    for key, value in scope["headers"]:
        if key == b"user-agent":
            user_agent = value
    peer = scope.get("client")
    return Client(
        address=peer[0] if peer else "",
        # Long enough to tell devices apart, short enough to store with a session.
        user_agent=user_agent[:400].decode("latin-1"),
        https=scope["scheme"] in ("https", "wss"),
        is_here=peer is not None and THIS_MACHINE.hold(peer[0]) and not came_by_unknown_proxy(scope),
    )
