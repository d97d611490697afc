"""Where uploads for a room arrive, from members and guests alike."""

from collections.abc import Mapping

from satchel.edge.uploads.destinations import Announced, Arrived
from satchel.edge.uploads.refusals import UploadUnwanted
from satchel.features.rooms.model import FileId, PersonId, RoomId
from satchel.features.rooms.routes.views import person_id_of
from satchel.features.rooms.service import room_file_add
from satchel.features.rooms.service.context import Rooms
from satchel.features.rooms.service.room_blobs import Content
from satchel.kernel.errors import NotFound
from satchel.kernel.file_time import checked_time
from satchel.kernel.names import FileName, kept_path


class RoomDestination:
    """Receives uploads for the room that the metadata name as `room`.

    `relativePath` is the path of the file with its folders. `to` is the one person in the room whom it is for, if it is
    not for everybody.
    """

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    def place_of(self, announced: Announced) -> str:
        return _room(announced)

    async def admit(self, announced: Announced) -> None:
        folders, _ = _path(announced.name, announced.details)
        checked_time(announced.details.get("modified", ""))
        await room_file_add.check_file(
            self._rooms,
            _room(announced),
            person_id_of(announced.owner),
            _receiver(announced),
            folders,
            announced.size_bytes + announced.reserved_bytes,
        )

    async def receive(self, arrived: Arrived) -> str:
        folders, name = _path(arrived.name, arrived.details)
        brought = room_file_add.Brought(
            room_id=_room(arrived),
            # Using the upload's id for the file makes this idempotent.
            file_id=FileId(arrived.upload_id),
            by=person_id_of(arrived.owner),
            to=_receiver(arrived),
            folders=folders,
            content=Content(key=arrived.key, name=name, size_bytes=arrived.size_bytes, sha256=arrived.sha256),
            content_type=arrived.content_type,
            modified_at=checked_time(arrived.details.get("modified", "")),
            executable=bool(arrived.details.get("executable")),
        )
        try:
            return (await room_file_add.keep_upload(self._rooms, brought)).file_id
        except NotFound as error:
            raise UploadUnwanted("The room has ended, or you are no longer in it. The file was not saved.") from error


def _room(announced: Announced) -> RoomId:
    return RoomId(announced.details.get("room", ""))


def _receiver(announced: Announced) -> PersonId | None:
    return PersonId(announced.details.get("to", "")) or None


def _path(name: str, details: Mapping[str, str]) -> tuple[list[FileName], str]:
    path = kept_path(details.get("relativePath", ""))
    return path[:-1], name or (path[-1] if path else "")
