"""Take over what was uploaded: the same bytes are stored once, every file gets a name of its own, nothing is lost.

The order is what makes it safe to be cut off at any step. The row of the bytes is there before their object, so that
whoever sweeps can tell an object that is on its way from one that nobody needs. The object is complete before a file
refers to it. File, name, reference and usage come in one transaction, on condition that the bytes are still those of
the row. The uploaded object goes last, so until then all of it can be done again.
"""

from contextlib import suppress
from dataclasses import dataclass

from satchel.features.shelf.model import (
    NAMELESS,
    BytesGone,
    FileId,
    FileName,
    UserId,
    clean_name,
    numbered,
    sameness,
)
from satchel.features.shelf.records import BLOB, FILE, NAME, USAGE, BlobRow, FileRow, NameRow, object_key
from satchel.features.shelf.service.context import ATTEMPTS, Shelf
from satchel.kernel.clock import iso
from satchel.kernel.errors import Invalid, Unavailable
from satchel.kernel.ids import new_id
from satchel.stores.object_rules import check_content_type
from satchel.stores.ports.expressions import add, assign, attr
from satchel.stores.ports.objects import DEFAULT_TYPE, ObjectMissing
from satchel.stores.ports.table import ConditionFailed, TransactionCancelled, Write

NEW = attr("PK").absent()


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """Bytes that have arrived at `key` for somebody's shelf, and the id that the file will have."""

    user_id: UserId
    file_id: FileId
    key: str
    name: str
    content_type: str
    size_bytes: int
    sha256: str


async def keep_upload(shelf: Shelf, upload: Upload) -> FileRow:
    """Make a file of an upload and take the uploaded object away. Doing it again comes to the same file."""
    wanted = clean_name(upload.name) or NAMELESS
    for attempt in range(ATTEMPTS):
        kept = await FILE.get(shelf.tables, user_id=upload.user_id, file_id=upload.file_id)
        if kept is None and (blob := await _store_bytes(shelf, upload, wanted)) is not None:
            # Names are seldom taken, so the first attempt does not look.
            name = wanted if attempt == 0 else await _free_name(shelf, upload.user_id, wanted)
            kept = await _enter(shelf, upload, blob, name)
        if kept is not None:
            await shelf.objects.delete(upload.key)
            return kept
    raise Unavailable("Too many files of this name arrive at once. Try again in a moment.")


async def _store_bytes(shelf: Shelf, upload: Upload, name: FileName) -> BlobRow | None:
    """The row of the bytes once their object stands; None if another upload changed things, and we have to look again.

    Bytes that files refer to already are looked at, too: whoever brings a damaged file back repairs it.
    """
    blob = await BLOB.get(shelf.tables, user_id=upload.user_id, sha256=upload.sha256)
    if blob is None:
        blob = _unreferenced(shelf, upload)
        try:
            await shelf.tables.put(BLOB.table, BLOB.item(blob), when=NEW)
        except ConditionFailed:
            return None
    elif blob.references > 0:
        with suppress(ObjectMissing):
            await shelf.objects.head(object_key(blob))
            return blob
    try:
        await shelf.objects.copy(upload.key, object_key(blob), metadata={"original-name": name})
    except ObjectMissing as error:
        # The same upload may have been taken over by another call at this moment.
        if await FILE.get(shelf.tables, user_id=upload.user_id, file_id=upload.file_id) is None:
            raise BytesGone("The uploaded bytes are not there any more. Upload the file again.") from error
        return None
    return blob


async def _enter(shelf: Shelf, upload: Upload, blob: BlobRow, name: FileName) -> FileRow | None:
    file = FileRow(
        user_id=upload.user_id,
        file_id=upload.file_id,
        name=name,
        size_bytes=upload.size_bytes,
        content_type=_known_type(upload.content_type),
        sha256=upload.sha256,
        object_id=blob.object_id,
        created_at=iso(shelf.clock()),
    )
    # Whether these bytes are the first of their kind decides what they add to the usage, so it must still be true.
    is_first = blob.references == 0
    unchanged = (attr("objectId") == blob.object_id) & (attr("references") == 0 if is_first else attr("references") > 0)
    writes: list[Write] = [
        FILE.put(file, when=NEW),
        NAME.put(NameRow(user_id=file.user_id, sameness=sameness(name), file_id=file.file_id), when=NEW),
        BLOB.update([add("references", 1)], when=unchanged, user_id=file.user_id, sha256=file.sha256),
        count_usage(file.user_id, files=1, used_bytes=file.size_bytes if is_first else 0),
    ]
    try:
        await shelf.tables.transact(writes)
    except TransactionCancelled:
        return None
    return file


def count_usage(user_id: UserId, *, files: int, used_bytes: int) -> Write:
    actions = [assign("userId", user_id), add("files", files), add("usedBytes", used_bytes)]
    return USAGE.update(actions, user_id=user_id)


async def _free_name(shelf: Shelf, user_id: UserId, wanted: FileName) -> FileName:
    """The wanted name or a numbered one that is free; doubling, then halving, finds one among thousands quickly."""
    if not await _is_taken(shelf, user_id, wanted):
        return wanted
    taken, free = 0, 1
    while await _is_taken(shelf, user_id, numbered(wanted, free)):
        taken, free = free, free * 2
    while free - taken > 1:
        middle = (taken + free) // 2
        if await _is_taken(shelf, user_id, numbered(wanted, middle)):
            taken = middle
        else:
            free = middle
    return numbered(wanted, free)


async def _is_taken(shelf: Shelf, user_id: UserId, name: FileName) -> bool:
    return await NAME.get(shelf.tables, user_id=user_id, sameness=sameness(name)) is not None


def _unreferenced(shelf: Shelf, upload: Upload) -> BlobRow:
    return BlobRow(
        user_id=upload.user_id,
        sha256=upload.sha256,
        object_id=new_id(shelf.clock),
        size_bytes=upload.size_bytes,
        references=0,
        created_at=iso(shelf.clock()),
    )


def _known_type(content_type: str) -> str:
    try:
        return check_content_type(content_type)
    except Invalid:
        return DEFAULT_TYPE
