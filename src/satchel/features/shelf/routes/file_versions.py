"""Versions of files: list, download, restore, delete."""

import msgspec
from starlette.responses import Response

from satchel.edge.api.endpoints import Router
from satchel.edge.files.downloads import Download, attached_as
from satchel.edge.http.callers import Member
from satchel.features.shelf.model import FileId, UserId, VersionId
from satchel.features.shelf.records import VersionRow, object_key
from satchel.features.shelf.routes.views import EntryView, entry_view
from satchel.features.shelf.service import files, versions
from satchel.features.shelf.service.context import Shelf


class VersionView(msgspec.Struct, frozen=True, kw_only=True):
    """An earlier content of a file: since when it is not the current one, and until when it is kept."""

    version_id: str
    size_bytes: int
    sha256: str
    content_type: str
    modified_at: str | None
    executable: bool
    replaced_at: str
    gone_at: str


class VersionList(msgspec.Struct, frozen=True):
    """The versions of a file, the last replaced first, and for how many days one is kept here."""

    versions: list[VersionView]
    kept_days: int


def routes(shelf: Shelf) -> Router:
    router = Router("shelf")

    @router.get("/shelf/files/{file_id}/versions")
    async def list_versions(member: Member, file_id: str) -> VersionList:
        """List the earlier contents of a file. Each is kept for some days (30 by default), and of a file at most 20."""
        found = await versions.list_versions(shelf, UserId(member.user_id), FileId(file_id))
        return VersionList([_view(version) for version in found], shelf.versions_kept.days)

    @router.get("/shelf/files/{file_id}/versions/{version_id}/content", produces="application/octet-stream")
    async def download_version(member: Member, file_id: str, version_id: str) -> Response:
        """Download an earlier content of a file, under the file's name."""
        person = UserId(member.user_id)
        file = await files.find_file(shelf, person, FileId(file_id))
        version = await versions.find_version(shelf, person, FileId(file_id), VersionId(version_id))
        return Download(
            shelf.objects,
            object_key(version),
            disposition=attached_as(file.name),
            content_type=version.content_type,
            sha256=version.sha256,
        )

    @router.post("/shelf/files/{file_id}/versions/{version_id}/restore", status=200)
    async def restore_version(member: Member, file_id: str, version_id: str) -> EntryView:
        """Make an earlier content the current one. The current one becomes a version."""
        person = UserId(member.user_id)
        return await entry_view(
            shelf, await versions.restore_version(shelf, person, FileId(file_id), VersionId(version_id))
        )

    @router.delete("/shelf/files/{file_id}/versions/{version_id}")
    async def delete_version(member: Member, file_id: str, version_id: str) -> None:
        """Delete an earlier content for good."""
        person = UserId(member.user_id)
        await versions.drop_version(
            shelf, await versions.find_version(shelf, person, FileId(file_id), VersionId(version_id))
        )

    return router


def _view(version: VersionRow) -> VersionView:
    return VersionView(
        version_id=version.version_id,
        size_bytes=version.size_bytes,
        sha256=version.sha256,
        content_type=version.content_type,
        modified_at=version.modified_at or None,
        executable=version.executable,
        replaced_at=version.replaced_at,
        gone_at=version.gone_at,
    )
