"""Signing in, staying signed in, and ending sessions."""

import asyncio
import hashlib
from base64 import urlsafe_b64decode
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from satchel.features.accounts.limits import MAX_SESSIONS
from satchel.features.accounts.model import SessionId
from satchel.features.accounts.records import SESSION
from satchel.kernel.clock import ManualClock
from satchel.tables import CATALOG
from tests.application import PASSWORD, Caller, Satchel, running_satchel


async def is_signed_in(caller: Caller) -> bool:
    return (await caller("GET", "/accounts/me")).status_code == 200


async def test_unknown_address_and_wrong_password_look_the_same(satchel: Satchel, ann: Caller) -> None:
    wrong = await satchel.caller().sign_in("ann@example.org", "not the password")
    unknown = await satchel.caller().sign_in("nobody@example.org", "not the password")
    assert wrong.status_code == unknown.status_code == 401
    told = [{key: value for key, value in each.json().items() if key != "instance"} for each in (wrong, unknown)]
    assert told[0] == told[1]
    assert set(wrong.headers) == set(unknown.headers)


async def test_signing_in_works_however_the_address_is_written(satchel: Satchel, ann: Caller) -> None:
    caller = satchel.caller()
    assert (await caller.sign_in(" ANN@example.org ")).status_code == 201
    assert await is_signed_in(caller)


async def test_an_access_token_ends_after_a_quarter_of_an_hour_and_is_renewed(satchel: Satchel, ann: Caller) -> None:
    satchel.clock.advance(timedelta(minutes=15))
    expired = await ann("GET", "/accounts/me")
    assert expired.status_code == 401
    assert expired.json()["type"] == "/problems#token-expired"
    assert (await ann.refresh()).status_code == 200
    assert await is_signed_in(ann)


async def test_a_session_ends_for_good_after_ninety_days(satchel: Satchel, ann: Caller) -> None:
    for _ in range(8):
        satchel.clock.advance(timedelta(days=10))
        assert (await ann.refresh()).status_code == 200
    satchel.clock.advance(timedelta(days=10))
    ended = await ann.refresh()
    assert ended.status_code == 401
    assert ended.json()["type"] == "/problems#session-ended"


async def test_a_refresh_token_used_again_later_ends_the_whole_session(satchel: Satchel, ann: Caller) -> None:
    stolen = ann.tokens["refresh_token"]
    await ann.refresh()
    satchel.clock.advance(timedelta(seconds=31))
    thief = satchel.caller()
    assert (await thief.refresh(stolen)).status_code == 401
    assert not await is_signed_in(ann)
    assert (await ann.refresh()).status_code == 401


async def test_a_token_from_two_rotations_ago_ends_the_session_at_once(satchel: Satchel, ann: Caller) -> None:
    stolen = ann.tokens["refresh_token"]
    await ann.refresh()
    await ann.refresh()
    assert (await satchel.caller().refresh(stolen)).status_code == 401
    assert not await is_signed_in(ann)


async def test_a_lost_answer_can_be_asked_for_again(satchel: Satchel, ann: Caller) -> None:
    old = ann.tokens["refresh_token"]
    first = (await ann.refresh(old)).json()["tokens"]["refresh_token"]
    satchel.clock.advance(timedelta(seconds=29))
    second = (await ann.refresh(old)).json()["tokens"]["refresh_token"]
    assert first == second
    assert await is_signed_in(ann)


async def test_tabs_that_refresh_at_once_all_stay_signed_in(satchel: Satchel, ann: Caller) -> None:
    old = ann.tokens["refresh_token"]
    answers = await asyncio.gather(*(satchel.caller().refresh(old) for _ in range(8)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json()["tokens"]["refresh_token"] for answer in answers}) == 1


@pytest.mark.parametrize("token", ["", "x", "A" * 80, "é"])
async def test_a_forged_refresh_token_is_refused(satchel: Satchel, token: str) -> None:
    answer = await satchel.caller()("POST", "/sessions/refresh", json={"refresh_token": token})
    assert answer.status_code == 401


async def test_neither_access_nor_guest_tokens_can_refresh(satchel: Satchel, ann: Caller) -> None:
    guest = (await satchel.caller()("POST", "/guests", json={"name": "Gus"})).json()["token"]
    for token in (ann.tokens["access_token"], guest):
        answer = await satchel.caller()("POST", "/sessions/refresh", json={"refresh_token": token})
        assert answer.status_code == 401
    assert await is_signed_in(ann)


