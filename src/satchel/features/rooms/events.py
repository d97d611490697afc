"""The live events of rooms."""

from satchel.features.rooms.model import Ending, FileView, Message
from satchel.live import LiveEvent


class RoomChanged(LiveEvent, tag="room.changed", frozen=True):
    """The members, the knocks or the settings of the room have changed. Read it again."""

    room_id: str


class RoomChat(LiveEvent, tag="room.chat", frozen=True):
    """There is a new chat message."""

    room_id: str
    message: Message


class RoomFileCame(LiveEvent, tag="room.file", frozen=True):
    """A file was added or changed."""

    room_id: str
    file: FileView


class RoomFileGone(LiveEvent, tag="room.file-gone", frozen=True):
    """A file was deleted."""

    room_id: str
    file_id: str


class RoomClosed(LiveEvent, tag="room.closed", frozen=True):
    """The room has ended for you: it was closed or expired, you were removed, or you left it in another window."""

    room_id: str
    reason: Ending


class RoomAdmitted(LiveEvent, tag="room.admitted", frozen=True):
    """The owner has admitted you."""

    room_id: str


class RoomTurnedAway(LiveEvent, tag="room.turned-away", frozen=True):
    """The owner has declined your knock."""

    room_id: str


LIVE_EVENTS = (RoomChanged, RoomChat, RoomFileCame, RoomFileGone, RoomClosed, RoomAdmitted, RoomTurnedAway)
