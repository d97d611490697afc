"""Links over HTTP: for owners and for visitors."""

from satchel.edge.api.addresses import Addresses
from satchel.edge.api.endpoints import Router
from satchel.edge.live.live_sockets import LiveSockets
from satchel.features.links.routes import link_contents, link_live, link_open, link_previews, links
from satchel.features.links.routes.link_uploads import LinkDestination
from satchel.features.links.service.context import Links

__all__ = ["LinkDestination", "routes"]


def routes(context: Links, addresses: Addresses, live: LiveSockets) -> list[Router]:
    return [
        links.routes(context, addresses),
        link_open.routes(context),
        link_contents.routes(context),
        link_live.routes(context, live),
        link_previews.routes(context),
    ]