async def test_sessions_are_listed_with_device_and_last_use(satchel: Satchel, ann: Caller) -> None:
    phone = satchel.caller()
    satchel.clock.advance(60)
    await phone.sign_in("ann@example.org", device="Ann's phone")
    sessions = (await phone("GET", "/sessions")).json()["sessions"]
    assert [each["current"] for each in sessions] == [True, False]
    assert sessions[0]["device"] == "Ann's phone"
    satchel.clock.advance(60)
    await ann.refresh()
    assert (await phone("GET", "/sessions")).json()["sessions"][0]["session_id"] == ann.session_id


async def test_signing_in_once_too_often_ends_the_session_used_the_longest_ago(satchel: Satchel, ann: Caller) -> None:
    phone, laptop = satchel.caller(), satchel.caller()
    await phone.sign_in("ann@example.org")
    satchel.clock.advance(60)
    await phone.refresh()
    row = await SESSION.get(satchel.stores.tables, email="ann@example.org", session_id=phone.session_id)
    assert row is not None
    more = [replace(row, session_id=SessionId(f"{number:026}")) for number in range(MAX_SESSIONS - 2)]
    await satchel.stores.tables.write_many(CATALOG, put=[SESSION.item(each) for each in more])
    satchel.clock.advance(60)
    await laptop.sign_in("ann@example.org")
    assert [await is_signed_in(each) for each in (ann, phone, laptop)] == [False, True, True]
    assert (await ann.refresh()).status_code == 401
    assert len((await laptop("GET", "/sessions")).json()["sessions"]) == MAX_SESSIONS


async def test_ending_a_session_works_at_once_and_touches_no_other(satchel: Satchel, ann: Caller) -> None:
    phone = satchel.caller()
    await phone.sign_in("ann@example.org")
    assert (await ann("DELETE", f"/sessions/{phone.session_id}")).status_code == 204
    assert not await is_signed_in(phone)
    assert (await phone.refresh()).status_code == 401
    assert await is_signed_in(ann)


async def test_nobody_can_end_somebody_elses_session_or_learn_that_it_exists(ann: Caller, bob: Caller) -> None:
    others = await bob("DELETE", f"/sessions/{ann.session_id}")
    missing = [await bob("DELETE", f"/sessions/{session_id}") for session_id in ("0" * 26, "x" * 65)]
    told = [{**each.json(), "instance": None} for each in (others, *missing)]
    assert told == [told[0]] * 3
    assert others.status_code == 404
    assert told[0]["type"] == "/problems#not-found"
    assert await is_signed_in(ann)


async def test_a_session_that_has_ended_is_not_found(satchel: Satchel, ann: Caller) -> None:
    phone = satchel.caller()
    await phone.sign_in("ann@example.org")
    answers = [(await ann("DELETE", f"/sessions/{phone.session_id}")).status_code for _ in range(2)]
    assert answers == [204, 404]


async def test_signing_out_works_though_the_session_has_just_been_deleted(satchel: Satchel, ann: Caller) -> None:
    await satchel.stores.tables.delete(CATALOG, {"PK": "USER#ann@example.org", "SK": f"SESSION#{ann.session_id}"})
    assert (await ann("DELETE", "/sessions/current")).status_code == 204


async def test_all_other_sessions_can_be_ended_or_all(satchel: Satchel, ann: Caller) -> None:
    others = [satchel.caller() for _ in range(3)]
    for other in others:
        await other.sign_in("ann@example.org")
    await ann("DELETE", "/sessions")
    assert [await is_signed_in(each) for each in (ann, *others)] == [True, False, False, False]
    await ann("DELETE", "/sessions", params={"keep_current": "false"})
    assert not await is_signed_in(ann)


async def test_signing_out_ends_the_session(ann: Caller) -> None:
    assert (await ann("DELETE", "/sessions/current")).status_code == 204
    assert not await is_signed_in(ann)


