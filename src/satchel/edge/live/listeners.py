"""Who may listen on a live connection, by whatever means they prove who they are."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from satchel.edge.api.identity import Identity
from satchel.edge.http.callers import Guest, Member, admit
from satchel.edge.http.request_context import context_of
from satchel.kernel.linked import Followed
from satchel.live import person_channel, session_channel

if TYPE_CHECKING:
    from starlette.types import Scope


@dataclass(frozen=True, slots=True)
class Listener:
    """Somebody who may listen until a message comes on the channel `ending`."""

    person_id: str
    ending: str | None = None
    # The subprotocol to accept, where clients send their token as one.
    subprotocol: str | None = None
    # What a visitor follows instead of a channel of their own. They are nobody, so nobody sees them come.
    follows: Followed | None = None

    @property
    def channel(self) -> str:
        return person_channel(self.person_id) if self.follows is None else self.follows.channel


class Listeners(Protocol):
    """A way to prove identity."""

    async def admit(self, scope: "Scope") -> Listener:
        """Who asks to listen; raises the refusal. What an earlier check found may be out of date, so it is not used."""
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
