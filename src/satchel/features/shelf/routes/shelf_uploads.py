"""Where uploads for the shelf arrive: into a folder, with the folders that they bring along."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from satchel.edge.http import callers
from satchel.edge.http.callers import Member
from satchel.edge.uploads.destinations import Announced, Arrived, Small
from satchel.features.shelf.model import ROOT, FileId, FolderId, UserId
from satchel.features.shelf.service import bundle_add, files, folders, shelf_file_add
from satchel.features.shelf.service.context import Shelf
from satchel.kernel.clock import iso
from satchel.kernel.errors import Invalid, NotFound, SatchelError, Unauthenticated
from satchel.kernel.names import FileName, clean_path


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The metadata of an upload, checked."""

    folder_id: FolderId
    folders: list[FileName]
    name: str
    expires: float | None


class ShelfDestination:
    """Receives uploads for the shelf of the member who sends them; guests have none.

    In the metadata, `folder` is the id of a folder, `relativePath` the path of the file below it, whose folders are
    created as needed, and `expires` when the file expires.
    """

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def place_of(self, announced: Announced) -> str:
        return announced.owner.user_id if isinstance(announced.owner, Member) else ""

    async def admit(self, announced: Announced) -> None:
        callers.admit(announced.owner, (Member,))
        person = _person(announced)
        await self._check(folders.Ways(self._shelf, person), _wanted(announced.name, announced.details))
        await shelf_file_add.check_room(self._shelf, person, announced.size_bytes + announced.reserved_bytes)

    async def receive(self, arrived: Arrived) -> str:
        upload = _upload(arrived, _wanted(arrived.name, arrived.details))
        return (await shelf_file_add.keep_upload(self._shelf, upload)).file_id

    async def receive_bundle(self, files: Sequence[Small]) -> Sequence[str | SatchelError]:
        callers.admit(files[0].owner, (Member,))
        ways = folders.Ways(self._shelf, _person(files[0]))
        refused: dict[str, SatchelError] = {}
        uploads: list[shelf_file_add.Upload] = []
        for file in files:
            try:
                wanted = _wanted(file.name, file.details)
                await self._check(ways, wanted)
                uploads.append(_upload(file, wanted))
            except SatchelError as error:
                refused[file.upload_id] = error
        outcomes = iter(await bundle_add.keep_uploads(self._shelf, uploads))
        return [refused.get(file.upload_id) or _id_or_error(next(outcomes)) for file in files]

    async def _check(self, ways: folders.Ways, wanted: _Wanted) -> None:
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
    )


def _id_or_error(outcome: bundle_add.Outcome) -> str | SatchelError:
    return outcome if isinstance(outcome, SatchelError) else outcome.file_id


def _person(announced: Announced) -> UserId:
    if not isinstance(announced.owner, Member):
        raise Unauthenticated("Sign in to keep files on a shelf.")
    return UserId(announced.owner.user_id)


def _wanted(name: str, details: Mapping[str, str]) -> _Wanted:
    path = clean_path(details.get("relativePath", ""))
    return _Wanted(
        folder_id=FolderId(details.get("folder") or ROOT),
        folders=path[:-1],
        name=name or (path[-1] if path else ""),
        expires=_moment(details.get("expires", "")),
    )


def _moment(written: str) -> float | None:
    if not written:
        return None
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise Invalid("`expires` must be a time such as 2030-01-31T12:00:00Z.", field="expires")
    return moment.timestamp()
