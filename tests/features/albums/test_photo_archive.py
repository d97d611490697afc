"""Albums and chosen photos as one zip file of originals, for whoever may see them."""

from datetime import UTC, datetime
from typing import Any

from tests.application import Caller
from tests.features.albums.photos_given import photo, sent
from tests.features.albums.test_photo_access import given_album
from tests.features.shelf.test_archive import opened
from tests.media.made_files import movie


async def names(caller: Caller, path: str, **params: Any) -> list[str]:
    answer = await caller("GET", path, params=params)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip"), answer.text
    return opened(answer.content).namelist()


async def test_an_album_comes_as_one_archive_with_all_files_of_its_photos(ann: Caller, bob: Caller) -> None:
    album_id = await given_album(ann, "bob@example.org")
    path = f"/albums/{album_id}/archive"
    assert await names(ann, path) == []
    original = photo()
    first = await sent(ann, original)
    assert await sent(ann, movie(datetime(2024, 1, 31, 11, 0, 1, tzinfo=UTC)), "IMG_1.MOV") == first
    await sent(ann, photo("2024:02:01 12:00:00"), "IMG_1.JPG")
    await sent(ann, photo("2024:03:01 12:00:00"), "elsewhere.jpg")
    for caller in (ann, bob):
        found = await names(caller, path)
        assert [name.rpartition("_")[0] for name in found] == [
            "2024-01-31_12-00-00_IMG_1",
            "2024-01-31_12-00-00_IMG_1",
            "2024-02-01_12-00-00_IMG_1",
        ]
        assert [name.rpartition(".")[2] for name in found] == ["JPG", "MOV", "JPG"]
    answer = await bob("GET", path)
    assert 'filename="Snow.zip"' in answer.headers["content-disposition"]
    archive = opened(answer.content)
    assert archive.read(archive.namelist()[0]) == original
    await ann("DELETE", f"/albums/{album_id}/shares/bob@example.org")
    assert (await bob("GET", path)).status_code == 404


async def test_a_selection_has_only_what_was_chosen(ann: Caller, bob: Caller) -> None:
    album_id = await given_album(ann, "bob@example.org")
    path = f"/albums/{album_id}/archive"
    inside, outside = await sent(ann, photo()), await sent(ann, photo("2024:03:01 10:00:00"), "b.jpg")
    await sent(ann, photo("2024:02:01 12:00:00"), "c.jpg")
    assert len(await names(bob, path, media=[inside, inside])) == 1
    for caller in (ann, bob):
        assert (await caller("GET", path, params={"media": [inside, outside]})).status_code == 404
    assert len(await names(ann, "/photos/archive", media=[inside, outside])) == 2
    assert (await bob("GET", "/photos/archive", params={"media": [inside]})).status_code == 404
    assert (await ann("GET", "/photos/archive")).status_code == 422
