"""A drop over HTTP, one file per subject."""

from satchel.edge.api.endpoints import Router
from satchel.edge.live.live_sockets import LiveSockets
from satchel.features.drop.relay.relay import Relay
from satchel.features.drop.routes import door, files, live, requests, sessions, streams
from satchel.features.drop.routes.views import Addresses
from satchel.features.drop.service.context import Drop

__all__ = ["routes"]


def routes(drop: Drop, relay: Relay, sockets: LiveSockets, public_url: str = "") -> list[Router]:
    """`public_url` is where people reach this server; else links lead to where each request came."""
    return [
        sessions.routes(drop, Addresses(public_url)),
        door.routes(drop),
        files.routes(drop),
        requests.routes(drop),
        streams.routes(drop, relay),
        live.routes(drop, sockets),
    ]
