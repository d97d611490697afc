"""Correcting the clock of a camera: what it would do, what it does, how it is undone, and what it leaves alone."""

from contextlib import suppress
from typing import Any

import pytest

from satchel.features.albums.media_records import MEDIA, MediaDetails
from satchel.features.albums.service.act_recovery import sweep_acts
from satchel.features.albums.service.album_undo import undo
from satchel.features.albums.service.camera_clock import ClockScope, Correction, correct_clock
from tests.application import Caller, Satchel
from tests.features.albums.given import Given, Killed, Meddling, kill, library_of, on_both_stores
from tests.features.albums.photos_given import check_photos, photo, sent, shown
from tests.media.made_files import jpeg, tiff

HOUR = 3600


def pixel(taken: str) -> bytes:
    return jpeg(tiff({0x010F: "Google", 0x0110: "Pixel 7"}, {0x9003: taken}))


async def wedding(ann: Caller) -> tuple[str, list[str], str]:
    """An album of a day with photos of two cameras: that of a Canon is an hour late."""
    made = await ann("POST", "/albums", json={"name": "Wedding", "start": "2024-05-04", "end": "2024-05-05"})
    album_id = made.json()["album"]["album_id"]
    assert (await ann("PUT", f"/albums/{album_id}/shares/bob@example.org", json={})).is_success
    late = [await sent(ann, photo(f"2024:05:04 {hour}:30:00", mark=""), f"{hour}.jpg") for hour in ("11", "12", "23")]
    return album_id, late, await sent(ann, pixel("2024:05:04 13:00:00"), "pixel.jpg")


def of_canon(album_id: str, shift: int = HOUR) -> dict[str, Any]:
    return {"album_id": album_id, "make": "Canon", "model": "R5", "shift_seconds": shift}


async def times(ann: Caller, ids: list[str]) -> list[str]:
    return [(await shown(ann, each))["local_time"][8:16] for each in ids]


async def test_a_preview_says_what_moves_and_an_undo_brings_it_back(satchel: Satchel, ann: Caller) -> None:
    album_id, late, other = await wedding(ann)
    cameras = (await ann("GET", "/photos/cameras", params={"album": album_id})).json()["cameras"]
    assert [(each["camera"], each["medias"]) for each in cameras] == [("Canon R5", 3), ("Google Pixel 7", 1)]
    body = of_canon(album_id)
    plan = (await ann("POST", "/photos/clock/plan", json=body)).json()
    assert (plan["medias"], plan["first"][11:16], plan["new_last"][8:16]) == (3, "11:30", "05T00:30")
    (move,) = plan["moves"]
    assert (move["source"]["name"], move["target"]) == ("Wedding", {"album_id": None, "name": "Q2 2024"})
    assert (move["medias"], [each["email"] for each in move["no_longer"]]) == (1, ["bob@example.org"])
    assert await times(ann, late) == ["04T11:30", "04T12:30", "04T23:30"]

    act = (await ann("POST", "/photos/clock", json=body)).json()["act"]
    assert (act["kind"], act["name"], act["moved"], act["done"]) == ("clock", "Canon R5", 3, True)
    assert await times(ann, late) == ["04T12:30", "04T13:30", "05T00:30"]
    assert await times(ann, [other]) == ["04T13:00"]
    moved = await shown(ann, late[2])
    assert (moved["album_id"] != album_id, moved["camera_time"][11:16]) == (True, "23:30")
    # The camera's offset is +01:00.
    assert moved["utc_time"].startswith("2024-05-04T23:30")
    await check_photos(satchel, ann)

    undone = {"change": {"kind": "undo", "act_id": act["act_id"]}}
    assert (await ann("POST", "/albums/plan", json=undone)).json()["medias"] == 3
    assert (await ann("POST", f"/albums/acts/{act['act_id']}/undo", json={})).is_success
    assert (await ann("POST", f"/albums/acts/{act['act_id']}/undo", json={})).is_success
    assert await times(ann, late) == ["04T11:30", "04T12:30", "04T23:30"]
    back = await shown(ann, late[2])
    assert (back["album_id"], back["camera_time"]) == (album_id, None)
    await check_photos(satchel, ann)


async def test_a_clock_is_corrected_once_for_a_key(satchel: Satchel, ann: Caller) -> None:
    album_id, late, _ = await wedding(ann)

    async def corrected(shift: int = HOUR, key: str = "key") -> Any:
        headers = {"idempotency-key": key}
        return (await ann("POST", "/photos/clock", json=of_canon(album_id, shift), headers=headers)).json()

    act = (await corrected())["act"]
    assert (await corrected())["act"]["act_id"] == act["act_id"]
    assert await times(ann, late) == ["04T12:30", "04T13:30", "05T00:30"]
    assert (await corrected(2 * HOUR))["type"] == "/problems#key-reused"
    await corrected(key="again")
    assert await times(ann, late[:1]) == ["04T13:30"]
    await check_photos(satchel, ann)


