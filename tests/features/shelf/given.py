"""Files that have arrived on a shelf, stores that let something happen in between, and what must always hold."""

import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

from satchel.features.links.adapters import OpenLinks
from satchel.features.shelf.model import ROOT, FileId, FolderId, UserId
from satchel.features.shelf.records import (
    BIN,
    BLOB,
    DUE,
    DUE_INDEX,
    DUE_SORT,
    FILE,
    FOLDER,
    MOMENT,
    NAME,
    SELECTION,
    USAGE,
    VERSION,
    DueRow,
    FileRow,
    FolderRow,
    UsageRow,
    id_of,
    object_key,
    place_of,
)
from satchel.features.shelf.service.context import Shelf
from satchel.features.shelf.service.folders import Ways
from satchel.features.shelf.service.shelf_file_add import Upload, keep_upload
from satchel.features.shelf.service.versions import due_id
from satchel.kernel.ids import new_id
from satchel.media.pictures import Pictures
from satchel.stores.ports.objects import Objects
from satchel.stores.ports.table import Tables
from tests.application import Caller, Satchel

STAGED = "uploads/"


class Killed(BaseException):
    """What a test raises where the power goes out: nothing below may handle it."""


@dataclass
class Meddling:
    """Does something just before or just after the n-th call of the stores that it wraps, and counts them."""

    number: int
    meddle: Callable[[], Awaitable[None]]
    afterwards: bool = False
    calls: int = 0

    async def around(self, call: Callable[..., Awaitable[Any]], *positional: Any, **named: Any) -> Any:
        self.calls += 1
        is_it = self.calls == self.number
        if is_it and not self.afterwards:
            await self.meddle()
        answer = await call(*positional, **named)
        if is_it and self.afterwards:
            await self.meddle()
        return answer

    def shelf(self, shelf: Shelf) -> Shelf:
        return Shelf(
            tables=cast("Tables", _Meddled(shelf.tables, self)),
            objects=cast("Objects", _Meddled(shelf.objects, self)),
            ephemeral=shelf.ephemeral,
            clock=shelf.clock,
            pictures=shelf.pictures,
            links=shelf.links,
            quota_bytes=shelf.quota_bytes,
        )


class _Meddled:
    def __init__(self, store: Any, meddling: Meddling) -> None:
        self._store = store
        self._meddling = meddling

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._store, name)
        return partial(self._meddling.around, call)


async def kill() -> None:
    raise Killed


def shelf_of(satchel: Satchel) -> Shelf:
    stores = satchel.stores
    return Shelf(
        tables=stores.tables,
        objects=stores.objects,
        ephemeral=stores.ephemeral,
        clock=satchel.clock,
        pictures=Pictures(stores.tables, stores.objects, stores.ephemeral, satchel.clock),
        links=OpenLinks(stores.tables, satchel.clock),
        quota_bytes=satchel.settings.quota or None,
    )


async def staged(
    satchel: Satchel,
    caller: Caller,
    name: str,
    content: bytes,
    content_type: str = "text/plain",
    folder_id: str = ROOT,
) -> Upload:
    """An upload that is complete and waits to be taken over."""
    upload_id = new_id(satchel.clock)
    await satchel.stores.objects.put(STAGED + upload_id, _stream(content), content_type=content_type)
    return Upload(
        user_id=UserId(caller.user_id),
        file_id=FileId(upload_id),
        key=STAGED + upload_id,
        name=name,
        content_type=content_type,
        size_bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        folder_id=FolderId(folder_id),
    )


async def uploaded(
    satchel: Satchel,
    caller: Caller,
    name: str,
    content: bytes,
    content_type: str = "text/plain",
    folder_id: str = ROOT,
) -> FileRow:
    return await keep_upload(shelf_of(satchel), await staged(satchel, caller, name, content, content_type, folder_id))


async def replaced(satchel: Satchel, caller: Caller, file: FileRow, content: bytes) -> FileRow:
    """The file with another content, the earlier one kept as a version."""
    upload = await staged(satchel, caller, file.name, content)
    return await keep_upload(shelf_of(satchel), replace(upload, replaces=file.file_id, replaced_sha256=file.sha256))


async def made(caller: Caller, name: str, folder_id: str = ROOT) -> str:
    """The id of a new folder."""
    answer = await caller("POST", "/shelf/folders", json={"name": name, "folder_id": folder_id})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


async def names(caller: Caller, folder_id: str = ROOT, sort: str = "name") -> list[str]:
    answer = await caller("GET", "/shelf/entries", params={"folder": folder_id, "sort": sort})
    assert answer.status_code == 200, answer.text
    return [entry["name"] for entry in answer.json()["entries"]]


async def usage(caller: Caller) -> dict[str, Any]:
    return (await caller("GET", "/shelf/usage")).json()


