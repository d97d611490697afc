"""Albums over HTTP: what their owner, visitors, contributors and others see and may do."""

from typing import Any

import pytest

from satchel.features.albums.count_records import COUNT
from satchel.features.albums.limits import MAX_PEOPLE
from satchel.features.albums.service.count_check import check_library
from satchel.stores.ports.expressions import assign
from tests.application import Caller, Satchel
from tests.features.albums.given import Given, days, library_of

SEA = {"name": "Sea", "start": "2025-07-10", "end": "2025-07-20"}


@pytest.fixture
async def anns(satchel: Satchel, ann: Caller) -> Given:
    library = library_of(satchel, ann, "ann@example.org")
    await library.add(*days("2025-07", range(1, 29)))
    return library


async def created(caller: Caller, **body: str) -> dict[str, Any]:
    answer = await caller("POST", "/albums", json={**SEA, **body})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def seen(caller: Caller) -> dict[str, int]:
    return {album["name"]: album["medias"] for album in (await caller("GET", "/albums")).json()["albums"]}


async def test_a_created_album_is_listed_with_its_count_and_cover(ann: Caller, anns: Given) -> None:
    made = await created(ann)
    assert made["album"]["folder"] == "/2025-07_Sea"
    assert made["album"]["cover"]["media_id"] in anns.medias
    assert made["act"]["moved"] == 10
    assert made["act"]["done"] is True
    assert await seen(ann) == {"Sea": 10, "Q3 2025": 18}
    albums = (await ann("GET", "/albums")).json()["albums"]
    assert [album["name"] for album in albums] == ["Sea", "Q3 2025"]
    assert albums[0] == (await ann("GET", f"/albums/{made['album']['album_id']}")).json()
    await anns.check()


async def test_undated_medias_are_counted_beside_the_albums(ann: Caller, anns: Given) -> None:
    await anns.add("", "")
    assert (await ann("GET", "/albums")).json()["undated"] == 2


async def test_medias_come_by_time_as_columns_in_pages(ann: Caller, anns: Given) -> None:
    album_id = (await created(ann))["album"]["album_id"]
    first = (await ann("GET", f"/albums/{album_id}/medias", params={"limit": 7})).json()
    rest = (await ann("GET", f"/albums/{album_id}/medias", params={"limit": 7, "cursor": first["cursor"]})).json()
    times = first["times"] + rest["times"]
    assert times == days("2025-07", range(10, 20))
    assert set(first["owners"]) == {ann.user_id}
    assert {len(rest[column]) for column in ("ids", "times", "owners")} == {3}
    assert rest["cursor"] is None
    assert set(first["ids"]) < set(anns.medias)


async def test_a_plan_names_people_and_public_links(ann: Caller, bob: Caller, anns: Given) -> None:
    del bob
    album_id = (await created(ann))["album"]["album_id"]
    await ann("PUT", f"/albums/{album_id}/shares/bob@example.org", json={})
    change = {"kind": "change", "album_id": album_id, "start": "2025-07-08", "end": "2025-07-18"}
    plan = (await ann("POST", "/albums/plan", json={"change": change})).json()
    assert plan["album"] == {
        "name": "Sea",
        "folder": "/2025-07_Sea",
        "start": "2025-07-08T00:00:00",
        "end": "2025-07-18T00:00:00",
    }
    moves = {(move["source"]["name"], move["target"]["name"]): move for move in plan["moves"]}
    assert plan["medias"] == 4
    assert moves["Q3 2025", "Sea"]["medias"] == 2
    assert moves["Q3 2025", "Sea"]["newly"] == [{"email": "bob@example.org", "name": "bob"}]
    assert moves["Sea", "Q3 2025"]["no_longer"] == [{"email": "bob@example.org", "name": "bob"}]
    assert plan["orphans"] is None
    await anns.check()


async def test_orphans_are_told_and_can_get_quarters(ann: Caller, anns: Given) -> None:
    quarter = (await ann("GET", "/albums")).json()["albums"][0]
    refused = await ann("DELETE", f"/albums/{quarter['album_id']}")
    assert refused.status_code == 422
    assert refused.json()["type"].endswith("orphaned-medias")
    assert refused.json()["medias"] == 28
    plan = await ann("POST", "/albums/plan", json={"change": {"kind": "delete", "album_id": quarter["album_id"]}})
    assert plan.json()["orphans"]["medias"] == 28
    done = await ann("DELETE", f"/albums/{quarter['album_id']}", params={"quarters": "true"})
    assert done.status_code == 200
    assert done.json()["album"] is None
    assert await seen(ann) == {"Q3 2025": 28}
    await anns.check()


