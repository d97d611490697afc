"""Deletes a whole shelf, with the account of its owner."""

from dataclasses import dataclass

from satchel.features.shelf.model import UserId
from satchel.features.shelf.records import (
    BIN,
    BLOB,
    DUE,
    FILE,
    FOLDER,
    MOMENT,
    NAME,
    OBJECTS_PREFIX,
    SELECTION,
    USAGE,
    VERSION,
)
from satchel.features.shelf.service.context import Shelf
from satchel.features.shelf.service.files import read_usage
from satchel.features.shelf.service.versions import due_id
from satchel.kernel.departure import Leaver, Tally
from satchel.stores.patterns.partition_delete import delete_records
from satchel.stores.ports.table import Item, StartsWith

_PAGE = 500
# Those that may have a row that says when they are due, and what that is named after.
_DUE = {FILE: "fileId", FOLDER: "folderId", BIN: "entryId", SELECTION: "selectionId", VERSION: ""}


@dataclass(frozen=True, slots=True)
class ShelfHoldings:
    """The files of people, with those in the bin."""

    shelf: Shelf

    async def count(self, leaver: Leaver) -> Tally:
        (usage,) = await read_usage(self.shelf, [UserId(leaver.user_id)])
        return Tally(files=usage.files, file_bytes=usage.used_bytes)

    async def delete(self, leaver: Leaver) -> None:
        """Rows go before bytes, and bytes are found by their prefix, so whoever is interrupted can begin anew."""
        tables, partition = self.shelf.tables, FILE.keys["PK"].render({"user_id": leaver.user_id})
        for shape, named_by in _DUE.items():
            beginning = StartsWith(shape.keys["SK"].render_prefix({}))
            while items := (await tables.query(shape.table, partition, beginning, limit=_PAGE)).items:
                ids = sorted({_due_id(item, named_by) for item in items})
                await tables.write_many(
                    DUE.table, delete=[DUE.key(user_id=leaver.user_id, entry_id=each) for each in ids]
                )
                await tables.write_many(shape.table, delete=[shape.table.key_of(item) for item in items])
        for shape in (NAME, MOMENT, BLOB, USAGE):
            await delete_records(tables, shape, user_id=leaver.user_id)
        await self.shelf.pictures.delete_below(f"{OBJECTS_PREFIX}{leaver.user_id}/")


def _due_id(item: Item, named_by: str) -> str:
    return item[named_by] if named_by else due_id(VERSION.read(item))
