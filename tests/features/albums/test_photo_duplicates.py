"""Photos that look alike: found when pictures are made, listed in groups, resolved without losing anything."""

from typing import Any

import pytest

from satchel.features.albums.media_records import LOOK, LookRow
from satchel.features.albums.model import MediaId, OwnerId
from tests.application import Caller, Satchel
from tests.features.albums.photos_given import check_photos, look_alike, photo, sent, shown
from tests.features.albums.test_photo_access import given_album
from tests.media.given import make_pictures
from tests.media.samples import taken

# Real pictures are made here, in processes of their own.
pytestmark = pytest.mark.slow

NEAR, FAR, FLAT = "00ff00ff33cc55ad", "00ff00ff33cc5500", "0000000000000000"


async def groups(caller: Caller, **query: object) -> list[dict[str, Any]]:
    answer = await caller("GET", "/photos/duplicates", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()["groups"]


async def several(ann: Caller, number: int) -> list[str]:
    return [await sent(ann, photo(mark=str(each)), f"{each}.jpg") for each in range(number)]


async def test_pictures_that_differ_a_little_are_a_group(satchel: Satchel, ann: Caller) -> None:
    one, near, far, flat, plain = await several(ann, 5)
    await look_alike(satchel, ann, one)
    assert await groups(ann) == []
    await look_alike(satchel, ann, near, dhash=NEAR)
    await look_alike(satchel, ann, far, dhash=FAR)
    await look_alike(satchel, ann, flat, plain, dhash=FLAT)
    (group,) = await groups(ann)
    assert set(group["photos"]["ids"]) == {one, near}
    # Noted again, nothing changes.
    await look_alike(satchel, ann, one, near)
    assert await groups(ann) == [group]


async def test_a_twin_is_found_behind_many_that_share_a_quarter_of_its_hash(satchel: Satchel, ann: Caller) -> None:
    one, near = await several(ann, 2)
    await look_alike(satchel, ann, one)
    others = [
        LookRow(
            owner=OwnerId(ann.user_id),
            band="000ff",
            media_id=MediaId(f"!{each:03}"),
            dhash="00ffff00cc33aa55",
            ratio=1333,
        )
        for each in range(250)
    ]
    await satchel.stores.tables.write_many(LOOK.table, put=[LOOK.item(each) for each in others])
    # One bit differs in each of the other three quarters.
    await look_alike(satchel, ann, near, dhash="00ff00fe33cd55ab")
    (group,) = await groups(ann)
    assert set(group["photos"]["ids"]) == {one, near}


async def test_the_same_photo_saved_twice_is_found_by_real_pictures(satchel: Satchel, ann: Caller) -> None:
    first, again = await sent(ann, taken("2024:01:31 12:00:00")), await sent(ann, taken("2024:01:31 12:00:01"), "b.jpg")
    assert first != again
    assert await make_pictures(satchel) == 2
    (group,) = await groups(ann)
    assert set(group["photos"]["ids"]) == {first, again}


async def test_whoever_keeps_one_keeps_what_the_others_were(satchel: Satchel, ann: Caller) -> None:
    album_id = await given_album(ann, "bob@example.org")
    kept, other, third = await several(ann, 3)
    await ann("PATCH", f"/photos/{ann.user_id}/{other}", json={"favourite": True})
    assert (await ann("PUT", f"/albums/{album_id}/pins/{third}")).is_success
    await look_alike(satchel, ann, kept, other, third)
    (group,) = await groups(ann)
    path = f"/photos/duplicates/{group['group_id']}/keep"
    assert (await ann("POST", path, json={"keep": [group["group_id"][::-1]]})).status_code == 404
    assert (await ann("POST", path, json={"keep": [kept]})).json() == {"deleted": 2}
    now = await shown(ann, kept)
    assert (now["favourite"], now["album_id"], now["pinned"]) == (True, album_id, True)
    assert await groups(ann) == []
    # What comes out of the bin is a duplicate again; what is deleted for good leaves nothing.
    await ann("POST", "/photos/bin/restore", json={"ids": [other]})
    assert [set(each["photos"]["ids"]) for each in await groups(ann)] == [{kept, other}]
    await ann("DELETE", f"/photos/{ann.user_id}/{other}")
    assert (await ann("DELETE", "/photos/bin")).json() == {"deleted": 2}
    assert await groups(ann) == []
    await check_photos(satchel, ann)


async def test_what_is_different_after_all_is_not_listed_again(satchel: Satchel, ann: Caller) -> None:
    one, two = await several(ann, 2)
    await look_alike(satchel, ann, one, two)
    (group,) = await groups(ann)
    assert (await ann("DELETE", f"/photos/duplicates/{group['group_id']}")).status_code == 204
    await look_alike(satchel, ann, one, two)
    assert await groups(ann) == []
    assert (await ann("DELETE", f"/photos/duplicates/{group['group_id']}")).status_code == 404


async def test_groups_come_in_pages(satchel: Satchel, ann: Caller) -> None:
    for each, dhash in enumerate(("00ff00ff33cc55aa", "aa55cc33ff00ff00", "123456789abcdef0")):
        twins = [await sent(ann, photo(mark=f"{each}{number}"), f"{each}{number}.jpg") for number in range(2)]
        await look_alike(satchel, ann, *twins, dhash=dhash)
    seen, cursor = list[str](), None
    while True:
        query = {"limit": 1, **({"cursor": cursor} if cursor else {})}
        page = (await ann("GET", "/photos/duplicates", params=query)).json()
        seen += [group["group_id"] for group in page["groups"]]
        if (cursor := page["cursor"]) is None:
            break
    assert len(seen) == len(set(seen)) == 3
