"""What administrators see of people and storage, and how they promote, suspend and help with a forgotten password."""

import asyncio
from datetime import timedelta
from typing import Any

import httpx
import pytest

from satchel.features.accounts.model import UserId
from satchel.features.accounts.records import PERSON, RESET_SORT, PersonRow
from satchel.tables import CATALOG
from tests.application import PASSWORD, Caller, Satchel
from tests.features.shelf.given import uploaded

NEW_PASSWORD = "a brand new password"


@pytest.fixture
async def carl(satchel: Satchel, ann: Caller) -> Caller:
    """A second administrator."""
    token = (await ann("POST", "/invitations", json={"administrator": True})).json()["token"]
    caller = satchel.caller()
    assert (await caller.sign_up("carl@example.org", invitation=token)).status_code == 201
    return caller


async def people(admin: Caller) -> dict[str, dict[str, Any]]:
    listed = (await admin("GET", "/people")).json()["people"]
    return {person["name"]: person for person in listed}


async def change(admin: Caller, person: Caller, **standing: bool) -> httpx.Response:
    return await admin("PATCH", f"/people/{person.user_id}", json=standing)


async def is_signed_in(caller: Caller) -> bool:
    return (await caller("GET", "/accounts/me")).status_code == 200


async def new_reset(admin: Caller, person: Caller) -> str:
    return (await admin("POST", f"/people/{person.user_id}/password-reset")).json()["token"]


async def reset(satchel: Satchel, token: str, password: str = NEW_PASSWORD) -> httpx.Response:
    return await satchel.caller()("POST", "/password-resets", json={"token": token, "password": password})


async def test_everybody_is_listed_in_the_order_of_signing_up(satchel: Satchel, ann: Caller) -> None:
    satchel.clock.advance(60)
    bob = satchel.caller()
    await bob.sign_up("bob@example.org")
    await uploaded(satchel, bob, "a.txt", b"12345")
    satchel.clock.advance(60)
    await bob.refresh()
    assert (await ann("GET", "/people")).json() == {
        "people": [
            {
                "user_id": ann.user_id,
                "name": "ann",
                "email": "ann@example.org",
                "administrator": True,
                "suspended": False,
                "created_at": "2030-03-17T17:46:40.000Z",
                "last_used_at": "2030-03-17T17:46:40.000Z",
                "used_bytes": 0,
            },
            {
                "user_id": bob.user_id,
                "name": "bob",
                "email": "bob@example.org",
                "administrator": False,
                "suspended": False,
                "created_at": "2030-03-17T17:47:40.000Z",
                "last_used_at": "2030-03-17T17:48:40.000Z",
                "used_bytes": 5,
            },
        ],
        "cursor": None,
    }


async def test_signing_in_writes_nothing_into_the_list_of_people(satchel: Satchel, ann: Caller) -> None:
    tables = satchel.stores.tables
    listed = await PERSON.list(tables)
    satchel.clock.advance(60)
    await ann.sign_in("ann@example.org")
    await ann.refresh()
    assert (await PERSON.list(tables)).records == listed.records
    (person,) = (await ann("GET", "/people")).json()["people"]
    assert person["last_used_at"] == "2030-03-17T17:47:40.000Z"


async def test_a_time_that_an_earlier_version_wrote_into_the_list_is_shown_until_the_next(
    satchel: Satchel, ann: Caller
) -> None:
    of_before = PERSON.put(PersonRow(user_id=UserId(ann.user_id), last_used_at="2030-03-17T18:00:00.000Z"))
    await satchel.stores.tables.transact([of_before])
    assert (await ann("GET", "/people")).json()["people"][0]["last_used_at"] == "2030-03-17T18:00:00.000Z"
    satchel.clock.advance(timedelta(hours=1))
    await ann.sign_in("ann@example.org")
    assert (await ann("GET", "/people")).json()["people"][0]["last_used_at"] == "2030-03-17T18:46:40.000Z"


async def test_a_long_list_of_people_comes_in_pages(satchel: Satchel, ann: Caller) -> None:
    for number in range(4):
        satchel.clock.advance(1)
        await satchel.caller().sign_up(f"p{number}@example.org")
    seen: list[str] = []
    cursor = None
    while True:
        params = {"limit": 2, **({"cursor": cursor} if cursor else {})}
        page = (await ann("GET", "/people", params=params)).json()
        seen += [person["name"] for person in page["people"]]
        cursor = page["cursor"]
        if cursor is None:
            break
    assert seen == ["ann", "p0", "p1", "p2", "p3"]


async def test_a_new_name_is_seen_in_the_list(ann: Caller, bob: Caller) -> None:
    await bob("PATCH", "/accounts/me", json={"name": "Robert"})
    assert set(await people(ann)) == {"ann", "Robert"}


