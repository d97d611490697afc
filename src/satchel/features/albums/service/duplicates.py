"""Groups of photos that look alike: list them, keep the best, or say that they are different.

Files with the same bytes are stored once, so they are never listed.
"""

from dataclasses import dataclass
from itertools import groupby

from satchel.features.albums.media_records import MEDIA, TWIN, MediaRow, TwinRow
from satchel.features.albums.model import BIN, MediaId, MediaUnknown, OwnerId, is_media_id
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.media_bin import delete_media
from satchel.features.albums.service.media_change import set_favourite
from satchel.features.albums.service.media_pin import pin
from satchel.stores.ports.table import Item, Range

# How many rows one request looks at, and how many photos a group is shown with.
_LOOKED_AT = 1000
_FIRST, _LAST = "TWIN#", "TWIN$"


@dataclass(frozen=True, slots=True)
class Group:
    """Photos that look alike, and which of them is the best: the largest one, with the surest date."""

    group_id: MediaId
    items: list[Item]
    best: int


@dataclass(frozen=True, slots=True)
class Groups:
    """A page of groups, and the cursor of the next. A page may be empty though there is more."""

    groups: list[Group]
    cursor: str | None


async def list_groups(albums: Albums, owner: OwnerId, limit: int, cursor: str | None) -> Groups:
    """Groups of two and more photos that are not in the bin. The cursor is the last group that was looked at."""
    low = f"{_FIRST}{cursor}$" if cursor is not None and is_media_id(cursor) else _FIRST
    partition = TWIN.keys["PK"].render({"owner": owner})
    page = await albums.tables.query(TWIN.table, partition, Range(low=low, high=_LAST), limit=_LOOKED_AT)
    rows = [TWIN.read(item) for item in page.items]
    by_group = [(group, list(found)) for group, found in groupby(rows, key=lambda row: row.group)]
    # The last one may go on behind this page.
    if page.cursor is not None and len(by_group) > 1:
        del by_group[-1]
    has_more = page.cursor is not None or len(by_group) > limit
    by_group = by_group[:limit]
    found = [group for group_id, rows in by_group if (group := await _group(albums, group_id, rows))]
    return Groups(found, by_group[-1][0] if has_more else None)


async def keep_some(albums: Albums, owner: OwnerId, group_id: str, kept_ids: list[str]) -> int:
    """Move the others of a group into the bin. What they were, favourite or pinned, the first kept one becomes."""
    group = await _find(albums, owner, group_id)
    medias = {item["Id"]: MEDIA.read(item) for item in group.items}
    if not kept_ids or not set(kept_ids) <= set(medias):
        raise MediaUnknown("Name the photos of this group that you want to keep.", field="keep")
    kept, others = medias[MediaId(kept_ids[0])], [media for each, media in medias.items() if each not in kept_ids]
    if not kept.favourite and any(media.favourite for media in others):
        await set_favourite(albums, owner, kept.media_id, favourite=True)
    pinned = next((media.pinned for media in others if media.pinned), None)
    if not kept.pinned and pinned:
        await pin(albums, owner, kept.media_id, pinned)
    for media in others:
        await delete_media(albums, owner, media.media_id)
    return len(others)


async def forget_group(albums: Albums, owner: OwnerId, group_id: str) -> None:
    """The photos are different after all. The group is not listed any more."""
    rows = await _rows(albums, owner, group_id)
    if not rows:
        raise MediaUnknown("There is no such group of photos.")
    keys = [TWIN.key(owner=owner, group=row.group, media_id=row.media_id) for row in rows]
    await albums.tables.write_many(TWIN.table, delete=keys)


async def _find(albums: Albums, owner: OwnerId, group_id: str) -> Group:
    rows = await _rows(albums, owner, group_id)
    group = await _group(albums, MediaId(group_id), rows) if rows else None
    if group is None:
        raise MediaUnknown("There is no such group of photos any more.")
    return group


async def _rows(albums: Albums, owner: OwnerId, group_id: str) -> list[TwinRow]:
    if not is_media_id(group_id):
        return []
    return (await TWIN.list(albums.tables, owner=owner, group=MediaId(group_id), limit=_LOOKED_AT)).records


async def _group(albums: Albums, group_id: MediaId, rows: list[TwinRow]) -> Group | None:
    keys = [MEDIA.key(owner=row.owner, media_id=row.media_id) for row in rows]
    items = [
        item
        for item in await albums.tables.get_many(MEDIA.table, keys)
        if item is not None and item["AlbumId"] != BIN and item.get("Twins") == group_id
    ]
    if len(items) < 2:
        return None
    return Group(group_id, items, max(range(len(items)), key=lambda at: _worth(MEDIA.read(items[at]))))


def _worth(media: MediaRow) -> tuple[int, bool, int]:
    return media.details.width * media.details.height, not media.guessed, media.size_bytes
