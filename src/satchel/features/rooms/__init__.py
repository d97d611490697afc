"""People meet in a room by a code of five letters, with or without an account.

They see who is here, talk, and share files that whoever comes later still finds. When the room ends, everything in it
is gone.

One request, `POST /rooms/join`: the handler `join` in `routes/room_people.py` calls `service/room_join.py`. That looks
the code up, counts wrong ones (`limits.py`), and asks what keeps this person out. `service/membership.py` moves them
from the room they were in. `events.py` has what the others in the room are told.
"""

from datetime import timedelta

from satchel.declaration import Platform, Repeated, RouteNeeds, Slice
from satchel.edge.api.endpoints import Router
from satchel.edge.files.page_summary import PageSummary
from satchel.edge.files.previews import preview_of
from satchel.features.rooms import events
from satchel.features.rooms.adapters import LinkedRooms, RoomSearch
from satchel.features.rooms.limits import LIMITS, RoomLimits
from satchel.features.rooms.needs import People, Shelves
from satchel.features.rooms.records import EPHEMERAL_KEYS
from satchel.features.rooms.routes import RoomDestination, routes
from satchel.features.rooms.service.context import Rooms
from satchel.features.rooms.service.room_close import keep_due_rooms, keep_rooms
from satchel.features.rooms.service.room_erase import RoomHoldings
from satchel.features.rooms.service.room_garbage import sweep_room_bytes
from satchel.features.rooms.service.room_open import lock_rooms_of
from satchel.features.rooms.service.room_presence import RoomAttendance
from satchel.features.rooms.service.room_repair import repair_rooms
from satchel.kernel.counted import Counted
from satchel.kernel.suspended import PersonSuspended

# How late a room ends at most, after its time is over for everybody in it.
ENDED_EVERY = timedelta(seconds=5)


def _make(platform: Platform, *, people: People, shelves: Shelves) -> Rooms:
    return Rooms(
        ephemeral=platform.stores.ephemeral,
        objects=platform.stores.objects,
        clock=platform.clock,
        signer=platform.signer,
        pictures=platform.pictures,
        quota_bytes=platform.settings.room_quota or None,
        limits=RoomLimits(platform.stores.ephemeral),
        people=people,
        attending=platform.presence,
        shelves=shelves,
        preview_of=preview_of,
        events=platform.events,
        outbox=platform.outbox,
    )


def _routes(rooms: Rooms, needs: RouteNeeds) -> list[Router]:
    return routes(rooms, needs.addresses)


async def _summarize(_code: str, _scope: object) -> PageSummary:
    """Nobody learns by it whether there is such a room."""
    return PageSummary(
        title="Join a room", description="Somebody invites you to a room: files and messages for those who are in it."
    )


ROOMS = Slice(
    name="rooms",
    make=_make,
    routes=_routes,
    ephemeral_keys=EPHEMERAL_KEYS,
    limits=LIMITS,
    live_events=events.LIVE_EVENTS,
    states=(Counted,),
    hears={PersonSuspended: lock_rooms_of},
    uploads={"room": RoomDestination},
    things={"room": LinkedRooms},
    holdings=RoomHoldings,
    search=RoomSearch,
    summaries={"join": lambda _: _summarize},
    attendance=RoomAttendance,
    chores={
        "ended rooms": keep_rooms,
        "interrupted in rooms": repair_rooms,
        "orphaned room bytes": sweep_room_bytes,
    },
    repeated=(Repeated("rooms", ENDED_EVERY, keep_due_rooms),),
)
