"""Who may make an account, and what becomes of it."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from satchel.features.accounts.model import normalise_email
from satchel.tables import CATALOG, USER_TRANSFERS
from tests.application import PASSWORD, Caller, Satchel, running_satchel, set_up_code


async def test_the_first_person_administers_the_server_and_the_second_does_not(ann: Caller, bob: Caller) -> None:
    assert (await ann("GET", "/accounts/me")).json()["administrator"] is True
    assert (await bob("GET", "/accounts/me")).json()["administrator"] is False


async def test_of_two_who_are_first_at_once_only_one_administers(satchel: Satchel) -> None:
    callers = [satchel.caller() for _ in range(4)]
    answers = await asyncio.gather(*(each.sign_up(f"p{n}@example.org") for n, each in enumerate(callers)))
    admitted = [each for each, answer in zip(callers, answers, strict=True) if answer.status_code == 201]
    rest = {answer.status_code for answer in answers} - {201}
    administrators = [(await each("GET", "/accounts/me")).json()["administrator"] for each in admitted]
    assert administrators.count(True) == 1
    assert rest <= {409}


async def test_an_address_is_taken_once_however_it_is_written(satchel: Satchel, ann: Caller) -> None:
    answer = await satchel.caller().sign_up("  ANN@Example.ORG ")
    assert answer.status_code == 409
    assert answer.json()["type"] == "/problems#email-taken"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("J\u030c@example.org", "\u01f0@example.org"),
        ("ann@b\u00fccher.example", "ann@XN--BCHER-KVA.example"),
        ("ANN@example.org", "ann@example.org"),
    ],
)
def test_one_address_has_one_form_and_normalising_it_again_changes_nothing(one: str, other: str) -> None:
    assert normalise_email(one) == normalise_email(other)
    assert normalise_email(normalise_email(one)) == normalise_email(one)


async def test_the_same_address_at_once_makes_one_account(satchel: Satchel, ann: Caller) -> None:
    answers = await asyncio.gather(*(satchel.caller().sign_up("carl@example.org") for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409, 409]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("email", "ann"),
        ("email", "@example.org"),
        ("email", "ann@"),
        ("email", "a b@example.org"),
        ("email", "ann@exa#mple.org"),
        ("email", "a..b@example.org"),
        ("email", "ann@example.org\n"),
        ("email", "a" * 65 + "@example.org"),
        ("name", ""),
        ("name", "   "),
        ("name", "n" * 81),
        ("name", "ann\u202egnp.exe"),
        ("name", "\u200b"),
        ("email", "an\u200bn@example.org"),
        ("email", "ann@" + "x" * 64 + ".org"),
        ("password", "short"),
        ("password", "p" * 257),
        ("password", "ann@example.org"),
    ],
)
async def test_what_cannot_be_accepted_is_named_and_changes_nothing(satchel: Satchel, field: str, value: str) -> None:
    body = {"email": "ann@example.org", "name": "Ann", "password": PASSWORD, field: value}
    if value.endswith("\n"):
        body["email"] = "an\nn@example.org"
    answer = await satchel.caller()("POST", "/accounts", json=body)
    assert answer.status_code == 422
    assert answer.json()["field"] == field
    assert (await satchel.caller()("GET", "/sign-up")).json() == {"mode": "open", "empty": True, "needs_code": False}


async def test_an_address_with_a_separator_in_it_cannot_reach_into_another_record(
    satchel: Satchel, ann: Caller
) -> None:
    eve = satchel.caller()
    assert (await eve.sign_up("ann@example.org#scope#api@x.org")).status_code == 422
    assert (await eve.sign_up("x#albums_view@example.org")).status_code == 201
    stored = await satchel.stores.tables.get(CATALOG, {"PK": "USER#x%23albums_view@example.org", "SK": "IDENTITY#"})
    assert stored is not None
    assert stored["Email"] == "x#albums_view@example.org"


async def test_what_is_stored_has_the_declared_keys_and_no_password(satchel: Satchel, ann: Caller) -> None:
    key = {"PK": f"User#{ann.user_id}", "SK": f"User#{ann.user_id}"}
    user = await satchel.stores.tables.get(USER_TRANSFERS, key)
    assert user is not None
    assert user["email"] == "ann@example.org"
    assert user["userName"] == "ann"
    assert user["password"].startswith("$argon2id$")
    found = await satchel.stores.tables.query(USER_TRANSFERS, "ann@example.org", index="ByEmail")
    assert found.items == [{**key, "email": "ann@example.org", "password": user["password"], "userName": "ann"}]


@pytest.mark.parametrize("mode", ["invitation", "closed"])
async def test_a_server_that_is_not_open_refuses_strangers(tmp_path: Path, mode: Any) -> None:
    async with running_satchel(tmp_path, sign_up=mode) as satchel:
        assert (await satchel.caller().sign_up("ann@example.org")).status_code == 201
        refused = await satchel.caller().sign_up("bob@example.org")
        assert refused.status_code == 403
        assert refused.json()["type"] == "/problems#sign-up-closed"
        assert (await satchel.caller().sign_in("bob@example.org")).status_code == 401


async def test_the_administrator_decides_who_may_sign_up(satchel: Satchel, ann: Caller) -> None:
    assert (await ann("PUT", "/sign-up", json={"mode": "closed"})).status_code == 200
    assert (await satchel.caller()("GET", "/sign-up")).json() == {"mode": "closed", "empty": False, "needs_code": False}
    assert (await satchel.caller().sign_up("bob@example.org")).status_code == 403


async def invitation(ann: Caller, **body: Any) -> dict[str, Any]:
    answer = await ann("POST", "/invitations", json=body)
    assert answer.status_code == 201
    return answer.json()


async def test_an_invitation_lets_one_person_in_once(satchel: Satchel, ann: Caller) -> None:
    await ann("PUT", "/sign-up", json={"mode": "invitation"})
    token = (await invitation(ann, note="for the band"))["token"]
    assert (await satchel.caller().sign_up("bob@example.org", invitation=token)).status_code == 201
    again = await satchel.caller().sign_up("carl@example.org", invitation=token)
    assert again.status_code == 404
    assert again.json()["type"] == "/problems#invitation-invalid"


async def test_an_invitation_used_twice_at_once_lets_one_person_in(satchel: Satchel, ann: Caller) -> None:
    await ann("PUT", "/sign-up", json={"mode": "invitation"})
    token = (await invitation(ann))["token"]
    attempts = [satchel.caller().sign_up(f"p{n}@example.org", invitation=token) for n in range(4)]
    answers = [answer.status_code for answer in await asyncio.gather(*attempts)]
    assert answers.count(201) == 1


async def test_an_invitation_for_an_address_is_for_nobody_else(satchel: Satchel, ann: Caller) -> None:
    token = (await invitation(ann, email="Bob@Example.org"))["token"]
    assert (await satchel.caller().sign_up("eve@example.org", invitation=token)).status_code == 404
    assert (await satchel.caller().sign_up("bob@example.org", invitation=token)).status_code == 201


async def test_an_invitation_can_make_an_administrator(satchel: Satchel, ann: Caller) -> None:
    token = (await invitation(ann, administrator=True))["token"]
    bob = satchel.caller()
    await bob.sign_up("bob@example.org", invitation=token)
    assert (await bob("GET", "/invitations")).status_code == 200


async def test_invitations_are_listed_without_their_tokens_and_can_be_withdrawn(satchel: Satchel, ann: Caller) -> None:
    made = await invitation(ann, email="bob@example.org", note="hello")
    listed = (await ann("GET", "/invitations")).json()["invitations"]
    assert [(each["email"], each["note"], each["token"]) for each in listed] == [("bob@example.org", "hello", None)]
    assert (await ann("DELETE", f"/invitations/{made['invitation_id']}")).status_code == 204
    assert (await ann("GET", "/invitations")).json() == {"invitations": [], "cursor": None}
    assert (await satchel.caller().sign_up("bob@example.org", invitation=made["token"])).status_code == 404


async def test_an_invitation_ends_after_two_weeks(satchel: Satchel, ann: Caller) -> None:
    token = (await invitation(ann))["token"]
    satchel.clock.advance(timedelta(days=14))
    assert (await satchel.caller().sign_up("bob@example.org", invitation=token)).status_code == 404


async def test_a_stranger_elsewhere_does_not_take_an_empty_server(tmp_path: Path) -> None:
    async with running_satchel(tmp_path) as satchel:
        stranger = satchel.caller("203.0.113.5")
        told = await stranger.sign_up("mal@example.org")
        assert (told.status_code, told.json()["type"]) == (403, "/problems#set-up-needed")
        rules = (await stranger("GET", "/sign-up")).json()
        assert rules == {"mode": "open", "empty": True, "needs_code": True}
        for guessed in ("0" * 32, "x", "é"):
            assert (await stranger.sign_up("mal@example.org", invitation=guessed)).status_code == 403
        # Somebody whom a proxy of this machine has passed on is not here.
        near = {"email": "mal@example.org", "name": "Mal", "password": PASSWORD}
        passed_on = await satchel.caller()("POST", "/accounts", json=near, headers={"x-forwarded-for": "203.0.113.5"})
        assert passed_on.status_code == 403
        owner = satchel.caller("203.0.113.6")
        assert (await owner.sign_up("ann@example.org", invitation=set_up_code(satchel))).status_code == 201
        assert (await owner("GET", "/accounts/me")).json()["administrator"]
        # It works once.
        again = await stranger.sign_up("mal@example.org", invitation=set_up_code(satchel))
        assert again.json()["type"] == "/problems#invitation-invalid"


async def test_behind_a_public_address_nobody_is_taken_for_somebody_at_the_machine(tmp_path: Path) -> None:
    async with running_satchel(tmp_path, public_url="https://satchel.example.org") as satchel:
        assert (await satchel.caller().sign_up("mal@example.org")).status_code == 403
        assert (await satchel.caller().sign_up("a@example.org", invitation=set_up_code(satchel))).status_code == 201


async def test_a_repeated_key_is_the_same_invitation(satchel: Satchel, ann: Caller) -> None:
    async def invited(key: str = "key", **wish: Any) -> Any:
        return (await ann("POST", "/invitations", json=wish, headers={"idempotency-key": key})).json()

    first, again = await invited(note="For Bob"), await invited(note="For Bob")
    assert (again["token"], again["expires_at"]) == (first["token"], first["expires_at"])
    assert len((await ann("GET", "/invitations")).json()["invitations"]) == 1
    assert (await invited(note="For Carl"))["type"] == "/problems#key-reused"
    other = await invited("other", note="For Bob")
    assert len({first["token"], other["token"]}) == 2
    assert (await satchel.caller().sign_up("bob@example.org", invitation=first["token"])).status_code == 201


async def test_a_repeated_key_is_the_same_password_reset_until_the_password_changes(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    async def reset() -> str:
        headers = {"idempotency-key": "key"}
        return (await ann("POST", f"/people/{bob.user_id}/password-reset", headers=headers)).json()["token"]

    token = await reset()
    assert await reset() == token
    chosen = {"token": token, "password": "another long password"}
    assert (await satchel.caller()("POST", "/password-resets", json=chosen)).is_success
    assert await reset() != token
    assert (await satchel.caller()("POST", "/password-resets", json=chosen)).status_code >= 400
