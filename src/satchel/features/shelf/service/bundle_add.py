"""Stores many small files of a bundle, or many copies, at once, for the cost of a few.

The order is that of `shelf_file_add`: rows of the bytes, then their objects, then files and all that goes with them.
Each step is done for all files together. A file that cannot go that way (its name is taken, space is short, another
write came first) is stored alone afterwards, so that every file has an outcome of its own.

A crash between rows and objects leaves rows that nothing refers to. They serve whoever brings the same bytes within a
day, and are deleted then.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from satchel.features.shelf.model import ROOT, FileId, FolderId, QuotaReached
from satchel.features.shelf.records import BLOB, BlobRow, FileRow, UsageRow, object_key, pictured
from satchel.features.shelf.service.context import Shelf
from satchel.features.shelf.service.files import count_usage, read_usage
from satchel.features.shelf.service.placement import open_folder
from satchel.features.shelf.service.shelf_file_add import (
    Upload,
    adding,
    check_fits,
    fitting,
    have_place,
    keep_upload,
    new_file,
    put_object,
    referring,
    small_object,
    unreferenced,
    wanted_name,
)
from satchel.features.shelf.service.shelf_garbage import announcing
from satchel.features.shelf.service.shelf_notify import tell_folders
from satchel.kernel.errors import Conflict, SatchelError, StoreRefused
from satchel.kernel.names import FileName
from satchel.kernel.side_by_side import side_by_side
from satchel.stores.patterns.optimistic_update import CONTENTION, optimistic_update
from satchel.stores.ports.objects import ObjectMissing
from satchel.stores.ports.table import TransactionCancelled, Write

# Of a file, its two places, and the check that no folder has its name.
_WRITES_PER_FILE = 4
# Each mostly waits for the disk, or for S3.
_COPIES_AT_ONCE = 16
# Files whose transaction only met another one are tried together this often; then each goes alone.
_FEW_ATTEMPTS = replace(CONTENTION, attempts=5)

Outcome = FileRow | SatchelError


@dataclass(frozen=True, slots=True)
class _Placed:
    """An upload, the folder found or created for it, and its name there."""

    upload: Upload
    folder_id: FolderId
    name: FileName


@dataclass(frozen=True, slots=True)
class _Looked:
    """What was found of the bytes of some uploads, by digest, and of the space that their owner uses."""

    blobs: Mapping[str, BlobRow]
    usage: UsageRow | None


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of each upload, and whether the writes beside them were made."""

    outcomes: list[Outcome]
    beside: bool


async def keep_uploads(shelf: Shelf, uploads: Sequence[Upload]) -> list[Outcome]:
    """The outcome of each, in their order. All belong to one person; each has its bytes and an id."""
    return (await keep_beside(shelf, uploads, ())).outcomes


async def keep_beside(shelf: Shelf, uploads: Sequence[Upload], beside: Sequence[Write]) -> Kept:
    """The same with other writes in the transaction, which are made only if all uploads fit into one."""
    kept: dict[FileId, Outcome] = {}
    together = [upload for upload in uploads if upload.replaces is None]
    placed, looked = await side_by_side(_placed(shelf, together, kept), _look(shelf, together))
    waiting = _first_of_each_name(placed)
    are_beside = False
    while waiting:
        groups, waiting = _grouped(waiting, shelf.most_writes)
        blobs = await _stored(shelf, [each for group in groups for each in group], looked)
        # One after the other, since all of them update the usage. Measured, this takes no longer.
        for group in groups:
            is_whole = len(group) == len(uploads)
            files, are_beside = await _enter_together(shelf, group, blobs, beside if is_whole else ())
            kept.update((file.file_id, file) for file in files)
            await shelf.pictures.make([pictured(file) for file in files])
        if waiting:
            looked = await _look(shelf, [each.upload for each in waiting])
    for upload in uploads:
        if upload.file_id not in kept:
            kept[upload.file_id] = await _kept_alone(shelf, upload)
    return Kept([kept[upload.file_id] for upload in uploads], are_beside)


