"""Photos that are handed over to a person or a room: copies on the owner's shelf, as others get photos."""

from pathlib import Path
from typing import Any

import httpx

from satchel.features.albums.service.photo_copy import MOST_COPIED
from tests.application import Caller, Satchel, running_satchel
from tests.features.albums.photos_given import photo, sent
from tests.features.albums.test_photo_access import PLACED
from tests.features.albums.test_photo_places import has_place
from tests.features.links.given import given, slug
from tests.features.links.visiting import visitor
from tests.features.rooms.given import guest, joined, opened
from tests.features.transfers.given import by_email, seen


async def copied(caller: Caller, folder: str, *media_ids: str) -> list[str]:
    answer = await copies(caller, folder, *media_ids)
    assert answer.status_code == 201, answer.text
    return answer.json()["files"]


async def copies(caller: Caller, folder: str, *media_ids: str) -> httpx.Response:
    return await caller("POST", "/photos/copies", json={"medias": media_ids, "folder": folder})


async def a_folder(caller: Caller) -> str:
    return (await caller("POST", "/shelf/folders", json={"name": "Sent"})).json()["id"]


async def entries(caller: Caller, folder: str) -> list[dict[str, Any]]:
    return (await caller("GET", "/shelf/entries", params={"folder": folder})).json()["entries"]


async def test_a_person_and_a_room_get_photos_without_their_places(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    later, earlier = await sent(ann, PLACED), await sent(ann, photo("2020:01:01 10:00:00"))
    folder = await a_folder(ann)
    files = await copied(ann, folder, later, earlier, later)
    assert len(files) == 2
    shown = {entry["id"]: entry for entry in await entries(ann, folder)}
    assert [shown[each]["name"][:10] for each in files] == ["2020-01-01", "2024-01-31"]
    assert not any(entry["received"] for entry in shown.values())
    assert await copied(ann, folder, earlier, later) == files
    assert len(await entries(ann, folder)) == 2

    transfer = await by_email(ann, *files)
    received = await bob("GET", f"/transfers/{transfer['transfer_id']}/files/1/content")
    assert received.status_code == 200
    assert len(received.content) == len(PLACED)
    assert not has_place(received.content)

    room = await opened(ann)
    gus = await guest(satchel)
    await joined(gus, room)
    shared = await ann("POST", f"/rooms/{room['room_id']}/files", json={"shelf": files})
    path = f"/rooms/{room['room_id']}/files/{shared.json()['files'][1]['file_id']}/content"
    assert (await gus("GET", path)).content == received.content
    assert (await satchel.caller()("GET", path)).status_code in (401, 404)
    await ann("DELETE", f"/rooms/{room['room_id']}/people/{gus.user_id}")
    assert (await gus("GET", path)).status_code == 404
    # What was handed over stays when the photo goes.
    await ann("DELETE", f"/photos/{ann.user_id}/{later}")
    assert (await seen(bob, transfer["transfer_id"]))["is_available"]


async def test_an_album_that_shares_places_hands_out_the_exact_bytes(satchel: Satchel, ann: Caller) -> None:
    media_id = await sent(ann, PLACED)
    made = await ann("POST", "/albums", json={"name": "Snow", "start": "2024-01-30", "end": "2024-02-02"})
    await ann("PATCH", f"/albums/{made.json()['album']['album_id']}", json={"with_location": True})
    (file,) = await copied(ann, await a_folder(ann), media_id)
    assert (await ann("GET", f"/shelf/files/{file}/content")).content == PLACED
    # A link to the copy gives what the copy has.
    somebody = visitor(satchel, await given(ann, "file", file))
    await somebody.entered()
    assert (await somebody("GET", "/content")).content == PLACED


async def test_what_cannot_be_copied_is_refused_and_nothing_is_copied(ann: Caller, bob: Caller) -> None:
    mine, binned, theirs = await sent(ann, photo()), await sent(ann, photo(mark="x")), await sent(bob, photo(mark="y"))
    await ann("DELETE", f"/photos/{ann.user_id}/{binned}")
    withheld = await sent(ann, b"II*\0\xff\xff\xff\x7f and no picture", "scan.tif")
    folder = await a_folder(ann)
    for medias, place, refusal in (
        ([mine, theirs], folder, (404, "media-unknown")),
        ([mine, binned], folder, (404, "media-unknown")),
        ([mine, withheld], folder, (409, "original-withheld")),
        ([mine], "no-such-folder", (404, "not-found")),
        ([mine], await a_folder(bob), (404, "not-found")),
        ([], folder, (422, "invalid")),
        ([mine] * (MOST_COPIED + 1), folder, (422, "invalid")),
    ):
        assert slug(await copies(ann, place, *medias)) == refusal, (medias, place)
    assert await entries(ann, folder) == []


async def test_a_full_shelf_takes_no_copies(tmp_path: Path) -> None:
    async with running_satchel(tmp_path, sign_up="open", quota=10) as satchel:
        ann = satchel.caller()
        await ann.sign_up("ann@example.org")
        media_id, folder = await sent(ann, photo()), await a_folder(ann)
        assert slug(await copies(ann, folder, media_id)) == (507, "quota-reached")
        assert await entries(ann, folder) == []


async def test_an_owner_can_fetch_what_others_get_to_pass_it_on(ann: Caller) -> None:
    media_id = await sent(ann, PLACED)
    path = f"/photos/{ann.user_id}/{media_id}/content"
    assert (await ann("GET", path)).content == PLACED
    passed_on = (await ann("GET", path, params={"for_others": "true"})).content
    assert len(passed_on) == len(PLACED)
    assert not has_place(passed_on)
