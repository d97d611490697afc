"""Where uploads for the shelf arrive: into a folder, with the folders that they bring along."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from satchel.edge.http import callers
from satchel.edge.http.callers import Member
from satchel.edge.uploads.destinations import Announced, Arrived, Small
from satchel.features.shelf.model import ROOT, FileId, FolderId, UserId
from satchel.features.shelf.service import bundle_add, files, folders, shelf_file_add
from satchel.features.shelf.service.context import MAX_ID_CHARACTERS, Shelf
from satchel.kernel.clock import iso
from satchel.kernel.errors import NotFound, SatchelError, Unauthenticated
from satchel.kernel.file_time import checked_time
from satchel.kernel.names import FileName, kept_path
from satchel.kernel.unfit import TextUnfit, TimeUnfit


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The metadata of an upload, checked."""

    folder_id: FolderId
    folders: list[FileName]
    name: str
    expires: float | None
    modified_at: str
    executable: bool
    is_folder: bool
    replaces: FileId | None
    replaced_sha256: str


class ShelfDestination:
    """Receives uploads for the shelf of the member who sends them; guests have none.

    In the metadata, `folder` is the id of a folder, `relativePath` the path of the file below it, whose folders are
    created as needed, and `expires` when the file expires. `modified` is the time of the file at its origin, and any
    `executable` says that it was executable there. A `relativePath` that ends with `/`, of no bytes, is a folder.
    `replaces` is the id of a file that gets this content, if its own still has the digest `replacedSha256`; what it had
    becomes a version. If it has changed or is gone, the upload becomes a file of its own.
    """

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def place_of(self, announced: Announced) -> str:
        return announced.owner.user_id if isinstance(announced.owner, Member) else ""

    async def admit(self, announced: Announced) -> None:
        callers.admit(announced.owner, (Member,))
        person = _person(announced)
        wanted = _wanted(announced.name, announced.details)
        await self._check(folders.Ways(self._shelf, person), wanted, announced.size_bytes)
        await shelf_file_add.check_room(self._shelf, person, announced.size_bytes + announced.reserved_bytes)

    async def receive(self, arrived: Arrived) -> str:
        wanted = _wanted(arrived.name, arrived.details)
        if wanted.is_folder:
            return await self._have_folder(arrived, wanted)
        return (await shelf_file_add.keep_upload(self._shelf, _upload(arrived, wanted))).file_id

    async def _have_folder(self, arrived: Arrived | Small, wanted: _Wanted) -> str:
        person = _person(arrived)
        folder_id = await folders.have_folders(self._shelf, person, wanted.folder_id, wanted.folders)
        await folders.date_folder(self._shelf, person, folder_id, wanted.modified_at)
        if isinstance(arrived, Arrived):
            await self._shelf.objects.delete(arrived.key)
        return folder_id

    async def receive_bundle(self, files: Sequence[Small]) -> Sequence[str | SatchelError]:
        callers.admit(files[0].owner, (Member,))
        ways = folders.Ways(self._shelf, _person(files[0]))
        refused: dict[str, SatchelError | str] = {}
        uploads: list[shelf_file_add.Upload] = []
        for file in files:
            try:
                wanted = _wanted(file.name, file.details)
                await self._check(ways, wanted, file.size_bytes)
                if wanted.is_folder:
                    refused[file.upload_id] = await self._have_folder(file, wanted)
                else:
                    uploads.append(_upload(file, wanted))
            except SatchelError as error:
                refused[file.upload_id] = error
        outcomes = iter(await bundle_add.keep_uploads(self._shelf, uploads))
        return [refused.get(file.upload_id) or _id_or_error(next(outcomes)) for file in files]

    async def _check(self, ways: folders.Ways, wanted: _Wanted, size_bytes: int) -> None:
        if wanted.is_folder and size_bytes:
            raise TextUnfit(
                "A `relativePath` that ends with `/` is a folder, which has no bytes.", field="relativePath"
            )
        way = await ways.to(wanted.folder_id)
        if way is None:
            raise NotFound("Your shelf has no such folder.")
        folders.check_depth(way, len(wanted.folders))
        if wanted.expires is not None:
            files.check_expiry(self._shelf, wanted.expires)


def _upload(arrived: Arrived | Small, wanted: _Wanted) -> shelf_file_add.Upload:
    return shelf_file_add.Upload(
        user_id=_person(arrived),
        # Ids of uploads sort by time, too. Using the upload's id for the file makes this idempotent.
        file_id=FileId(arrived.upload_id),
        key=arrived.key if isinstance(arrived, Arrived) else "",
        data=arrived.data if isinstance(arrived, Small) else b"",
        name=wanted.name,
        content_type=arrived.content_type,
        size_bytes=arrived.size_bytes,
        sha256=arrived.sha256,
        folder_id=wanted.folder_id,
        folders=wanted.folders,
        expires_at="" if wanted.expires is None else iso(wanted.expires),
        modified_at=wanted.modified_at,
        executable=wanted.executable,
        replaces=wanted.replaces,
        replaced_sha256=wanted.replaced_sha256,
    )


def _id_or_error(outcome: bundle_add.Outcome) -> str | SatchelError:
    return outcome if isinstance(outcome, SatchelError) else outcome.file_id


def _person(announced: Announced) -> UserId:
    if not isinstance(announced.owner, Member):
        raise Unauthenticated("Sign in to keep files on a shelf.")
    return UserId(announced.owner.user_id)


def _wanted(name: str, details: Mapping[str, str]) -> _Wanted:
    written = details.get("relativePath", "")
    path, is_folder = kept_path(written), written.endswith("/")
    return _Wanted(
        folder_id=FolderId(details.get("folder") or ROOT),
        folders=path if is_folder else path[:-1],
        name=name or (path[-1] if path else ""),
        expires=_moment(details.get("expires", "")),
        modified_at=checked_time(details.get("modified", "")),
        executable=bool(details.get("executable")),
        is_folder=is_folder,
        replaces=FileId(details["replaces"][:MAX_ID_CHARACTERS]) if details.get("replaces") else None,
        replaced_sha256=details.get("replacedSha256", ""),
    )


def _moment(written: str) -> float | None:
    if not written:
        return None
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise TimeUnfit("`expires` must be a time such as 2030-01-31T12:00:00Z.", field="expires")
    return moment.timestamp()
