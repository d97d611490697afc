"""Makes a file of an upload: equal bytes are stored once, every file gets a unique name, nothing is lost.

The order makes a crash at any step safe. The row of the bytes is written before their object, so that garbage
collection can tell an object that is being stored from an orphan. The object is complete before a file refers to it.
File, name, reference and usage are one transaction, conditional on the row of the bytes. The uploaded object is
deleted last, so until then every step can be repeated.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import msgspec

from satchel.features.shelf.model import (
    MAX_DEPTH,
    ROOT,
    BytesGone,
    FileId,
    FolderId,
    QuotaReached,
    UserId,
    VersionId,
)
from satchel.features.shelf.records import BLOB, FILE, VERSION, BlobRow, FileRow, UsageRow, object_key, pictured
from satchel.features.shelf.service import versions
from satchel.features.shelf.service.context import Shelf
from satchel.features.shelf.service.files import as_read, count_usage, due_at, is_over, read_usage
from satchel.features.shelf.service.folders import Ways, have_folders
from satchel.features.shelf.service.placement import entering, free_name, is_name_taken, open_folder
from satchel.features.shelf.service.shelf_garbage import announcing
from satchel.features.shelf.service.shelf_notify import tell_folders
from satchel.kernel.clock import iso
from satchel.kernel.errors import NotFound, Unavailable
from satchel.kernel.ids import new_id
from satchel.kernel.names import NAMELESS, FileName, kept_name
from satchel.kernel.patches import Patch, patched_pieces
from satchel.stores.object_rules import known_content_type
from satchel.stores.patterns.optimistic_update import NEW, StaleRead, optimistic_update
from satchel.stores.ports.expressions import Condition, add, attr
from satchel.stores.ports.objects import ObjectMissing, SmallObject
from satchel.stores.ports.table import TransactionCancelled, Write

# The metadata of an object with the name of its first file, for people who look into the store.
ORIGINAL_NAME = "original-name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """Uploaded bytes for a person's shelf, the id that the file will have, and its folder.

    The bytes are stored at `key` or, if there is none, are small and held in `data`. Those of a copy (`is_copy`) are
    somebody's file, and stay where they are; `patches` are made on the way.
    """

    user_id: UserId
    file_id: FileId
    key: str = ""
    data: bytes = b""
    is_copy: bool = False
    patches: Sequence[Patch] = ()
    name: str
    content_type: str
    size_bytes: int
    sha256: str
    folder_id: FolderId = ROOT
    # Folders inside that one, from the top down. Missing ones are created.
    folders: Sequence[FileName] = ()
    expires_at: str = ""
    came_by: str = ""
    from_others: bool = False
    modified_at: str = ""
    executable: bool = False
    # The file whose content it replaces, if that still has the content of which the client knows.
    replaces: FileId | None = None
    replaced_sha256: str = ""


async def keep_upload(shelf: Shelf, upload: Upload) -> FileRow:
    """Make a file of an upload and delete the uploaded object. Idempotent: a repeat returns the same file."""
    replaced = await replace_content(shelf, upload) if upload.replaces else None
    if replaced is not None:
        await versions.drop_surplus(shelf, replaced)
    kept = replaced or await _keep_new(shelf, upload)
    if upload.key and not upload.is_copy:
        await shelf.objects.delete(upload.key)
    await shelf.pictures.make([pictured(kept)])
    return kept


async def _keep_new(shelf: Shelf, upload: Upload) -> FileRow:
    wanted = wanted_name(upload)
    folder_id, name = None, wanted

    @optimistic_update(gives_up=_too_many_of_this_name)
    async def attempt() -> FileRow:
        nonlocal folder_id, name
        kept = await FILE.get(shelf.tables, user_id=upload.user_id, file_id=upload.file_id)
        if kept is not None:
            return kept
        blob = await _store_bytes(shelf, upload, wanted)
        folder_id = folder_id or await have_place(shelf, upload)
        try:
            return await _enter(shelf, upload, blob, folder_id, name)
        except TransactionCancelled as cancelled:
            # Names are seldom taken, so the first attempt does not check.
            if is_name_taken(cancelled):
                name = await free_name(shelf, upload.user_id, folder_id, wanted)
            elif folder_id != ROOT and cancelled.reasons[0] == "condition":
                folder_id = None
            raise

    return await attempt()


@optimistic_update()
async def replace_content(shelf: Shelf, upload: Upload) -> FileRow | None:
    """The file with the content of the upload, its earlier one kept as a version.

    None if the file is gone or has changed since the client looked: then the upload is a new file, and nothing is lost.
    """
    person, file_id = upload.user_id, upload.replaces or FileId("")
    old = await FILE.get(shelf.tables, user_id=person, file_id=file_id)
    if old is None or is_over(shelf, old) or await Ways(shelf, person).to(old.folder_id) is None:
        return None
    done = await VERSION.get(shelf.tables, user_id=person, file_id=file_id, version_id=upload.file_id)
    if done is not None or old.replaced_by == upload.file_id:
        return old
    if await FILE.get(shelf.tables, user_id=person, file_id=upload.file_id) is not None:
        return None  # an earlier attempt found that the file had changed
    facts = {"modified_at": upload.modified_at, "executable": upload.executable, "replaced_by": upload.file_id}
    if old.sha256 == upload.sha256:
        same = msgspec.structs.replace(old, **facts)
        await shelf.tables.transact([FILE.put(same, when=as_read(old))])
        await tell_folders(shelf, person, old.folder_id)
        return same
    if upload.replaced_sha256 not in ("", old.sha256):
        return None
    blob = await _store_bytes(shelf, upload, old.name)
    new = msgspec.structs.replace(
        old,
        sha256=blob.sha256,
        object_id=blob.object_id,
        size_bytes=upload.size_bytes,
        content_type=known_content_type(upload.content_type),
        **facts,
    )
    added = upload.size_bytes if blob.references == 0 else 0
    writes: list[Write] = [
        count_usage(person, used_bytes=added, when=fitting(shelf, added)),
        referring(blob, 1),
        FILE.put(new, when=as_read(old)),
        *versions.keeping(shelf, old, VersionId(upload.file_id)),
    ]
    try:
        await shelf.tables.transact(writes)
    except TransactionCancelled as cancelled:
        if cancelled.reasons[0] == "condition" and shelf.quota_bytes is not None:
            raise _quota_reached(shelf.quota_bytes) from cancelled
        raise
    await tell_folders(shelf, person, new.folder_id)
    return new


def _too_many_of_this_name() -> Unavailable:
    return Unavailable("Too many files with this name arrive at once. Try again in a moment.")


def wanted_name(upload: Upload) -> FileName:
    return kept_name(upload.name) or NAMELESS


async def check_room(shelf: Shelf, user_id: UserId, size_bytes: int) -> None:
    """Refuse what exceeds the quota. Whether two uploads fit together is checked when they arrive."""
    if shelf.quota_bytes is not None:
        (usage,) = await read_usage(shelf, [user_id])
        check_fits(shelf, usage, size_bytes)


def check_fits(shelf: Shelf, usage: UsageRow, size_bytes: int) -> None:
    if shelf.quota_bytes is not None and usage.used_bytes + size_bytes > shelf.quota_bytes:
        raise _quota_reached(shelf.quota_bytes)


def _quota_reached(quota_bytes: int) -> QuotaReached:
    return QuotaReached("Your shelf is full. Delete something and empty the bin.", quota_bytes=quota_bytes)


async def have_place(shelf: Shelf, upload: Upload) -> FolderId:
    """The folder of the file: the top, if it was deleted during the upload, so that nothing is lost."""
    way = await Ways(shelf, upload.user_id).to(upload.folder_id)
    fits = way is not None and len(way) + len(upload.folders) <= MAX_DEPTH
    for start in (upload.folder_id, ROOT) if fits else (ROOT,):
        with suppress(NotFound):
            return await have_folders(shelf, upload.user_id, start, upload.folders)
    return ROOT


async def _store_bytes(shelf: Shelf, upload: Upload, name: FileName) -> BlobRow:
    """The row of the bytes once their object stands; a refused write or `StaleRead` says that another upload was first.

    Bytes that files refer to already are looked at, too: whoever brings a damaged file back repairs it.
    """
    blob = await BLOB.get(shelf.tables, user_id=upload.user_id, sha256=upload.sha256)
    if blob is None:
        await check_room(shelf, upload.user_id, upload.size_bytes)
        blob = unreferenced(shelf, upload)
        # Also of an upload that can be gone on with after a crash: its owner may give it up instead.
        await shelf.tables.transact(announcing(shelf, [blob]))
    elif blob.references > 0:
        with suppress(ObjectMissing):
            await shelf.objects.head(object_key(blob))
            return blob
    try:
        await put_object(shelf, upload, object_key(blob), name)
    except ObjectMissing as error:
        # Another call may have finished the same upload at this moment.
        if await FILE.get(shelf.tables, user_id=upload.user_id, file_id=upload.file_id) is None:
            raise BytesGone("The uploaded data is no longer stored. Upload the file again.") from error
        raise StaleRead from error
    return blob


async def put_object(shelf: Shelf, upload: Upload, key: str, name: FileName) -> None:
    if upload.patches:
        await _put_patched(shelf, upload, key, name)
    elif upload.key:
        await shelf.objects.copy(
            upload.key,
            key,
            metadata={ORIGINAL_NAME: name},
            content_type=known_content_type(upload.content_type),
            size_bytes=upload.size_bytes,
        )
    else:
        await shelf.objects.put_many([small_object(upload, key, name)])


async def _put_patched(shelf: Shelf, upload: Upload, key: str, name: FileName) -> None:
    async with shelf.objects.read(upload.key) as reading:
        await shelf.objects.put(
            key,
            patched_pieces(reading, upload.patches),
            length=upload.size_bytes,
            sha256=upload.sha256,
            content_type=known_content_type(upload.content_type),
            metadata={ORIGINAL_NAME: name},
        )


async def _enter(shelf: Shelf, upload: Upload, blob: BlobRow, folder_id: FolderId, name: FileName) -> FileRow:
    """The first writes fail when the folder is gone or the quota reached, the last two when the name is taken."""
    file = new_file(shelf, upload, blob, folder_id, name)
    added = file.size_bytes if blob.references == 0 else 0
    writes: list[Write] = [
        *open_folder(file.user_id, folder_id),
        count_usage(file.user_id, files=1, used_bytes=added, when=fitting(shelf, added)),
        referring(blob, 1),
        *adding(file),
    ]
    try:
        await shelf.tables.transact(writes)
    except TransactionCancelled as cancelled:
        if (
            cancelled.reasons[len(open_folder(file.user_id, folder_id))] == "condition"
            and shelf.quota_bytes is not None
        ):
            raise _quota_reached(shelf.quota_bytes) from cancelled
        raise
    await tell_folders(shelf, file.user_id, folder_id)
    return file


def small_object(upload: Upload, key: str, name: FileName) -> SmallObject:
    return SmallObject(key, upload.data, known_content_type(upload.content_type), {ORIGINAL_NAME: name})


def new_file(shelf: Shelf, upload: Upload, blob: BlobRow, folder_id: FolderId, name: FileName) -> FileRow:
    return FileRow(
        user_id=upload.user_id,
        file_id=upload.file_id,
        folder_id=folder_id,
        name=name,
        size_bytes=upload.size_bytes,
        content_type=known_content_type(upload.content_type),
        sha256=upload.sha256,
        object_id=blob.object_id,
        created_at=iso(shelf.clock()),
        expires_at=upload.expires_at,
        came_by=upload.came_by,
        from_others=upload.from_others,
        modified_at=upload.modified_at,
        executable=upload.executable,
    )


def referring(blob: BlobRow, files: int) -> Write:
    """Add a reference. Only the first reference adds to the usage, so the condition is that this has not changed."""
    as_read = attr("references") == 0 if blob.references == 0 else attr("references") > 0
    return BLOB.update(
        [add("references", files)],
        when=(attr("objectId") == blob.object_id) & as_read,
        user_id=blob.user_id,
        sha256=blob.sha256,
    )


def adding(file: FileRow) -> list[Write]:
    """Belongs at the end of a transaction, for `is_name_taken`."""
    due = due_at(file, file.expires_at) if file.expires_at else ()
    return [FILE.put(file, when=NEW), *due, *entering(file)]


def fitting(shelf: Shelf, added: int) -> Condition | None:
    if shelf.quota_bytes is None or not added:
        return None
    room = attr("usedBytes") <= shelf.quota_bytes - added
    return room | attr("usedBytes").absent() if added <= shelf.quota_bytes else room


def unreferenced(shelf: Shelf, upload: Upload) -> BlobRow:
    return BlobRow(
        user_id=upload.user_id,
        sha256=upload.sha256,
        object_id=new_id(shelf.clock),
        size_bytes=upload.size_bytes,
        references=0,
        created_at=iso(shelf.clock()),
    )
