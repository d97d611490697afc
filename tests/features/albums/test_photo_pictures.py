"""Pictures of photos: in lists, at their addresses, for whoever may see the photo now, and gone with it."""

import base64
import io
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib import import_module
from itertools import count
from typing import Any

import pytest

from satchel.features.albums.media_records import MEDIA, MediaRow
from satchel.features.albums.model import LocalTime, OwnerId
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.media_bin import delete_media, restore
from satchel.features.albums.service.media_change import set_date, set_favourite
from satchel.media.picture_maker import enter_picture
from satchel.media.pictures import Pictured
from satchel.media.records import NEW, PICTURE, SIZES, PictureRow, picture_key
from satchel.slices import PICTURED
from satchel.stores.ports.ephemeral import Delete
from satchel.stores.ports.objects import SmallObject
from tests.application import Caller, Satchel
from tests.features.albums.given import Meddling, library_of
from tests.features.albums.photos_given import bundled, check_photos, photo, sent, shown, upload
from tests.features.albums.test_photo_access import given_album
from tests.features.links.given import given
from tests.features.links.visiting import visitor
from tests.media.given import make_pictures, pictures_of
from tests.media.made_files import movie
from tests.media.samples import is_flag, located, pdf, taken

# Real pictures are made here, in processes of their own.
pytestmark = pytest.mark.slow

pil: Any = import_module("PIL.Image")
WINTER = "2024:01:31 12:00:00"


async def timeline(caller: Caller) -> dict[str, Any]:
    return (await caller("GET", "/photos")).json()


async def row_of(satchel: Satchel, owner: Caller, media_id: str) -> MediaRow:
    row = await MEDIA.get(satchel.stores.tables, owner=owner.user_id, media_id=media_id)
    assert row is not None
    return row


async def test_lists_say_where_the_picture_is_before_and_after_it_is_made(satchel: Satchel, ann: Caller) -> None:
    album_id = await given_album(ann, "bob@example.org")
    media_id = await sent(ann, taken(WINTER))
    columns = await timeline(ann)
    assert (columns["versions"], columns["placeholders"], columns["ratios"]) == (["1"], [None], [1500])
    assert await make_pictures(satchel) == 1
    columns = await timeline(ann)
    assert columns["versions"] == ["1"]
    assert 5 < len(base64.b64decode(columns["placeholders"][0])) < 30
    inside = (await ann("GET", f"/albums/{album_id}/medias")).json()
    assert (inside["versions"], inside["placeholders"]) == (["1"], columns["placeholders"])
    assert inside["ratios"] == [1500]
    (album,) = (await ann("GET", "/albums")).json()["albums"]
    assert album["cover"] == {
        "media_id": media_id,
        "type": "IMAGE",
        "ratio": 1500,
        "placeholder": columns["placeholders"][0],
        "version": "1",
    }
    details = await shown(ann, media_id)
    assert (details["version"], details["placeholder"]) == ("1", columns["placeholders"][0])
    assert len((await row_of(satchel, ann, media_id)).dhash) == 16
    await check_photos(satchel, ann)


async def test_the_newest_is_the_cover_unless_another_one_was_chosen(ann: Caller) -> None:
    album_id = await given_album(ann, "bob@example.org")
    older, newer = await sent(ann, photo()), await sent(ann, photo("2024:02:01 12:00:00"), "b.jpg")
    for chosen, cover in ((None, newer), (older, older), ("", newer)):
        if chosen is not None:
            assert (await ann("PATCH", f"/albums/{album_id}", json={"cover": chosen})).is_success
        (album,) = (await ann("GET", "/albums")).json()["albums"]
        assert album["cover"]["media_id"] == cover


