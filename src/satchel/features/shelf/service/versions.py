"""Versions: earlier contents of a file, kept for a while after they were replaced, and restored from there.

A version holds a reference to its bytes as a file does, so they count against the quota until it goes.
"""

from typing import Any

import msgspec

from satchel.features.shelf.model import EntryId, FileId, UserId, VersionId
from satchel.features.shelf.records import BLOB, DUE, FILE, VERSION, BlobRow, DueRow, FileRow, VersionRow, object_key
from satchel.features.shelf.service.context import MAX_ID_CHARACTERS, Shelf
from satchel.features.shelf.service.files import as_read, count_usage, find_file
from satchel.features.shelf.service.shelf_notify import tell_folders
from satchel.kernel.clock import iso
from satchel.kernel.errors import NotFound
from satchel.kernel.ids import new_id
from satchel.stores.patterns.optimistic_update import NEW, StaleRead, optimistic_update
from satchel.stores.ports.expressions import add, attr
from satchel.stores.ports.table import Write

MAX_VERSIONS = 20
_PAGE = 100


def keeping(shelf: Shelf, file: FileRow, version_id: VersionId) -> list[Write]:
    """The writes that keep the content of a file as a version, which something is about to replace."""
    now = shelf.clock()
    version = VersionRow(
        user_id=file.user_id,
        file_id=file.file_id,
        version_id=version_id,
        size_bytes=file.size_bytes,
        content_type=file.content_type,
        sha256=file.sha256,
        object_id=file.object_id,
        modified_at=file.modified_at,
        executable=file.executable,
        replaced_at=iso(now),
        gone_at=iso(now + shelf.versions_kept.total_seconds()),
    )
    due = DueRow(user_id=file.user_id, entry_id=due_id(version), kind="version", due=version.gone_at)
    return [VERSION.put(version, when=NEW), DUE.put(due)]


def due_id(version: VersionRow) -> EntryId:
    return EntryId(f"{version.file_id}.{version.version_id}")


async def list_versions(shelf: Shelf, user_id: UserId, file_id: FileId) -> list[VersionRow]:
    """The versions of a file on the shelf, the last replaced first."""
    await find_file(shelf, user_id, file_id)
    return [each for each in await all_versions(shelf, user_id, file_id) if each.gone_at > iso(shelf.clock())]


async def all_versions(shelf: Shelf, user_id: UserId, file_id: FileId) -> list[VersionRow]:
    """Also those of a file in the bin, and those that are due."""
    page = await VERSION.list(shelf.tables, user_id=user_id, file_id=file_id, limit=_PAGE)
    return sorted(page.records, key=lambda each: (each.replaced_at, each.version_id), reverse=True)


async def find_version(shelf: Shelf, user_id: UserId, file_id: FileId, version_id: VersionId) -> VersionRow:
    await find_file(shelf, user_id, file_id)
    known = 0 < len(version_id) <= MAX_ID_CHARACTERS
    found = await VERSION.get(shelf.tables, user_id=user_id, file_id=file_id, version_id=version_id) if known else None
    if found is None or found.gone_at <= iso(shelf.clock()):
        raise NotFound("This file has no such version.")
    return found


@optimistic_update()
async def restore_version(shelf: Shelf, user_id: UserId, file_id: FileId, version_id: VersionId) -> FileRow:
    """Give a file the content of a version. What it had becomes a version, the newest."""
    file = await find_file(shelf, user_id, file_id)
    version = await find_version(shelf, user_id, file_id, version_id)
    restoring = VersionId(new_id(shelf.clock))
    new = msgspec.structs.replace(
        file,
        sha256=version.sha256,
        object_id=version.object_id,
        size_bytes=version.size_bytes,
        content_type=version.content_type,
        modified_at=version.modified_at,
        executable=version.executable,
        replaced_by=restoring,
    )
    await shelf.tables.transact(
        [FILE.put(new, when=as_read(file)), *_leaving(version), *keeping(shelf, file, restoring)]
    )
    await tell_folders(shelf, user_id, new.folder_id)
    return new


async def drop_surplus(shelf: Shelf, file: FileRow) -> None:
    """Delete the oldest versions of a file that has too many."""
    for version in (await all_versions(shelf, file.user_id, file.file_id))[MAX_VERSIONS:]:
        await drop_version(shelf, version)


async def drop_version(shelf: Shelf, version: VersionRow) -> bool:
    """Delete a version, and its bytes with the last reference. Whether it was there."""
    blob = await _drop_rows(shelf, version)
    if blob is not None and blob.references == 1:
        await shelf.objects.delete(object_key(blob))
        await shelf.pictures.delete([object_key(blob)])
    return blob is not None


@optimistic_update()
async def _drop_rows(shelf: Shelf, version: VersionRow) -> BlobRow | None:
    """The row of the bytes as it was before. None if the version is gone."""
    key: dict[str, Any] = {"user_id": version.user_id, "file_id": version.file_id, "version_id": version.version_id}
    if await VERSION.get(shelf.tables, **key) is None:
        return None
    blob = await BLOB.get(shelf.tables, user_id=version.user_id, sha256=version.sha256)
    if blob is None:
        raise StaleRead  # deleted between the two reads, so the version is gone as well
    is_last = blob.references == 1
    await shelf.tables.transact(
        [
            *_leaving(version),
            unreferring(blob),
            count_usage(version.user_id, used_bytes=-blob.size_bytes if is_last else 0),
        ]
    )
    return blob


def unreferring(blob: BlobRow) -> Write:
    """Take a reference from the bytes, or delete their row with the last one."""
    is_last = blob.references == 1
    unchanged = (attr("objectId") == blob.object_id) & (attr("references") == 1 if is_last else attr("references") > 1)
    if is_last:
        return BLOB.delete(when=unchanged, user_id=blob.user_id, sha256=blob.sha256)
    return BLOB.update([add("references", -1)], when=unchanged, user_id=blob.user_id, sha256=blob.sha256)


def _leaving(version: VersionRow) -> list[Write]:
    person = version.user_id
    return [
        VERSION.delete(
            when=attr("PK").exists(), user_id=person, file_id=version.file_id, version_id=version.version_id
        ),
        DUE.delete(user_id=person, entry_id=due_id(version)),
    ]
