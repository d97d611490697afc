"""Guests without accounts, and grants from one person to another."""

from datetime import timedelta

import pytest

from satchel.tables import CATALOG
from tests.application import Caller, Satchel
from tests.edge.given import slug

ALBUM = {"granted_to": "Bob@example.org", "type": "album:visitor", "resource_id": "summer", "resource_name": "Summer"}


async def test_a_guest_is_recognised_by_a_signed_name(satchel: Satchel) -> None:
    caller = satchel.caller()
    made = (await caller("POST", "/guests", json={"name": "Gus"})).json()
    headers = {"authorization": f"Bearer {made['token']}"}
    seen = (await caller("GET", "/whoami", headers=headers)).json()
    assert (seen["kind"], seen["id"], seen["name"]) == ("guest", made["guest_id"], "Gus")
    assert (await caller("GET", "/accounts/me", headers=headers)).status_code == 401


async def test_a_guest_whose_answer_was_lost_asks_again_and_is_the_same(satchel: Satchel) -> None:
    key = "7d" * 16

    async def guest_id(name: str, key: str) -> str:
        caller = satchel.caller()
        return (await caller("POST", "/guests", json={"name": name}, headers={"idempotency-key": key})).json()[
            "guest_id"
        ]

    first = await guest_id("Gus", key)
    satchel.clock.advance(timedelta(seconds=5))
    assert await guest_id("Gus", key) == first
    assert await guest_id("Gil", key) != first
    assert await guest_id("Gus", "8e" * 16) != first


async def test_a_guest_whom_others_could_guess_is_refused(satchel: Satchel) -> None:
    caller = satchel.caller()
    answer = await caller("POST", "/guests", json={"name": "Gus"}, headers={"idempotency-key": "1"})
    assert (answer.status_code, slug(answer.json())) == (422, "text-unfit")


async def test_a_guest_can_be_kept_in_a_cookie(satchel: Satchel) -> None:
    caller = satchel.caller()
    made = await caller("POST", "/guests", json={"name": "Gus", "keep": "cookie"})
    assert made.json()["token"] is None
    assert (await caller("GET", "/whoami")).json()["name"] == "Gus"


async def test_a_guest_leaves_and_is_a_stranger_again(satchel: Satchel) -> None:
    caller = satchel.caller()
    await caller("POST", "/guests", json={"name": "Gus", "keep": "cookie"})
    assert (await caller("DELETE", "/guests/current")).status_code == 204
    assert (await caller("GET", "/whoami")).json()["kind"] == "stranger"


async def test_a_guest_pass_runs_out(satchel: Satchel) -> None:
    caller = satchel.caller()
    token = (await caller("POST", "/guests", json={"name": "Gus"})).json()["token"]
    satchel.clock.advance(timedelta(days=31))
    answer = await caller("GET", "/whoami", headers={"authorization": f"Bearer {token}"})
    assert answer.status_code == 401


async def test_a_stranger_is_a_stranger(satchel: Satchel) -> None:
    assert (await satchel.caller()("GET", "/whoami")).json()["kind"] == "stranger"


