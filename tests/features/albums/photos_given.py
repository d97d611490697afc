"""What the tests of photos are given: uploads over HTTP, and a check that everything stored agrees."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

from satchel.edge.uploads.bundles import BUNDLE_TYPE
from satchel.features.albums.count_records import COUNT, MONTH, PHOTO_USAGE, days_in, owner_days
from satchel.features.albums.media_records import LOCATION, MEDIA, TIMELINE, MediaRow, TimelineRow
from satchel.features.albums.model import BIN, OwnerId
from satchel.features.albums.records import LIBRARY
from satchel.media.picture_maker import enter_picture
from satchel.media.records import PictureRow, source_of
from satchel.slices import PICTURED
from satchel.stores.ports.objects import Objects
from tests.application import Caller, Satchel
from tests.media.made_files import jpeg, tiff
from tests.uploads.given import SENDS, TUS, a_bundle, pairs

ORIGINAL, OFFSET_ORIGINAL = 0x9003, 0x9011


def photo(taken: str = "2024:01:31 12:00:00", *, mark: str = "") -> bytes:
    """A photo of a moment; another mark makes other bytes."""
    exif = {ORIGINAL: taken, OFFSET_ORIGINAL: "+01:00"} if taken else {}
    return jpeg(tiff({0x010F: "Canon", 0x0110: f"R5{mark}"}, exif))


async def sent(caller: Caller, content: bytes, name: str = "IMG_1.JPG", **details: str) -> str:
    """What a photo became that was uploaded by tus."""
    answer = await upload(caller, content, name, **details)
    assert answer.status_code == 201, answer.text
    path = answer.headers["location"].removeprefix("/api/v1")
    state = (await caller("GET", path)).json()
    assert state["became"], state
    return state["became"]


async def upload(caller: Caller, content: bytes, name: str, **details: str) -> Any:
    metadata = pairs(destination="photos", filename=name, filetype="image/jpeg", **details)
    headers = {**SENDS, **TUS, "upload-length": str(len(content)), "upload-metadata": metadata}
    return await caller("POST", "/uploads", headers=headers, content=content)


async def bundled(caller: Caller, *files: tuple[str, bytes], **details: str) -> list[dict[str, Any]]:
    """What became of photos in one bundle."""
    described = [({"filename": name, "filetype": "image/jpeg", "details": details}, data) for name, data in files]
    body = a_bundle(*described, destination="photos")
    answer = await caller("POST", "/uploads/bundle", headers={"content-type": BUNDLE_TYPE}, content=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["files"]


async def shown(caller: Caller, media_id: str, owner: Caller | None = None) -> dict[str, Any]:
    answer = await caller("GET", f"/photos/{(owner or caller).user_id}/{media_id}")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def look_alike(satchel: Satchel, owner: Caller, *media_ids: str, dhash: str = "00ff00ff33cc55aa") -> None:
    """Let pictures of these photos be noted that look like each other."""
    tables = satchel.stores.tables
    for media_id in media_ids:
        media = await MEDIA.get(tables, owner=owner.user_id, media_id=media_id)
        assert media is not None
        row = PictureRow(
            source=media.key,
            state="ready",
            version="1",
            made_at=media.added_at,
            width=4000,
            height=3000,
            dhash=bytes.fromhex(dhash),
        )
        await enter_picture(tables, PICTURED, row, media.size_bytes)


async def album_names(caller: Caller) -> dict[str, int]:
    """The albums that somebody sees, with their counts."""
    albums = (await caller("GET", "/albums")).json()["albums"]
    return {album["name"]: album["medias"] for album in albums}


def signature(content: bytes) -> dict[str, Any]:
    return {"sha256": hashlib.sha256(content).hexdigest(), "size_bytes": len(content)}


async def check_photos(satchel: Satchel, caller: Caller, *, leftovers: bool = False) -> list[MediaRow]:
    """Medias, locations, timeline, days, counts and objects agree. Answers the medias that are not in the bin."""
    tables, objects, owner = satchel.stores.tables, satchel.stores.objects, caller.user_id
    keys = [info.key for info in (await objects.list(f"photo/{owner}/")).objects]
    locations = await _locations(satchel, owner)
    medias: list[MediaRow] = []
    for location in locations:
        assert await _digest(objects, location.key) == (location.media_id and location.key.split("/")[-1][:64])
        media = await MEDIA.get(tables, owner=owner, media_id=location.part_of or location.media_id)
        assert media is not None
        if location.part_of:
            assert location.key in [part.key for part in media.parts]
        else:
            assert media.key == location.key
            medias.append(media)
    assert sorted(part.media_id for media in medias for part in media.parts) == sorted(
        location.media_id for location in locations if location.part_of
    )
    if not leftovers:
        stored = {location.key for location in locations}
        assert sorted(key for key in keys if source_of(key) is None) == sorted(stored)
        assert {source for key in keys if (source := source_of(key))} <= stored
    alive = [media for media in medias if media.album_id != BIN]
    await _check_timeline(satchel, owner, alive)
    library = await LIBRARY.get(tables, owner=owner)
    assert library is not None
    counts = (await COUNT.list(tables, email=library.email, availability="OWNED", limit=1000)).records
    counted = {row.album_id: row.count for row in counts if row.count}
    assert counted == Counter(media.album_id for media in medias)
    usage = await PHOTO_USAGE.get(tables, owner=owner)
    assert usage is not None
    assert (usage.files, usage.used_bytes) == (len(locations), sum(each.size_bytes for each in locations))
    return alive


async def _check_timeline(satchel: Satchel, owner: str, alive: Sequence[MediaRow]) -> None:
    tables = satchel.stores.tables
    months = (await tables.query(MONTH.table, owner_days(OwnerId(owner)))).items
    days = {day: count for month in months for day, count in days_in(month)}
    dated = [media for media in alive if media.local_time]
    assert days == Counter(media.local_time[:10] for media in dated)
    for year in {day[:4] for day in days}:
        rows = (await TIMELINE.list(tables, owner=owner, year=year, limit=1000)).records
        expected = [media for media in dated if media.local_time[:4] == year]
        assert sorted(_shown(row) for row in rows) == sorted(_shown(media) for media in expected)


def _shown(row: TimelineRow | MediaRow) -> tuple[Any, ...]:
    return row.local_time, row.media_id, row.favourite, row.picture, row.no_picture, row.thumbhash, row.ratio


async def _locations(satchel: Satchel, owner: str) -> list[Any]:
    found: list[Any] = []
    for year in [*(str(year) for year in range(1990, 2031)), "undated"]:
        page = await LOCATION.list_by(
            satchel.stores.tables, "ReverseLocationIndex", f"photo/{owner}/{year}", limit=1000
        )
        found += page.records
    return found


async def _digest(objects: Objects, key: str) -> str:
    digest = hashlib.sha256()
    async with objects.read(key) as reading:
        async for piece in reading:
            digest.update(piece)
    return digest.hexdigest()