async def test_changing_the_password_ends_every_session_and_begins_one(satchel: Satchel, ann: Caller) -> None:
    """Whoever had a token of the session in which it was changed could go on with it."""
    other, thief = satchel.caller(), satchel.caller()
    await other.sign_in("ann@example.org")
    thief.tokens = dict(ann.tokens)
    change = {"current": PASSWORD, "new": "a much better one"}
    assert ann.keep(await ann("PUT", "/accounts/me/password", json=change)).status_code == 200
    assert await is_signed_in(ann)
    assert (await ann.refresh()).status_code == 200
    assert not await is_signed_in(other)
    assert not await is_signed_in(thief)
    assert (await thief.refresh()).status_code == 401
    assert await is_signed_in(ann)
    assert (await satchel.caller().sign_in("ann@example.org")).status_code == 401
    assert (await satchel.caller().sign_in("ann@example.org", "a much better one")).status_code == 201


async def test_a_password_is_changed_only_by_who_knows_it(satchel: Satchel, ann: Caller) -> None:
    change = {"current": "a guess", "new": "a much better one"}
    assert (await ann("PUT", "/accounts/me/password", json=change)).status_code == 401
    assert (await satchel.caller().sign_in("ann@example.org")).status_code == 201


async def test_a_session_opened_while_the_password_changes_does_not_outlive_the_change(
    satchel: Satchel, ann: Caller
) -> None:
    change = {"current": PASSWORD, "new": "a much better one"}
    thieves = [satchel.caller() for _ in range(6)]

    async def sneak_in(thief: Caller, delay: float) -> None:
        await asyncio.sleep(delay)
        await thief.sign_in("ann@example.org", PASSWORD)

    async def change_password() -> None:
        ann.keep(await ann("PUT", "/accounts/me/password", json=change))

    await asyncio.gather(
        change_password(),
        *(sneak_in(thief, number * 0.02) for number, thief in enumerate(thieves)),
    )
    assert await is_signed_in(ann)
    assert [await is_signed_in(thief) for thief in thieves if thief.tokens] == [False] * len(
        [thief for thief in thieves if thief.tokens]
    )


async def test_a_name_can_be_changed(ann: Caller) -> None:
    assert (await ann("PATCH", "/accounts/me", json={"name": "  Ann  of Cleves "})).json()["name"] == "Ann of Cleves"
    assert (await ann("GET", "/accounts/me")).json()["name"] == "Ann of Cleves"


async def test_the_table_holds_the_hash_of_a_refresh_token_and_nothing_to_sign_in_with(
    satchel: Satchel, ann: Caller, tmp_path: Path
) -> None:
    token = ann.tokens["refresh_token"]
    digest = hashlib.sha256(token.encode()).hexdigest()
    stored = await satchel.stores.tables.get(CATALOG, {"PK": f"REFRESH#{digest}", "SK": "#REFRESH_SPEC"})
    assert stored is not None
    assert stored["Email"] == "ann@example.org"
    content = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert digest.encode() in content
    for secret in (token, ann.tokens["access_token"], PASSWORD):
        assert secret.encode() not in content


async def test_rotation_leaves_one_token_record_per_session(satchel: Satchel, ann: Caller) -> None:
    for _ in range(3):
        await ann.refresh()
    page = await satchel.stores.tables.query(CATALOG, "#REFRESH_SPEC", index="RefreshTokenExpiration")
    assert len(page.items) == 1


async def test_a_restart_keeps_sessions_and_ended_ones_stay_ended(tmp_path: Path) -> None:
    clock = ManualClock()
    async with running_satchel(tmp_path, clock, sign_up="open") as satchel:
        kept, ended = satchel.caller(), satchel.caller()
        await kept.sign_up("ann@example.org")
        await ended.sign_in("ann@example.org")
        await ended("DELETE", "/sessions/current")
    async with running_satchel(tmp_path, clock, sign_up="open") as satchel:
        kept.http, ended.http = satchel.caller().http, satchel.caller().http
        assert await is_signed_in(kept)
        assert not await is_signed_in(ended)


