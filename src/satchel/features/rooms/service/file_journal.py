"""Note what bringing or deleting a file holds for as long as that is under way; else a crash would keep it for ever.

Whatever takes or gives back bytes or a name changes its note in the same step. So the count of an object is always that
of the files that show it and of the notes that hold it, and what a crash has left is found by its note (`mending.py`).
"""

from typing import Any

import msgspec

from satchel.features.rooms.model import FileId, RoomId
from satchel.features.rooms.records import UNDERWAY, NoteRow, encode
from satchel.features.rooms.service.context import Rooms
from satchel.kernel.ids import new_id
from satchel.stores.ports.ephemeral import Command, HashDelete, HashPut


class Underway:
    """One operation on one file. It is noted from its first `noting` until `over`, and may be noted again."""

    def __init__(self, rooms: Rooms, room_id: RoomId, file_id: FileId) -> None:
        self._key = UNDERWAY(room_id=room_id)
        self._id = new_id(rooms.clock)
        self._row = NoteRow(file_id=file_id, at=rooms.now())

    def noting(self, **changes: Any) -> Command[int]:
        """To be done together with what it says."""
        self._row = msgspec.structs.replace(self._row, **changes)
        return HashPut(self._key, {self._id: encode(self._row)})

    def over(self) -> Command[bool]:
        return HashDelete(self._key, self._id)