async def test_changes_can_be_undone(ann: Caller, anns: Given) -> None:
    album_id = (await created(ann))["album"]["album_id"]
    changed = await ann("PATCH", f"/albums/{album_id}", json={"name": "Coast", "end": "2025-07-12", "folder": ""})
    assert changed.json()["album"]["folder"] == "/2025-07_Coast"
    by_old = await ann("GET", "/albums/by-folder", params={"folder": "/2025-07_Sea"})
    assert by_old.json()["album_id"] == album_id
    undone = await ann("POST", f"/albums/acts/{changed.json()['act']['act_id']}/undo", json={})
    assert undone.status_code == 200, undone.text
    assert (undone.json()["album"]["name"], undone.json()["album"]["folder"]) == ("Sea", "/2025-07_Sea")
    assert await seen(ann) == {"Sea": 10, "Q3 2025": 18}
    deleted = (await ann("DELETE", f"/albums/{album_id}")).json()
    assert await seen(ann) == {"Q3 2025": 28}
    again = await ann("POST", f"/albums/acts/{deleted['act']['act_id']}/undo", json={})
    assert again.json()["album"]["album_id"] == album_id
    assert len((await ann("GET", "/albums/acts")).json()["acts"]) == 6
    await anns.check()


async def test_a_visitor_sees_an_album_and_changes_nothing(ann: Caller, bob: Caller, anns: Given) -> None:
    album_id = (await created(ann))["album"]["album_id"]
    album = f"/albums/{album_id}"
    assert (await bob("GET", album)).status_code == 404
    shared = await ann("PUT", f"{album}/shares/Bob@Example.org", json={})
    assert shared.json()["name"] == "bob"
    assert await seen(bob) == {"Sea": 10}
    view = (await bob("GET", album)).json()
    assert (view["role"], view["owner_name"], view["people"]) == ("visitor", "ann", [])
    assert len((await bob("GET", f"{album}/medias")).json()["ids"]) == 10
    assert (await bob("GET", "/albums", params={"mine": "true"})).json()["albums"] == []
    media_id = (await bob("GET", f"{album}/medias")).json()["ids"][0]
    for method, path, body in (
        ("PATCH", album, {"name": "Mine"}),
        ("DELETE", album, None),
        ("GET", f"{album}/shares", None),
        ("PUT", f"{album}/shares/carl@example.org", {}),
        ("DELETE", f"{album}/shares/bob@example.org", None),
        ("PUT", f"{album}/pins/{media_id}", None),
    ):
        assert (await bob(method, path, json=body)).status_code == 404, path
    await anns.check()


async def test_a_revoked_share_and_one_that_was_left_are_gone(ann: Caller, bob: Caller, anns: Given) -> None:
    album = f"/albums/{(await created(ann))['album']['album_id']}"
    for end in (
        lambda: ann("DELETE", f"{album}/shares/bob@example.org"),
        lambda: bob("DELETE", f"{album}/membership"),
        # What was granted can be revoked by the list of all grants, too.
        lambda: ann(
            "DELETE",
            "/scopes",
            params={"granted_to": "bob@example.org", "type": "album:contributor", "resource_id": album[8:]},
        ),
    ):
        role = {"role": "contributor"}
        assert (await ann("PUT", f"{album}/shares/bob@example.org", json=role)).json()["role"] == "contributor"
        assert (await bob("GET", album)).json()["role"] == "contributor"
        assert (await end()).status_code == 204
        assert (await bob("GET", album)).status_code == 404
        assert (await bob("GET", f"{album}/medias")).status_code == 404
        assert await seen(bob) == {}
    # Of the last way the album itself has not heard.
    (drift,) = await check_library(anns.albums, anns.owner.owner, repair=True)
    assert (drift.kind, drift.repaired) == ("grant-missing", True)
    assert (await ann("GET", album)).json()["people"] == []
    await anns.check()


async def test_somebody_without_an_account_finds_what_was_shared_when_they_have_one(
    satchel: Satchel, ann: Caller, anns: Given
) -> None:
    album = f"/albums/{(await created(ann))['album']['album_id']}"
    shared = await ann("PUT", f"{album}/shares/new@example.org", json={})
    assert shared.json()["name"] is None
    await anns.add("2025-07-11T13:00:00.000")
    new = satchel.caller()
    await new.sign_up("New@example.org")
    assert await seen(new) == {"Sea": 11}
    shares = (await ann("GET", f"{album}/shares")).json()["shares"]
    assert [(each["email"], each["role"], each["name"]) for each in shares] == [("new@example.org", "visitor", "New")]
    await anns.check()


async def test_a_deleted_album_grants_nobody_anything_when_its_folder_returns(
    ann: Caller, bob: Caller, anns: Given
) -> None:
    first = (await created(ann))["album"]
    await ann("PUT", f"/albums/{first['album_id']}/shares/bob@example.org", json={})
    await ann("DELETE", f"/albums/{first['album_id']}")
    assert (await bob("GET", "/scopes")).json()["scopes"][0]["type"] == "owner:main"
    again = (await created(ann))["album"]
    assert (again["folder"], again["people"]) == (first["folder"], [])
    assert await seen(bob) == {}
    await anns.check()


