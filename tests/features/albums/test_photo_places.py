"""Where a photo was taken is its owner's business: in what is shown, in originals, in archives, and by links."""

import hashlib
import io
import zipfile
from datetime import UTC, datetime

from satchel.features.albums.media_records import LOCATION, REDACTION
from satchel.media.metadata.media_read import Circumstances, read_media
from tests.application import Caller, Satchel
from tests.features.albums.photos_given import bundled, check_photos, photo, sent, shown
from tests.features.albums.test_album_gallery import enter, linked
from tests.features.albums.test_photo_access import PLACED, given_album
from tests.media.made_files import movie


def has_place(data: bytes) -> bool:
    return read_media(data, Circumstances("a.jpg", datetime(2025, 1, 1, tzinfo=UTC))).position is not None


async def test_only_the_owner_gets_the_exact_bytes(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    album_id = await given_album(ann, "bob@example.org")
    media_id = await sent(ann, PLACED)
    base = f"/photos/{ann.user_id}/{media_id}"
    mine, his = await ann("GET", f"{base}/content"), await bob("GET", f"{base}/content")
    assert mine.content == PLACED
    assert len(his.content) == len(PLACED)
    assert (has_place(mine.content), has_place(his.content)) == (True, False)
    assert mine.headers["etag"] != his.headers["etag"]
    # What is said of it is true of what is sent.
    assert (await shown(bob, media_id, ann))["sha256"] == hashlib.sha256(his.content).hexdigest()
    assert (await shown(ann, media_id))["sha256"] == hashlib.sha256(PLACED).hexdigest()
    # In parts, conditionally, in the browser and in an archive it is the same.
    ranges = [{"range": f"bytes={at}-{at + 49}"} for at in range(0, len(PLACED), 50)]
    parts = [await bob("GET", f"{base}/content", headers=each) for each in ranges]
    assert b"".join(part.content for part in parts) == his.content
    same = {"if-none-match": his.headers["etag"]}
    assert (await bob("GET", f"{base}/content", headers=same)).status_code == 304
    assert (await bob("GET", f"{base}/preview")).content == his.content
    archive = await bob("GET", f"/albums/{album_id}/archive")
    assert files_of(archive.content) == [his.content]
    assert files_of((await ann("GET", f"/albums/{album_id}/archive")).content) == [PLACED]
    await check_photos(satchel, ann)


def files_of(archive: bytes) -> list[bytes]:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        assert opened.testzip() is None
        return [opened.read(each) for each in opened.namelist()]


async def test_an_owner_shares_the_places_of_an_album(ann: Caller, bob: Caller) -> None:
    album_id = await given_album(ann, "bob@example.org")
    media_id = await sent(ann, PLACED)
    base = f"/photos/{ann.user_id}/{media_id}"
    assert (await bob("PATCH", f"/albums/{album_id}", json={"with_location": True})).status_code == 404
    changed = await ann("PATCH", f"/albums/{album_id}", json={"with_location": True})
    assert changed.json()["album"]["with_location"] is True
    assert (await bob("GET", f"{base}/content")).content == PLACED
    seen = await shown(bob, media_id, ann)
    assert (seen["position"]["latitude"], seen["sha256"]) == (48.85, hashlib.sha256(PLACED).hexdigest())
    # An album that was deleted and is back again has what it had.
    deleted = (await ann("DELETE", f"/albums/{album_id}?quarters=true")).json()["act"]["act_id"]
    undone = await ann("POST", f"/albums/acts/{deleted}/undo", json={})
    assert undone.json()["album"]["with_location"] is True
    await ann("PATCH", f"/albums/{album_id}", json={"with_location": False})
    assert not has_place((await bob("GET", f"{base}/content")).content)


async def test_visitors_of_a_link_get_no_place(satchel: Satchel, ann: Caller) -> None:
    album_id, token, _ = await linked(ann)
    await bundled(ann, ("a.jpg", PLACED), ("b.jpg", photo(mark="plain")))
    stranger, path = satchel.caller(), f"/open/{token}"
    shows, files = await enter(stranger, token)
    assert len(files) == 2
    for file in files:
        for kind in ("content", "preview"):
            answer = await stranger("GET", f"{path}/files/{file['file_id']}/{kind}?pass={shows['pass']}")
            assert not has_place(answer.content)
            assert hashlib.sha256(answer.content).hexdigest() == file["sha256"]
    archive = await stranger("GET", f"{path}/archive?pass={shows['pass']}")
    assert sorted(files_of(archive.content)) == sorted(
        [
            (await stranger("GET", f"{path}/files/{file['file_id']}/content?pass={shows['pass']}")).content
            for file in files
        ]
    )
    await ann("PATCH", f"/albums/{album_id}", json={"with_location": True})
    with_place = await stranger("GET", f"{path}/archive?pass={shows['pass']}")
    assert PLACED in files_of(with_place.content)


async def test_the_film_of_a_live_photo_has_no_place_either(ann: Caller, bob: Caller) -> None:
    await given_album(ann, "bob@example.org")
    media_id = await sent(ann, photo())
    film = movie(3_789_543_600, place="+48.8566+002.3522/")
    await sent(ann, film, "IMG_1.MOV")
    (part,) = (await shown(ann, media_id))["parts"]
    path = f"/photos/{ann.user_id}/{media_id}/parts/{part['id']}/content"
    assert (await ann("GET", path)).content == film
    assert b"+48.8566" not in (await bob("GET", path)).content


async def test_an_original_that_nobody_understands_goes_to_its_owner_only(ann: Caller, bob: Caller) -> None:
    album_id = await given_album(ann, "bob@example.org")
    await sent(ann, PLACED)
    odd = await sent(ann, b"II*\0\xff\xff\xff\x7f and no picture", "scan.tif", album=album_id)
    base = f"/photos/{ann.user_id}/{odd}"
    assert (await ann("GET", f"{base}/content")).status_code == 200
    refused = await bob("GET", f"{base}/content")
    assert (refused.status_code, refused.json()["type"].rpartition("#")[2]) == (409, "original-withheld")
    assert (await shown(bob, odd, ann))["sha256"] == ""
    archive = (await bob("GET", f"/albums/{album_id}/archive")).content
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        assert len(opened.namelist()) == 2
        assert b"scan" in opened.read("left-out.txt")


async def test_what_others_get_is_found_when_it_is_wanted_and_goes_with_the_photo(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    """As where originals are no files of this machine, and after the rules have changed."""
    await given_album(ann, "bob@example.org")
    media_id = await sent(ann, PLACED)
    tables, key = satchel.stores.tables, REDACTION.key(owner=ann.user_id, media_id=media_id)
    await tables.delete(REDACTION.table, key)
    assert (await shown(bob, media_id, ann))["sha256"] == ""
    his = (await bob("GET", f"/photos/{ann.user_id}/{media_id}/content")).content
    assert not has_place(his)
    assert (await shown(bob, media_id, ann))["sha256"] == hashlib.sha256(his).hexdigest()
    await ann("DELETE", f"/photos/{ann.user_id}/{media_id}")
    await ann("DELETE", "/photos/bin")
    assert await tables.get(REDACTION.table, key) is None
    assert await tables.get(LOCATION.table, LOCATION.key(owner=ann.user_id, media_id=media_id)) is None
