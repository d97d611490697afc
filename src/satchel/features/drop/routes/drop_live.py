"""The websocket with the live events of a session."""

from typing import TYPE_CHECKING

from satchel.edge.api.endpoints import Router
from satchel.edge.live.listeners import Listener
from satchel.edge.live.live_sockets import LiveSockets
from satchel.features.drop.model import SessionId
from satchel.features.drop.routes.views import SUBPROTOCOL, token_of
from satchel.features.drop.service.context import Drop
from satchel.features.drop.service.member_token import member_of
from satchel.live import session_channel

if TYPE_CHECKING:
    from starlette.types import Scope


class Members:
    """Members of drop sessions, by their tokens."""

    def __init__(self, drop: Drop) -> None:
        self._drop = drop

    async def admit(self, scope: "Scope") -> Listener:
        session_id = SessionId(scope["path_params"]["session_id"])
        member_id = await member_of(self._drop, session_id, token_of(scope))
        offered = SUBPROTOCOL in (scope.get("subprotocols") or ())
        return Listener(member_id, session_channel(member_id), SUBPROTOCOL if offered else None)


def routes(drop: Drop, live: LiveSockets) -> Router:
    router = Router("drop")
    router.websocket("/drop/sessions/{session_id}/live", live.open_to(Members(drop)))
    return router
