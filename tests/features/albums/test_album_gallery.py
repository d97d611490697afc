"""The gallery of a link to an album: photos for strangers, what they look at is counted, and what they may add."""

from typing import Any

import pytest

from satchel.features.albums.media_records import MEDIA
from tests.application import Caller, Satchel
from tests.features.albums.photos_given import check_photos, photo, sent, shown
from tests.features.albums.test_photo_access import given_album
from tests.features.links.given import given
from tests.media.given import make_pictures
from tests.media.samples import taken
from tests.uploads.given import SENDS, TUS, pairs

# Real pictures are made here, in processes of their own.
pytestmark = pytest.mark.slow


async def linked(ann: Caller, **options: Any) -> tuple[str, str, str]:
    """An album, the token of a link to it, and the link's id."""
    album_id = await given_album(ann, "bob@example.org")
    link = await given(ann, "album", album_id, **options)
    return album_id, link["address"].rpartition("/")[2], link["link_id"]


async def enter(visitor: Caller, token: str) -> tuple[dict[str, str], list[dict[str, Any]]]:
    entered = (await visitor("POST", f"/open/{token}/enter", json={})).json()
    return {"pass": entered["pass"]}, entered["listing"]["files"]


async def add(visitor: Caller, token: str, shown: str, content: bytes, **details: str) -> Any:
    metadata = pairs(
        **{"destination": "link", "filename": "g.jpg", "filetype": "image/jpeg", "link": token, "pass": shown},
        **details,
    )
    headers = {**SENDS, **TUS, "upload-length": str(len(content)), "upload-metadata": metadata}
    return await visitor("POST", "/uploads", headers=headers, content=content)


async def test_strangers_see_pictures_and_each_look_and_download_counts_for_photo_album_and_link(
    satchel: Satchel, ann: Caller
) -> None:
    # The limit is one of originals: pictures are there all the same.
    album_id, token, link_id = await linked(ann, downloads=1)
    media_id = await sent(ann, taken("2024:01:31 12:00:00"))
    await make_pictures(satchel)
    visitor = satchel.caller("192.0.2.1")
    params, (file,) = await enter(visitor, token)
    assert file["photo"] == {
        "local_time": "2024-01-31T12:00:00.000",
        "type": "IMAGE",
        "ratio": 1500,
        "duration_ms": 0,
    }
    picture = file["picture"]
    assert (picture["state"], picture["version"]) == ("ready", "1")
    assert picture["placeholder"]
    pictures = f"/open/{token}/files/{media_id}/picture"
    ahead = await visitor("GET", f"{pictures}/preview/1", params=params, headers={"purpose": "prefetch"})
    assert (ahead.status_code, ahead.headers["cache-control"]) == (200, "private, no-cache")
    assert (await visitor("GET", f"/open/{token}/files/{media_id}/preview", params=params)).status_code == 422
    scopes = (f"thing:photo:{media_id}", f"thing:album:{album_id}", f"link:{link_id}", "mine")

    async def totals() -> list[tuple[int, int, int]]:
        found = [(await ann("GET", f"/stats/{scope}/summary")).json()["total"] for scope in scopes]
        return [(each["open"], each["view"], each["download"]) for each in found]

    assert await totals() == [(0, 0, 0), (1, 0, 0), (1, 0, 0), (1, 0, 0)]
    for size in ("grid", "preview", "preview"):
        assert (await visitor("GET", f"{pictures}/{size}/1", params=params)).status_code == 200
    assert await totals() == [(0, 1, 0), (1, 1, 0), (1, 1, 0), (1, 1, 0)]
    original = await visitor("GET", f"/open/{token}/files/{media_id}/content", params=params)
    assert original.status_code == 200
    assert await totals() == [(0, 1, 1), (1, 1, 1), (1, 1, 1), (1, 1, 1)]


async def test_guests_add_photos_if_the_owner_allows_it(satchel: Satchel, ann: Caller) -> None:
    album_id, token, link_id = await linked(ann)
    visitor = satchel.caller("192.0.2.1")
    params, _ = await enter(visitor, token)
    entered = params["pass"]
    assert (await add(visitor, token, entered, photo("2019:05:05 10:00:00"))).status_code == 404
    changed = await ann("PATCH", f"/links/{link_id}", json={"may_add": True, "max_bytes": 100_000})
    assert changed.json()["may_add"] is True
    assert (await visitor("GET", f"/open/{token}")).json()["may_add"] is True
    refused = await add(visitor, token, entered, photo("2019:05:05 10:00:00"), uploader="Gus", modified="nonsense")
    assert refused.status_code == 422
    given_by = await add(visitor, token, entered, photo("2019:05:05 10:00:00"), uploader="Gus")
    assert given_by.status_code == 201, given_by.text
    assert (await add(visitor, token, entered, b"x" * 200_000)).status_code == 413
    _, (file,) = await enter(visitor, token)
    media = await MEDIA.get(satchel.stores.tables, owner=ann.user_id, media_id=file["file_id"])
    assert media is not None
    assert (media.album_id, media.pinned, media.local_time[:4]) == (album_id, album_id, "2019")
    assert (await shown(ann, media.media_id))["added_by"] == {"kind": "guest", "name": "Gus"}
    assert await check_photos(satchel, ann)
    # Not any more.
    await ann("PATCH", f"/links/{link_id}", json={"may_add": False})
    assert (await add(visitor, token, entered, photo(mark="x"))).status_code == 404


async def test_a_guest_who_gives_the_address_of_a_contributor_is_not_taken_for_them(ann: Caller, bob: Caller) -> None:
    album_id, token, link_id = await linked(ann)
    await ann("PUT", f"/albums/{album_id}/shares/bob@example.org", json={"role": "contributor"})
    await ann("PATCH", f"/links/{link_id}", json={"may_add": True})
    params, _ = await enter(bob, token)
    for name in ("bob@example.org", ""):
        content = photo("2019:05:05 10:00:00", mark=name)
        assert (await add(bob, token, params["pass"], content, uploader=name)).status_code == 201
    ids = (await ann("GET", f"/albums/{album_id}/medias")).json()["ids"]
    views = [await shown(ann, media_id) for media_id in ids]
    givers = [each["added_by"] for each in views]
    assert {"kind": "guest", "name": "bob@example.org"} in givers and {"kind": "guest", "name": ""} in givers
    for each in views:
        assert (await shown(bob, each["id"], ann))["may_delete"] is False
        assert (await bob("DELETE", f"/photos/{ann.user_id}/{each['id']}")).status_code == 404


@pytest.mark.parametrize("kind", ["room", "folder"])
async def test_only_albums_can_be_added_to(ann: Caller, kind: str) -> None:
    folder = (await ann("POST", "/shelf/folders", json={"name": "New"})).json()
    thing = {"kind": kind, "id": folder.get("id") or folder.get("folder_id") or "x"}
    answer = await ann("POST", "/links", json={"thing": thing, "may_add": True})
    assert answer.status_code in (404, 422)
