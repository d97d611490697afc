"""Search of photos: by words, dates, cameras and places, in pages, in what one may see and nothing else."""

from typing import Any

import pytest

from satchel.features.albums.service import photo_search
from tests.application import Caller
from tests.features.albums.photos_given import bundled, photo, sent
from tests.features.albums.test_photo_access import PLACED, given_album

# Real pictures are made here, in processes of their own.
pytestmark = pytest.mark.slow


async def found(caller: Caller, **query: object) -> list[str]:
    """The names of what is found, over all pages."""
    names, cursor = list[str](), None
    while True:
        asked: dict[str, Any] = {name.rstrip("_"): value for name, value in query.items()}
        answer = await caller("GET", "/photos/search", params=asked | ({"cursor": cursor} if cursor else {}))
        assert answer.status_code == 200, answer.text
        page = answer.json()
        assert len(page["names"]) == len(page["photos"]["ids"])
        names += page["names"]
        if (cursor := page["cursor"]) is None:
            return names


async def given_photos(ann: Caller) -> str:
    """Two in the album Snow, two outside, one without a date."""
    album_id = await given_album(ann, "bob@example.org")
    await bundled(ann, ("Ski.JPG", photo("2024:01:31 12:00:00")), ("ÉTÉ 1.jpg", photo("2023:07:02 10:00:00", mark="a")))
    await bundled(ann, ("IMG_7.JPG", photo("2024:02:01 09:00:00", mark=" II")), ("scan.png", photo("", mark="c")))
    await sent(ann, PLACED, "paris.jpg")
    return album_id


async def test_photos_are_found_by_every_word_of_name_camera_album_and_date(ann: Caller) -> None:
    album_id = await given_photos(ann)
    assert await found(ann, q="ski") == ["Ski.JPG"]
    assert await found(ann, q="ete") == ["ÉTÉ 1.jpg"]
    assert await found(ann, q="canon r5 snow") == ["IMG_7.JPG", "Ski.JPG"]
    assert await found(ann, q="2023") == ["ÉTÉ 1.jpg"]
    assert await found(ann, q="2024-02 canon") == ["IMG_7.JPG"]
    assert await found(ann, camera="r5 ii") == ["IMG_7.JPG"]
    assert await found(ann, q="scan") == ["scan.png"]
    assert sorted(await found(ann, album=album_id, q="jpg", limit=1)) == ["IMG_7.JPG", "Ski.JPG", "paris.jpg"]
    assert await found(ann, from_="2024-02-01", to="2024-02-01") == ["IMG_7.JPG"]
    assert await found(ann, type="VIDEO") == []
    assert await found(ann, near="48.8,2.3") == ["paris.jpg"]
    assert await found(ann, near="40,2.3") == []


async def test_favourites_are_found(ann: Caller) -> None:
    media_id = await sent(ann, photo(), "a.jpg")
    await sent(ann, photo(mark="b"), "b.jpg")
    assert await found(ann, favourite="true") == []
    await ann("PATCH", f"/photos/{ann.user_id}/{media_id}", json={"favourite": True})
    assert await found(ann, favourite="true") == ["a.jpg"]


async def test_others_find_what_is_shared_with_them_and_not_where_it_was_taken(ann: Caller, bob: Caller) -> None:
    album_id = await given_photos(ann)
    assert sorted(await found(bob, q="jpg")) == ["IMG_7.JPG", "Ski.JPG", "paris.jpg"]
    assert await found(bob, near="48.8,2.3") == []
    assert await found(bob, q="ete") == []
    await ann("DELETE", f"/albums/{album_id}/shares/bob@example.org")
    assert await found(bob, q="jpg") == []
    assert (await bob("GET", "/photos/search", params={"album": album_id})).status_code == 404


async def test_a_request_looks_at_a_bounded_number_of_photos(ann: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    await given_photos(ann)
    everything = await found(ann)
    monkeypatch.setattr(photo_search, "LOOKED_AT", 1)
    monkeypatch.setattr(photo_search, "_PAGE", 1)
    assert await found(ann) == everything
    empty = (await ann("GET", "/photos/search", params={"q": "ete"})).json()
    assert empty["names"] == []
    assert empty["cursor"] is not None


@pytest.mark.parametrize("query", [{"near": "north"}, {"near": "91,0"}, {"cursor": "x"}, {"q": "a " * 21}])
async def test_a_bad_search_is_refused(ann: Caller, query: dict[str, str]) -> None:
    answer = await ann("GET", "/photos/search", params=query)
    assert answer.status_code == 422
    assert answer.json()["detail"].endswith(".")
