"""Pictures of files on a shelf: in lists, at their addresses, and gone with their files."""

import base64

import pytest

from satchel.features.shelf.records import object_key
from satchel.media.child import Child
from satchel.media.frames import Made
from satchel.media.picture_maker import PictureMaker
from satchel.media.records import PICTURE, SIZES, picture_key, source_of
from satchel.stores.ports.objects import SmallObject
from tests.application import Caller, Satchel
from tests.features.shelf.given import check_shelf, shelf_of, stored_keys, uploaded
from tests.media.given import make_pictures
from tests.media.samples import is_flag, jpeg, photo

# Real pictures are made here, in processes of their own.
pytestmark = pytest.mark.slow


async def test_a_photo_has_a_picture_that_browsers_may_keep(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "flag.jpg", jpeg(), "image/jpeg")
    path = f"/shelf/files/{file.file_id}"
    assert (await ann("GET", path)).json()["picture"] == {
        "state": "pending",
        "version": "1",
        "width": None,
        "height": None,
        "placeholder": None,
        "duration_ms": None,
    }
    assert await make_pictures(satchel) == 1
    (entry,) = (await ann("GET", "/shelf/entries")).json()["entries"]
    picture = entry["picture"]
    assert (picture["state"], picture["width"], picture["height"]) == ("ready", 1200, 800)
    assert 5 < len(base64.b64decode(picture["placeholder"])) < 30
    for size, content_type in (("grid", "image/webp"), ("preview", "image/jpeg")):
        answer = await ann("GET", f"{path}/picture/{size}/{picture['version']}")
        assert (answer.status_code, answer.headers["content-type"]) == (200, content_type)
        assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
        assert is_flag(answer.content)
        known = {"if-none-match": answer.headers["etag"]}
        assert (await ann("GET", f"{path}/picture/{size}/1", headers=known)).status_code == 304


async def test_a_picture_of_another_version_size_or_person_does_not_exist(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    path = f"/shelf/files/{(await uploaded(satchel, ann, 'flag.jpg', jpeg(), 'image/jpeg')).file_id}/picture"
    await make_pictures(satchel)
    for caller, wanted in ((ann, "grid/2"), (ann, "huge/1"), (ann, "grid/x"), (bob, "grid/1"), (bob, "preview/1")):
        assert (await caller("GET", f"{path}/{wanted}")).status_code == 404
    assert (await satchel.caller()("GET", f"{path}/grid/1")).status_code == 401


async def test_a_file_that_is_no_image_has_none(satchel: Satchel, ann: Caller) -> None:
    text = await uploaded(satchel, ann, "notes.txt", b"words")
    liar = await uploaded(satchel, ann, "liar.jpg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/jpeg")
    assert await make_pictures(satchel) == 1
    for file in (text, liar):
        assert (await ann("GET", f"/shelf/files/{file.file_id}")).json()["picture"] is None
        answer = await ann("GET", f"/shelf/files/{file.file_id}/picture/grid/1")
        assert (answer.status_code, answer.json()["type"].rpartition("#")[2]) == (404, "no-picture")


async def test_a_picture_that_is_not_made_yet_asks_for_patience(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "flag.jpg", jpeg(), "image/jpeg")
    answer = await ann("GET", f"/shelf/files/{file.file_id}/picture/grid/1")
    assert (answer.status_code, answer.headers["retry-after"], answer.content) == (202, "2", b"")
    assert answer.headers["cache-control"] == "no-store"


async def test_a_picture_goes_with_its_file(satchel: Satchel, ann: Caller) -> None:
    content = jpeg()
    first = await uploaded(satchel, ann, "one.jpg", content, "image/jpeg")
    second = await uploaded(satchel, ann, "two.jpg", content, "image/jpeg")
    await make_pictures(satchel)
    assert len(await stored_keys(satchel)) == 3
    for file, left in ((first, 3), (second, 0)):
        await ann("DELETE", f"/shelf/files/{file.file_id}")
        assert (await ann("GET", f"/shelf/files/{file.file_id}/picture/grid/1")).status_code == 404
        await ann("DELETE", f"/shelf/bin/{file.file_id}")
        assert len(await stored_keys(satchel)) == left
    assert await PICTURE.get(satchel.stores.tables, source=object_key(first)) is None
    await check_shelf(satchel, ann)


async def test_garbage_collection_removes_the_picture_of_a_lost_source(satchel: Satchel, ann: Caller) -> None:
    lost = await uploaded(satchel, ann, "one.jpg", jpeg(), "image/jpeg")
    kept = await uploaded(satchel, ann, "two.jpg", photo(width=400, height=300), "image/jpeg")
    await make_pictures(satchel)
    tables, source = satchel.stores.tables, object_key(lost)
    row = await PICTURE.get(tables, source=source)
    assert row is not None
    await ann("DELETE", f"/shelf/files/{lost.file_id}")
    await ann("DELETE", f"/shelf/bin/{lost.file_id}")
    # As if the power had gone out just after the bytes were deleted.
    left = [SmallObject(picture_key(source, size, "1"), b"x") for size in SIZES]
    await satchel.stores.objects.put_many(left)
    await tables.put(PICTURE.table, PICTURE.item(row))
    await satchel.housekeep()
    assert {source_of(key) or key for key in await stored_keys(satchel)} == {object_key(kept)}
    assert await PICTURE.get(tables, source=source) is None
    assert await PICTURE.get(tables, source=object_key(kept)) is not None


async def test_a_source_that_goes_while_its_picture_is_made_leaves_none(satchel: Satchel, ann: Caller) -> None:
    file = await uploaded(satchel, ann, "flag.jpg", jpeg(), "image/jpeg")

    class Slow(Child):
        async def make(self, descriptor: int, size_bytes: int, name: str) -> Made:
            made = await super().make(descriptor, size_bytes, name)
            await ann("DELETE", f"/shelf/files/{file.file_id}")
            await ann("DELETE", f"/shelf/bin/{file.file_id}")
            return made

    maker = PictureMaker(shelf_of(satchel).pictures, {}, children=1)
    maker.children[0] = Slow()
    assert await maker.make_all() == 1
    await maker.stop()
    assert await stored_keys(satchel) == []
    assert await PICTURE.get(satchel.stores.tables, source=object_key(file)) is None
