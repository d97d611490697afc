"""A drop over HTTP, one file per subject."""

from satchel.edge.api.addresses import Addresses
from satchel.edge.api.endpoints import Router
from satchel.edge.live.live_sockets import LiveSockets
from satchel.features.drop.relay.relay import Relay
from satchel.features.drop.routes import drop_door, drop_files, drop_live, drop_requests, drop_sessions, drop_streams
from satchel.features.drop.service.context import Drop

__all__ = ["routes"]


def routes(drop: Drop, relay: Relay, sockets: LiveSockets, addresses: Addresses) -> list[Router]:
    return [
        drop_sessions.routes(drop, addresses),
        drop_door.routes(drop),
        drop_files.routes(drop),
        drop_requests.routes(drop),
        drop_streams.routes(drop, relay),
        drop_live.routes(drop, sockets),
    ]