async def _look(shelf: Shelf, uploads: Sequence[Upload]) -> _Looked:
    if not uploads:
        return _Looked({}, None)
    person = uploads[0].user_id
    keys = [BLOB.key(user_id=person, sha256=sha256) for sha256 in dict.fromkeys(each.sha256 for each in uploads)]
    items, usages = await side_by_side(
        shelf.tables.get_many(BLOB.table, keys), read_usage(shelf, [] if shelf.quota_bytes is None else [person])
    )
    found = [BLOB.read(item) for item in items if item is not None]
    return _Looked({blob.sha256: blob for blob in found}, usages[0] if usages else None)


async def _kept_alone(shelf: Shelf, upload: Upload) -> Outcome:
    try:
        return await keep_upload(shelf, upload)
    except SatchelError as error:
        return error


async def _placed(shelf: Shelf, uploads: Sequence[Upload], outcomes: dict[FileId, Outcome]) -> list[_Placed]:
    """The uploads whose folder was found or created. Each folder is looked up once."""
    folders: dict[tuple[str, ...], FolderId | SatchelError] = {}
    found: list[_Placed] = []
    for upload in uploads:
        way = (upload.folder_id, *upload.folders)
        if way not in folders:
            try:
                folders[way] = await have_place(shelf, upload)
            except SatchelError as error:
                folders[way] = error
        folder = folders[way]
        if isinstance(folder, SatchelError):
            outcomes[upload.file_id] = folder
        else:
            found.append(_Placed(upload, folder, wanted_name(upload)))
    return found


def _first_of_each_name(placed: Sequence[_Placed]) -> list[_Placed]:
    """The first file of each name. The others need a numbered name, and are stored alone."""
    return list({(each.folder_id, each.name): each for each in reversed(placed)}.values())[::-1]


def _grouped(waiting: Sequence[_Placed], most_writes: int) -> tuple[list[list[_Placed]], list[_Placed]]:
    """Groups that fit into one transaction, and the files that wait for the next round.

    The row of the same bytes can be in one transaction at a time, so their files go in one group or wait.
    """
    groups: list[list[_Placed]] = []
    group_of: dict[str, int] = {}
    folders: set[FolderId] = set()
    room = 0
    later: list[_Placed] = []
    for each in waiting:
        sha256 = each.upload.sha256
        is_new, has_to_be_checked = sha256 not in group_of, each.folder_id != ROOT and each.folder_id not in folders
        needed = _WRITES_PER_FILE + is_new + has_to_be_checked + bool(each.upload.expires_at)
        if is_new and needed > room:
            groups.append([])
            # One is for the usage, and the folder of the first may have been checked in another group only.
            room = most_writes - 2
            folders.clear()
        if needed > room or group_of.setdefault(sha256, len(groups) - 1) != len(groups) - 1:
            later.append(each)
            continue
        groups[-1].append(each)
        room -= needed
        folders.add(each.folder_id)
    return groups, later


async def _stored(shelf: Shelf, placed: Sequence[_Placed], looked: _Looked) -> dict[str, BlobRow]:
    """The rows of bytes whose objects are stored now, by digest. Those with a conflict are left out."""
    first = {each.upload.sha256: each for each in placed}
    there = {sha256: looked.blobs[sha256] for sha256 in first if sha256 in looked.blobs}
    new = [each.upload for sha256, each in first.items() if sha256 not in there]
    blobs = there | await _announced(shelf, new, looked.usage)
    standing = await asyncio.gather(*(_is_standing(shelf, blob) for blob in blobs.values()))
    missing = [blob for blob, stands in zip(blobs.values(), standing, strict=True) if not stands]
    lost = await _store_objects(shelf, [(first[blob.sha256], object_key(blob)) for blob in missing])
    return {sha256: blob for sha256, blob in blobs.items() if sha256 not in lost}


