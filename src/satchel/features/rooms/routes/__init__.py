"""Rooms over HTTP, one file per subject; and the place where uploads to them arrive."""

from satchel.edge.api.addresses import Addresses
from satchel.edge.api.endpoints import Router
from satchel.features.rooms.routes import chat, room_contents, room_files, room_people, rooms
from satchel.features.rooms.routes.room_uploads import RoomDestination
from satchel.features.rooms.service.context import Rooms

__all__ = ["RoomDestination", "routes"]


def routes(context: Rooms, addresses: Addresses) -> list[Router]:
    return [
        rooms.routes(context, addresses),
        room_people.routes(context, addresses),
        chat.routes(context),
        room_files.routes(context),
        room_contents.routes(context),
    ]
