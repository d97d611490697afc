"""Several files and folders under one id, so that one link leads to all of them without a folder for it.

The id follows from the ids of the entries: asking again makes nothing new. A selection that no link leads to is deleted
after a while.
"""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import timedelta

from satchel.features.shelf.model import EntryId, FileId, FolderId, SelectionId, UserId
from satchel.features.shelf.records import DUE, SELECTION, DueRow, FileRow, SelectionRow, id_of, place_of
from satchel.features.shelf.service.context import MAX_ID_CHARACTERS, Shelf
from satchel.features.shelf.service.files import entry_key, find_file, note_opening, read_entries
from satchel.features.shelf.service.folders import Ways, find_folder
from satchel.features.shelf.service.placement import Entry
from satchel.kernel.clock import iso
from satchel.kernel.handed_file import ShelfFolderUsed
from satchel.kernel.unfit import CombinationUnfit
from satchel.stores.ports.expressions import attr
from satchel.stores.ports.table import TransactionCancelled

MOST_ENTRIES = 100
UNLINKED_FOR = timedelta(days=7)


async def make_selection(
    shelf: Shelf, user_id: UserId, folder_ids: Sequence[FolderId], file_ids: Sequence[FileId]
) -> tuple[SelectionRow, str]:
    """The selection and its name. All that is selected has to exist."""
    folders = [await find_folder(shelf, user_id, folder_id) for folder_id in sorted(set(folder_ids))]
    files = [await find_file(shelf, user_id, file_id) for file_id in sorted(set(file_ids))]
    if not 0 < len(folders) + len(files) <= MOST_ENTRIES:
        raise CombinationUnfit(f"Select 1 to {MOST_ENTRIES} files and folders.", field="files")
    row = SelectionRow(
        user_id=user_id,
        selection_id=_id_of([*folders, *files]),
        folders=[folder.folder_id for folder in folders],
        files=[file.file_id for file in files],
    )
    due = iso(shelf.clock() + UNLINKED_FOR.total_seconds())
    await shelf.tables.transact([SELECTION.put(row), DUE.put(_due_of(row, due))])
    return row, name_of([*folders, *files])


async def find_selections(
    shelf: Shelf, user_id: UserId, selection_ids: Sequence[str]
) -> Mapping[str, tuple[SelectionRow, list[Entry]]]:
    """The selections of which something exists, with what exists of each."""
    known = [each for each in dict.fromkeys(selection_ids) if 0 < len(each) <= MAX_ID_CHARACTERS]
    keys = [SELECTION.key(user_id=user_id, selection_id=each) for each in known]
    rows = [SELECTION.read(item) for item in await shelf.tables.get_many(SELECTION.table, keys) if item is not None]
    wanted = dict.fromkeys(pair for row in rows for pair in _entries_of(row))
    entries = await read_entries(shelf, [entry_key(user_id, kind, entry_id) for kind, entry_id in wanted])
    ways = Ways(shelf, user_id)
    there = {id_of(entry): entry for entry in entries if await ways.to(place_of(entry)) is not None}
    found = {row.selection_id: (row, [there[each] for _, each in _entries_of(row) if each in there]) for row in rows}
    return {selection_id: pair for selection_id, pair in found.items() if pair[1]}


def name_of(entries: Sequence[Entry]) -> str:
    """Such as “harbour.jpg + 2”."""
    return entries[0].name if len(entries) == 1 else f"{entries[0].name} + {len(entries) - 1}"


async def note_selection_link(shelf: Shelf, user_id: UserId, selection_id: SelectionId) -> None:
    """What somebody gives a link to is theirs, though it was handed to them."""
    for _, entries in (await find_selections(shelf, user_id, [selection_id])).values():
        for entry in entries:
            if isinstance(entry, FileRow):
                await note_opening(shelf, entry)
            else:
                await shelf.events.publish(ShelfFolderUsed(user_id, entry.folder_id))


async def settle_selection(shelf: Shelf, due: DueRow) -> int:
    """Delete a selection to which no link leads, and look at any other again later."""
    row = SelectionRow(user_id=due.user_id, selection_id=SelectionId(due.entry_id))
    if await shelf.links.has_any(due.user_id, f"selection:{due.entry_id}"):
        later = iso(shelf.clock() + UNLINKED_FOR.total_seconds())
        await shelf.tables.put(DUE.table, DUE.item(_due_of(row, later)))
        return 0
    gone = SELECTION.delete(user_id=due.user_id, selection_id=row.selection_id)
    # Whoever asks for the same selection meanwhile has moved it to a later day.
    as_read = attr("AbsoluteExpiryTime") == due.due
    try:
        await shelf.tables.transact([gone, DUE.delete(when=as_read, user_id=due.user_id, entry_id=due.entry_id)])
    except TransactionCancelled:
        return 0
    return 1


def _entries_of(row: SelectionRow) -> list[tuple[str, EntryId]]:
    folders = [("folder", EntryId(each)) for each in row.folders]
    return [*folders, *(("file", EntryId(each)) for each in row.files)]


def _id_of(entries: Sequence[Entry]) -> SelectionId:
    return SelectionId(hashlib.sha256("/".join(map(id_of, entries)).encode()).hexdigest()[:32])


def _due_of(row: SelectionRow, due: str) -> DueRow:
    return DueRow(user_id=row.user_id, entry_id=EntryId(row.selection_id), kind="selection", due=due)