def room(used_bytes: int, files: int, bin_bytes: int = 0) -> dict[str, Any]:
    """What `usage` answers where there is no quota."""
    return {"used_bytes": used_bytes, "files": files, "quota_bytes": None, "bin_bytes": bin_bytes}


async def stored_keys(satchel: Satchel, prefix: str = "user/") -> list[str]:
    return [info.key for info in (await satchel.stores.objects.list(prefix)).objects]


async def check_shelf(satchel: Satchel, caller: Caller, *, leftovers: bool = False) -> list[FileRow]:
    """Every file can be read, places and counts agree, and, unless left over, nothing else is stored.

    Answers the files that are neither in the bin nor below a folder that is.
    """
    tables, person = satchel.stores.tables, caller.user_id
    files = (await FILE.list(tables, user_id=person, limit=1000)).records
    folders = (await FOLDER.list(tables, user_id=person, limit=1000)).records
    versions = (await VERSION.list(tables, user_id=person, limit=1000)).records
    kept = [*files, *versions]
    for each in kept:
        assert await _read(satchel.stores.objects, object_key(each)) == each.sha256
    await _check_places(satchel, person, [*files, *folders])
    referenced = {each.sha256: each.size_bytes for each in kept}
    blobs = (await BLOB.list(tables, user_id=person, limit=1000)).records
    counted = {blob.sha256: blob.references for blob in blobs if blob.references}
    assert counted == {sha256: [each.sha256 for each in kept].count(sha256) for sha256 in referenced}
    row = await USAGE.get(tables, user_id=person) or UsageRow(user_id=UserId(person))
    binned = (await BIN.list(tables, user_id=person, limit=1000)).records
    assert (row.used_bytes, row.files) == (sum(referenced.values()), len(files))
    assert row.bin_bytes == sum(each.size_bytes for each in binned)
    if not leftovers:
        assert set(await stored_keys(satchel, f"user/{person}/")) == {object_key(each) for each in kept}
        waiting = {sha256 for row in await _due_rows(satchel, person) for sha256 in row.digests}
        assert {blob.sha256 for blob in blobs} - referenced.keys() <= waiting
    ways = Ways(shelf_of(satchel), UserId(person))
    return [file for file in files if not file.deleted_at and await ways.to(file.folder_id) is not None]


async def _check_places(satchel: Satchel, person: str, entries: Sequence[FileRow | FolderRow]) -> None:
    """Each thing has one name and one moment in its folder, or one row in the bin, and is due when it should be."""
    tables = satchel.stores.tables
    placed = {(place_of(entry), id_of(entry)) for entry in entries if not entry.deleted_at and not _is_closing(entry)}
    named = (await NAME.list(tables, user_id=person, limit=1000)).records
    assert sorted((row.folder_id, row.entry_id) for row in named) == sorted(placed)
    assert len({(row.folder_id, row.name_key) for row in named}) == len(named)
    assert {row.entry_id: row.name for row in named} == {
        id_of(entry): entry.name for entry in entries if (place_of(entry), id_of(entry)) in placed
    }
    moments = (await MOMENT.list(tables, user_id=person, limit=1000)).records
    assert sorted((row.folder_id, row.entry_id) for row in moments) == sorted(placed)
    binned = (await BIN.list(tables, user_id=person, limit=1000)).records
    in_bin = {id_of(entry) for entry in entries if entry.deleted_at and not _is_closing(entry)}
    assert {row.entry_id for row in binned} == in_bin
    temporary = {id_of(entry) for entry in entries if isinstance(entry, FileRow) and entry.expires_at}
    closing = {id_of(entry) for entry in entries if _is_closing(entry)}
    versions = {due_id(version) for version in (await VERSION.list(tables, user_id=person, limit=1000)).records}
    selections = {row.selection_id for row in (await SELECTION.list(tables, user_id=person, limit=1000)).records}
    assert {
        row.entry_id for row in await _due_rows(satchel, person) if row.kind != "bytes"
    } == in_bin | temporary | closing | versions | selections


async def _due_rows(satchel: Satchel, person: str) -> list[DueRow]:
    tables = satchel.stores.tables
    due = (await tables.query(DUE.table, DUE_SORT, index=DUE_INDEX, limit=1000)).items
    items = await tables.get_many(DUE.table, [DUE.table.key_of(item) for item in due])
    return [row for item in items if item and (row := DUE.read(item)).user_id == person]


def _is_closing(entry: FileRow | FolderRow) -> bool:
    return isinstance(entry, FolderRow) and entry.closing


async def _read(objects: Objects, key: str) -> str:
    digest = hashlib.sha256()
    async with objects.read(key) as reading:
        async for piece in reading:
            digest.update(piece)
    return digest.hexdigest()


async def _stream(content: bytes) -> AsyncGenerator[bytes]:
    yield content
