"""Every route of a session, tried by everybody who is not in it, and by those who are."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from tests.application import Caller, Satchel
from tests.features.drop.given import (
    Person,
    acknowledged,
    announced,
    asked,
    b64,
    hearing,
    here,
    join,
    joined,
    new_id,
    opened,
    sealed,
    slug,
)

KEY = b64(bytes(32))
ROUTES: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "", {}),
    ("DELETE", "", {}),
    ("DELETE", "/members/{member}", {}),
    ("PUT", "/door", {}),
    ("DELETE", "/door", {}),
    ("PUT", "/lock", {}),
    ("DELETE", "/lock", {}),
    ("POST", "/knocks/{knock}/share", {"json": {"share": KEY}}),
    ("POST", "/knocks/{knock}/verdict", {"json": {"refused": "code-wrong"}}),
    ("POST", "/files", {"json": {"files": [{"file_id": new_id(), "sealed": sealed()}]}}),
    ("DELETE", "/files/{file}", {}),
    ("POST", "/requests", {"json": {"request_id": new_id(), "file_id": "{file}", "public_key": KEY, "sealed": "s"}}),
    ("POST", "/requests/{request}/acknowledge", {"json": {"public_key": KEY, "sealed": "s", "chunks": 1, "bytes": 1}}),
    ("POST", "/requests/{request}/decline", {"json": {"reason": "declined"}}),
    ("POST", "/requests/{request}/progress", {"json": {"chunks": 1}}),
    ("POST", "/requests/{request}/done", {"json": {"receipt": KEY}}),
    ("DELETE", "/requests/{request}", {}),
    ("PUT", "/requests/{request}/bytes/0", {"content": b"x"}),
    ("GET", "/requests/{request}/bytes", {}),
]


async def nobodies(
    satchel: Satchel, host: Person, member: Person
) -> dict[str, Callable[..., Awaitable[httpx.Response]]]:
    """Those for whom the session is not there: what each calls it with."""
    left, removed, elsewhere = await joined(satchel, host), await joined(satchel, host), await opened(satchel)
    await left("DELETE", f"/members/{left.member_id}")
    await host("DELETE", f"/members/{removed.member_id}")
    stranger, guest, signed_up = satchel.caller(), satchel.caller(), satchel.caller()
    token = (await guest("POST", "/guests", json={"name": "Gus"})).json()["token"]
    guest.tokens = {"access_token": token}
    await signed_up.sign_up("ann@example.org")
    forger = Person(satchel.caller(), host.session_id, "", b"", host.member_id, f"{host.member_id}.{'x' * 43}")
    mixed = Person(
        satchel.caller(), host.session_id, "", b"", host.member_id, f"{host.member_id}.{member.token.partition('.')[2]}"
    )
    elsewhere.session_id = host.session_id

    def without_token(caller: Caller) -> Callable[..., Awaitable[httpx.Response]]:
        async def call(method: str, path: str, **request: Any) -> httpx.Response:
            return await caller(method, f"/drop/sessions/{host.session_id}{path}", **request)

        return call

    return {
        "stranger": without_token(stranger),
        "guest of the server": without_token(guest),
        "account": without_token(signed_up),
        "who left": left,
        "who was put out": removed,
        "member of another session": elsewhere,
        "forger": forger,
        "one member's id with another's secret": mixed,
    }


async def test_a_session_is_not_there_for_those_who_are_not_in_it(satchel: Satchel) -> None:
    host = await opened(satchel)
    member = await joined(satchel, host)
    file_id = await announced(host)
    request_id = await acknowledged(host, await asked(member, file_id))
    names = {"member": member.member_id, "file": file_id, "request": request_id, "knock": new_id()}
    before = await host.look()
    for who, call in (await nobodies(satchel, host, member)).items():
        for method, path, request in ROUTES:
            answer = await call(method, path.format(**names), **_filled(request, file_id))
            assert slug(answer) == (404, "session-unknown"), (who, method, path, answer.text)
    assert await host.look() == before


async def test_an_unknown_session_answers_no_otherwise(satchel: Satchel) -> None:
    host = await opened(satchel)
    asked_for = await satchel.caller()("GET", f"/drop/sessions/{host.session_id}")
    host.session_id = new_id()
    unknown = await host("GET")
    host.session_id = "x"
    malformed = await host("GET")
    answers = [answer.json() | {"instance": ""} for answer in (asked_for, unknown, malformed)]
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("is_host", [True, False], ids=["host", "member"])
async def test_those_who_are_in_it_do_what_is_theirs_to_do(satchel: Satchel, is_host: bool) -> None:
    host = await opened(satchel)
    member, other = await joined(satchel, host), await joined(satchel, host)
    by, to = (host, member) if is_host else (member, host)
    theirs, own = await announced(to), await announced(by)
    assert (await by("GET")).status_code == 200
    async with here(satchel, by):
        assert (await by("PUT", "/door")).status_code == 204
    assert (await by("DELETE", "/door")).status_code == 204
    mine, served = await asked(by, theirs), await asked(to, own)
    assert (await by("POST", f"/requests/{served}/decline", json={"reason": "declined"})).status_code == 204
    assert (await by("DELETE", f"/requests/{mine}")).status_code == 204
    assert (await by("DELETE", f"/files/{own}")).status_code == 204
    # What is the host's alone.
    for method, path in (
        ("PUT", "/lock"),
        ("DELETE", "/lock"),
        ("DELETE", f"/files/{theirs}"),
        ("DELETE", f"/members/{other.member_id}"),
        ("DELETE", ""),
    ):
        answer = await by(method, path)
        assert answer.status_code == (204 if is_host else 403), (path, answer.text)


async def test_who_is_put_out_hears_it_and_can_come_in_again_with_the_link(satchel: Satchel) -> None:
    host = await opened(satchel)
    member = await joined(satchel, host)
    assert slug(await host("DELETE", f"/members/{new_id()}")) == (404, "not-found")
    assert (await host("DELETE", f"/members/{member.member_id}")).status_code == 204
    assert [each["member_id"] for each in (await host.look())["members"]] == [host.member_id]
    assert (await joined(satchel, host)).token


async def test_into_a_locked_session_nobody_comes_and_nobody_has_to_go(satchel: Satchel) -> None:
    host = await opened(satchel)
    member, removed = await joined(satchel, host), await joined(satchel, host)
    async with hearing(satchel, member) as heard:
        assert (await host("PUT", "/lock")).status_code == 204
        assert (await heard.until("drop.lock"))["is_locked"]
    assert (await host("DELETE", f"/members/{removed.member_id}")).status_code == 204
    again = await join(removed.caller, host.session_id, host.admission)
    assert slug(again) == (409, "session-locked")
    knocked = {"knock_id": new_id(), "suite": 1, "share": KEY}
    answer = await removed.caller("POST", f"/drop/sessions/{host.session_id}/knocks", json=knocked)
    assert slug(answer) == (409, "session-locked")
    # Who does not know the secret does not hear of the lock.
    assert slug(await join(removed.caller, host.session_id, bytes(32))) == (403, "admission-refused")
    seen = await member.look()
    assert (seen["is_locked"], len(seen["members"])) == (True, 2)
    await host("DELETE", f"/members/{host.member_id}")
    assert (await member("DELETE", "/lock")).status_code == 204
    assert (await joined(satchel, member)).token


async def test_when_the_host_leaves_the_longest_standing_member_who_is_here_is_host(satchel: Satchel) -> None:
    host = await opened(satchel)
    people: list[Person] = []
    for _ in range(3):
        satchel.clock.advance(1)
        people.append(await joined(satchel, host))
    away, longest, _ = people
    async with here(satchel, *people[1:]):
        assert (await host("DELETE", f"/members/{host.member_id}")).status_code == 204
        assert (await away.look())["host_id"] == longest.member_id
        assert (await longest("DELETE", f"/members/{away.member_id}")).status_code == 204


def _filled(request: dict[str, Any], file_id: str) -> dict[str, Any]:
    if "json" not in request or "file_id" not in request["json"]:
        return request
    return {"json": {**request["json"], "file_id": file_id}}
