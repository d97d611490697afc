"""Photos arrive, are stored once, and fall into the album of their date, however they come."""

import asyncio
import json
from collections.abc import AsyncGenerator
from datetime import timedelta

import pytest

from satchel.features.albums.media_records import LOCATION, MEDIA
from satchel.features.albums.model import OwnerId
from satchel.features.albums.service.media_verify import Signature, verify
from satchel.features.albums.service.photos_context import Photos
from satchel.features.shelf.adapters import ShelfFiles
from satchel.media.metadata_reader import MetadataReader
from tests.application import Caller, Satchel
from tests.features.albums.given import library_of
from tests.features.albums.photos_given import (
    album_names,
    bundled,
    check_photos,
    photo,
    sent,
    shown,
    signature,
    upload,
)
from tests.features.shelf.given import shelf_of
from tests.media.given import pictures_of
from tests.media.made_files import jpeg, movie

# Real pictures are made here, in processes of their own.
pytestmark = pytest.mark.slow


async def test_a_photo_falls_into_the_quarter_of_its_date(satchel: Satchel, ann: Caller) -> None:
    media_id = await sent(ann, photo())
    seen = await shown(ann, media_id)
    assert (seen["name"], seen["type"], seen["make"], seen["content_type"]) == (
        "IMG_1.JPG",
        "IMAGE",
        "Canon",
        "image/jpeg",
    )
    assert (seen["local_time"], seen["utc_time"]) == ("2024-01-31T12:00:00.000", "2024-01-31T11:00:00.000Z")
    assert (seen["time_source"], seen["zone_source"], seen["guessed"]) == ("exif", "offset", False)
    assert (seen["width"], seen["height"], seen["sha256"]) == (4000, 3000, signature(photo())["sha256"])
    assert await album_names(ann) == {"Q1 2024": 1}
    (media,) = await check_photos(satchel, ann)
    assert media.key.startswith(f"photo/{ann.user_id}/2024/{media.sha256}.")
    assert (await ann("GET", f"/photos/{ann.user_id}/{media_id}/content")).content == photo()


async def test_an_album_that_covers_the_date_takes_the_photo(satchel: Satchel, ann: Caller) -> None:
    await ann("POST", "/albums", json={"name": "Snow", "start": "2024-01-30", "end": "2024-02-02"})
    await sent(ann, photo())
    await bundled(ann, ("a.jpg", photo("2024:02:01 10:00:00")), ("b.jpg", photo("2024:02:02 10:00:00")))
    assert await album_names(ann) == {"Snow": 2, "Q1 2024": 1}
    await check_photos(satchel, ann)


