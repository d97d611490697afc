"""Photos that are not what they seem, and servers and visitors that something happens to, from upload to picture.

Two cameras an hour apart are in `test_camera_clocks`, hours that do not exist in `tests/media/metadata`, killed workers
in `tests/media/test_picture_maker`, and cards that are pulled out in `tests/cli/test_photo_cards`.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast
from unicodedata import normalize

import pytest

from satchel.kernel.errors import OutOfSpace
from satchel.media.records import SIZES
from satchel.stores.connect import Stores
from satchel.stores.ports.objects import Objects
from tests.application import Caller, Satchel, running_satchel
from tests.features.albums.photos_given import ORIGINAL, bundled, check_photos, photo, sent, shown, upload
from tests.features.albums.test_photo_access import given_album
from tests.media import samples
from tests.media.given import make_pictures
from tests.media.made_files import jpeg, tiff

# Real pictures are made here, in processes of their own.
pytestmark = pytest.mark.slow

WINTER = "2024:01:31 12:00:00"
NAMES = [
    "沖縄の海.jpg",
    "تصویر.jpg",
    "फ़ोटो.jpg",
    "foto ñandú.jpg",
    "👩‍👩‍👧.jpg",
    "a'\"&<b>.jpg",
    "e\u0301.jpg",
    "\u00e9.jpg",
]


async def listed(caller: Caller) -> dict[str, dict[str, Any]]:
    """What the timeline and the tray of what is undated say of each photo."""
    found: dict[str, dict[str, Any]] = {}
    for path in ("/photos", "/photos/undated"):
        columns = (await caller("GET", path)).json()
        for at, media_id in enumerate(columns["ids"]):
            found[media_id] = {name: values[at] for name, values in columns.items() if isinstance(values, list)}
    return found


async def test_broken_files_are_stored_and_hurt_nobody(satchel: Satchel, ann: Caller) -> None:
    whole = samples.taken(WINTER)
    large = samples.photo(1, 1000, 750)
    files = {
        "whole.jpg": whole,
        "truncated.jpg": large[: len(large) * 3 // 4],
        "beginning.jpg": large[: len(large) // 4],
        "header.jpg": whole[:40],
        "bomb.png": samples.bomb(),
        "png.jpg": samples.png(samples.flag()),
        "jpeg.mp4": samples.taken("2024:02:01 12:00:00"),
        "words.jpg": b"no photo at all",
    }
    fates = await bundled(ann, *files.items())
    ids = dict(zip(files, (fate["became"] for fate in fates), strict=True))
    assert all(ids.values())
    await make_pictures(satchel)
    rows = await listed(ann)
    has_picture = {name: rows[media_id]["versions"] is not None for name, media_id in ids.items()}
    assert has_picture == {
        "whole.jpg": True,
        "truncated.jpg": True,
        "beginning.jpg": False,
        "header.jpg": False,
        "bomb.png": False,
        "png.jpg": True,
        "jpeg.mp4": True,
        "words.jpg": False,
    }
    # The bytes decide what it is, and come back as they were.
    assert (await shown(ann, ids["jpeg.mp4"]))["content_type"] == "image/jpeg"
    assert (await shown(ann, ids["png.jpg"]))["content_type"] == "image/png"
    for name, media_id in ids.items():
        answer = await ann("GET", f"/photos/{ann.user_id}/{media_id}/content")
        assert (answer.status_code, answer.content) == (200, files[name])
    for size in SIZES:
        refused = await ann("GET", f"/photos/{ann.user_id}/{ids['bomb.png']}/picture/{size}/1")
        assert refused.status_code == 404, refused.text
    await check_photos(satchel, ann)


async def test_times_that_no_clock_had_come_to_the_tray_and_old_ones_count(satchel: Satchel, ann: Caller) -> None:
    moments = {"1904:07:14 10:00:00": "1904-07-14T10:00:00.000", "2099:01:01 00:00:00": None}
    for written, expected in moments.items():
        media_id = await sent(ann, jpeg(tiff({}, {ORIGINAL: written})), "scan.jpg")
        view = await shown(ann, media_id)
        assert (view["local_time"], view["album_id"] == "undated") == (expected, expected is None)
    albums = (await ann("GET", "/albums")).json()["albums"]
    assert [album["name"] for album in albums] == ["Q3 1904"]
    days = (await ann("GET", "/photos/days")).json()["days"]
    assert days == [{"day": "1904-07-14", "count": 1}]


async def test_names_of_any_script_come_out_as_they_went_in(satchel: Satchel, ann: Caller) -> None:
    fates = await bundled(ann, *((name, photo(mark=str(at))) for at, name in enumerate(NAMES)))
    for name, fate in zip(NAMES, fates, strict=True):
        view = await shown(ann, fate["became"])
        # Two ways to write one letter are one name.
        assert view["name"] == normalize("NFC", name)
        found = (await ann("GET", "/photos/search", params={"q": name.removesuffix(".jpg").split()[0]})).json()
        assert fate["became"] in found["photos"]["ids"]
    await check_photos(satchel, ann)


async def test_a_file_that_is_put_into_two_albums_is_in_the_last(satchel: Satchel, ann: Caller) -> None:
    """Each photo is in exactly one album: the same bytes again move nothing by themselves, and a pin moves it."""
    snow = await given_album(ann, "bob@example.org")
    made = await ann("POST", "/albums", json={"name": "Best", "start": "2020-01-01", "end": "2020-01-02"})
    best = made.json()["album"]["album_id"]
    media_id = await sent(ann, photo(WINTER))
    assert (await shown(ann, media_id))["album_id"] == snow
    assert await sent(ann, photo(WINTER), "copy.jpg", album=best) == media_id
    assert (await ann("PUT", f"/albums/{best}/pins/{media_id}")).is_success
    assert (await shown(ann, media_id))["album_id"] == best
    counts = {album["name"]: album["medias"] for album in (await ann("GET", "/albums")).json()["albums"]}
    assert counts == {"Snow": 0, "Best": 1}
    await check_photos(satchel, ann)


class _FullDisk:
    """The objects of a server, on a disk that can be full."""

    def __init__(self, objects: Any) -> None:
        self._objects = objects
        self.is_full = False

    def __getattr__(self, name: str) -> Any:
        if self.is_full and name in ("put", "put_many", "copy", "begin", "put_part"):
            raise OutOfSpace("The disk that holds the objects is full. Free some space and try again.")
        return getattr(self._objects, name)


async def test_a_full_disk_refuses_photos_and_keeps_nothing_half(tmp_path: Path) -> None:
    disks: list[_FullDisk] = []

    def through(stores: Stores) -> Stores:
        disks.append(_FullDisk(stores.objects))
        return replace(stores, objects=cast("Objects", disks[0]))

    async with running_satchel(tmp_path, sign_up="open", through=through) as satchel:
        ann = satchel.caller()
        await ann.sign_up("ann@example.org")
        first = await sent(ann, photo(mark="1"))
        disks[0].is_full = True
        refused = await upload(ann, photo(mark="2"), "IMG_2.JPG")
        assert (refused.status_code, refused.json()["type"].rpartition("#")[2]) == (507, "out-of-space")
        # What is stored can be seen and deleted, which is how space comes back.
        assert (await shown(ann, first))["name"] == "IMG_1.JPG"
        assert (await ann("DELETE", f"/photos/{ann.user_id}/{first}")).is_success
        assert (await ann("DELETE", "/photos/bin")).json() == {"deleted": 1}
        disks[0].is_full = False
        await sent(ann, photo(mark="2"))
        assert len(await check_photos(satchel, ann)) == 1


async def test_a_visitor_who_lost_the_album_gets_nothing_by_the_addresses_of_an_open_page(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    album_id = await given_album(ann, "bob@example.org")
    media_id = await sent(ann, samples.taken(WINTER))
    await make_pictures(satchel)
    base = f"/photos/{ann.user_id}/{media_id}"
    pages = [f"/albums/{album_id}", f"/albums/{album_id}/medias"]
    addresses = [base, f"{base}/content", f"{base}/preview", *(f"{base}/picture/{size}/1" for size in SIZES)]
    etags: dict[str, str] = {}
    for path in (*pages, *addresses):
        answer = await bob("GET", path)
        assert answer.status_code == 200, path
        etags[path] = answer.headers.get("etag", "")
    assert (await ann("DELETE", f"/albums/{album_id}/shares/bob@example.org")).is_success
    for path in (*pages, *addresses):
        # A browser asks whether what it has is still right. That must not say yes.
        for headers in ({}, {"if-none-match": etags[path] or "*"}, {"range": "bytes=0-9"}):
            answer = await bob("GET", path, headers=headers)
            assert answer.status_code == 404, (path, headers)
    listed_photos = (await bob("GET", "/photos", params={"shared": "true"})).json()
    assert listed_photos["ids"] == []
    for size in SIZES:
        assert (await ann("GET", f"{base}/picture/{size}/1")).status_code == 200
