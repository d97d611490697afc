"""The shelf over HTTP: list, download, rename and delete; and the place where uploads to it arrive."""

from typing import Annotated

import msgspec
from starlette.responses import Response

from satchel.edge import callers
from satchel.edge.callers import Member
from satchel.edge.downloads import Download, attached_as
from satchel.edge.endpoints import Body, PageQuery, Router
from satchel.edge.uploads.destinations import Announced, Arrived
from satchel.features.shelf.model import FileId, NameTaken, NameUnusable, UserId
from satchel.features.shelf.records import FileRow, object_key
from satchel.features.shelf.service import arrivals, files
from satchel.features.shelf.service.context import Shelf
from satchel.kernel.errors import Unauthenticated


class RenameFile(Body, frozen=True, kw_only=True):
    """What the file shall be called; what cannot stand in a name is dropped, and the answer says what is left."""

    name: Annotated[str, msgspec.Meta(max_length=1000)]


class FileView(msgspec.Struct, frozen=True, kw_only=True):
    """A file on the caller's shelf."""

    file_id: str
    name: str
    size_bytes: int
    content_type: str
    sha256: str
    created_at: str


class FileList(msgspec.Struct, frozen=True):
    """Files, newest first, and where to go on."""

    files: list[FileView]
    cursor: str | None


class UsageView(msgspec.Struct, frozen=True, kw_only=True):
    """How much room the caller takes: bytes that several files share count once."""

    used_bytes: int
    files: int


class ShelfDestination:
    """Receives uploads for the shelf of the member who sends them; guests have none."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    async def admit(self, announced: Announced) -> None:
        callers.admit(announced.owner, (Member,))

    async def receive(self, arrived: Arrived) -> str:
        if not isinstance(arrived.owner, Member):
            raise Unauthenticated("Sign in to keep files on a shelf.")
        upload = arrivals.Upload(
            user_id=UserId(arrived.owner.user_id),
            # Ids of uploads sort by time, too; to be the same id is the surest way to come to the same file again.
            file_id=FileId(arrived.upload_id),
            key=arrived.key,
            name=arrived.name,
            content_type=arrived.content_type,
            size_bytes=arrived.size_bytes,
            sha256=arrived.sha256,
        )
        return (await arrivals.keep_upload(self._shelf, upload)).file_id


def routes(shelf: Shelf) -> list[Router]:
    router = Router("shelf")

    @router.get("/shelf/files")
    async def list_files(member: Member, query: PageQuery) -> FileList:
        """List your files, newest first."""
        page = await files.list_files(shelf, UserId(member.user_id), query.limit, query.cursor)
        return FileList([_file(row) for row in page.records], page.cursor)

    @router.get("/shelf/files/{file_id}")
    async def read_file(member: Member, file_id: str) -> FileView:
        """Read what is known of a file."""
        return _file(await files.find_file(shelf, UserId(member.user_id), FileId(file_id)))

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

    @router.patch("/shelf/files/{file_id}", raises=(NameTaken, NameUnusable))
    async def rename_file(member: Member, file_id: str, body: RenameFile) -> FileView:
        """Rename a file."""
        return _file(await files.rename_file(shelf, UserId(member.user_id), FileId(file_id), body.name))

    @router.delete("/shelf/files/{file_id}")
    async def delete_file(member: Member, file_id: str) -> None:
        """Delete a file."""
        await files.delete_file(shelf, UserId(member.user_id), FileId(file_id))

    @router.get("/shelf/usage")
    async def read_usage(member: Member) -> UsageView:
        """Read how much room you take."""
        (usage,) = await files.read_usage(shelf, [UserId(member.user_id)])
        return UsageView(used_bytes=usage.used_bytes, files=usage.files)

    return [router]


def _file(row: FileRow) -> FileView:
    return FileView(
        file_id=row.file_id,
        name=row.name,
        size_bytes=row.size_bytes,
        content_type=row.content_type,
        sha256=row.sha256,
        created_at=row.created_at,
    )
