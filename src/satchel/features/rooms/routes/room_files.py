"""The files of a room: list, copy from your shelf, delete."""

from collections.abc import AsyncGenerator, Sequence
from typing import Annotated, Any, cast

import msgspec
from starlette.requests import Request
from starlette.responses import StreamingResponse

from satchel.edge.api.endpoints import Body, PageQuery, Router
from satchel.edge.api.idempotency_key import idempotency_key_of
from satchel.edge.http.callers import Guest, Member
from satchel.features.rooms.model import (
    FileId,
    FileView,
    PathTooLong,
    PersonId,
    RoomFullOfFiles,
    RoomId,
)
from satchel.features.rooms.records import RoomFile
from satchel.features.rooms.routes.views import person_id_of
from satchel.features.rooms.service import room_files, room_share
from satchel.features.rooms.service.context import Rooms
from satchel.kernel.errors import Conflict, Forbidden, TooLarge
from satchel.stores.patterns.idempotency_key import KeyReused

# How many files are written at a time.
_PIECE = 100
_encode = msgspec.json.Encoder().encode

Id = Annotated[str, msgspec.Meta(max_length=64)]


class FilesQuery(PageQuery, frozen=True, kw_only=True):
    """Which part of the list is wanted."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 1000


class FileList(msgspec.Struct, frozen=True):
    """Files of a room that the caller may see, the oldest first, and the cursor of the next page."""

    files: list[FileView]
    cursor: str | None


class Sharing(Body, frozen=True, kw_only=True):
    """Files and folders of your shelf. With `to`, only that person sees them."""

    shelf: Annotated[list[Id], msgspec.Meta(min_length=1, max_length=100)]
    to: Id | None = None


def routes(rooms: Rooms) -> Router:
    router = Router("rooms")

    @router.get("/rooms/{room_id}/files")
    async def list_room_files(caller: Member | Guest, room_id: str, query: FilesQuery) -> FileList:
        """List the files of a room: those for everybody, and those between you and one person."""
        page = await room_files.list_files(
            rooms, RoomId(room_id), person_id_of(caller), limit=query.limit, cursor=query.cursor
        )
        return FileList(await room_files.file_views(rooms, page.files), page.cursor)

    @router.post(
        "/rooms/{room_id}/files",
        status=201,
        raises=(RoomFullOfFiles, PathTooLong, TooLarge, Conflict, KeyReused),
        sends={"Idempotency-Key": "letters, digits, - and _: a retry with the same key makes no second copies"},
    )
    async def share_in_room(member: Member, room_id: str, body: Sharing, request: Request) -> FileList:
        """Copy files and folders from your shelf into a room: all of them, or none."""
        sharing = room_share.Sharing(
            room_id=RoomId(room_id),
            person_id=person_id_of(member),
            entry_ids=body.shelf,
            to=None if body.to is None else PersonId(body.to),
        )
        brought = await room_share.share_from_shelf(rooms, sharing, idempotency_key_of(request))
        # It is a `FileList`, written piece by piece.
        return cast("Any", StreamingResponse(_written(rooms, brought), status_code=201, media_type="application/json"))

    @router.delete("/rooms/{room_id}/files/{file_id}", raises=(Forbidden,))
    async def delete_room_file(caller: Member | Guest, room_id: str, file_id: str) -> None:
        """Delete a file of a room. Only its sender and the owner of the room can."""
        await room_files.delete_file(rooms, RoomId(room_id), person_id_of(caller), FileId(file_id))

    return router


async def _written(rooms: Rooms, files: Sequence[RoomFile]) -> AsyncGenerator[bytes]:
    yield b'{"files":['
    for start in range(0, len(files), _PIECE):
        views = await room_files.file_views(rooms, files[start : start + _PIECE])
        yield (b"," if start else b"") + b",".join(map(_encode, views))
    yield b'],"cursor":null}'