async def test_the_same_bytes_are_the_same_photo_however_often_they_come(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    first = await sent(ann, photo(), "a.jpg")
    assert await sent(ann, photo(), "b.jpg") == first
    again = await bundled(ann, ("c.jpg", photo()), ("d.jpg", photo()), ("e.jpg", photo(mark="x")))
    assert [file["became"] == first for file in again] == [True, True, False]
    assert (await shown(ann, first))["name"] == "a.jpg"
    assert len(await check_photos(satchel, ann)) == 2
    # Of others' photos nobody learns anything: the same bytes are stored for each.
    assert (await bob("POST", "/photos/known", json={"files": [signature(photo())]})).json()["files"][0][
        "state"
    ] == "unknown"
    assert await sent(bob, photo()) == first
    await check_photos(satchel, bob)


async def test_the_same_photo_arriving_many_times_at_once_is_stored_once(satchel: Satchel, ann: Caller) -> None:
    uploads = (bundled(ann, ("a.jpg", photo()), (f"{number}.jpg", photo(mark=str(number)))) for number in range(6))
    answers = await asyncio.gather(*uploads)
    assert len({files[0]["became"] for files in answers}) == 1
    assert len(await check_photos(satchel, ann)) == 7


async def test_a_photo_without_a_date_is_in_the_tray_and_never_refused(satchel: Satchel, ann: Caller) -> None:
    for name, data in (("IMG_1.JPG", jpeg()), ("broken.jpg", b"\xff\xd8\xff"), ("notes.txt", b"hello"), ("empty", b"")):
        media_id = await sent(ann, data, name) if data else (await bundled(ann, (name, data)))[0]["became"]
        seen = await shown(ann, media_id)
        assert (seen["local_time"], seen["album_id"], seen["time_source"]) == (None, "undated", "none")
    tray = (await ann("GET", "/photos/undated")).json()
    assert (len(tray["ids"]), set(tray["times"])) == (4, {""})
    assert (await ann("GET", "/photos/days")).json() == {"days": []}
    assert len(await check_photos(satchel, ann)) == 4


async def test_name_sidecar_zone_and_file_time_tell_what_the_bytes_do_not(satchel: Satchel, ann: Caller) -> None:
    takeout = json.dumps({"photoTakenTime": {"timestamp": "1706702400"}, "favorited": True})
    told = await shown(ann, await sent(ann, jpeg(width=1), takeout=takeout, zone="Asia/Tokyo"))
    assert (told["local_time"], told["time_source"], told["zone_source"]) == (
        "2024-01-31T21:00:00.000",
        "takeout",
        "owner",
    )
    assert told["favourite"]
    named = await shown(ann, await sent(ann, jpeg(width=2), "IMG-20230405-WA0007.jpg", zone="../../etc/passwd"))
    assert (named["local_time"], named["time_source"]) == ("2023-04-05T12:00:00.007", "name")
    file = await shown(ann, await sent(ann, jpeg(width=3), modified="2022-05-05T10:00:00Z", zone="Europe/Berlin"))
    assert (file["local_time"], file["time_source"], file["guessed"]) == ("2022-05-05T12:00:00.000", "file", True)
    xmp = '<x exif:DateTimeOriginal="2021-06-07T08:09:10+02:00"/>'
    corrected = await shown(ann, await sent(ann, photo(), xmp=xmp))
    assert (corrected["local_time"], corrected["time_source"]) == ("2021-06-07T08:09:10.000", "xmp")
    await check_photos(satchel, ann)


async def test_a_wrong_time_of_the_file_is_refused_before_a_byte_is_sent(ann: Caller) -> None:
    answer = await upload(ann, photo(), "a.jpg", modified="yesterday")
    assert (answer.status_code, answer.json()["field"]) == (422, "modified")


async def test_a_video_has_duration_and_plays_with_ranges(satchel: Satchel, ann: Caller) -> None:
    clip = movie(3_800_000_000)
    seen = await shown(ann, await sent(ann, clip, "clip.mov"))
    assert (seen["type"], seen["duration_ms"], seen["video_encoding"]) == ("VIDEO", 3000, "avc1")
    path = f"/photos/{ann.user_id}/{seen['id']}/content"
    part = await ann("GET", path, headers={"range": "bytes=100-199"})
    assert (part.status_code, part.content) == (206, clip[100:200])
    assert (await ann("HEAD", path)).headers["content-length"] == str(len(clip))
    await check_photos(satchel, ann)


async def test_a_bundle_of_many_days_goes_into_many_albums(satchel: Satchel, ann: Caller) -> None:
    files = [
        (f"{n}.jpg", photo(f"20{10 + n % 14}:{1 + n % 12:02}:{1 + n % 28:02} 10:00:00", mark=str(n))) for n in range(60)
    ]
    assert all(file["became"] for file in await bundled(ann, *files))
    assert len(await check_photos(satchel, ann)) == 60


async def test_a_bundle_goes_in_though_many_people_see_its_albums(satchel: Satchel, ann: Caller) -> None:
    for month in range(1, 5):
        body = {"name": f"M{month}", "start": f"2024-{month:02}-01", "end": f"2024-{month + 1:02}-01"}
        album_id = (await ann("POST", "/albums", json=body)).json()["album"]["album_id"]
        for number in range(30):
            assert (await ann("PUT", f"/albums/{album_id}/shares/p{number}@example.org", json={})).is_success
    files = [(f"{n}.jpg", photo(f"2024:{1 + n % 4:02}:10 10:00:00", mark=str(n))) for n in range(12)]
    assert all(file["became"] for file in await bundled(ann, *files))
    assert await album_names(ann) == {"M1": 3, "M2": 3, "M3": 3, "M4": 3}
    await check_photos(satchel, ann)


async def test_known_says_what_is_stored_and_what_is_in_the_bin(ann: Caller) -> None:
    stored, binned = photo(), photo(mark="x")
    first, second = await sent(ann, stored), await sent(ann, binned, "b.jpg")
    await ann("DELETE", f"/photos/{ann.user_id}/{second}")
    body = {
        "files": [signature(stored), signature(binned), signature(b"other"), {**signature(stored), "size_bytes": 1}]
    }
    found = (await ann("POST", "/photos/known", json=body)).json()["files"]
    assert [each["state"] for each in found] == ["stored", "binned", "unknown", "unknown"]
    assert [each["id"] for each in found] == [first, second, None, None]


async def test_verify_reads_the_stored_bytes_again(satchel: Satchel, ann: Caller) -> None:
    good, damaged, gone = photo(), photo(mark="x"), photo(mark="y")
    ids = [await sent(ann, data, f"{number}.jpg") for number, data in enumerate((good, damaged, gone))]
    rows = [await MEDIA.get(satchel.stores.tables, owner=ann.user_id, media_id=each) for each in ids]
    keys = [row.key for row in rows if row is not None]

    async def other() -> AsyncGenerator[bytes]:
        yield bytes(len(damaged))

    await satchel.stores.objects.put(keys[1], other())
    await satchel.stores.objects.delete(keys[2])
    body = {"files": [signature(data) for data in (good, damaged, gone, b"unknown")]}
    found = (await ann("POST", "/photos/verify", json=body)).json()["files"]
    assert [each["state"] for each in found] == ["verified", "damaged", "missing", "unknown"]
    assert [bool(each["verified_at"]) for each in found] == [True, False, False, False]
    location = await LOCATION.get(satchel.stores.tables, owner=ann.user_id, media_id=ids[0])
    assert location is not None and location.verified_at == found[0]["verified_at"]
    # What was verified lately is not read again, unless one asks for it.
    since = satchel.clock()
    satchel.clock.advance(timedelta(minutes=1))
    known = (await ann("POST", "/photos/verify", json={"files": [signature(good)], "since": since - 1})).json()[
        "files"
    ][0]
    assert known["verified_at"] == found[0]["verified_at"]
    anew = (await ann("POST", "/photos/verify", json={"files": [signature(good)]})).json()["files"][0]
    assert anew["verified_at"] > found[0]["verified_at"]


async def test_what_there_is_no_time_to_read_is_answered_with_later(satchel: Satchel, ann: Caller) -> None:
    contents = [photo(mark=str(number)) for number in range(3)]
    for number, content in enumerate(contents):
        await sent(ann, content, f"{number}.jpg")
    objects = satchel.stores.objects
    photos = Photos(
        albums=library_of(satchel, ann, "ann@example.org").albums,
        shelves=ShelfFiles(shelf_of(satchel)),
        objects=objects,
        reader=MetadataReader(objects),
        pictures=pictures_of(satchel),
    )
    files = [Signature(**signature(content)) for content in contents]
    found = await verify(photos, OwnerId(ann.user_id), files, "", read_for=timedelta(0))
    # At least one is read each time, so that asking again comes to an end.
    assert [each.state for each in found] == ["verified", "later", "later"]


async def test_whoever_brings_lost_bytes_back_repairs_the_photo(satchel: Satchel, ann: Caller) -> None:
    media_id = await sent(ann, photo())
    media = await MEDIA.get(satchel.stores.tables, owner=ann.user_id, media_id=media_id)
    assert media is not None
    await satchel.stores.objects.delete(media.key)
    assert await sent(ann, photo(), "again.jpg") == media_id
    assert (await ann("GET", f"/photos/{ann.user_id}/{media_id}/content")).content == photo()
    await check_photos(satchel, ann)


async def test_orphaned_originals_are_swept_after_a_day(satchel: Satchel, ann: Caller) -> None:
    await sent(ann, photo())
    lost = f"photo/{ann.user_id}/2024/{'0' * 64}.01abc"

    async def body() -> AsyncGenerator[bytes]:
        yield b"lost"

    await satchel.stores.objects.put(lost, body())
    await check_photos(satchel, ann, leftovers=True)
    satchel.clock.advance(timedelta(days=2))
    await satchel.housekeep()
    assert len(await check_photos(satchel, ann)) == 1


@pytest.mark.parametrize("name", ["../../x.jpg", "фото.jpg", "写真.jpg", "a\u202egpj.exe", "x" * 400 + ".jpg"])
async def test_a_photo_keeps_the_name_that_the_camera_gave_it(satchel: Satchel, ann: Caller, name: str) -> None:
    seen = await shown(ann, await sent(ann, photo(), name))
    assert "/" not in seen["name"] and seen["name"]
    assert (await ann("GET", f"/photos/{ann.user_id}/{seen['id']}/content")).status_code == 200
    await check_photos(satchel, ann)
