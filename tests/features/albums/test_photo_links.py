"""Chosen photos under one link: what strangers and members get, what is gone with its photo, and what is collected."""

import io
import zipfile
from datetime import timedelta
from typing import Any

from satchel.features.albums.media_records import CHOICE, CHOICES, MEDIA
from satchel.features.albums.records import ALBUM_INDEX
from satchel.features.albums.service.photo_choice import MOST_CHOSEN, UNLINKED_FOR
from tests.application import PASSWORD, Caller, Satchel
from tests.features.albums.photos_given import photo, sent
from tests.features.albums.test_photo_access import PLACED
from tests.features.albums.test_photo_places import has_place
from tests.features.links.given import given, read, slug
from tests.features.links.visiting import visitor


async def choose(caller: Caller, *media_ids: str) -> dict[str, Any]:
    answer = await caller("POST", "/photos/choices", json={"medias": media_ids})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def kept(satchel: Satchel, owner: Caller) -> set[str]:
    page = await CHOICE.list_by(satchel.stores.tables, ALBUM_INDEX, CHOICES.format(owner=owner.user_id))
    return {row.choice_id for row in page.records}


async def test_a_stranger_gets_the_chosen_photos_without_places_and_nothing_beside_them(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    later, earlier, undated, beside = [
        await sent(ann, content)
        for content in (PLACED, photo("2020:01:01 10:00:00"), photo("", mark="undated"), photo(mark="beside"))
    ]
    chosen = await choose(ann, later, undated, earlier, earlier)
    assert await choose(ann, undated, earlier, later) == chosen
    assert chosen["name"].startswith("undated_IMG_1_")
    assert chosen["name"].endswith(".JPG + 2")
    link = await given(ann, "photos", chosen["choice_id"], downloads=1)
    for somebody in (visitor(satchel, link), visitor(satchel, link, "203.0.113.8", bob)):
        seen = await somebody.look()
        assert (seen["kind"], seen["name"], seen["files"]) == ("photos", chosen["name"], 3)
        files = (await somebody.entered())["listing"]["files"]
        assert [file["file_id"] for file in files] == [undated, earlier, later]
        assert all(file["photo"] for file in files)
        assert not has_place((await somebody("GET", f"/files/{later}/preview")).content)
        assert slug(await somebody("GET", f"/files/{beside}/content")) == (404, "not-found")
    assert slug(await bob("GET", f"/photos/{ann.user_id}/{later}")) == (404, "media-unknown")
    archive = await somebody("GET", "/archive")
    with zipfile.ZipFile(io.BytesIO(archive.content)) as opened:
        assert len(opened.namelist()) == 3
        assert not any(has_place(opened.read(name)) for name in opened.namelist())
    assert (await read(ann, link))["downloads_used"] == 1


async def test_the_album_of_each_photo_says_whether_its_place_is_shown(satchel: Satchel, ann: Caller) -> None:
    media_id = await sent(ann, PLACED)
    other = await sent(ann, photo("2020:01:01 10:00:00"))
    somebody = visitor(satchel, await given(ann, "photos", (await choose(ann, media_id, other))["choice_id"]))
    await somebody.entered()
    row = await MEDIA.get(satchel.stores.tables, owner=ann.user_id, media_id=media_id)
    assert row is not None
    for with_location in (True, False):
        changed = await ann("PATCH", f"/albums/{row.album_id}", json={"with_location": with_location})
        assert changed.is_success, changed.text
        content = (await somebody("GET", f"/files/{media_id}/content")).content
        assert has_place(content) is with_location


async def test_a_deleted_photo_is_not_shown_and_the_link_goes_with_the_last(satchel: Satchel, ann: Caller) -> None:
    first, second = await sent(ann, photo()), await sent(ann, photo(mark="second"))
    link = await given(ann, "photos", (await choose(ann, first, second))["choice_id"])
    somebody = visitor(satchel, link)
    await somebody.entered()
    await ann("DELETE", f"/photos/{ann.user_id}/{first}")
    assert (await somebody.look())["files"] == 1
    files = (await somebody("GET", "/files")).json()
    assert ([file["file_id"] for file in files["files"]], files["cursor"]) == ([second], None)
    for way in ("content", "preview", "picture/grid/1"):
        assert (await somebody("GET", f"/files/{first}/{way}")).status_code == 404
    assert slug(await somebody("GET", "/files", params={"cursor": "x"})) == (422, "cursor-invalid")
    await ann("DELETE", f"/photos/{ann.user_id}/{second}")
    assert (await read(ann, link))["state"] == "gone"
    assert slug(await somebody("GET")) == (410, "link-target-gone")
    await ann("POST", "/photos/bin/restore", json={"ids": [first]})
    assert (await read(ann, link))["state"] == "active"
    assert [file["file_id"] for file in (await somebody("GET", "/files")).json()["files"]] == [first]


async def test_only_photos_of_ones_own_can_be_chosen_and_not_too_many(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    media_id, binned = await sent(ann, photo()), await sent(ann, photo(mark="binned"))
    await ann("DELETE", f"/photos/{ann.user_id}/{binned}")
    for caller, medias, refusal in (
        (ann, [], (422, "invalid")),
        (ann, [media_id] * (MOST_CHOSEN + 1), (422, "invalid")),
        (ann, [media_id, "no-such-photo"], (404, "media-unknown")),
        (ann, [media_id, binned], (404, "media-unknown")),
        (bob, [media_id], (404, "media-unknown")),
    ):
        answer = await caller("POST", "/photos/choices", json={"medias": medias})
        assert slug(answer) == refusal, (medias, answer.text)
    assert await kept(satchel, ann) | await kept(satchel, bob) == set()
    # Nor can somebody link to what another has chosen.
    thing = {"kind": "photos", "id": (await choose(ann, media_id))["choice_id"]}
    assert slug(await bob("POST", "/links", json={"thing": thing})) == (404, "not-found")


async def test_a_choice_is_kept_as_long_as_a_link_leads_to_it_and_goes_with_the_account(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    del ann
    first, second = await sent(bob, photo()), await sent(bob, photo(mark="second"))
    linked, loose = [(await choose(bob, *ids))["choice_id"] for ids in ([first, second], [second])]
    await given(bob, "photos", linked)
    assert await kept(satchel, bob) == {linked, loose}
    for _ in range(2):
        satchel.clock.advance(UNLINKED_FOR + timedelta(minutes=1))
        await satchel.housekeep()
        assert await kept(satchel, bob) == {linked}
    await bob.sign_in("bob@example.org")
    answer = await bob("POST", "/accounts/me/deletion", json={"password": PASSWORD})
    assert answer.is_success, answer.text
    assert await kept(satchel, bob) == set()
