"""The bytes of files: download, preview, picture, and archive."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from satchel.edge.api.endpoints import Query, Router
from satchel.edge.api.validation import MAX_QUERY_FIELDS
from satchel.edge.files.archives import Archive, ArchiveEntry, modified_of
from satchel.edge.files.downloads import Download, attached_as
from satchel.edge.files.pictures import BYTES, RAISES, is_view, picture_answer
from satchel.edge.files.previews import NoPreview, is_look, preview
from satchel.edge.http.callers import Member
from satchel.features.shelf.model import FileId, FolderId, UserId
from satchel.features.shelf.records import FileRow, object_key, pictured
from satchel.features.shelf.service import files, shelf_archive
from satchel.features.shelf.service.context import Shelf
from satchel.kernel.errors import NotFound

# Files, and folders: together within what the query of an address may have.
MOST_IN_ADDRESS = MAX_QUERY_FIELDS // 2
Ids = Annotated[list[Annotated[str, msgspec.Meta(max_length=64)]], msgspec.Meta(max_length=MOST_IN_ADDRESS)]


class ArchiveQuery(Query, frozen=True, kw_only=True):
    """What the archive contains: ids of files and of folders."""

    file: Ids = msgspec.field(default_factory=list[str])
    folder: Ids = msgspec.field(default_factory=list[str])


async def archived(shelf: Shelf, selection: shelf_archive.Selection) -> AsyncGenerator[ArchiveEntry]:
    async with aclosing(shelf_archive.walk_selection(shelf, selection)) as found:
        async for path, entry in found:
            modified = modified_of(entry.modified_at, entry.created_at)
            if not isinstance(entry, FileRow):
                yield ArchiveEntry(path, modified, None)
                continue
            await files.note_opening(shelf, entry)
            key, size_bytes = object_key(entry), entry.size_bytes
            yield ArchiveEntry(path, modified, key, executable=entry.executable, size_bytes=size_bytes)


def routes(shelf: Shelf) -> Router:
    router = Router("shelf")

    @router.get("/shelf/files/{file_id}/content", produces="application/octet-stream")
    async def download_file(member: Member, file_id: str) -> Response:
        """Download a file.

        Range and conditional requests are supported. The bytes come as an attachment, under the file's name.
        """
        file = await files.find_file(shelf, UserId(member.user_id), FileId(file_id))
        await files.note_opening(shelf, file)
        return Download(
            shelf.objects,
            object_key(file),
            disposition=attached_as(file.name),
            content_type=file.content_type,
            sha256=file.sha256,
        )

    @router.get("/shelf/files/{file_id}/preview", produces="application/octet-stream", raises=(NoPreview,))
    async def preview_file(member: Member, file_id: str, request: Request) -> Response:
        """Preview a file in the browser.

        Images, sound, films and PDF have the type that their first bytes prove, and support ranges. Text is plain text,
        its first mebibyte. No preview can run a script.
        """
        file = await files.find_file(shelf, UserId(member.user_id), FileId(file_id))
        shown = await preview(shelf.objects, object_key(file), file.name, file.content_type)
        if is_look(request):
            await files.note_opening(shelf, file)
        return shown

    @router.get("/shelf/files/{file_id}/picture/{size}/{version}", produces=BYTES, raises=RAISES)
    async def shelf_picture(member: Member, file_id: str, size: str, version: str, request: Request) -> Response:
        """Read the picture of a file: `grid` for lists, `preview` for looking at.

        The version is in the list of files. Under one address a picture never changes, so keep it. While a picture is
        being made, the answer is 202 without a body: ask again after the seconds in `Retry-After`.
        """
        file = await files.find_file(shelf, UserId(member.user_id), FileId(file_id))
        answer = await picture_answer(shelf.pictures, pictured(file), size, version, request)
        if is_view(request, size, answer):
            await files.note_opening(shelf, file)
        return answer

    @router.get("/shelf/archive", produces="application/zip", raises=(NotFound,))
    async def download_archive(member: Member, query: ArchiveQuery) -> Response:
        """Download files and folders as one zip file, which is streamed."""
        file_ids = [FileId(each) for each in query.file]
        folder_ids = [FolderId(each) for each in query.folder]
        selection = await shelf_archive.select(shelf, UserId(member.user_id), file_ids, folder_ids)
        return Archive(shelf.objects, selection.name, archived(shelf, selection))

    return router
