"""Photos are deleted into the bin, come back, and are gone for good after 30 days."""

from datetime import timedelta

import pytest

from tests.application import Caller, Satchel
from tests.features.albums.photos_given import album_names, check_photos, photo, sent, shown

# Real pictures are made here, in processes of their own.
pytestmark = pytest.mark.slow


async def test_a_deleted_photo_leaves_its_album_and_the_timeline(satchel: Satchel, ann: Caller) -> None:
    media_id, other = await sent(ann, photo()), await sent(ann, photo(mark="x"), "b.jpg")
    path = f"/photos/{ann.user_id}/{media_id}"
    assert (await ann("DELETE", path)).status_code == 204
    assert (await ann("DELETE", path)).status_code == 404
    assert [media.media_id for media in await check_photos(satchel, ann)] == [other]
    assert await album_names(ann) == {"Q1 2024": 1}
    assert (await ann("GET", "/photos")).json()["ids"] == [other]
    assert (await ann("GET", "/photos/bin")).json()["ids"] == [media_id]
    # Its owner can still look at it.
    assert (await shown(ann, media_id))["deleted_at"]
    assert (await ann("PATCH", path, json={"favourite": True})).status_code == 404


async def test_a_restored_photo_goes_where_it_belongs_now(satchel: Satchel, ann: Caller) -> None:
    media_id = await sent(ann, photo())
    await ann("PATCH", f"/photos/{ann.user_id}/{media_id}", json={"favourite": True})
    await ann("DELETE", f"/photos/{ann.user_id}/{media_id}")
    await ann("POST", "/albums", json={"name": "Snow", "start": "2024-01-30", "end": "2024-02-02"})
    answer = await ann("POST", "/photos/bin/restore", json={"ids": [media_id, media_id, "x" * 44, "bad"]})
    assert [each["id"] for each in answer.json()["photos"]] == [media_id]
    assert answer.json()["photos"][0]["favourite"]
    assert await album_names(ann) == {"Snow": 1, "Q1 2024": 0}
    await check_photos(satchel, ann)
    assert (await ann("POST", "/photos/bin/restore", json={"ids": [media_id]})).json() == {"photos": []}


async def test_uploading_it_again_takes_a_photo_out_of_the_bin(satchel: Satchel, ann: Caller) -> None:
    media_id = await sent(ann, photo())
    await ann("DELETE", f"/photos/{ann.user_id}/{media_id}")
    assert await sent(ann, photo(), "again.jpg") == media_id
    assert len(await check_photos(satchel, ann)) == 1
    satchel.clock.advance(timedelta(days=40))
    await satchel.housekeep()
    assert len(await check_photos(satchel, ann)) == 1


async def test_after_30_days_it_is_gone_with_its_bytes(satchel: Satchel, ann: Caller) -> None:
    media_id, kept = await sent(ann, photo()), await sent(ann, photo(mark="x"), "b.jpg")
    await ann("DELETE", f"/photos/{ann.user_id}/{media_id}")
    satchel.clock.advance(timedelta(days=29))
    await satchel.housekeep()
    assert len((await satchel.stores.objects.list("photo/")).objects) == 2
    satchel.clock.advance(timedelta(days=2))
    await satchel.housekeep()
    assert [media.media_id for media in await check_photos(satchel, ann)] == [kept]
    assert len((await satchel.stores.objects.list("photo/")).objects) == 1


async def test_the_bin_is_emptied_of_some_or_of_all(satchel: Satchel, ann: Caller) -> None:
    ids = [await sent(ann, photo(mark=str(number)), f"{number}.jpg") for number in range(4)]
    for media_id in ids[:3]:
        await ann("DELETE", f"/photos/{ann.user_id}/{media_id}")
    # One that is not in the bin is not touched.
    emptied = await ann("DELETE", "/photos/bin", params={"id": [ids[0], ids[3]]})
    assert emptied.json() == {"deleted": 1}
    assert (await ann("DELETE", "/photos/bin")).json() == {"deleted": 2}
    assert (await ann("DELETE", "/photos/bin")).json() == {"deleted": 0}
    assert [media.media_id for media in await check_photos(satchel, ann)] == [ids[3]]
    # What is gone for good can be uploaded anew.
    assert await sent(ann, photo(mark="0"), "0.jpg") == ids[0]
    assert len(await check_photos(satchel, ann)) == 2
