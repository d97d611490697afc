"""Folders: create, find, rename and move. Two concurrent moves cannot make a cycle.

A move is conditional on the whole path from the new parent to the top, which does not contain the folder. Of two moves
that would close a cycle, the second finds that path changed.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

import msgspec

from satchel.features.shelf.model import (
    MAX_DEPTH,
    ROOT,
    Etag,
    FolderId,
    FolderInsideItself,
    NameTaken,
    NameUnusable,
    TooDeep,
    UserId,
)
from satchel.features.shelf.records import FOLDER, MADE_FOLDER, RANKS, FolderRow
from satchel.features.shelf.service.context import MAX_ID_CHARACTERS, Shelf
from satchel.features.shelf.service.entry_state import check_state
from satchel.features.shelf.service.placement import (
    LIVE,
    changing,
    entering,
    find_name,
    is_name_taken,
    open_folder,
    still,
)
from satchel.features.shelf.service.shelf_notify import tell_folders
from satchel.kernel.clock import iso
from satchel.kernel.errors import NotFound, Unavailable
from satchel.kernel.handed_file import ShelfFolderUsed
from satchel.kernel.ids import new_id
from satchel.kernel.names import FileName, clean_name, kept_name, kept_numbered
from satchel.stores.patterns.idempotency_key import IdempotencyKey
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.ports.expressions import Condition, attr
from satchel.stores.ports.table import Check, TransactionCancelled, Write

NAME_TAKEN = "This name is already in use in that folder. Choose another name."
# How many numbered names are tried for a folder whose name files have.
_MOST_NUMBERS = 100


class Ways:
    """The paths from folders to the top. Each folder is read once, however many entries it has."""

    def __init__(self, shelf: Shelf, user_id: UserId) -> None:
        self._shelf = shelf
        self._user_id = user_id
        self._known: dict[FolderId, FolderRow | None] = {}

    async def to(self, folder_id: FolderId) -> list[FolderRow] | None:
        """The folders from the top down to this one, itself included. None if one is missing or in the bin."""
        way: list[FolderRow] = []
        met: set[FolderId] = set()
        while folder_id != ROOT:
            if folder_id in met:
                return None  # no move makes a cycle, but one in a damaged table must not loop for ever
            met.add(folder_id)
            if folder_id not in self._known:
                self._known[folder_id] = await _live_folder(self._shelf, self._user_id, folder_id)
            folder = self._known[folder_id]
            if folder is None:
                return None
            way.append(folder)
            folder_id = folder.parent_id
        return way[::-1]


async def find_way(shelf: Shelf, user_id: UserId, folder_id: FolderId) -> list[FolderRow]:
    """The folders from the top down to this one, itself included. Empty for the top."""
    way = await Ways(shelf, user_id).to(folder_id)
    if way is None:
        raise NotFound("Your shelf has no such folder.")
    return way


async def find_folder(shelf: Shelf, user_id: UserId, folder_id: FolderId) -> FolderRow:
    """A folder other than the top, with the path to it."""
    way = await find_way(shelf, user_id, folder_id)
    if not way:
        raise NotFound("The top of your shelf cannot be renamed, moved or deleted.")
    return way[-1]


async def make_folder(
    shelf: Shelf, user_id: UserId, parent_id: FolderId, written: str, *, idempotency_key: str | None = None
) -> FolderRow:
    """A retry with the same key finds the same folder, whatever it is called by now."""
    if idempotency_key is None:
        return await _make_folder(shelf, user_id, parent_id, written, _new_id(shelf))
    key = IdempotencyKey(shelf.ephemeral, MADE_FOLDER(user_id=user_id, key=idempotency_key))
    folder_id = FolderId(await key.reserve(_new_id(shelf)))
    if (made := await FOLDER.get(shelf.tables, user_id=user_id, folder_id=folder_id)) is not None:
        if made.deleted_at or made.closing:
            raise NotFound("The folder that you made by this key was deleted. Use a new key for another one.")
        return made
    try:
        return await _make_folder(shelf, user_id, parent_id, written, folder_id)
    except NameTaken:
        if (made := await _live_folder(shelf, user_id, folder_id)) is None:
            # Nothing came of the key, so it may be used for another name.
            await key.release()
            raise
        return made


@optimistic_update()
async def _make_folder(
    shelf: Shelf, user_id: UserId, parent_id: FolderId, written: str, folder_id: FolderId
) -> FolderRow:
    name = usable_name(written)
    check_depth(await find_way(shelf, user_id, parent_id), 1)
    folder = _folder(shelf, user_id, parent_id, name, folder_id)
    with refusing_taken_names():
        await shelf.tables.transact(_making(folder))
    await tell_folders(shelf, user_id, parent_id)
    return folder


async def have_folders(shelf: Shelf, user_id: UserId, folder_id: FolderId, names: Sequence[FileName]) -> FolderId:
    """The folder at this path. Missing folders are created, also by many callers at once."""
    for name in names:
        folder_id = await _have_folder(shelf, user_id, folder_id, name)
    return folder_id


async def change_folder(
    shelf: Shelf,
    user_id: UserId,
    folder_id: FolderId,
    *,
    written: str | None,
    parent_id: FolderId | None,
    seen: Etag | None = None,
) -> FolderRow:
    """Rename a folder, move it, or both in one step, if it is in the state that was seen."""
    old, new = await _change_row(shelf, user_id, folder_id, written, parent_id, seen)
    if new != old:
        await tell_folders(shelf, user_id, old.parent_id, new.parent_id)
        await shelf.events.publish(ShelfFolderUsed(user_id, folder_id))
    return new


@optimistic_update()
async def _change_row(
    shelf: Shelf,
    user_id: UserId,
    folder_id: FolderId,
    written: str | None,
    parent_id: FolderId | None,
    seen: Etag | None,
) -> tuple[FolderRow, FolderRow]:
    """The folder before and after."""
    name = None if written is None else usable_name(written)
    old = await find_folder(shelf, user_id, folder_id)
    check_state(old, seen)
    target = old.parent_id if parent_id is None else parent_id
    way = await find_way(shelf, user_id, target)
    if any(above.folder_id == folder_id for above in way):
        raise FolderInsideItself("A folder cannot be moved into itself. Choose another folder.")
    if target != old.parent_id:
        check_depth(way, 1)
    new = msgspec.structs.replace(old, name=name or old.name, parent_id=target)
    if new == old:
        return old, old
    checks = unchanged_way(way) if target != old.parent_id else []
    with refusing_taken_names(len(checks)):
        await shelf.tables.transact([*checks, FOLDER.put(new, when=as_read(old)), *changing(old, new)])
    return old, new


@optimistic_update()
async def date_folder(shelf: Shelf, user_id: UserId, folder_id: FolderId, modified_at: str) -> None:
    """Set when a folder was changed at its origin. The top has no time."""
    if folder_id == ROOT or not modified_at:
        return
    old = await find_folder(shelf, user_id, folder_id)
    if old.modified_at != modified_at:
        new = msgspec.structs.replace(old, modified_at=modified_at)
        await shelf.tables.transact([FOLDER.put(new, when=as_read(old))])


@contextmanager
def refusing_taken_names(own: int | None = None) -> Generator[None]:
    """Around a transaction that gives something a name: a retry is of no use if another has that name.

    `own` is the place of the write with the condition that the thing is as it was read. If it is not, that comes first.
    """
    try:
        yield
    except TransactionCancelled as cancelled:
        is_stale = own is not None and cancelled.reasons[own] == "condition"
        if is_name_taken(cancelled) and not is_stale:
            raise NameTaken(NAME_TAKEN, field="name") from cancelled
        raise


def as_read(folder: FolderRow) -> Condition:
    """The condition that a folder still has all that was read, on the shelf or in the bin, and is not closing."""
    same = (attr("folderName") == folder.name) & (attr("parentId") == folder.parent_id)
    rest = still("deletedAt", folder.deleted_at) & still("modifiedAt", folder.modified_at)
    return same & rest & attr("closing").absent()


def unchanged_way(way: Sequence[FolderRow]) -> list[Write]:
    """The condition that each folder on the path is still where it was, and none is in the bin."""
    return [
        Check(
            FOLDER.table,
            FOLDER.key(user_id=folder.user_id, folder_id=folder.folder_id),
            LIVE & (attr("parentId") == folder.parent_id),
        )
        for folder in way
    ]


def check_depth(way: Sequence[FolderRow], more: int) -> None:
    if len(way) + more > MAX_DEPTH:
        raise TooDeep(f"Folders can be nested at most {MAX_DEPTH} deep. Choose a place further up.", limit=MAX_DEPTH)


def usable_name(written: str) -> FileName:
    """A name that somebody types. Spaces around it are slips."""
    name = kept_name((kept_name(written) or "").strip())
    if name is None or clean_name(name) is None:
        raise NameUnusable("Use a name with at least one visible character.", field="name")
    return name


def _too_many_of_this_name() -> Unavailable:
    return Unavailable("Too many items with this name arrive at once. Try again in a moment.")


@optimistic_update(gives_up=_too_many_of_this_name)
async def _have_folder(shelf: Shelf, user_id: UserId, parent_id: FolderId, wanted: FileName) -> FolderId:
    """A folder of this name or, if a file has it, of the next numbered name."""
    for number in range(_MOST_NUMBERS):
        name = kept_numbered(wanted, number) if number else wanted
        found = await find_name(shelf, user_id, parent_id, name)
        if found is None:
            return await _make_missing(shelf, _folder(shelf, user_id, parent_id, name, _new_id(shelf)))
        if found.rank == RANKS["folder"]:
            return FolderId(found.entry_id)
    raise _too_many_of_this_name()


async def _make_missing(shelf: Shelf, folder: FolderRow) -> FolderId:
    try:
        await shelf.tables.transact(_making(folder))
    except TransactionCancelled as cancelled:
        if cancelled.reasons[0] == "condition" and folder.parent_id != ROOT:
            raise NotFound("The folder was deleted in the meantime. Choose another folder.") from cancelled
        raise
    await tell_folders(shelf, folder.user_id, folder.parent_id)
    return folder.folder_id


async def _live_folder(shelf: Shelf, user_id: UserId, folder_id: FolderId) -> FolderRow | None:
    if not 0 < len(folder_id) <= MAX_ID_CHARACTERS:
        return None
    folder = await FOLDER.get(shelf.tables, user_id=user_id, folder_id=folder_id)
    return None if folder is None or folder.deleted_at or folder.closing else folder


def _new_id(shelf: Shelf) -> FolderId:
    return FolderId(new_id(shelf.clock))


def _folder(shelf: Shelf, user_id: UserId, parent_id: FolderId, name: FileName, folder_id: FolderId) -> FolderRow:
    return FolderRow(
        user_id=user_id,
        folder_id=folder_id,
        parent_id=parent_id,
        name=name,
        created_at=iso(shelf.clock()),
    )


def _making(folder: FolderRow) -> list[Write]:
    return [*open_folder(folder.user_id, folder.parent_id), FOLDER.put(folder), *entering(folder)]
