"""Pictures of files in rooms: for those who see the file, counted when looked at, and gone with it."""

import pytest

from satchel.media.records import PICTURE
from satchel.stores.ports.objects import SmallObject
from tests.application import Caller, Satchel
from tests.features.rooms.given import files, guest, joined, objects, opened, sent, slug
from tests.features.rooms.test_usage_events import counted
from tests.media.given import make_pictures
from tests.media.samples import flag, is_flag, jpeg

# Real pictures are made here, in processes of their own.
pytestmark = pytest.mark.slow


async def test_everybody_in_the_room_sees_a_picture_and_nobody_else(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    room = await opened(ann)
    gus = await guest(satchel)
    await joined(gus, room)
    file_id = await sent(ann, room, "flag.jpg", jpeg(), filetype="image/jpeg")
    path = f"/rooms/{room['room_id']}/files/{file_id}/picture"
    (file,) = await files(ann, room)
    assert file["picture"]["state"] == "pending"
    await make_pictures(satchel)
    (file,) = await files(gus, room)
    assert (file["picture"]["state"], file["picture"]["width"]) == ("ready", 1200)
    for caller in (ann, gus):
        for size in ("grid", "preview"):
            answer = await caller("GET", f"{path}/{size}/{file['picture']['version']}")
            assert answer.status_code == 200
            assert is_flag(answer.content)
    assert (await bob("GET", f"{path}/grid/1")).status_code == 404
    # Who has left sees it no longer, whatever address they know.
    await gus("POST", f"/rooms/{room['room_id']}/leave")
    assert (await gus("GET", f"{path}/grid/1")).status_code == 404


async def test_a_private_file_has_a_picture_for_two(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    room = await opened(ann)
    gus = await guest(satchel)
    for caller in (bob, gus):
        await joined(caller, room)
    file_id = await sent(ann, room, "flag.jpg", jpeg(), to=bob.user_id)
    await make_pictures(satchel)
    path = f"/rooms/{room['room_id']}/files/{file_id}/picture/grid/1"
    assert [(await caller("GET", path)).status_code for caller in (ann, bob, gus)] == [200, 200, 404]


async def test_a_picture_goes_with_its_file_and_with_its_room(satchel: Satchel, ann: Caller) -> None:
    room = await opened(ann)
    gone = await sent(ann, room, "one.jpg", jpeg())
    await sent(ann, room, "two.jpg", jpeg(flag(600, 400)))
    await make_pictures(satchel)
    kept = await objects(satchel, room)
    assert len(kept) == 6
    assert (await ann("DELETE", f"/rooms/{room['room_id']}/files/{gone}")).is_success
    assert len(await objects(satchel, room)) == 3
    assert (await ann("DELETE", f"/rooms/{room['room_id']}")).is_success
    assert await objects(satchel, room) == []
    for key in kept:
        assert await PICTURE.get(satchel.stores.tables, source=key) is None


async def test_a_picture_whose_source_is_gone_is_garbage(satchel: Satchel, ann: Caller) -> None:
    room = await opened(ann)
    file_id = await sent(ann, room, "one.jpg", jpeg())
    await make_pictures(satchel)
    source = min(await objects(satchel, room))
    row = await PICTURE.get(satchel.stores.tables, source=source)
    assert row is not None
    await ann("DELETE", f"/rooms/{room['room_id']}/files/{file_id}")
    # As if the power had gone out just after the bytes were deleted.
    await satchel.stores.objects.put_many([SmallObject(f"{source}.grid.1", b"x")])
    await satchel.stores.tables.put(PICTURE.table, PICTURE.item(row))
    satchel.clock.advance(2 * 3600)
    await satchel.housekeep()
    assert await objects(satchel, room) == []
    assert await PICTURE.get(satchel.stores.tables, source=source) is None


async def test_only_the_preview_counts_as_a_view(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    room = await opened(ann)
    await joined(bob, room)
    file_id = await sent(ann, room, "flag.jpg", jpeg())
    await make_pictures(satchel)
    path = f"/rooms/{room['room_id']}/files/{file_id}/picture"
    assert (await bob("GET", f"{path}/grid/1")).is_success
    assert (await bob("HEAD", f"{path}/preview/1")).is_success
    assert (await counted(ann, room))["view"] == 0
    assert (await bob("GET", f"{path}/preview/1")).is_success
    assert (await counted(ann, room))["view"] == 1
    assert slug(await bob("GET", f"{path}/preview/2")) == (404, "no-picture")
