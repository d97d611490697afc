"""One timeline of one's own photos and of those that others share."""

from typing import Any

from tests.application import Caller
from tests.features.albums.photos_given import bundled, photo
from tests.features.albums.test_photo_access import given_album


async def pages(caller: Caller, **query: object) -> list[dict[str, Any]]:
    found, cursor = list[dict[str, Any]](), None
    while True:
        asked: dict[str, Any] = {"shared": "true", **{name.rstrip("_"): value for name, value in query.items()}}
        answer = await caller("GET", "/photos", params=asked | ({"cursor": cursor} if cursor else {}))
        assert answer.status_code == 200, answer.text
        found.append(answer.json())
        if (cursor := found[-1]["cursor"]) is None:
            return found


async def test_photos_of_shared_albums_stand_among_ones_own(ann: Caller, bob: Caller) -> None:
    album_id = await given_album(ann, "bob@example.org")
    moments = [f"2024:01:31 {hour:02}:00:00" for hour in (9, 11, 13)]
    await bundled(ann, *((f"{at}.jpg", photo(moment)) for at, moment in enumerate(moments)))
    await bundled(ann, ("private.jpg", photo("2024:03:01 10:00:00")), ("undated.jpg", photo("", mark="u")))
    await bundled(bob, ("b.jpg", photo("2024:01:31 10:00:00")), ("same.jpg", photo(moments[2])))
    (whole,) = await pages(bob)
    assert [time[11:13] for time in whole["times"]] == ["13", "13", "11", "10", "09"]
    assert sorted(whole["owners"]) == sorted([ann.user_id] * 3 + [bob.user_id] * 2)
    by_two = await pages(bob, limit=2)
    assert [len(page["ids"]) for page in by_two] == [2, 2, 1]
    assert [owner for page in by_two for owner in page["owners"]] == whole["owners"]
    assert (await bob("GET", "/photos/days", params={"shared": "true"})).json()["days"] == [
        {"day": "2024-01-31", "count": 5}
    ]
    assert await pages(bob, from_="2024-02-01") == await pages(bob, to="2024-01-30")
    assert (await bob("GET", "/photos", params={"shared": "true", "cursor": "x"})).status_code == 422
    await ann("DELETE", f"/albums/{album_id}/shares/bob@example.org")
    assert set((await pages(bob))[0]["owners"]) == {bob.user_id}
