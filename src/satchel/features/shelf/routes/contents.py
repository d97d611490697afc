"""The bytes of files: one as a download, one to look at, several as an archive."""

from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated

import msgspec
from starlette.responses import Response

from satchel.edge.callers import Member
from satchel.edge.downloads import Download, attached_as
from satchel.edge.endpoints import Query, Router
from satchel.features.shelf.model import FileId, FolderId, NoPreview, UserId
from satchel.features.shelf.records import object_key
from satchel.features.shelf.service import archive, files, showing
from satchel.features.shelf.service.context import Shelf
from satchel.kernel.errors import NotFound

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

Ids = Annotated[list[Annotated[str, msgspec.Meta(max_length=64)]], msgspec.Meta(max_length=100)]
# Sandboxed, a document has no origin, runs nothing and loads nothing. Only our own pages may put it into a frame.
PREVIEW_POLICY = (
    "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'"
)
# Browsers refuse to start their PDF viewer in a sandbox. It is one itself, and the type is certain.
PDF_POLICY = PREVIEW_POLICY.replace("sandbox; ", "").replace(
    "default-src 'none'", "default-src 'none'; object-src 'self'"
)


class ArchiveQuery(Query, frozen=True, kw_only=True):
    """What shall be in the archive: ids of files and of folders, each as often as needed."""

    file: Ids = msgspec.field(default_factory=list[str])
    folder: Ids = msgspec.field(default_factory=list[str])


class Archive(Response):
    """A zip file that is made while it is sent."""

    def __init__(self, shelf: Shelf, selection: archive.Selection) -> None:
        super().__init__()
        self._shelf = shelf
        self._selection = selection

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:  # noqa: ARG002 -- ASGI
        headers = [
            (b"content-type", b"application/zip"),
            (b"content-disposition", attached_as(self._selection.name).encode("latin-1")),
            (b"cache-control", b"private, no-store"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if scope["method"] != "HEAD":
            async with aclosing(archive.zipped(self._shelf, self._selection)) as pieces:
                async for piece in pieces:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def routes(shelf: Shelf) -> Router:
    router = Router("shelf")

    @router.get("/shelf/files/{file_id}/content", produces="application/octet-stream")
    async def download_file(member: Member, file_id: str) -> Response:
        """Download a file.

        Ranges and conditional requests are answered. The bytes come as an attachment, under the file's name.
        """
        file = await files.find_file(shelf, UserId(member.user_id), FileId(file_id))
        return Download(
            shelf.objects,
            object_key(file),
            disposition=attached_as(file.name),
            content_type=file.content_type,
        )

    @router.get("/shelf/files/{file_id}/preview", produces="application/octet-stream", raises=(NoPreview,))
    async def preview_file(member: Member, file_id: str) -> Response:
        """Look at a file in the browser.

        Images, sound, films and PDF by the type that their first bytes prove, with ranges; text as plain text, its
        first mebibyte. Whatever it is, it cannot run anything.
        """
        file = await files.find_file(shelf, UserId(member.user_id), FileId(file_id))
        shown = await showing.show(shelf, file)
        policy = PDF_POLICY if shown.content_type == "application/pdf" else PREVIEW_POLICY
        if shown.text is not None:
            headers = {
                "content-disposition": "inline",
                "content-security-policy": policy,
                "cache-control": "private, no-cache",
                "content-type": shown.content_type,
            }
            return Response(shown.text, headers=headers)
        return Download(
            shelf.objects,
            object_key(file),
            disposition="inline",
            content_type=shown.content_type,
            policy=policy,
        )

    @router.get("/shelf/archive", produces="application/zip", raises=(NotFound,))
    async def download_archive(member: Member, query: ArchiveQuery) -> Response:
        """Download files and folders as one zip file, which is made on the way."""
        file_ids = [FileId(each) for each in query.file]
        folder_ids = [FolderId(each) for each in query.folder]
        return Archive(shelf, await archive.select(shelf, UserId(member.user_id), file_ids, folder_ids))

    return router
