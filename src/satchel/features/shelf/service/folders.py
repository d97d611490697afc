"""Make folders, find the way to them, rename and move them; two moves at once cannot make a circle.

A move says where the folder shall be, on condition that the whole way from there to the top is still the one on which
the folder itself was not met. Of two moves that would close a circle, the second finds its way changed.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

import msgspec

from satchel.features.shelf.model import (
    MAX_DEPTH,
    ROOT,
    FolderId,
    FolderInsideItself,
    NameTaken,
    NameUnusable,
    TooDeep,
    UserId,
)
from satchel.features.shelf.records import FOLDER, RANKS, FolderRow
from satchel.features.shelf.service.context import MAX_ID_CHARACTERS, Shelf
from satchel.features.shelf.service.placement import LIVE, changing, entering, find_name, is_name_taken, open_folder
from satchel.kernel.clock import iso
from satchel.kernel.errors import NotFound, Unavailable
from satchel.kernel.ids import new_id
from satchel.kernel.names import FileName, clean_name, numbered
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.ports.expressions import Condition, attr
from satchel.stores.ports.table import Check, TransactionCancelled, Write

NAME_TAKEN = "There is something of this name in that folder. Choose another name."
# How many numbered names are tried for a folder whose name files have.
_MOST_NUMBERS = 100


class Ways:
    """The ways from folders to the top, each folder read once however many things are in it."""

    def __init__(self, shelf: Shelf, user_id: UserId) -> None:
        self._shelf = shelf
        self._user_id = user_id
        self._known: dict[FolderId, FolderRow | None] = {}

    async def to(self, folder_id: FolderId) -> list[FolderRow] | None:
        """The folders from the top down to this one, itself included; None if one is missing or in the bin."""
        way: list[FolderRow] = []
        met: set[FolderId] = set()
        while folder_id != ROOT:
            if folder_id in met:
                return None  # no move makes a circle; one from a damaged table must not keep us walking
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
    """The folders from the top down to this one, itself included; none at all for the top."""
    way = await Ways(shelf, user_id).to(folder_id)
    if way is None:
        raise NotFound("There is no such folder on your shelf.")
    return way


async def find_folder(shelf: Shelf, user_id: UserId, folder_id: FolderId) -> FolderRow:
    """A folder other than the top, with a way to it."""
    way = await find_way(shelf, user_id, folder_id)
    if not way:
        raise NotFound("The top of your shelf is not a folder that can be named, moved or deleted.")
    return way[-1]


@optimistic_update()
async def make_folder(shelf: Shelf, user_id: UserId, parent_id: FolderId, written: str) -> FolderRow:
    name = usable_name(written)
    check_depth(await find_way(shelf, user_id, parent_id), 1)
    folder = _new_folder(shelf, user_id, parent_id, name)
    with refusing_taken_names():
        await shelf.tables.transact(_making(folder))
    return folder


async def have_folders(shelf: Shelf, user_id: UserId, folder_id: FolderId, names: Sequence[FileName]) -> FolderId:
    """The folder at the end of these names, those that are missing made; many may ask for the same at once."""
    for name in names:
        folder_id = await _have_folder(shelf, user_id, folder_id, name)
    return folder_id


@optimistic_update()
async def change_folder(
    shelf: Shelf, user_id: UserId, folder_id: FolderId, *, written: str | None, parent_id: FolderId | None
) -> FolderRow:
    """Rename a folder, move it, or both in one step."""
    name = None if written is None else usable_name(written)
    old = await find_folder(shelf, user_id, folder_id)
    target = old.parent_id if parent_id is None else parent_id
    way = await find_way(shelf, user_id, target)
    if any(above.folder_id == folder_id for above in way):
        raise FolderInsideItself("Choose a folder that is not inside the one you move.")
    if target != old.parent_id:
        check_depth(way, 1)
    new = msgspec.structs.replace(old, name=name or old.name, parent_id=target)
    if new == old:
        return old
    checks = unchanged_way(way) if target != old.parent_id else []
    with refusing_taken_names():
        await shelf.tables.transact([*checks, FOLDER.put(new, when=as_read(old)), *changing(old, new)])
    return new


@contextmanager
def refusing_taken_names() -> Generator[None]:
    """Around a transaction that gives something a name: a retry is of no use if another has that name."""
    try:
        yield
    except TransactionCancelled as cancelled:
        if is_name_taken(cancelled):
            raise NameTaken(NAME_TAKEN, field="name") from cancelled
        raise


def as_read(folder: FolderRow) -> Condition:
    """Holds only of a folder that is still where it was read, on the shelf or in the bin, and may stay."""
    same = (attr("folderName") == folder.name) & (attr("parentId") == folder.parent_id)
    deleted = attr("deletedAt") == folder.deleted_at if folder.deleted_at else attr("deletedAt").absent()
    return same & deleted & attr("closing").absent()


def unchanged_way(way: Sequence[FolderRow]) -> list[Write]:
    """Holds only if each folder on the way is still where it was, and none of them in the bin."""
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
        raise TooDeep(f"At most {MAX_DEPTH} folders may stand inside each other.", limit=MAX_DEPTH)


def usable_name(written: str) -> FileName:
    name = clean_name(written)
    if name is None:
        raise NameUnusable("Give a name with at least one letter that can be seen.", field="name")
    return name


def _too_many_of_this_name() -> Unavailable:
    return Unavailable("Too much of this name arrives at once. Try again in a moment.")


@optimistic_update(gives_up=_too_many_of_this_name)
async def _have_folder(shelf: Shelf, user_id: UserId, parent_id: FolderId, wanted: FileName) -> FolderId:
    """A folder of this name, or, where a file has it, of the next numbered one."""
    for number in range(_MOST_NUMBERS):
        name = numbered(wanted, number) if number else wanted
        found = await find_name(shelf, user_id, parent_id, name)
        if found is None:
            return await _make_missing(shelf, _new_folder(shelf, user_id, parent_id, name))
        if found.rank == RANKS["folder"]:
            return FolderId(found.entry_id)
    raise _too_many_of_this_name()


async def _make_missing(shelf: Shelf, folder: FolderRow) -> FolderId:
    try:
        await shelf.tables.transact(_making(folder))
    except TransactionCancelled as cancelled:
        if cancelled.reasons[0] == "condition" and folder.parent_id != ROOT:
            raise NotFound("The folder has been deleted in the meantime.") from cancelled
        raise
    return folder.folder_id


async def _live_folder(shelf: Shelf, user_id: UserId, folder_id: FolderId) -> FolderRow | None:
    if not 0 < len(folder_id) <= MAX_ID_CHARACTERS:
        return None
    folder = await FOLDER.get(shelf.tables, user_id=user_id, folder_id=folder_id)
    return None if folder is None or folder.deleted_at or folder.closing else folder


def _new_folder(shelf: Shelf, user_id: UserId, parent_id: FolderId, name: FileName) -> FolderRow:
    return FolderRow(
        user_id=user_id,
        folder_id=FolderId(new_id(shelf.clock)),
        parent_id=parent_id,
        name=name,
        created_at=iso(shelf.clock()),
    )


def _making(folder: FolderRow) -> list[Write]:
    return [*open_folder(folder.user_id, folder.parent_id), FOLDER.put(folder), *entering(folder)]
