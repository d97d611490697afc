"""Links over HTTP: for owners and for visitors."""

from satchel.edge.api.addresses import Addresses
from satchel.edge.api.endpoints import Router
from satchel.features.links.routes import link_contents, link_open, link_previews, links
from satchel.features.links.routes.link_uploads import LinkDestination
from satchel.features.links.service.context import Links

__all__ = ["LinkDestination", "routes"]


def routes(context: Links, public_url: str = "") -> list[Router]:
    """`public_url` is the address of this server in links. Without it, links use the address of the request."""
    return [
        links.routes(context, Addresses(public_url)),
        link_open.routes(context),
        link_contents.routes(context),
        link_previews.routes(context),
    ]
