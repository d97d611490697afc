"""Tells the open pages of a person which folders of their shelf have changed, wherever that was done.

An event is a hint. What it is about has happened, whether or not somebody hears of it.
"""

from contextlib import suppress

from satchel.features.shelf.events import ShelfChanged
from satchel.features.shelf.model import FolderId, UserId
from satchel.features.shelf.service.context import Shelf
from satchel.kernel.errors import Unavailable
from satchel.live import tell


async def tell_folders(shelf: Shelf, user_id: UserId, *folder_ids: FolderId) -> None:
    with suppress(Unavailable):
        await shelf.ephemeral.together(*tell([user_id], ShelfChanged(folder_ids=sorted(set(folder_ids)))))
