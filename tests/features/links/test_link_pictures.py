"""Pictures by a link: for whoever may look, and for nobody once the link is closed to them."""

import pytest

from tests.application import Caller, Satchel
from tests.features.links.given import changed, given, slug
from tests.features.links.visiting import visitor
from tests.features.shelf.given import made, uploaded
from tests.media.given import make_pictures
from tests.media.samples import is_flag, jpeg

# Real pictures are made here, in processes of their own.
pytestmark = pytest.mark.slow


async def test_a_visitor_sees_the_pictures_of_a_folder(satchel: Satchel, ann: Caller) -> None:
    folder_id = await made(ann, "Folder")
    inside = await uploaded(satchel, ann, "flag.jpg", jpeg(), "image/jpeg", folder_id)
    outside = await uploaded(satchel, ann, "other.jpg", jpeg(), "image/jpeg")
    await make_pictures(satchel)
    link = await given(ann, "folder", folder_id, password="open sesame")
    someone = visitor(satchel, link)
    path = f"/files/{inside.file_id}/picture"
    assert slug(await someone("GET", f"{path}/grid/1")) == (403, "link-password-needed")
    (file,) = (await someone.entered("open sesame"))["listing"]["files"]
    assert (file["picture"]["state"], file["picture"]["height"]) == ("ready", 800)
    for size in ("grid", "preview"):
        answer = await someone("GET", f"{path}/{size}/{file['picture']['version']}")
        assert answer.status_code == 200
        assert is_flag(answer.content)
    assert (await someone("GET", f"/files/{outside.file_id}/picture/grid/1")).status_code == 404
    await changed(ann, link, paused=True)
    assert (await someone("GET", f"{path}/grid/1")).status_code != 200


async def test_a_link_to_one_file_has_its_picture(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "flag.jpg", jpeg(), "image/jpeg")
    await make_pictures(satchel)
    someone = visitor(satchel, await given(ann, "file", file.file_id))
    await someone.entered()
    assert is_flag((await someone("GET", f"/files/{file.file_id}/picture/preview/1")).content)


async def test_where_downloads_are_limited_there_is_nothing_to_look_at(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "flag.jpg", jpeg(), "image/jpeg")
    await make_pictures(satchel)
    someone = visitor(satchel, await given(ann, "file", file.file_id, downloads=3))
    (listed,) = (await someone.entered())["listing"]["files"]
    assert listed["picture"] is None
    assert slug(await someone("GET", f"/files/{file.file_id}/picture/grid/1")) == (404, "no-picture")
