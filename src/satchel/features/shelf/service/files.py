"""See, rename and delete the files one has, and how much room they take."""

from collections.abc import Sequence

from satchel.features.shelf.model import FileId, FileName, NameTaken, NameUnusable, UserId, clean_name, sameness
from satchel.features.shelf.records import BLOB, FILE, NAME, USAGE, BlobRow, FileRow, NameRow, UsageRow, object_key
from satchel.features.shelf.service.arrivals import count_usage
from satchel.features.shelf.service.context import ATTEMPTS, Shelf
from satchel.kernel.errors import Conflict, NotFound
from satchel.stores.ports.expressions import add, assign, attr
from satchel.stores.ports.table import TransactionCancelled, Write
from satchel.stores.schema import RecordPage

MAX_FILE_ID_CHARACTERS = 64


async def list_files(shelf: Shelf, user_id: UserId, limit: int, cursor: str | None) -> RecordPage[FileRow]:
    """Newest first."""
    return await FILE.list(shelf.tables, user_id=user_id, descending=True, limit=limit, cursor=cursor)


async def find_file(shelf: Shelf, user_id: UserId, file_id: FileId) -> FileRow:
    known = len(file_id) <= MAX_FILE_ID_CHARACTERS
    file = await FILE.get(shelf.tables, user_id=user_id, file_id=file_id) if known else None
    if file is None:
        raise NotFound("There is no such file on your shelf.")
    return file


async def rename_file(shelf: Shelf, user_id: UserId, file_id: FileId, written: str) -> FileRow:
    name = clean_name(written)
    if name is None:
        raise NameUnusable("Give the file a name with at least one letter that can be seen.", field="name")
    for _ in range(ATTEMPTS):
        file = await find_file(shelf, user_id, file_id)
        if file.name == name:
            return file
        try:
            await shelf.tables.transact(_renaming(file, name))
        except TransactionCancelled as cancelled:
            if cancelled.reasons[-1] == "condition":
                raise NameTaken("Another of your files has this name. Choose another.") from cancelled
    raise Conflict("This file is being changed elsewhere. Try again.")


async def delete_file(shelf: Shelf, user_id: UserId, file_id: FileId) -> None:
    """The bytes go with the last file that shows them; if we are cut off before they do, a sweep takes them."""
    for _ in range(ATTEMPTS):
        file = await find_file(shelf, user_id, file_id)
        blob = await BLOB.get(shelf.tables, user_id=user_id, sha256=file.sha256)
        if blob is None:
            continue  # deleted between the two reads, so the file is gone as well
        try:
            await shelf.tables.transact(_deletion(file, blob))
        except TransactionCancelled:
            continue
        if blob.references == 1:
            await shelf.objects.delete(object_key(blob))
        return
    raise Conflict("This file is being changed elsewhere. Try again.")


async def read_usage(shelf: Shelf, user_ids: Sequence[UserId]) -> list[UsageRow]:
    """One answer per person, in the order asked."""
    keys = [USAGE.key(user_id=user_id) for user_id in user_ids]
    items = await shelf.tables.get_many(USAGE.table, keys)
    return [
        UsageRow(user_id=user_id) if item is None else USAGE.read(item)
        for user_id, item in zip(user_ids, items, strict=True)
    ]


def _renaming(file: FileRow, name: FileName) -> list[Write]:
    """The last write is the one that fails when the name is taken."""
    person, old, new = file.user_id, sameness(file.name), sameness(name)
    unchanged = attr("fileName") == file.name
    changed = FILE.update([assign("fileName", name)], when=unchanged, user_id=person, file_id=file.file_id)
    if old == new:
        return [changed]
    row = NameRow(user_id=person, sameness=new, file_id=file.file_id)
    return [
        changed,
        NAME.delete(when=attr("fileId") == file.file_id, user_id=person, sameness=old),
        NAME.put(row, when=attr("PK").absent()),
    ]


def _deletion(file: FileRow, blob: BlobRow) -> list[Write]:
    person, is_last = file.user_id, blob.references == 1
    unchanged = (attr("objectId") == blob.object_id) & (attr("references") == 1 if is_last else attr("references") > 1)
    bytes_go: Write = (
        BLOB.delete(when=unchanged, user_id=person, sha256=blob.sha256)
        if is_last
        else BLOB.update([add("references", -1)], when=unchanged, user_id=person, sha256=blob.sha256)
    )
    return [
        FILE.delete(when=attr("fileName") == file.name, user_id=person, file_id=file.file_id),
        NAME.delete(when=attr("fileId") == file.file_id, user_id=person, sameness=sameness(file.name)),
        bytes_go,
        count_usage(person, files=-1, used_bytes=-blob.size_bytes if is_last else 0),
    ]