async def test_a_correction_leaves_alone_what_was_changed_since(satchel: Satchel, ann: Caller) -> None:
    album_id, late, _ = await wedding(ann)
    first = (await ann("POST", "/photos/clock", json=of_canon(album_id))).json()["act"]
    await ann("PATCH", f"/photos/{ann.user_id}/{late[0]}", json={"local_time": "2024-05-04T08:00:00"})
    later = (await ann("POST", "/photos/clock", json={**of_canon(album_id, 60)})).json()["act"]
    assert later["moved"] == 2
    satchel.clock.advance(1)
    new = await sent(ann, photo("2024:05:04 15:00:00", mark=""), "new.jpg")
    satchel.clock.advance(660)
    await sweep_acts(library_of(satchel, ann, "ann@example.org").albums)
    assert await times(ann, [*late, new]) == ["04T08:01", "04T13:31", "05T00:30", "04T15:00"]
    # Undoing the first brings back only what has no other time since.
    assert (await ann("POST", f"/albums/acts/{first['act_id']}/undo", json={})).is_success
    assert await times(ann, late) == ["04T08:01", "04T13:31", "04T23:30"]
    await check_photos(satchel, ann)


async def test_days_may_be_named_instead_of_an_album(ann: Caller) -> None:
    _, late, _ = await wedding(ann)
    body = {"first_day": "2024-05-04", "last_day": "2024-05-04", "make": "Canon", "model": "R5", "shift_seconds": -HOUR}
    assert (await ann("POST", "/photos/clock", json=body)).json()["act"]["moved"] == 3
    assert await times(ann, late) == ["04T10:30", "04T11:30", "04T22:30"]
    nothing = await ann("POST", "/photos/clock", json={**body, "model": "R6"})
    assert nothing.json() == {"album": None, "act": None}


@pytest.mark.parametrize("change", [{"album_id": ""}, {"shift_seconds": 2**32}, {"first_day": "x"}])
async def test_a_bad_correction_changes_nothing(ann: Caller, change: dict[str, Any]) -> None:
    album_id, late, _ = await wedding(ann)
    for path in ("/photos/clock/plan", "/photos/clock"):
        answer = await ann("POST", path, json={**of_canon(album_id), **change})
        assert answer.status_code == 422, answer.text
    assert await times(ann, late) == ["04T11:30", "04T12:30", "04T23:30"]


async def test_a_correction_that_was_killed_anywhere_is_finished_by_recovery(satchel: Satchel, ann: Caller) -> None:
    album_id, late, _ = await wedding(ann)
    library = library_of(satchel, ann, "ann@example.org")
    wanted = Correction(scope=ClockScope(album_id=album_id), make="Canon", model="R5", shift_seconds=60)
    # What left the album is not corrected again.
    inside = late[:2]
    for step in (3, 6, 8, 10, 12):
        before = await stored_times(satchel, ann, inside)
        killed = Meddling(step, kill, afterwards=bool(step % 2))
        with suppress(Killed):
            await correct_clock(killed.albums(library.albums), library.owner, wanted)
        assert killed.calls >= step
        satchel.clock.advance(180)
        await sweep_acts(library.albums)
        # Either before the act was begun, or as a whole.
        assert await stored_times(satchel, ann, inside) in (before, [minute_later(each) for each in before])
    assert await stored_times(satchel, ann, inside) != ["04T11:30", "04T12:30"]
    await check_photos(satchel, ann)


async def stored_times(satchel: Satchel, ann: Caller, ids: list[str]) -> list[str]:
    """Beside the routes: a session does not last as long."""
    keys = [MEDIA.key(owner=ann.user_id, media_id=each) for each in ids]
    items = await satchel.stores.tables.get_many(MEDIA.table, keys)
    return [item["DateTime"][8:16] for item in items if item is not None]


def minute_later(time: str) -> str:
    return f"{time[:-2]}{int(time[-2:]) + 1:02}"


@on_both_stores
async def test_a_correction_and_its_undo_are_right_on_both_stores(library: Given) -> None:
    library.details = MediaDetails(make="Canon", model="R5")
    album = await library.create("Wedding", "2024-05-04", "2024-05-05")
    await library.add(*(f"2024-05-04T22:{each:02}:00.000" for each in range(6)))
    wanted = Correction(scope=ClockScope(album_id=album.album_id), make="Canon", model="R5", shift_seconds=7020)
    act = (await correct_clock(library.albums, library.owner, wanted)).act
    assert act is not None
    assert sorted(await library.names()) == ["Q2 2024", "Q2 2024", "Q2 2024", "Wedding", "Wedding", "Wedding"]
    await library.check()
    await undo(library.albums, library.owner, act.act_id)
    assert set(await library.names()) == {"Wedding"}
    await library.check()
