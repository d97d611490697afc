"""The websocket on which a visitor of a living link follows what happens to the thing."""

from typing import TYPE_CHECKING

from starlette.datastructures import QueryParams

from satchel.edge.api.endpoints import Router
from satchel.edge.http.request_context import client_of
from satchel.edge.live.listeners import Listener
from satchel.edge.live.live_sockets import LiveSockets
from satchel.features.links.service import link_contents, link_enter
from satchel.features.links.service.context import Links
from satchel.features.links.service.link_change import ending_channel
from satchel.features.links.service.link_enter import Visitor

if TYPE_CHECKING:
    from starlette.types import Scope


class Visitors:
    """Visitors of links, by their pass. Whoever has an account is a visitor here, too."""

    def __init__(self, links: Links) -> None:
        self._links = links

    async def admit(self, scope: "Scope") -> Listener:
        client, shown = client_of(scope), QueryParams(scope["query_string"]).get("pass", "")
        visitor = Visitor(person_id=None, address=client.address, agent=client.user_agent, is_robot=False)
        visit = await link_enter.let_in(self._links, scope["path_params"]["token"], visitor, shown)
        follows = await link_contents.followed_by(self._links, visit)
        return Listener(visit.visitor_id, ending_channel(visit.link.link_id), follows=follows)


def routes(links: Links, live: LiveSockets) -> Router:
    router = Router("open links")
    router.websocket("/open/{token}/live", live.open_to(Visitors(links)))
    return router
