"""Who sees a photo, and who may add one: the owner, and whoever may see the album that it is in at this moment."""

from typing import Any

import pytest

from tests.application import Caller, Satchel
from tests.features.albums.photos_given import album_names, bundled, check_photos, photo, sent, shown, upload
from tests.features.rooms.given import guest
from tests.media.made_files import jpeg, movie, tiff

# Real pictures are made here, in processes of their own.
pytestmark = pytest.mark.slow

PARIS = {1: "N", 2: [(48, 1), (51, 1), (0, 1)], 3: "E", 4: [(2, 1), (21, 1), (0, 1)]}
PLACED = jpeg(tiff({}, {0x9003: "2024:01:31 12:00:00"}, PARIS))


async def given_album(owner: Caller, email: str, role: str = "visitor") -> str:
    made = await owner("POST", "/albums", json={"name": "Snow", "start": "2024-01-30", "end": "2024-02-02"})
    album_id = made.json()["album"]["album_id"]
    shared = await owner("PUT", f"/albums/{album_id}/shares/{email}", json={"role": role})
    assert shared.is_success, shared.text
    return album_id


def paths(owner: Caller, media_id: str) -> list[str]:
    base = f"/photos/{owner.user_id}/{media_id}"
    return [base, f"{base}/content", f"{base}/preview"]


async def statuses(caller: Caller, owner: Caller, media_id: str) -> set[int]:
    return {(await caller("GET", path)).status_code for path in paths(owner, media_id)}


async def test_a_visitor_sees_what_is_in_the_album_as_long_as_it_is_shared(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    album_id = await given_album(ann, "bob@example.org")
    inside, outside = await sent(ann, PLACED), await sent(ann, photo("2024:03:01 10:00:00"), "b.jpg")
    assert await statuses(bob, ann, inside) == {200}
    assert await statuses(bob, ann, outside) == {404}
    # Where it was taken and what the owner likes are the owner's business.
    await ann("PATCH", f"/photos/{ann.user_id}/{inside}", json={"favourite": True})
    assert (await shown(ann, inside))["position"] == {"latitude": 48.85, "longitude": 2.35, "altitude": None}
    seen = await shown(bob, inside, ann)
    assert (seen["position"], seen["favourite"]) == (None, False)
    for method, body in (("PATCH", {"json": {"favourite": True}}), ("DELETE", {})):
        assert (await bob(method, paths(ann, inside)[0], **body)).status_code == 404
    await ann("DELETE", f"/photos/{ann.user_id}/{inside}")
    assert await statuses(bob, ann, inside) == {404}
    await ann("POST", "/photos/bin/restore", json={"ids": [inside]})
    assert await statuses(bob, ann, inside) == {200}
    await ann("DELETE", f"/albums/{album_id}/shares/bob@example.org")
    assert await statuses(bob, ann, inside) == {404}
    await check_photos(satchel, ann)


async def test_what_leaves_an_album_is_not_seen_by_its_visitors_any_more(ann: Caller, bob: Caller) -> None:
    await given_album(ann, "bob@example.org")
    media_id = await sent(ann, photo())
    assert await statuses(bob, ann, media_id) == {200}
    await ann("PATCH", f"/photos/{ann.user_id}/{media_id}", json={"local_time": "2024-03-01"})
    assert await statuses(bob, ann, media_id) == {404}


async def test_a_contributor_adds_to_the_owners_album_and_a_visitor_does_not(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    album_id = await given_album(ann, "bob@example.org")
    refused = await upload(bob, photo("2020:01:01 10:00:00"), "a.jpg", album=album_id)
    assert refused.status_code == 404
    assert (await bundled(bob, ("a.jpg", photo()), album=album_id))[0]["problem"]["status"] == 404
    await ann("PUT", f"/albums/{album_id}/shares/bob@example.org", json={"role": "contributor"})
    media_id = await sent(bob, photo("2020:01:01 10:00:00"), "a.jpg", album=album_id)
    assert (await bundled(bob, ("b.jpg", photo(mark="x")), album=album_id))[0]["became"]
    assert await statuses(bob, ann, media_id) == {200}
    assert (await shown(ann, media_id))["album_id"] == album_id
    assert await album_names(bob) == {"Snow": 2}
    medias = await check_photos(satchel, ann)
    assert {media.added_by for media in medias} == {"bob@example.org"}
    assert (await satchel.stores.objects.list(f"photo/{bob.user_id}/")).objects == []


async def test_a_contributor_takes_back_what_they_added_and_nothing_else(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    album_id = await given_album(ann, "bob@example.org", "contributor")
    hers, his = await sent(ann, photo()), await sent(bob, photo(mark="x"), "b.jpg", album=album_id)
    assert ((await shown(ann, hers))["added_by"], (await shown(bob, hers, ann))["may_delete"]) == (None, False)
    seen = await shown(ann, his)
    assert (seen["added_by"], seen["may_delete"]) == ({"kind": "person", "name": "bob"}, True)
    assert (await shown(bob, his, ann))["may_delete"] is True
    base = f"/photos/{ann.user_id}"
    assert (await bob("DELETE", f"{base}/{hers}")).status_code == 404
    await ann("PUT", f"/albums/{album_id}/shares/bob@example.org", json={"role": "visitor"})
    assert (await shown(bob, his, ann))["may_delete"] is False
    assert (await bob("DELETE", f"{base}/{his}")).status_code == 404
    await ann("PUT", f"/albums/{album_id}/shares/bob@example.org", json={"role": "contributor"})
    assert (await bob("DELETE", f"{base}/{his}")).status_code == 204
    # It is in the bin of the owner, who restores it; somebody who has left the album does not reach it.
    assert (await bob("DELETE", f"{base}/{his}")).status_code == 404
    assert (await ann("GET", "/photos/bin")).json()["ids"] == [his]
    (restored,) = (await ann("POST", "/photos/bin/restore", json={"ids": [his]})).json()["photos"]
    assert restored["added_by"] == {"kind": "person", "name": "bob"}
    await bob("DELETE", f"/albums/{album_id}/membership")
    assert (await bob("DELETE", f"{base}/{his}")).status_code == 404
    medias = await check_photos(satchel, ann)
    assert {media.media_id for media in medias} == {hers, his}


async def test_nobody_adds_to_an_album_that_they_do_not_see(ann: Caller, bob: Caller) -> None:
    album_id = await given_album(ann, "carl@example.org")
    for album in (album_id, "x", "0" * 26):
        assert (await upload(bob, photo(), "a.jpg", album=album)).status_code == 404


async def test_guests_have_no_library(satchel: Satchel, ann: Caller) -> None:
    gus = await guest(satchel, "Gus")
    assert (await upload(gus, photo(), "a.jpg")).status_code == 401
    assert (await satchel.caller()("GET", "/photos")).status_code == 401


async def test_the_parts_of_a_photo_are_seen_with_it(ann: Caller, bob: Caller) -> None:
    await given_album(ann, "bob@example.org")
    media_id = await sent(ann, photo())
    part: dict[str, Any] = {}
    await sent(ann, movie(3_789_543_600), "IMG_1.MOV")
    for part in (await shown(ann, media_id))["parts"]:
        path = f"/photos/{ann.user_id}/{media_id}/parts/{part['id']}/content"
        assert (await bob("GET", path)).status_code == 200
        # By itself it is no photo.
        assert (await bob("GET", f"/photos/{ann.user_id}/{part['id']}")).status_code == 404
    assert part
