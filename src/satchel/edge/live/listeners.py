"""Who may listen on a live connection: what the sockets need to know of a person, however these prove who they are."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from satchel.edge.api.identity import Identity
from satchel.edge.http.callers import Guest, Member, admit
from satchel.edge.http.request_context import context_of
from satchel.live import session_channel

if TYPE_CHECKING:
    from starlette.types import Scope


@dataclass(frozen=True, slots=True)
class Listener:
    """Somebody who may listen until something is said on the channel `ending`."""

    person_id: str
    ending: str | None = None
    # Which of the protocols that the client offers is spoken, where tokens are shown as one of them.
    subprotocol: str | None = None


class Listeners(Protocol):
    """A way to prove who one is."""

    async def admit(self, scope: "Scope") -> Listener:
        """Who asks to listen; raises what they are refused with. Nothing that was found out before is believed."""
        ...


class SignedIn:
    """Members and guests, by their tokens or cookies."""

    def __init__(self, identity: Identity) -> None:
        self._identity = identity

    async def admit(self, scope: "Scope") -> Listener:
        caller = await self._identity.identify(scope)
        context_of(scope).caller = caller
        admit(caller, (Guest, Member))
        assert isinstance(caller, Guest | Member)
        if isinstance(caller, Guest):
            return Listener(caller.id)
        return Listener(caller.user_id, session_channel(caller.session_id))