async def test_a_grant_is_seen_by_both_sides_and_can_be_taken_back(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    granted = await ann("POST", "/scopes", json=ALBUM)
    assert granted.status_code == 201
    assert granted.json()["resource_owner"] == ann.user_id
    mine = (await bob("GET", "/scopes")).json()["scopes"]
    assert [each["type"] for each in mine] == ["album:visitor", "owner:main"]
    given = (await ann("GET", "/scopes/granted")).json()["scopes"]
    assert ("bob@example.org", "summer") in [(each["granted_to"], each["resource_id"]) for each in given]
    where = {key: ALBUM[key] for key in ("granted_to", "type", "resource_id")}
    assert (await ann("DELETE", "/scopes", params=where)).status_code == 204
    assert [each["type"] for each in (await bob("GET", "/scopes")).json()["scopes"]] == ["owner:main"]


async def test_a_grant_is_stored_under_the_declared_keys(satchel: Satchel, ann: Caller) -> None:
    await ann("POST", "/scopes", json=ALBUM)
    key = {"PK": "USER#bob@example.org", "SK": f"SCOPE#album:visitor#{ann.user_id}#summer"}
    stored = await satchel.stores.tables.get(CATALOG, key)
    assert stored is not None
    assert stored["ResourceOwner"] == ann.user_id
    assert stored["ResourceName"] == "Summer"


async def test_nobody_can_take_back_what_another_has_granted(ann: Caller, bob: Caller) -> None:
    await ann("POST", "/scopes", json=ALBUM)
    where = {key: ALBUM[key] for key in ("granted_to", "type", "resource_id")}
    await bob("DELETE", "/scopes", params=where)
    assert len((await bob("GET", "/scopes")).json()["scopes"]) == 2


@pytest.mark.parametrize("type_", ["api", "owner:main", "album:owner", "album", "", "album:visitor#x"])
async def test_rights_over_the_server_or_a_person_cannot_be_granted(ann: Caller, type_: str) -> None:
    answer = await ann("POST", "/scopes", json={**ALBUM, "type": type_})
    assert answer.status_code == 422
    assert answer.json()["field"] == "type"


async def test_long_lists_of_grants_are_paged(ann: Caller) -> None:
    for number in range(7):
        await ann("POST", "/scopes", json={**ALBUM, "resource_id": f"album-{number}"})
    seen: list[str] = []
    cursor: str | None = None
    while True:
        params = {"limit": "3"} | ({"cursor": cursor} if cursor else {})
        page = (await ann("GET", "/scopes/granted", params=params)).json()
        seen += [each["resource_id"] for each in page["scopes"]]
        cursor = page["cursor"]
        if cursor is None:
            break
    assert seen == [f"album-{number}" for number in range(7)]


@pytest.mark.parametrize("cursor", ["x", "!!", "AAAA", "é", "e30"])
async def test_a_broken_cursor_is_refused_with_a_sentence(ann: Caller, cursor: str) -> None:
    answer = await ann("GET", "/scopes", params={"cursor": cursor})
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"


async def test_what_was_granted_can_be_refused_and_leaves_both_lists(ann: Caller, bob: Caller) -> None:
    """Two hundred grants with any text could not be removed by whom they were given to."""
    made_up = {"granted_to": "bob@example.org", "type": "album:visitor", "resource_id": "x" * 26}
    assert (await ann("POST", "/scopes", json={**made_up, "resource_name": "Buy this"})).status_code == 201
    body = {"name": "Hers", "start": "2024-07-10", "end": "2024-07-20"}
    album = (await ann("POST", "/albums", json=body)).json()["album"]["album_id"]
    score = (await ann("POST", "/scores", json={"title": "Hers"})).json()["score_id"]
    set_list = (await ann("POST", "/set-lists", json={"name": "Hers", "entries": []})).json()["list_id"]
    for path in (f"/albums/{album}", f"/set-lists/{set_list}"):
        assert (await ann("PUT", f"{path}/shares/bob@example.org", json={})).is_success
    assert (await ann("PUT", f"/scores/{score}/shares/bob@example.org", json={"role": "reader"})).is_success

    async def received() -> list[dict[str, str]]:
        scopes = (await bob("GET", "/scopes")).json()["scopes"]
        return [each for each in scopes if each["type"] != "owner:main"]

    assert len(await received()) == 4
    for each in await received():
        params = {key: each[key] for key in ("resource_owner", "type", "resource_id")}
        for _ in range(2):
            assert (await bob("DELETE", "/scopes/received", params=params)).status_code == 204
    assert await received() == []
    for path in (f"/albums/{album}", f"/scores/{score}", f"/set-lists/{set_list}"):
        assert (await ann("GET", f"{path}/shares")).json()["shares"] == [], path
        assert (await bob("GET", path)).status_code == 404


async def test_a_giver_grants_only_so_much_a_day_and_nothing_unreadable(ann: Caller) -> None:
    grant = {"granted_to": "bob@example.org", "type": "album:visitor", "resource_id": "x"}
    assert (await ann("POST", "/scopes", json={**grant, "resource_name": "a\u202eb"})).status_code == 422
    assert (await ann("POST", "/scopes", json={**grant, "resource_name": "x" * 201})).status_code == 422
    answers = [(await ann("POST", "/scopes", json=grant)).status_code for _ in range(301)]
    assert answers == [201] * 300 + [429]
