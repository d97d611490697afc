"""Lays a photo of a page flat. What comes of it is a new item; the photo stays, so that a page can go back to it."""

import hashlib
import uuid

from satchel.features.scores.item_records import ItemEntry, ItemsRow, item_key, pictured
from satchel.features.scores.model import (
    LETTERS,
    PICTURED,
    ItemId,
    ItemUnknown,
    ScoresFull,
    TooManyItems,
    read_id,
    stored_id,
)
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.item_add import enter_item
from satchel.features.scores.service.page_set import read_items
from satchel.features.scores.service.score_find import Viewer, find_score
from satchel.kernel.unfit import ChoiceUnfit
from satchel.stores.ports.objects import SmallObject


def straight_item(photo: ItemId) -> ItemId:
    """The id of what a photo becomes, which is the same whenever it is made."""
    digest = hashlib.blake2b(f"straight/{photo}".encode(), digest_size=16).digest()
    return ItemId(stored_id(uuid.UUID(bytes=digest, version=4)))


def photos_of(items: ItemsRow) -> dict[ItemId, ItemId]:
    """Of each item that was straightened, the photo, if it is still there."""
    made = {straight_item(each.item_id): each.item_id for each in items.items if each.kind in PICTURED}
    return {each.item_id: made[each.item_id] for each in items.items if each.item_id in made}


async def straighten_photo(scores: Scores, viewer: Viewer, public: str, item: str) -> tuple[ItemsRow, ItemEntry]:
    """The new item, and the items of the score; the photo itself if there is nothing to straighten. Repeatable."""
    found = await find_score(scores, viewer, public, "editor")
    items = await read_items(scores, found)
    known = {each.item_id: each for each in items.items}
    photo = known.get(ItemId(read_id(item) or ""))
    if photo is None:
        raise ItemUnknown("This score has no such item.")
    if photo.kind not in PICTURED:
        raise ChoiceUnfit("Only photos and scans can be straightened: PNG and JPEG.", field="item_id")
    new_id = straight_item(photo.item_id)
    if new_id in known:
        return items, known[new_id]
    place = (found.owner, found.score_id)
    made = await scores.pages.straighten(item_key(*place, photo.item_id, photo.kind))
    sha256 = hashlib.sha256(made.body).hexdigest()
    if sha256 == photo.sha256:
        return items, photo
    kind = LETTERS[made.kind]
    straight = ItemEntry(item_id=new_id, kind=kind, size_bytes=len(made.body), name=photo.name, sha256=sha256)
    await scores.objects.put_many([SmallObject(item_key(*place, new_id, kind), made.body)])
    try:
        await enter_item(scores, *place, straight)
    except (ScoresFull, TooManyItems):
        await scores.objects.delete(item_key(*place, new_id, kind))
        raise
    await scores.pictures.make([pictured(*place, new_id, kind)])
    return await read_items(scores, found), straight
