"""Halves of a live photo, and a RAW beside its JPEG, are one photo, in whichever order they come."""

import asyncio
from datetime import UTC, datetime
from itertools import permutations

import pytest

from tests.application import Caller, Satchel
from tests.features.albums.photos_given import album_names, bundled, check_photos, photo, sent, shown, signature
from tests.media.made_files import movie, tiff

# Real pictures are made here, in processes of their own.
pytestmark = pytest.mark.slow

STILL = photo()
RAW = tiff({0x010F: "Canon"}, {0x9003: "2024:01:31 12:00:00", 0x9011: "+01:00"})
CLIP = movie(datetime(2024, 1, 31, 11, 0, 1, tzinfo=UTC))
FILES = {"IMG_1.JPG": STILL, "IMG_1.CR2": RAW, "IMG_1.MOV": CLIP}


async def check_one(satchel: Satchel, caller: Caller) -> None:
    (media,) = await check_photos(satchel, caller)
    assert media.name == "IMG_1.JPG"
    assert sorted((part.role, part.name) for part in media.parts) == [("live", "IMG_1.MOV"), ("raw", "IMG_1.CR2")]
    assert await album_names(caller) == {"Q1 2024": 1}


async def test_in_a_bundle_they_become_one(satchel: Satchel, ann: Caller) -> None:
    kept = await bundled(ann, *reversed(FILES.items()))
    assert len({file["became"] for file in kept}) == 1
    await check_one(satchel, ann)


@pytest.mark.parametrize("order", [order for order in permutations(FILES) if order.index("IMG_1.JPG") < 2])
async def test_one_after_the_other_they_become_one(satchel: Satchel, ann: Caller, order: tuple[str, ...]) -> None:
    media_id = [await sent(ann, FILES[name], name) for name in order][-1]
    await check_one(satchel, ann)
    seen = await shown(ann, media_id)
    assert seen["name"] == "IMG_1.JPG"
    for part in seen["parts"]:
        answer = await ann("GET", f"/photos/{ann.user_id}/{media_id}/parts/{part['id']}/content")
        assert answer.content == FILES[part["name"]]
    missing = await ann("GET", f"/photos/{ann.user_id}/{media_id}/parts/{media_id}/content")
    assert missing.status_code == 404


async def test_at_the_same_time_they_become_one(satchel: Satchel, ann: Caller) -> None:
    await asyncio.gather(*(sent(ann, data, name) for name, data in FILES.items() if name != "IMG_1.CR2"))
    (media,) = await check_photos(satchel, ann)
    assert (media.name, [part.name for part in media.parts]) == ("IMG_1.JPG", ["IMG_1.MOV"])


async def test_a_favourite_stays_one_when_an_image_leads_it(satchel: Satchel, ann: Caller) -> None:
    first = await sent(ann, CLIP, "IMG_1.MOV")
    await ann("PATCH", f"/photos/{ann.user_id}/{first}", json={"favourite": True})
    second = await sent(ann, STILL, "IMG_1.JPG")
    assert second != first and (await shown(ann, second))["favourite"]
    assert (await ann("GET", f"/photos/{ann.user_id}/{first}")).status_code == 404
    await check_photos(satchel, ann)


async def test_a_part_that_comes_again_is_known(satchel: Satchel, ann: Caller) -> None:
    media_id = await sent(ann, STILL, "IMG_1.JPG")
    assert await sent(ann, CLIP, "IMG_1.MOV") == media_id
    assert await sent(ann, CLIP, "copy.MOV") == media_id
    body = {"files": [signature(CLIP)]}
    assert (await ann("POST", "/photos/known", json=body)).json()["files"][0]["id"] == media_id
    assert (await ann("POST", "/photos/verify", json=body)).json()["files"][0]["state"] == "verified"
    await check_photos(satchel, ann)


async def test_they_go_into_the_bin_and_out_of_it_together(satchel: Satchel, ann: Caller) -> None:
    media_id = await sent(ann, STILL, "IMG_1.JPG")
    await sent(ann, CLIP, "IMG_1.MOV")
    path = f"/photos/{ann.user_id}/{media_id}"
    await ann("DELETE", path)
    assert await check_photos(satchel, ann) == []
    # Either half brings both back, and so does a third file.
    assert await sent(ann, CLIP, "IMG_1.MOV") == media_id
    assert len(await check_photos(satchel, ann)) == 1
    await ann("DELETE", path)
    assert await sent(ann, RAW, "IMG_1.CR2") == media_id
    await check_one(satchel, ann)
    await ann("DELETE", path)
    assert (await ann("DELETE", "/photos/bin")).json() == {"deleted": 1}
    assert await check_photos(satchel, ann) == []
    assert (await satchel.stores.objects.list("photo/")).objects == []


async def test_the_same_name_on_another_day_or_in_another_folder_is_another_photo(
    satchel: Satchel, ann: Caller
) -> None:
    await sent(ann, STILL, "IMG_1.JPG", relativePath="a/IMG_1.JPG")
    await sent(ann, CLIP, "IMG_1.MOV", relativePath="b/IMG_1.MOV")
    await sent(ann, movie(datetime(2024, 2, 1, 12, tzinfo=UTC)), "IMG_1.MOV", relativePath="a/IMG_1.MOV")
    assert len(await check_photos(satchel, ann)) == 3
