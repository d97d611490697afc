"""Pictures that look alike: found when a picture is made, in groups that are listed without comparing anything.

A perceptual hash has 64 bits. Pictures look alike if 3 of them differ at most, and the shape is the same. Then one of
four parts of the hash is equal, so only those with an equal part are compared. What a picture looks like is entered
before others are looked for: of two that are noted at once, at least one finds the other.
"""

from collections.abc import Iterator

from satchel.features.albums.media_records import LOOK, MEDIA, TWIN, LookRow, MediaRow, TwinRow
from satchel.features.albums.model import BIN, MediaId, OwnerId
from satchel.media.records import PictureRow
from satchel.stores.ports.expressions import Action, assign, attr
from satchel.stores.ports.table import Tables, Write

MAX_DISTANCE = 3
# A plain surface has no look: its hash is nearly all zeros or all ones, like that of any other.
_FEWEST_BITS, _MOST_BITS = 10, 54
_BAND_DIGITS = 4
_DIGITS = 16
_MOST_COMPARED = 500
_PAGE = 100
_TOLERANCE = 0.02


async def enter_look(tables: Tables, media: MediaRow, picture: PictureRow) -> tuple[list[Action], list[Write]]:
    """Enter what a picture looks like. What to note of the media itself, and what else to write with it."""
    dhash = picture.dhash.hex()
    if not dhash:
        return [], []
    noted: list[Action] = [assign("PerceptualHash", dhash)]
    if len(dhash) != _DIGITS or not _FEWEST_BITS <= int(dhash, 16).bit_count() <= _MOST_BITS or not picture.height:
        return noted, []
    ratio = round(1000 * picture.width / picture.height)
    rows = [
        LookRow(owner=media.owner, band=band, media_id=media.media_id, dhash=dhash, ratio=ratio)
        for band in bands_of(dhash)
    ]
    await tables.write_many(LOOK.table, put=[LOOK.item(row) for row in rows])
    twin = await _nearest(tables, rows[0])
    if twin is None or media.twins:
        return noted, []
    group = twin.twins or min(twin.media_id, media.media_id)
    return [*noted, assign("Twins", group)], [
        TWIN.put(TwinRow(owner=media.owner, group=group, media_id=media.media_id)),
        TWIN.put(TwinRow(owner=media.owner, group=group, media_id=twin.media_id)),
        MEDIA.update(
            [assign("Twins", group, only_if_absent=True)],
            when=attr("PK").exists() & (attr("Twins").absent() | (attr("Twins") == group)),
            owner=twin.owner,
            media_id=twin.media_id,
        ),
    ]


def forget_look(media: MediaRow) -> list[Write]:
    """What takes away the entries of a media that is deleted for good."""
    bands = bands_of(media.dhash) if len(media.dhash) == _DIGITS else iter(())
    writes: list[Write] = [LOOK.delete(owner=media.owner, band=band, media_id=media.media_id) for band in bands]
    if media.twins:
        writes.append(TWIN.delete(owner=media.owner, group=media.twins, media_id=media.media_id))
    return writes


def bands_of(dhash: str) -> Iterator[str]:
    for start in range(0, _DIGITS, _BAND_DIGITS):
        yield f"{start // _BAND_DIGITS}{dhash[start : start + _BAND_DIGITS]}"


def distance(one: str, other: str) -> int:
    """In how many bits two hashes differ."""
    return (int(one, 16) ^ int(other, 16)).bit_count()


async def _in_band(tables: Tables, owner: OwnerId, band: str) -> list[LookRow]:
    """In pages: most bands have few rows, and SQLite reads a short page without handing it to a thread."""
    rows: list[LookRow] = []
    cursor: str | None = None
    while len(rows) < _MOST_COMPARED:
        page = await LOOK.list(tables, owner=owner, band=band, limit=_PAGE, cursor=cursor)
        rows += page.records
        if (cursor := page.cursor) is None:
            break
    return rows


async def _nearest(tables: Tables, look: LookRow) -> MediaRow | None:
    """The media that looks most like this one. One that is gone or in the bin is passed over."""
    found: dict[MediaId, int] = {}
    for band in bands_of(look.dhash):
        for row in await _in_band(tables, look.owner, band):
            apart = distance(row.dhash, look.dhash)
            is_same_shape = abs(row.ratio - look.ratio) <= _TOLERANCE * look.ratio
            if row.media_id != look.media_id and apart <= MAX_DISTANCE and is_same_shape:
                found[row.media_id] = apart
    for media_id in sorted(found, key=lambda each: (found[each], each)):
        media = await MEDIA.get(tables, owner=look.owner, media_id=media_id)
        if media is not None and media.album_id != BIN and media.dhash:
            return media
    return None