async def test_a_picture_may_be_kept_by_whoever_may_see_the_photo_now(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    album_id = await given_album(ann, "bob@example.org")
    media_id = await sent(ann, taken(WINTER))
    path = f"/photos/{ann.user_id}/{media_id}/picture"
    waiting = await ann("GET", f"{path}/grid/1")
    assert (waiting.status_code, waiting.headers["retry-after"]) == (202, "2")
    await make_pictures(satchel)
    for caller in (ann, bob):
        for size in SIZES:
            answer = await caller("GET", f"{path}/{size}/1")
            assert (answer.status_code, answer.headers["content-type"]) == (200, SIZES[size])
            assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
            assert is_flag(answer.content)
    for wanted in ("grid/2", "huge/1", "grid/x"):
        assert (await ann("GET", f"{path}/{wanted}")).status_code == 404
    await ann("PATCH", f"/photos/{ann.user_id}/{media_id}", json={"local_time": "2024-03-01"})
    assert (await bob("GET", f"{path}/grid/1")).status_code == 404
    await ann("PATCH", f"/photos/{ann.user_id}/{media_id}", json={"local_time": "2024-01-31"})
    assert (await bob("GET", f"{path}/grid/1")).status_code == 200
    # What is known of the picture goes with the photo.
    assert (await timeline(ann))["placeholders"] != [None]
    await ann("DELETE", f"/albums/{album_id}/shares/bob@example.org")
    assert (await bob("GET", f"{path}/grid/1")).status_code == 404
    await check_photos(satchel, ann)


async def test_what_cannot_have_a_picture_says_so_in_lists(satchel: Satchel, ann: Caller) -> None:
    # One has no pixels, and one is no image at all.
    await sent(ann, photo(), "empty.jpg")
    assert (await upload(ann, b"words", "2024-01-30 12.00.00.txt")).status_code == 201
    assert (await timeline(ann))["versions"][0] == "1"
    await make_pictures(satchel)
    assert set((await timeline(ann))["versions"]) == {None}
    await check_photos(satchel, ann)


async def test_the_ratio_comes_from_the_picture_if_nothing_else_has_told_it(satchel: Satchel, ann: Caller) -> None:
    media_id = await sent(ann, pdf(), "2024-01-30 12.00.00.pdf")
    assert (await row_of(satchel, ann, media_id)).ratio == 0
    await make_pictures(satchel)
    columns = await timeline(ann)
    assert (columns["versions"], columns["ratios"]) == (["1"], [1500])


async def test_photos_of_a_bundle_get_pictures_and_parts_get_none(satchel: Satchel, ann: Caller) -> None:
    files = [("a.jpg", taken(WINTER)), ("b.jpg", taken(WINTER, 99))]
    assert len({each["became"] for each in await bundled(ann, *files)}) == 2
    assert await make_pictures(satchel) == 2
    live = await sent(ann, taken("2024:01:31 12:30:00"), "IMG_7.JPG")
    assert await sent(ann, movie(datetime(2024, 1, 31, 11, 30, 1, tzinfo=UTC)), "IMG_7.MOV") == live
    assert await make_pictures(satchel) == 1
    # Known bytes have their picture already.
    assert await sent(ann, taken(WINTER)) in (await timeline(ann))["ids"]
    assert await make_pictures(satchel) == 0


async def test_a_picture_goes_with_its_photo_for_good(satchel: Satchel, ann: Caller) -> None:
    media_id = await sent(ann, taken(WINTER))
    await make_pictures(satchel)
    source = (await row_of(satchel, ann, media_id)).key
    objects = satchel.stores.objects
    await ann("DELETE", f"/photos/{ann.user_id}/{media_id}")
    assert len((await objects.list("photo/")).objects) == 3
    await ann("POST", "/photos/bin/restore", json={"ids": [media_id]})
    assert (await timeline(ann))["placeholders"] != [None]
    await ann("DELETE", f"/photos/{ann.user_id}/{media_id}")
    await ann("DELETE", "/photos/bin")
    assert (await objects.list("photo/")).objects == []
    assert await PICTURE.get(satchel.stores.tables, source=source) is None


async def test_garbage_collection_removes_pictures_of_lost_originals_only(satchel: Satchel, ann: Caller) -> None:
    kept = await sent(ann, taken(WINTER))
    lost = await sent(ann, taken(WINTER, 99), "lost.jpg")
    await make_pictures(satchel)
    tables, objects = satchel.stores.tables, satchel.stores.objects
    source = (await row_of(satchel, ann, lost)).key
    row = await PICTURE.get(tables, source=source)
    assert row is not None
    await ann("DELETE", f"/photos/{ann.user_id}/{lost}")
    await ann("DELETE", "/photos/bin")
    # As if the power had gone out in the middle.
    await objects.put_many([SmallObject(picture_key(source, size, "1"), b"x") for size in SIZES])
    await tables.put(PICTURE.table, PICTURE.item(row))
    satchel.clock.advance(timedelta(days=2))
    await satchel.housekeep()
    key = (await row_of(satchel, ann, kept)).key
    left = {info.key for info in (await objects.list("photo/")).objects}
    assert left == {key, *(picture_key(key, size, "1") for size in SIZES)}
    assert await PICTURE.get(tables, source=source) is None
    assert await PICTURE.get(tables, source=key) is not None


async def test_a_picture_that_was_made_while_the_photo_moved_is_noted_where_it_is(
    satchel: Satchel, ann: Caller
) -> None:
    media_id = await sent(ann, taken(WINTER))
    await ann("DELETE", f"/photos/{ann.user_id}/{media_id}")
    await make_pictures(satchel)
    await ann("POST", "/photos/bin/restore", json={"ids": [media_id]})
    await ann("PATCH", f"/photos/{ann.user_id}/{media_id}", json={"local_time": "2023-01-31"})
    assert (await timeline(ann))["placeholders"] != [None]
    await check_photos(satchel, ann)


async def test_a_lost_job_is_repeated_when_somebody_looks(satchel: Satchel, ann: Caller) -> None:
    media_id = await sent(ann, taken(WINTER))
    pictures = pictures_of(satchel)
    assert await pictures.queue.take()
    media = await row_of(satchel, ann, media_id)
    await pictures.queue.done(media.key)
    assert await make_pictures(satchel) == 0
    assert (await ann("GET", f"/photos/{ann.user_id}/{media_id}/picture/grid/1")).status_code == 202
    assert await make_pictures(satchel) == 1
    assert await pictures.describe_one(Pictured(media.key, media.name, media.content_type)) is not None


async def test_a_link_to_an_album_shows_pictures_that_say_nothing_else(satchel: Satchel, ann: Caller) -> None:
    album_id = await given_album(ann, "bob@example.org")
    media_id = await sent(ann, located(), "IMG_20240131_120000.jpg")
    await make_pictures(satchel)
    someone = visitor(satchel, await given(ann, "album", album_id))
    (file,) = (await someone.entered())["listing"]["files"]
    assert (file["file_id"], file["picture"]["state"]) == (media_id, "ready")
    for size in SIZES:
        answer = await someone("GET", f"/files/{media_id}/picture/{size}/{file['picture']['version']}")
        assert is_flag(answer.content)
        assert b"Secretmodel" not in answer.content
        assert not dict(pil.open(io.BytesIO(answer.content)).getexif())
    # It has moved away since.
    await ann("PATCH", f"/photos/{ann.user_id}/{media_id}", json={"local_time": "2024-03-01"})
    assert (await someone("GET", f"/files/{media_id}/picture/grid/1")).status_code == 404


async def _date(albums: Albums, owner: OwnerId, media_id: str) -> None:
    await set_date(albums, owner, media_id, LocalTime("2023-05-06T07:08:09.000"))


async def _like(albums: Albums, owner: OwnerId, media_id: str) -> None:
    await set_favourite(albums, owner, media_id, favourite=True)


async def _bin(albums: Albums, owner: OwnerId, media_id: str) -> None:
    await delete_media(albums, owner, media_id)
    await restore(albums, owner, media_id)


@pytest.mark.parametrize("change", [_date, _like, _bin])
async def test_a_picture_is_noted_at_whatever_step_of_a_change_it_comes(
    satchel: Satchel, ann: Caller, change: Callable[[Albums, OwnerId, str], Awaitable[None]]
) -> None:
    albums, owner = library_of(satchel, ann, "ann@example.org").albums, OwnerId(ann.user_id)
    for step in count(1):
        media_id = await sent(ann, photo(mark=str(step)), f"{step}.jpg")
        media = await row_of(satchel, ann, media_id)
        made = PictureRow(
            source=media.key, state="ready", version="1", made_at="", width=3, height=2, thumbhash=b"x", dhash=b"y"
        )
        meddling = Meddling(step, partial(enter_picture, albums.tables, PICTURED, made, media.size_bytes))
        await change(meddling.albums(albums), owner, media_id)
        if meddling.calls < step:
            break
        assert (await row_of(satchel, ann, media_id)).picture == "1"
        await check_photos(satchel, ann)


async def test_a_missing_picture_has_those_of_its_whole_album_made(satchel: Satchel, ann: Caller) -> None:
    first = await sent(ann, taken(WINTER))
    await sent(ann, taken("2024:01:31 13:00:00"), "b.jpg")
    await sent(ann, taken("2024:06:01 12:00:00"), "elsewhere.jpg")
    # The queue was lost.
    await satchel.stores.ephemeral.run(Delete(NEW()))
    path = f"/photos/{ann.user_id}/{first}/picture/grid/1"
    assert (await ann("GET", path)).status_code == 202
    assert await make_pictures(satchel) == 2
    assert (await ann("GET", path)).status_code == 200