async def test_a_browser_gets_cookies_that_scripts_cannot_read_and_no_tokens(satchel: Satchel, ann: Caller) -> None:
    browser = satchel.caller()
    body = {"email": "ann@example.org", "password": PASSWORD, "keep": "cookie"}
    answer = await browser("POST", "/sessions", json=body)
    assert answer.json()["tokens"] is None
    cookies = {each.split("=")[0]: each for each in answer.headers.get_list("set-cookie")}
    assert "HttpOnly" in cookies["satchel_access"]
    assert "SameSite=Lax" in cookies["satchel_access"]
    assert "HttpOnly" in cookies["satchel_refresh"]
    assert "SameSite=Strict" in cookies["satchel_refresh"]
    assert "Path=/api/v1/sessions" in cookies["satchel_refresh"]
    assert (await browser("GET", "/accounts/me")).status_code == 200
    satchel.clock.advance(timedelta(minutes=16))
    assert (await browser("GET", "/accounts/me")).status_code == 401
    assert (await browser("POST", "/sessions/refresh", json={})).status_code == 200
    assert (await browser("GET", "/accounts/me")).status_code == 200
    await browser("DELETE", "/sessions/current")
    assert set(browser.http.cookies) == {"satchel_device"}


async def test_guessing_passwords_of_one_account_is_slowed_down(satchel: Satchel, ann: Caller) -> None:
    guesser = satchel.caller("10.0.0.1")
    answers = [(await guesser.sign_in("ann@example.org", "a guess")).status_code for _ in range(12)]
    assert answers == [401] * 10 + [429] * 2
    locked = await satchel.caller("10.0.0.1").sign_in("ann@example.org")
    assert locked.status_code == 429
    assert 0 < int(locked.headers["retry-after"]) <= 900
    satchel.clock.advance(timedelta(minutes=15))
    assert (await satchel.caller("10.0.0.1").sign_in("ann@example.org")).status_code == 201


async def test_a_guesser_elsewhere_does_not_lock_the_owner_out(satchel: Satchel, ann: Caller) -> None:
    guesser = satchel.caller("10.0.0.1")
    for _ in range(12):
        await guesser.sign_in("ann@example.org", "a guess")
    assert (await satchel.caller("10.0.0.2").sign_in("ann@example.org")).status_code == 201


async def test_guessing_one_account_from_many_networks_is_slowed_down_and_its_owner_is_not(
    satchel: Satchel, ann: Caller
) -> None:
    for number in range(10):
        for _ in range(10):
            guesser = satchel.caller(f"10.0.{number}.1")
            assert (await guesser.sign_in("ann@example.org", "a guess")).status_code == 401
    # From here on each network has three attempts.
    late = [(await satchel.caller("10.1.0.1").sign_in("ann@example.org", "a guess")).status_code for _ in range(5)]
    assert late == [401] * 3 + [429] * 2
    # Whoever knows the password gets in from a network that has not guessed.
    assert (await satchel.caller("10.2.0.1").sign_in("ann@example.org")).status_code == 201
    body = {"current": PASSWORD, "new": "another long password"}
    there = satchel.caller("10.1.0.1")
    there.tokens = ann.tokens
    assert (await there("PUT", "/accounts/me/password", json=body)).status_code == 200


async def test_many_networks_of_one_home_line_have_few_guesses_together(satchel: Satchel, ann: Caller) -> None:
    answers = [
        (await satchel.caller(f"2001:db8:0:{number:x}::1").sign_in("ann@example.org", "a guess")).status_code
        for number in range(41)
    ]
    assert answers == [401] * 40 + [429]
    assert (await satchel.caller("2001:db8:1::1").sign_in("ann@example.org")).status_code == 201


