"""Pictures of what was sent: for both sides, as long as the files are there for them."""

from tests.application import Caller, Satchel
from tests.features.shelf.given import uploaded
from tests.features.transfers.given import Room, by_email, seen, slug
from tests.media.given import make_pictures
from tests.media.samples import is_flag, jpeg


async def test_both_sides_see_the_pictures_of_what_was_sent(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    file = await uploaded(satchel, ann, "flag.jpg", jpeg(), "image/jpeg")
    transfer_id = (await by_email(ann, file.file_id))["transfer_id"]
    await make_pictures(satchel)
    for caller in (ann, bob):
        (sent,) = (await seen(caller, transfer_id))["files"]
        assert sent["picture"]["state"] == "ready"
        answer = await caller("GET", f"/transfers/{transfer_id}/files/0/picture/grid/{sent['picture']['version']}")
        assert answer.status_code == 200
        assert is_flag(answer.content)
    carl = satchel.caller()
    await carl.sign_up("carl@example.org")
    assert (await carl("GET", f"/transfers/{transfer_id}/files/0/picture/grid/1")).status_code == 404


async def test_who_has_left_the_room_sees_no_picture_of_it(room: Room) -> None:
    file_id = await room.bring(room.ann, "flag.jpg", jpeg())
    transfer_id = (await room.handed(room.ann, file_id))["transfer_id"]
    await make_pictures(room.satchel)
    path = f"/transfers/{transfer_id}/files/0/picture/preview/1"
    assert is_flag((await room.gus("GET", path)).content)
    assert (await room.gus("POST", f"/rooms/{room.room_id}/leave")).is_success
    assert slug(await room.gus("GET", path)) in ("not-offered", "files-gone")
