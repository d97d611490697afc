"""The journal of adding and deleting files: what each operation holds, so that a crash does not leak it.

Every step that takes or releases bytes or a name changes its journal entry in the same step. So the count of an object
is always that of the files and the entries that hold it, and `room_repair` finds what a crash has left by its entry.
"""

from typing import Any

import msgspec

from satchel.features.rooms.model import FileId, RoomId
from satchel.features.rooms.records import FILE_JOURNAL, JournalRow, encode
from satchel.features.rooms.service.context import Rooms
from satchel.kernel.ids import new_id
from satchel.stores.ports.ephemeral import Command, HashDelete, HashPut


class JournalEntry:
    """The entry of one operation on one file. It exists from the first `write` until `delete`.

    Both answer a command, which the caller runs in the same step as the change.
    """

    def __init__(self, rooms: Rooms, room_id: RoomId, file_id: FileId) -> None:
        self._key = FILE_JOURNAL(room_id=room_id)
        self._id = new_id(rooms.clock)
        self._row = JournalRow(file_id=file_id, at=rooms.now())

    def write(self, **changes: Any) -> Command[int]:
        self._row = msgspec.structs.replace(self._row, **changes)
        return HashPut(self._key, {self._id: encode(self._row)})

    def delete(self) -> Command[bool]:
        return HashDelete(self._key, self._id)
