"""What people in a room are told while they look."""

from satchel.features.rooms.model import Ending, FileView, Message
from satchel.live import LiveEvent


class RoomChanged(LiveEvent, tag="room.changed", frozen=True):
    """Who is in the room, who knocks, or what the room is like has changed: read it again."""

    room_id: str


class RoomChat(LiveEvent, tag="room.chat", frozen=True):
    """Somebody said something."""

    room_id: str
    message: Message


class RoomFileCame(LiveEvent, tag="room.file", frozen=True):
    """There is a file, or something new to know of one."""

    room_id: str
    file: FileView


class RoomFileGone(LiveEvent, tag="room.file-gone", frozen=True):
    """A file was taken away."""

    room_id: str
    file_id: str


class RoomClosed(LiveEvent, tag="room.closed", frozen=True):
    """The room is over for you: it is closed or has expired, you were put out, or you left it in another window."""

    room_id: str
    reason: Ending


class RoomAdmitted(LiveEvent, tag="room.admitted", frozen=True):
    """You knocked, and are in."""

    room_id: str


class RoomTurnedAway(LiveEvent, tag="room.turned-away", frozen=True):
    """You knocked, and are not let in."""

    room_id: str


LIVE_EVENTS = (RoomChanged, RoomChat, RoomFileCame, RoomFileGone, RoomClosed, RoomAdmitted, RoomTurnedAway)