async def _store_objects(shelf: Shelf, missing: Sequence[tuple[_Placed, str]]) -> set[str]:
    """Store the bytes at their keys. Returns the digests of those whose source no longer exists."""
    held = [small_object(each.upload, key, each.name) for each, key in missing if not each.upload.key]
    await shelf.objects.put_many(held)
    places = asyncio.Semaphore(_COPIES_AT_ONCE)

    async def copied(placed: _Placed, key: str) -> str | None:
        async with places:
            try:
                await put_object(shelf, placed.upload, key, placed.name)
            except ObjectMissing:
                return placed.upload.sha256
            return None

    copies = await asyncio.gather(*(copied(each, key) for each, key in missing if each.upload.key))
    return {sha256 for sha256 in copies if sha256 is not None}


async def _announced(shelf: Shelf, uploads: Sequence[Upload], usage: UsageRow | None) -> dict[str, BlobRow]:
    """Rows for bytes that are new here."""
    if not uploads:
        return {}
    try:
        if usage is not None:
            check_fits(shelf, usage, sum(upload.size_bytes for upload in uploads))
    except QuotaReached:
        return {}
    blobs = [unreferenced(shelf, upload) for upload in uploads]
    most = shelf.most_writes - 1
    chunks = [blobs[start : start + most] for start in range(0, len(blobs), most)]
    announced = await asyncio.gather(*(_transacted(shelf, announcing(shelf, chunk)) for chunk in chunks))
    return {blob.sha256: blob for chunk, done in zip(chunks, announced, strict=True) if done for blob in chunk}


async def _is_standing(shelf: Shelf, blob: BlobRow) -> bool:
    """Whether the object surely exists: files refer to it, and it is not lost."""
    if blob.references == 0:
        return False
    try:
        await shelf.objects.head(object_key(blob))
    except ObjectMissing:
        return False
    return True


async def _enter_together(
    shelf: Shelf, group: Sequence[_Placed], blobs: dict[str, BlobRow], beside: Sequence[Write]
) -> tuple[list[FileRow], bool]:
    """The new files, and whether the writes beside were made. None if any of them had a conflict."""
    ready = [placed for placed in group if placed.upload.sha256 in blobs]
    if not ready:
        return [], False
    files = [
        new_file(shelf, placed.upload, blobs[placed.upload.sha256], placed.folder_id, placed.name) for placed in ready
    ]
    writes = list(_entering(shelf, files, blobs))
    are_beside = len(ready) == len(group) and 0 < len(beside) <= shelf.most_writes - len(writes)
    if not await _transacted(shelf, [*beside, *writes] if are_beside else writes):
        return [], False
    await tell_folders(shelf, files[0].user_id, *(file.folder_id for file in files))
    return files, are_beside


def _entering(shelf: Shelf, files: Sequence[FileRow], blobs: dict[str, BlobRow]) -> Iterator[Write]:
    person = files[0].user_id
    references = Counter(file.sha256 for file in files)
    added = sum(blobs[sha256].size_bytes for sha256 in references if blobs[sha256].references == 0)
    for folder_id in {file.folder_id for file in files}:
        yield from open_folder(person, folder_id)
    yield count_usage(person, files=len(files), used_bytes=added, when=fitting(shelf, added))
    for sha256, count in references.items():
        yield referring(blobs[sha256], count)
    for file in files:
        yield from adding(file)


async def _transacted(shelf: Shelf, writes: Sequence[Write]) -> bool:
    """Whether everything was written. A transaction that only met a concurrent one is retried."""

    @optimistic_update(backoff=_FEW_ATTEMPTS)
    async def attempt() -> bool:
        try:
            await shelf.tables.transact(writes)
        except TransactionCancelled as cancelled:
            if "condition" in cancelled.reasons:
                return False
            raise
        return True

    try:
        return await attempt()
    except Conflict:
        return False
    except StoreRefused:
        # DynamoDB Local takes ten writes at once: each file goes alone there, and any other mistake shows then.
        return False
