"""The writes that add, remove and move entries, so that every use case keeps the same rules.

A place is a name in a folder. Folders and files have separate rows there, which makes folders come first; that a name
is used only once is a put on condition that it is absent together with a check that the other kind has it not either.
"""

from satchel.features.shelf.model import ROOT, FolderId, Kind, UserId
from satchel.features.shelf.records import (
    FOLDER,
    MOMENT,
    NAME,
    RANKS,
    FileRow,
    FolderRow,
    MomentRow,
    NameRow,
    id_of,
    kind_of,
    place_of,
)
from satchel.features.shelf.service.context import Shelf
from satchel.kernel.names import FileName, kept_numbered, name_key
from satchel.stores.patterns.optimistic_update import NEW
from satchel.stores.ports.expressions import Condition, attr
from satchel.stores.ports.table import Check, TransactionCancelled, Write

LIVE = attr("PK").exists() & attr("deletedAt").absent() & attr("closing").absent()
Entry = FileRow | FolderRow


def entering(entry: Entry) -> list[Write]:
    """Takes the place that the entry says. Belongs at the end of a transaction, for `is_name_taken`."""
    moment = MomentRow(user_id=entry.user_id, folder_id=place_of(entry), entry_id=id_of(entry), kind=kind_of(entry))
    return [MOMENT.put(moment), *_naming(entry, when=NEW)]


def leaving(entry: Entry) -> list[Write]:
    folder_id = place_of(entry)
    return [
        NAME.delete(
            when=attr("entryId") == id_of(entry),
            user_id=entry.user_id,
            folder_id=folder_id,
            rank=RANKS[kind_of(entry)],
            name_key=name_key(entry.name),
        ),
        MOMENT.delete(user_id=entry.user_id, folder_id=folder_id, entry_id=id_of(entry)),
    ]


def changing(old: Entry, new: Entry) -> list[Write]:
    """Moves from one place to another. Belongs at the end of a transaction, for `is_name_taken`."""
    if place_of(old) != place_of(new):
        return [*leaving(old), *entering(new)]
    if old.name == new.name:
        return _naming(new, when=attr("entryId") == id_of(new))
    return [leaving(old)[0], *_naming(new, when=NEW)]


def still(name: str, value: str | bool) -> Condition:
    """The condition that an attribute has this value. What is empty or false is not stored."""
    return attr(name) == value if value else attr(name).absent()


def is_name_taken(cancelled: TransactionCancelled) -> bool:
    return "condition" in cancelled.reasons[-2:]


def open_folder(user_id: UserId, folder_id: FolderId) -> list[Write]:
    """The condition that the folder accepts entries. If one above it was deleted meanwhile, they go with it."""
    if folder_id == ROOT:
        return []
    return [Check(FOLDER.table, FOLDER.key(user_id=user_id, folder_id=folder_id), LIVE)]


async def find_name(shelf: Shelf, user_id: UserId, folder_id: FolderId, name: FileName) -> NameRow | None:
    """The folder or file that has the name in the folder."""
    keys = [
        NAME.key(user_id=user_id, folder_id=folder_id, rank=rank, name_key=name_key(name)) for rank in RANKS.values()
    ]
    found = next((item for item in await shelf.tables.get_many(NAME.table, keys) if item is not None), None)
    return None if found is None else NAME.read(found)


async def free_name(shelf: Shelf, user_id: UserId, folder_id: FolderId, wanted: FileName) -> FileName:
    """The wanted name or a numbered one that is free. Doubling, then halving, finds one among thousands quickly."""

    async def is_taken(name: FileName) -> bool:
        return await find_name(shelf, user_id, folder_id, name) is not None

    if not await is_taken(wanted):
        return wanted
    taken, free = 0, 1
    while await is_taken(kept_numbered(wanted, free)):
        taken, free = free, free * 2
    while free - taken > 1:
        middle = (taken + free) // 2
        if await is_taken(kept_numbered(wanted, middle)):
            taken = middle
        else:
            free = middle
    return kept_numbered(wanted, free)


def _naming(entry: Entry, *, when: Condition) -> list[Write]:
    kind = kind_of(entry)
    row = NameRow(
        user_id=entry.user_id,
        folder_id=place_of(entry),
        rank=RANKS[kind],
        name_key=name_key(entry.name),
        entry_id=id_of(entry),
        name=entry.name,
    )
    other: Kind = "folder" if kind == "file" else "file"
    others = NAME.key(user_id=row.user_id, folder_id=row.folder_id, rank=RANKS[other], name_key=row.name_key)
    return [Check(NAME.table, others, NEW), NAME.put(row, when=when)]