async def test_somebody_can_be_made_an_administrator_and_again_not(ann: Caller, bob: Caller) -> None:
    answer = await change(ann, bob, administrator=True)
    assert (answer.status_code, answer.json()["administrator"]) == (200, True)
    await bob.refresh()
    assert (await bob("GET", "/people")).status_code == 200
    assert (await change(ann, bob, administrator=False)).json()["administrator"] is False
    # Not a moment longer: the access token that says otherwise is dead.
    assert (await bob("GET", "/people")).status_code == 401
    await bob.sign_in("bob@example.org")
    assert (await bob("GET", "/people")).status_code == 403


async def test_a_suspended_person_is_out_at_once_and_told_why_only_with_the_password(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    await uploaded(satchel, bob, "a.txt", b"12345")
    refresh_token = bob.tokens["refresh_token"]
    assert (await change(ann, bob, suspended=True)).json()["suspended"] is True
    assert not await is_signed_in(bob)
    assert (await bob.refresh(refresh_token)).status_code == 401
    refused = await bob.sign_in("bob@example.org")
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems#account-suspended")
    wrong = await bob.sign_in("bob@example.org", "not the password")
    assert (wrong.status_code, wrong.json()["type"]) == (401, "/problems#wrong-credentials")
    assert (await people(ann))["bob"]["used_bytes"] == 5


async def test_a_suspension_can_be_lifted_and_nothing_was_lost(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    kept = await uploaded(satchel, bob, "a.txt", b"12345")
    await change(ann, bob, suspended=True)
    assert (await change(ann, bob, suspended=True)).status_code == 200
    assert (await change(ann, bob, suspended=False)).json()["suspended"] is False
    assert (await bob.sign_in("bob@example.org")).status_code == 201
    assert (await bob("GET", f"/shelf/files/{kept.file_id}/content")).content == b"12345"


async def test_signing_in_while_being_suspended_leaves_nobody_signed_in(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    others = [satchel.caller() for _ in range(5)]
    await asyncio.gather(*(other.sign_in("bob@example.org") for other in others), change(ann, bob, suspended=True))
    for other in (bob, *others):
        assert not await is_signed_in(other)


async def test_nobody_suspends_themselves(ann: Caller, carl: Caller) -> None:
    refused = await change(ann, ann, suspended=True)
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems#own-suspension")
    assert await is_signed_in(ann)


async def test_the_last_administrator_stays_one(ann: Caller, bob: Caller) -> None:
    refused = await change(ann, ann, administrator=False)
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems#last-administrator")
    assert (await people(ann))["ann"]["administrator"] is True


async def test_a_suspended_administrator_does_not_count_as_one(ann: Caller, carl: Caller) -> None:
    assert (await change(ann, carl, suspended=True)).json()["administrator"] is True
    assert (await change(ann, ann, administrator=False)).status_code == 409
    await change(ann, carl, suspended=False)
    assert (await change(ann, ann, administrator=False)).status_code == 200
    await carl.sign_in("carl@example.org")
    assert (await change(carl, carl, administrator=False)).status_code == 409


async def test_a_suspended_person_made_administrator_counts_once_they_are_back(ann: Caller, bob: Caller) -> None:
    assert (await change(ann, bob, suspended=True, administrator=True)).status_code == 200
    assert (await change(ann, ann, administrator=False)).status_code == 409
    assert (await change(ann, bob, suspended=False)).status_code == 200
    assert (await change(ann, ann, administrator=False)).status_code == 200


@pytest.mark.parametrize("standing", [{"administrator": False}, {"suspended": True}])
async def test_two_administrators_who_remove_each_other_at_once_leave_one(
    satchel: Satchel, ann: Caller, carl: Caller, standing: dict[str, bool]
) -> None:
    answers = await asyncio.gather(change(ann, carl, **standing), change(carl, ann, **standing))
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    left = [caller for caller in (ann, carl) if await is_signed_in(caller)]
    assert len(left) == 1
    assert (await left[0]("GET", "/people")).status_code == 200


async def test_many_administrators_who_all_step_down_at_once_leave_one(satchel: Satchel, ann: Caller) -> None:
    admins = [ann]
    for number in range(4):
        caller = satchel.caller()
        await caller.sign_up(f"p{number}@example.org")
        await change(ann, caller, administrator=True)
        await caller.refresh()
        admins.append(caller)
    answers = await asyncio.gather(*(change(admin, admin, administrator=False) for admin in admins))
    assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 200, 409]


@pytest.mark.parametrize("user_id", ["nobody", "x" * 2000, "%23", "🎉"])
async def test_an_account_that_is_not_there_cannot_be_changed(ann: Caller, user_id: str) -> None:
    for body in ({}, {"administrator": True}, {"suspended": False}):
        assert (await ann("PATCH", f"/people/{user_id}", json=body)).status_code == 404
    assert (await ann("POST", f"/people/{user_id}/password-reset")).status_code == 404


async def test_a_forgotten_password_is_replaced_and_all_sessions_end(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    answer = await ann("POST", f"/people/{bob.user_id}/password-reset")
    assert answer.status_code == 201
    assert answer.json()["expires_at"] == "2030-03-18T17:46:40.000Z"
    assert (await reset(satchel, answer.json()["token"])).status_code == 204
    assert not await is_signed_in(bob)
    assert (await bob.sign_in("bob@example.org")).status_code == 401
    assert (await bob.sign_in("bob@example.org", NEW_PASSWORD)).status_code == 201


async def test_a_reset_works_once_also_when_tried_twice_at_once(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    token = await new_reset(ann, bob)
    answers = await asyncio.gather(*(reset(satchel, token, f"password number {number}") for number in range(4)))
    assert sorted(answer.status_code for answer in answers) == [204, 404, 404, 404]
    again = await reset(satchel, token)
    assert (again.status_code, again.json()["type"]) == (404, "/problems#password-reset-invalid")


async def test_a_reset_is_void_once_the_password_was_changed_otherwise(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    first, second = await new_reset(ann, bob), await new_reset(ann, bob)
    assert (await reset(satchel, first)).status_code == 204
    assert (await reset(satchel, second, "another password")).status_code == 404
    third = await new_reset(ann, bob)
    await bob.sign_in("bob@example.org", NEW_PASSWORD)
    bob.keep(await bob("PUT", "/accounts/me/password", json={"current": NEW_PASSWORD, "new": PASSWORD}))
    assert (await reset(satchel, third)).status_code == 404
    assert await is_signed_in(bob)


async def test_a_reset_ends_after_a_day_and_is_swept_away(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    token = await new_reset(ann, bob)
    satchel.clock.advance(timedelta(hours=24))
    assert (await reset(satchel, token)).status_code == 404
    await satchel.housekeep()
    page = await satchel.stores.tables.query(CATALOG, RESET_SORT, index="RefreshTokenExpiration")
    assert page.items == []


async def test_a_password_that_cannot_be_used_does_not_use_up_the_reset(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    token = await new_reset(ann, bob)
    refused = await reset(satchel, token, "short")
    assert (refused.status_code, refused.json()["field"]) == (422, "password")
    assert (await reset(satchel, token)).status_code == 204


async def test_the_token_of_a_reset_is_stored_nowhere(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    token = await new_reset(ann, bob)
    page = await satchel.stores.tables.query(CATALOG, RESET_SORT, index="RefreshTokenExpiration")
    (item,) = await satchel.stores.tables.get_many(CATALOG, [CATALOG.key_of(item) for item in page.items])
    assert item is not None
    assert token not in str(item)


async def test_a_reset_forgives_the_guesses_before_it(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    guesser = satchel.caller()
    guesses = [await guesser.sign_in("bob@example.org", "a wrong password") for _ in range(11)]
    assert guesses[-1].status_code == 429
    assert (await reset(satchel, await new_reset(ann, bob))).status_code == 204
    assert (await bob.sign_in("bob@example.org", NEW_PASSWORD)).status_code == 201


async def test_resets_are_throttled_by_address(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    caller = satchel.caller("203.0.113.7")
    body = {"token": "guessed", "password": NEW_PASSWORD}
    statuses = [(await caller("POST", "/password-resets", json=body)).status_code for _ in range(61)]
    assert statuses == [404] * 60 + [429]
    assert (await reset(satchel, await new_reset(ann, bob))).status_code == 204


async def test_a_suspended_person_stays_so_with_a_new_password(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    token = await new_reset(ann, bob)
    await change(ann, bob, suspended=True)
    assert (await reset(satchel, token)).status_code == 204
    assert (await bob.sign_in("bob@example.org", NEW_PASSWORD)).status_code == 403


async def test_storage_is_summed_up_over_everybody(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    for caller in (ann, bob):
        await uploaded(satchel, caller, "a.txt", b"12345")
        await uploaded(satchel, caller, "b.txt", b"12345")
    storage = (await ann("GET", "/storage")).json()
    free, capacity = storage.pop("free_bytes"), storage.pop("capacity_bytes")
    assert 0 < free <= capacity
    assert storage == {
        "used_bytes": 10,
        "files": 4,
        "people": 2,
        "stores": {"table": "sqlite", "ephemeral": "memory", "objects": "folder"},
    }


@pytest.mark.parametrize("standing", [{"administrator": False}, {"suspended": True}])
async def test_what_a_former_administrator_handed_out_is_worth_nothing(
    satchel: Satchel, ann: Caller, bob: Caller, carl: Caller, standing: dict[str, bool]
) -> None:
    invitation = (await carl("POST", "/invitations", json={"administrator": True})).json()["token"]
    leave = await new_reset(carl, bob)
    assert (await change(ann, carl, **standing)).status_code == 200
    refused = await satchel.caller().sign_up("dora@example.org", invitation=invitation)
    assert refused.json()["type"] == "/problems#invitation-invalid"
    assert (await reset(satchel, leave)).json()["type"] == "/problems#password-reset-invalid"
    await change(ann, carl, administrator=True, suspended=False)
    assert (await satchel.caller().sign_up("dora@example.org", invitation=invitation)).status_code == 201
    assert (await reset(satchel, leave)).status_code == 204
