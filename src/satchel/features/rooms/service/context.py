"""What every use case of rooms needs, and how it finds its room."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from satchel.features.rooms.limits import RoomLimits
from satchel.features.rooms.model import PersonId, Preview, RoomId, is_room_id
from satchel.features.rooms.needs import Attending, People, Shelves
from satchel.features.rooms.records import (
    ENDED,
    ENDING,
    MEMBERS,
    REPAIRED,
    REPAIRS,
    ROOM,
    ROOMS,
    RoomRow,
    read_room,
)
from satchel.kernel.clock import Clock, from_iso, iso
from satchel.kernel.errors import Forbidden, NotFound
from satchel.kernel.events import Events
from satchel.kernel.signature import Signer
from satchel.media.pictures import Pictures
from satchel.outbox import Outbox
from satchel.stores.patterns.due_list import DueList
from satchel.stores.ports.ephemeral import Command, Ephemeral, HashAll, HashGet, HashPut, SetHas
from satchel.stores.ports.objects import Objects

# Much longer than copying an object, which is the only slow step.
CUT_OFF_AFTER = timedelta(hours=1)
_SPAN = timedelta(minutes=1)
_REPAIR_SPAN = timedelta(minutes=10)
_REACH = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rooms:
    """Stores, clock, signatures, pictures, the quota of a room (None: no limit), other slices, events, and outbox."""

    ephemeral: Ephemeral
    objects: Objects
    clock: Clock
    signer: Signer
    pictures: Pictures
    quota_bytes: int | None
    limits: RoomLimits
    people: People
    attending: Attending
    shelves: Shelves
    preview_of: Callable[[str, str], Preview | None]
    events: Events
    outbox: Outbox

    def now(self) -> str:
        return iso(self.clock())

    @property
    def due(self) -> DueList:
        """Which rooms end when."""
        return DueList(
            ephemeral=self.ephemeral, clock=self.clock, spans=ENDING, cursor=ENDED, lasts=_SPAN, reach=_REACH
        )

    @property
    def repairs(self) -> DueList:
        """Which rooms somebody has changed, when what they did can no longer be under way."""
        return DueList(
            ephemeral=self.ephemeral, clock=self.clock, spans=REPAIRS, cursor=REPAIRED, lasts=_REPAIR_SPAN, reach=_REACH
        )

    def changing(self, room_id: RoomId) -> Command[bool]:
        """What has the room looked at later, if this change is cut off."""
        # A whole span later, so that every look finds it cut off.
        late = CUT_OFF_AFTER + _REPAIR_SPAN
        return self.repairs.adding(room_id, self.clock() + late.total_seconds())

    def ending(self, room_id: RoomId, moment: str) -> tuple[Command[int], Command[bool]]:
        """What says when a room ends, or when to clean it up again."""
        return HashPut(ROOMS(), {room_id: moment.encode()}), self.due.adding(room_id, from_iso(moment))


def state_of(room_id: RoomId) -> tuple[Command[dict[str, bytes]], Command[bytes | None]]:
    """What to read together with a change, to know whether the room was open at that moment.

    The store has no conditional step, so a change is made first, and undone if this says that it came too late. Closing
    a room marks it closed before it deletes anything, and comes back later for what a crashed change left.
    """
    return HashAll(ROOM(room_id=room_id)), HashGet(ROOMS(), room_id)


def open_room(rooms: Rooms, room_id: RoomId, fields: Mapping[str, bytes], due: bytes | None) -> RoomRow | None:
    """The room that `state_of` has read, unless it has ended or never existed."""
    room = read_room(room_id, fields, due)
    return None if room is None or room.closed_at or room.expires_at <= rooms.now() else room


async def find_room(rooms: Rooms, room_id: RoomId, person_id: PersonId) -> RoomRow:
    """The room, for a person in it. For everybody else it does not exist."""
    room, is_in = await _look(rooms, room_id, person_id)
    if not is_in:
        raise missing()
    return room


async def find_owned(rooms: Rooms, room_id: RoomId, person_id: PersonId) -> RoomRow:
    """The room, for its owner, in it or not."""
    room, is_in = await _look(rooms, room_id, person_id)
    if room.owner_id == person_id:
        return room
    raise Forbidden("Only the owner of the room can do this.") if is_in else missing()


async def _look(rooms: Rooms, room_id: RoomId, person_id: PersonId) -> tuple[RoomRow, bool]:
    """An open room, and whether this person is in it."""
    if not is_room_id(room_id):
        raise missing()
    fields, due, is_in = await rooms.ephemeral.together(*state_of(room_id), SetHas(MEMBERS(room_id=room_id), person_id))
    room = open_room(rooms, room_id, fields, due)
    if room is None:
        raise missing()
    return room, is_in


def missing() -> NotFound:
    return NotFound("This room does not exist, or you are not in it.")