async def test_an_album_is_shared_with_so_many_people_at_most(ann: Caller, anns: Given) -> None:
    album = f"/albums/{(await created(ann))['album']['album_id']}"
    for number in range(MAX_PEOPLE):
        assert (await ann("PUT", f"{album}/shares/p{number}@example.org", json={})).is_success
    one_more = await ann("PUT", f"{album}/shares/more@example.org", json={})
    assert one_more.json()["type"].endswith("too-many-people")
    # As many counts as a transaction can have change with the medias, and go with the album.
    await ann("PATCH", album, json={"start": "2025-07-05"})
    deleted = await ann("DELETE", album)
    assert deleted.status_code == 200
    assert (await ann("POST", f"/albums/acts/{deleted.json()['act']['act_id']}/undo", json={})).is_success
    assert len((await ann("GET", f"{album}/shares")).json()["shares"]) == MAX_PEOPLE
    await anns.check()


async def test_a_cover_is_shown_only_while_it_is_in_the_album(ann: Caller, anns: Given) -> None:
    album = f"/albums/{(await created(ann))['album']['album_id']}"
    ids = (await ann("GET", f"{album}/medias")).json()["ids"]
    assert (await ann("PATCH", album, json={"cover": ids[9]})).json()["album"]["cover"]["media_id"] == ids[9]
    other = next(media_id for media_id in anns.medias if media_id not in ids)
    assert (await ann("PATCH", album, json={"cover": other})).status_code == 422
    await ann("PATCH", album, json={"end": "2025-07-15"})
    left = (await ann("GET", f"{album}/medias")).json()["ids"]
    assert ids[9] not in left
    assert (await ann("GET", album)).json()["cover"]["media_id"] == left[-1]


async def test_a_pin_holds_a_photo_until_it_is_released(ann: Caller, anns: Given) -> None:
    album = f"/albums/{(await created(ann))['album']['album_id']}"
    media_id = next(iter(anns.medias))
    pinned = await ann("PUT", f"{album}/pins/{media_id}")
    assert pinned.json() == {"media_id": media_id, "album_id": album[8:], "pinned": True}
    assert await seen(ann) == {"Sea": 11, "Q3 2025": 17}
    released = await ann("DELETE", f"{album}/pins/{media_id}")
    assert released.json()["pinned"] is False
    assert (await ann("DELETE", f"{album}/pins/{media_id}")).status_code == 404
    assert await seen(ann) == {"Sea": 10, "Q3 2025": 18}


@pytest.mark.parametrize(
    "body",
    [
        {"name": " "},
        {"name": "x" * 121},
        {"end": "2025-07-10"},
        {"end": "2025-07-09"},
        {"start": "July"},
        {"start": "2025-07-10T00:00:00Z"},
    ],
)
async def test_an_album_that_cannot_be_is_refused(ann: Caller, body: dict[str, str]) -> None:
    assert (await ann("POST", "/albums", json={**SEA, **body})).status_code == 422


async def test_a_taken_folder_is_refused_and_a_made_one_is_numbered(ann: Caller) -> None:
    await created(ann)
    taken = await ann("POST", "/albums", json={**SEA, "folder": "2025-07_Sea"})
    assert (taken.status_code, taken.json()["type"].rpartition("#")[2]) == (409, "folder-taken")
    assert (await created(ann))["album"]["folder"] == "/2025-07_Sea-2"


async def test_a_request_that_is_repeated_with_its_key_is_done_once(ann: Caller, anns: Given) -> None:
    del anns
    headers = {"idempotency-key": "k1"}
    first = await ann("POST", "/albums", json=SEA, headers=headers)
    again = await ann("POST", "/albums", json=SEA, headers=headers)
    assert first.json()["album"] == again.json()["album"]


async def test_a_check_finds_what_has_drifted_and_repairs_it(satchel: Satchel, ann: Caller, anns: Given) -> None:
    album_id = (await created(ann))["album"]["album_id"]
    await ann("PUT", f"/albums/{album_id}/shares/bob@example.org", json={})
    tables = satchel.stores.tables
    owned = COUNT.key(email="ann@example.org", availability="OWNED", owner=ann.user_id, album_id=album_id)
    visited = COUNT.key(email="bob@example.org", availability="VISITOR", owner=ann.user_id, album_id=album_id)
    unknown = COUNT.key(email="bob@example.org", availability="VISITOR", owner=ann.user_id, album_id="0" * 26)
    await tables.update(COUNT.table, owned, [assign("Count", 7)])
    item = await tables.delete(COUNT.table, visited)
    assert item is not None
    await tables.put(COUNT.table, {**item, **unknown, "AlbumId": "0" * 26})
    found = (await ann("POST", "/albums/check", json={})).json()["drifts"]
    assert sorted((each["kind"], each["stored"], each["counted"]) for each in found) == [
        ("missing", 0, 10),
        ("unexpected", 10, 0),
        ("wrong", 7, 10),
    ]
    assert all(
        each["repaired"] for each in (await ann("POST", "/albums/check", json={"repair": True})).json()["drifts"]
    )
    await anns.check()
