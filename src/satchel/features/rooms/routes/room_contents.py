"""The bytes of a room's files: download, preview, picture, and archive."""

from collections.abc import AsyncGenerator, Sequence
from typing import Annotated

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from satchel.edge.api.endpoints import Query, Router
from satchel.edge.api.validation import MAX_QUERY_FIELDS
from satchel.edge.files.archives import Archive, ArchiveEntry, modified_of
from satchel.edge.files.downloads import Download, attached_as, spans_of
from satchel.edge.files.pictures import BYTES, RAISES, is_view, picture_answer
from satchel.edge.files.previews import NoPreview, is_look, preview
from satchel.edge.http.callers import Guest, Member
from satchel.features.rooms.model import FileId, PersonId, RoomId
from satchel.features.rooms.records import RoomFile
from satchel.features.rooms.routes.views import kind_of, person_id_of
from satchel.features.rooms.service import room_files, usage_events
from satchel.features.rooms.service.context import Rooms, find_room
from satchel.kernel.errors import NotFound
from satchel.kernel.names import FileName, kept_numbered

Id = Annotated[str, msgspec.Meta(max_length=64)]


class RoomArchiveQuery(Query, frozen=True, kw_only=True):
    """Which files the archive contains. Without any, all that you may see."""

    file: Annotated[list[Id], msgspec.Meta(max_length=MAX_QUERY_FIELDS)] = msgspec.field(default_factory=list[str])


def routes(rooms: Rooms) -> Router:
    router = Router("rooms")

    @router.get("/rooms/{room_id}/files/{file_id}/content", produces="application/octet-stream")
    async def download_room_file(caller: Member | Guest, room_id: str, file_id: str) -> Response:
        """Download a file of a room.

        Range and conditional requests are supported. The bytes come as an attachment, under the file's name.
        """
        you = person_id_of(caller)
        file = await room_files.find_file(rooms, RoomId(room_id), you, FileId(file_id))
        return Download(
            rooms.objects,
            file.key,
            disposition=attached_as(file.name),
            content_type=file.row.content_type,
            sha256=file.sha256,
            metered=spans_of(await usage_events.file_download(rooms, file, you, kind_of(caller))),
        )

    @router.get("/rooms/{room_id}/files/{file_id}/preview", produces="application/octet-stream", raises=(NoPreview,))
    async def preview_room_file(caller: Member | Guest, room_id: str, file_id: str, request: Request) -> Response:
        """Preview a file of a room in the browser. No preview can run a script."""
        file = await room_files.find_file(rooms, RoomId(room_id), person_id_of(caller), FileId(file_id))
        shown = await preview(rooms.objects, file.key, file.name, file.row.content_type)
        if is_look(request):
            await usage_events.note_view(rooms, file, person_id_of(caller), kind_of(caller))
        return shown

    @router.get("/rooms/{room_id}/files/{file_id}/picture/{size}/{version}", produces=BYTES, raises=RAISES)
    async def room_picture(
        caller: Member | Guest, room_id: str, file_id: str, size: str, version: str, request: Request
    ) -> Response:
        """Read the picture of a file of a room: `grid` for lists, `preview` for looking at, which counts as a view."""
        file = await room_files.find_file(rooms, RoomId(room_id), person_id_of(caller), FileId(file_id))
        answer = await picture_answer(rooms.pictures, file, size, version, request)
        if is_view(request, size, answer):
            await usage_events.note_view(rooms, file, person_id_of(caller), kind_of(caller))
        return answer

    @router.get("/rooms/{room_id}/archive", produces="application/zip")
    async def download_room_archive(caller: Member | Guest, room_id: str, query: RoomArchiveQuery) -> Response:
        """Download files of a room as one zip file, which is streamed.

        It breaks off if the room ends or you leave it. A file that is deleted meanwhile is left out.
        """
        you = person_id_of(caller)
        room = await find_room(rooms, RoomId(room_id), you)
        found = (await room_files.list_files(rooms, room.room_id, you)).files
        if query.file:
            wanted = set(query.file)
            found = [file for file in found if file.file_id in wanted]
            if len(found) != len(wanted):
                raise NotFound("This room has no such file.")

        download = await usage_events.archive_download(rooms, room.room_id, found, you, kind_of(caller))
        return Archive(rooms.objects, room.name, _entries(rooms, room.room_id, you, found), metered=spans_of(download))

    return router


async def _entries(
    rooms: Rooms, room_id: RoomId, you: PersonId, found: Sequence[RoomFile]
) -> AsyncGenerator[ArchiveEntry]:
    """The entries, each under a unique path: a private file can have the name of another file or of a folder.

    A file that is deleted meanwhile is left out. Once the room has ended, that would be all the rest, so the archive
    breaks off: nobody must take it for complete.
    """
    taken = {folder for file in found for folder in _folders_of(file)}
    for file in found:
        name, number = FileName(file.name), 0
        while (path := _path(file, name)) in taken:
            number += 1
            name = kept_numbered(FileName(file.name), number)
        taken.add(path)
        yield ArchiveEntry(
            path, modified_of(file.row.modified_at, file.row.at), file.key, executable=file.row.executable
        )
        await find_room(rooms, room_id, you)


def _folders_of(file: RoomFile) -> list[str]:
    parts = file.row.folder.split("/") if file.row.folder else []
    return ["/".join(parts[: depth + 1]) for depth in range(len(parts))]


def _path(file: RoomFile, name: FileName) -> FileName:
    return FileName(f"{file.row.folder}/{name}" if file.row.folder else name)
