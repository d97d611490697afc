"""Several photos of one's own under one id, so that one link leads to them and to nothing else.

The id follows from those of the photos: asking again makes nothing new. A choice that no link leads to is deleted after
a while.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from satchel.features.albums.media_records import CHOICE, CHOICE_SORT, MEDIA, ChoiceRow, MediaRow
from satchel.features.albums.model import BIN, ChoiceId, MediaUnknown, OwnerId, is_media_id
from satchel.features.albums.records import DUE_INDEX
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.photo_archive import download_name
from satchel.features.albums.service.photos_context import Photos
from satchel.kernel.clock import iso
from satchel.stores.ports.expressions import assign, attr
from satchel.stores.ports.table import ConditionFailed, Range

MOST_CHOSEN = 500
UNLINKED_FOR = timedelta(days=7)
_MAX_ID_CHARACTERS = 64
_PAGE = 100
_LOOKED_AT_AT_ONCE = 10


async def make_choice(albums: Albums, owner: OwnerId, media_ids: Sequence[str]) -> tuple[ChoiceRow, str]:
    """The choice and its name. All of its photos have to be the owner's, and not in the bin."""
    medias = await find_own(albums, owner, media_ids)
    ids = [media.media_id for media in medias]
    row = ChoiceRow(
        owner=owner,
        choice_id=ChoiceId(hashlib.sha256("/".join(sorted(ids)).encode()).hexdigest()[:32]),
        medias=ids,
        due=_later(albums),
    )
    await albums.tables.put(CHOICE.table, CHOICE.item(row))
    return row, name_of(medias[0], len(medias))


async def find_own(albums: Albums, owner: OwnerId, media_ids: Sequence[str]) -> list[MediaRow]:
    """These photos in the order of time, once each. All of them have to be the owner's, and not in the bin."""
    wanted = set(media_ids)
    medias = await _read(albums, owner, list(wanted))
    if len(medias) < len(wanted):
        raise MediaUnknown("One of these photos does not exist, or is not yours.", field="medias")
    return in_order(medias.values())


async def find_choices(albums: Albums, owner: OwnerId, choice_ids: Sequence[str]) -> Mapping[str, list[MediaRow]]:
    """What there is of the choices of which there is something, in the order of time."""
    known = [each for each in dict.fromkeys(choice_ids) if 0 < len(each) <= _MAX_ID_CHARACTERS]
    items = await albums.tables.get_many(CHOICE.table, [CHOICE.key(owner=owner, choice_id=each) for each in known])
    rows = [CHOICE.read(item) for item in items if item is not None]
    medias = await _read(albums, owner, list(dict.fromkeys(each for row in rows for each in row.medias)))
    found = {row.choice_id: in_order(medias[each] for each in row.medias if each in medias) for row in rows}
    return {choice_id: chosen for choice_id, chosen in found.items() if chosen}


async def find_first(albums: Albums, owner: OwnerId, choice_id: str) -> tuple[MediaRow, int] | None:
    """The first photo of a choice that is there, and how many were chosen. Every request of a visitor asks for it."""
    if not (0 < len(choice_id) <= _MAX_ID_CHARACTERS):
        return None
    row = await CHOICE.get(albums.tables, owner=owner, choice_id=ChoiceId(choice_id))
    chosen = [] if row is None else row.medias
    for start in range(0, len(chosen), _LOOKED_AT_AT_ONCE):
        some = chosen[start : start + _LOOKED_AT_AT_ONCE]
        there = await _read(albums, owner, some)
        for media_id in some:
            if media_id in there:
                return there[media_id], len(chosen)
    return None


async def find_chosen(albums: Albums, owner: OwnerId, choice_id: str, media_id: str) -> MediaRow | None:
    """One photo of a choice."""
    if not (0 < len(choice_id) <= _MAX_ID_CHARACTERS):
        return None
    row = await CHOICE.get(albums.tables, owner=owner, choice_id=ChoiceId(choice_id))
    if row is None or media_id not in row.medias:
        return None
    return (await _read(albums, owner, [media_id])).get(media_id)


def in_order(medias: Iterable[MediaRow]) -> list[MediaRow]:
    return sorted(medias, key=lambda media: (media.local_time, media.media_id))


def name_of(first: MediaRow, number: int) -> str:
    """Such as “2025-07-03_12-00-00_IMG_1.jpg + 2”."""
    name = download_name(first)
    return name if number == 1 else f"{name} + {number - 1}"


async def sweep_choices(photos: Photos) -> int:
    """Delete choices to which no link leads, and look at the others again later. How many those were."""
    albums = photos.albums
    page = await albums.tables.query(CHOICE.table, CHOICE_SORT, Range(high=albums.now()), index=DUE_INDEX, limit=_PAGE)
    items = await albums.tables.get_many(CHOICE.table, [CHOICE.table.key_of(item) for item in page.items])
    rows = [CHOICE.read(item) for item in items if item is not None]
    return sum([await _settle(albums, row) for row in rows if row.due <= albums.now()])


async def _settle(albums: Albums, row: ChoiceRow) -> bool:
    key = CHOICE.key(owner=row.owner, choice_id=row.choice_id)
    # Whoever asks for the same choice meanwhile has moved it to a later day.
    as_read = attr("AbsoluteExpiryTime") == row.due
    is_linked = await albums.links.has_any(row.owner, f"photos:{row.choice_id}")
    try:
        if is_linked:
            await albums.tables.update(CHOICE.table, key, [assign("AbsoluteExpiryTime", _later(albums))], when=as_read)
        else:
            await albums.tables.delete(CHOICE.table, key, when=as_read)
    except ConditionFailed:
        return False
    return not is_linked


def _later(albums: Albums) -> str:
    return iso(albums.clock() + UNLINKED_FOR.total_seconds())


async def _read(albums: Albums, owner: OwnerId, media_ids: Sequence[str]) -> dict[str, MediaRow]:
    """Those of these photos that are there, and not in the bin."""
    keys = [MEDIA.key(owner=owner, media_id=each) for each in media_ids if is_media_id(each)]
    items = await albums.tables.get_many(MEDIA.table, keys)
    rows = [MEDIA.read(item) for item in items if item is not None]
    return {row.media_id: row for row in rows if row.album_id != BIN}
