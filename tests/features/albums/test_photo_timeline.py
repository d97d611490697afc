"""The timeline of everything, favourites and corrected dates."""

from typing import Any

import pytest

from tests.application import Caller, Satchel
from tests.features.albums.photos_given import album_names, bundled, check_photos, photo, sent, shown
from tests.media.made_files import jpeg

# Real pictures are made here, in processes of their own.
pytestmark = pytest.mark.slow


async def pages(caller: Caller, **params: Any) -> list[list[str]]:
    found: list[list[str]] = []
    while True:
        answer = await caller("GET", "/photos", params=params)
        assert answer.status_code == 200, answer.text
        found.append(answer.json()["times"])
        columns: dict[str, Any] = {name: value for name, value in answer.json().items() if isinstance(value, list)}
        assert {len(column) for column in columns.values()} == {len(found[-1])}
        if answer.json()["cursor"] is None:
            return found
        params["cursor"] = answer.json()["cursor"]


async def given_years(caller: Caller) -> list[str]:
    """The wall times of photos of several years, the newest first."""
    taken = [f"{year}:{month:02}:15 10:00:00" for year in (2001, 2019, 2020, 2024) for month in (1, 7, 12)]
    await bundled(caller, *((f"{number}.jpg", photo(each)) for number, each in enumerate(taken)), ("none.jpg", jpeg()))
    return sorted((each.replace(":", "-", 2).replace(" ", "T") + ".000" for each in taken), reverse=True)


async def test_days_and_photos_come_the_newest_first(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    times = await given_years(ann)
    assert await pages(ann) == [times]
    days = (await ann("GET", "/photos/days")).json()["days"]
    assert [(day["day"], day["count"]) for day in days] == [(time[:10], 1) for time in times]
    assert await pages(bob) == [[]]
    assert (await bob("GET", "/photos/days")).json() == {"days": []}
    await check_photos(satchel, ann)


async def test_pages_are_bounded_and_meet_each_photo_once(ann: Caller) -> None:
    times = await given_years(ann)
    for limit in (1, 2, 5, 12, 13):
        found = await pages(ann, limit=limit)
        assert [time for page in found for time in page] == times
        assert all(len(page) <= limit for page in found)


async def test_a_time_is_asked_for_by_its_days_both_included(ann: Caller) -> None:
    times = await given_years(ann)
    for first, last in (("2019-07-15", "2020-01-15"), ("2019-07-16", "2020-01-14"), ("2002-01-01", "2018-01-01")):
        expected = [time for time in times if first <= time[:10] <= last]
        found = await pages(ann, **{"from": first, "to": last, "limit": 2})
        assert [time for page in found for time in page] == expected
    assert (await pages(ann, to="9999-12-31")) == [times]
    assert (await ann("GET", "/photos", params={"cursor": "x"})).status_code == 422
    assert (await ann("GET", "/photos", params={"from": "x"})).status_code == 422


async def test_a_favourite_is_one_everywhere(satchel: Satchel, ann: Caller) -> None:
    dated, undated = await sent(ann, photo()), await sent(ann, jpeg(), "none.jpg")
    for media_id in (dated, undated):
        changed = await ann("PATCH", f"/photos/{ann.user_id}/{media_id}", json={"favourite": True})
        assert changed.json()["favourite"]
    assert (await ann("GET", "/photos")).json()["favourites"] == [True]
    assert (await ann("GET", "/photos/undated")).json()["favourites"] == [True]
    await ann("PATCH", f"/photos/{ann.user_id}/{dated}", json={"favourite": False})
    assert (await ann("GET", "/photos")).json()["favourites"] == [False]
    await check_photos(satchel, ann)


async def test_a_corrected_date_moves_a_photo_and_keeps_what_the_camera_said(satchel: Satchel, ann: Caller) -> None:
    dated, undated = await sent(ann, photo()), await sent(ann, jpeg(), "none.jpg")
    for media_id, before in ((dated, "2024-01-31T12:00:00.000"), (undated, None)):
        path = f"/photos/{ann.user_id}/{media_id}"
        changed = (await ann("PATCH", path, json={"local_time": "2023-05-05T10:00:00"})).json()
        assert (changed["local_time"], changed["time_source"]) == ("2023-05-05T10:00:00.000", "owner")
        assert (changed["camera_time"], changed["utc_time"]) == (before, None)
        again = (await ann("PATCH", path, json={"local_time": "2023-05-06T10:00:00", "favourite": True})).json()
        assert (again["camera_time"], again["favourite"]) == (before, True)
    assert await album_names(ann) == {"Q1 2024": 0, "Q2 2023": 2}
    assert await pages(ann) == [["2023-05-06T10:00:00.000"] * 2]
    await check_photos(satchel, ann)
    assert (await ann("PATCH", f"/photos/{ann.user_id}/{dated}", json={"local_time": "soon"})).status_code == 422


async def test_a_pinned_photo_stays_where_it_is_whatever_its_date_becomes(satchel: Satchel, ann: Caller) -> None:
    made = await ann("POST", "/albums", json={"name": "Best", "start": "2000-01-01", "end": "2000-01-02"})
    album_id = made.json()["album"]["album_id"]
    media_id = await sent(ann, photo(), album=album_id)
    assert await album_names(ann) == {"Best": 1}
    await ann("PATCH", f"/photos/{ann.user_id}/{media_id}", json={"local_time": "2023-05-05"})
    seen = await shown(ann, media_id)
    assert (seen["album_id"], seen["pinned"]) == (album_id, True)
    await check_photos(satchel, ann)