async def test_a_known_device_is_not_kept_out_by_what_others_guess(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    browser = satchel.caller("10.0.0.1")
    body = {"email": "ann@example.org", "password": PASSWORD, "keep": "cookie"}
    assert (await browser("POST", "/sessions", json=body)).status_code == 201
    await browser("DELETE", "/sessions/current")
    # It shows nobody's address, although it stays.
    proof = browser.http.cookies["satchel_device"]
    assert b"ann" not in urlsafe_b64decode(proof + "==")
    for number in range(80):
        guessed = f"p{number}@example.org" if number > 12 else "ann@example.org"
        await satchel.caller("10.0.0.1").sign_in(guessed, "a guess")
    assert (await satchel.caller("10.0.0.1").sign_in("ann@example.org")).status_code == 429
    assert (await browser("POST", "/sessions", json=body)).status_code == 201
    # It is known for that account alone, and has few attempts itself.
    other = {**body, "email": "bob@example.org"}
    assert (await browser("POST", "/sessions", json=other)).status_code == 429
    forged = satchel.caller("10.0.0.1")
    forged.http.cookies.set("satchel_device", proof[:-2] + "AA", path="/api/v1/sessions")
    assert (await forged("POST", "/sessions", json=body)).status_code == 429
    wrong = {**body, "password": "a guess"}
    answers = [(await browser("POST", "/sessions", json=wrong)).status_code for _ in range(11)]
    assert answers == [401] * 10 + [429]


async def test_a_program_that_has_signed_in_before_is_not_kept_out_either(satchel: Satchel, ann: Caller) -> None:
    program = satchel.caller("10.0.0.1")
    await program.sign_in("ann@example.org")
    proof = program.tokens["known_device"]
    await program.refresh()
    assert program.tokens["known_device"] is None
    await program("DELETE", "/sessions/current")
    for _ in range(11):
        await satchel.caller("10.0.0.1").sign_in("ann@example.org", "a guess")
    new = satchel.caller("10.0.0.1")
    assert (await new.sign_in("ann@example.org")).status_code == 429
    assert (await new.sign_in("ann@example.org", known_device=proof[:-2] + "AA")).status_code == 429
    assert (await new.sign_in("ann@example.org", known_device=proof)).status_code == 201
    assert new.tokens["known_device"] == proof
    answers = [(await new.sign_in("ann@example.org", "a guess", known_device=proof)).status_code for _ in range(11)]
    assert answers == [401] * 10 + [429]


async def test_an_office_signs_in_behind_one_address(satchel: Satchel, ann: Caller) -> None:
    for _ in range(70):
        assert (await satchel.caller("10.0.0.1").sign_in("ann@example.org")).status_code == 201


async def test_changing_the_password_has_attempts_of_its_own(satchel: Satchel, ann: Caller) -> None:
    body = {"current": "a guess", "new": "another long password"}
    answers = [(await ann("PUT", "/accounts/me/password", json=body)).status_code for _ in range(11)]
    assert answers == [401] * 10 + [429]
    assert (await satchel.caller().sign_in("ann@example.org")).status_code == 201


async def test_a_browser_whose_session_was_ended_can_become_a_guest(satchel: Satchel, ann: Caller) -> None:
    browser = satchel.caller()
    body = {"email": "ann@example.org", "password": PASSWORD, "keep": "cookie"}
    session_id = (await browser("POST", "/sessions", json=body)).json()["session_id"]
    await ann("DELETE", f"/sessions/{session_id}")
    assert (await browser("GET", "/whoami")).status_code == 401
    assert (await browser("GET", "/whoami")).json()["kind"] == "stranger"
    await browser("POST", "/guests", json={"name": "Gus", "keep": "cookie"})
    assert (await browser("GET", "/whoami")).json()["kind"] == "guest"


async def test_a_class_of_guests_does_not_use_up_the_sign_ins_of_its_school(satchel: Satchel, ann: Caller) -> None:
    for _ in range(70):
        assert (await satchel.caller()("POST", "/guests", json={"name": "Gus"})).status_code == 201
    assert (await satchel.caller().sign_in("ann@example.org")).status_code == 201


async def test_guessing_from_one_address_is_slowed_down_whatever_the_account(satchel: Satchel, ann: Caller) -> None:
    answers = [
        (await satchel.caller("10.0.0.7").sign_in(f"p{n}@example.org", "a guess")).status_code for n in range(62)
    ]
    assert answers == [401] * 60 + [429] * 2
    assert (await satchel.caller("10.0.0.8").sign_in("ann@example.org")).status_code == 201


async def test_a_right_password_forgives_the_wrong_ones_before(satchel: Satchel, ann: Caller) -> None:
    for _ in range(3):
        for _ in range(9):
            await satchel.caller("10.1.0.1").sign_in("ann@example.org", "a guess")
        assert (await satchel.caller("10.1.0.1").sign_in("ann@example.org")).status_code == 201


async def test_expired_sessions_and_invitations_are_swept_away(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    await ann("POST", "/invitations", json={})
    satchel.clock.advance(timedelta(days=50))
    await ann.sign_in("ann@example.org")
    satchel.clock.advance(timedelta(days=41))
    await satchel.housekeep()
    for sort, left in (("#REFRESH_SPEC", 1), ("#INVITE_SPEC", 0)):
        page = await satchel.stores.tables.query(CATALOG, sort, index="RefreshTokenExpiration")
        assert len(page.items) == left
    assert len((await satchel.stores.tables.query(CATALOG, "USER#bob@example.org")).items) == 2
