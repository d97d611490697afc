"""Sessions: opened by anybody, found by a name, entered by what the secret is known by, gone without a trace."""

import asyncio
import hashlib
import secrets
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from satchel.features.drop.records import FILE, SESSION
from satchel.features.drop.session_names import FIRST_WORDS, SECOND_WORDS, draw_name
from satchel.stores.ports.ephemeral import Exists, HashAll
from tests.application import Satchel, running_satchel
from tests.features.drop.given import (
    acknowledged,
    announced,
    ask,
    asked,
    b64,
    hearing,
    here,
    join,
    joined,
    left_of,
    new_id,
    open_session,
    opened,
    sealed,
    slug,
)


async def test_a_session_is_opened_without_an_account_or_a_cookie(satchel: Satchel) -> None:
    answer = await open_session(satchel.caller())
    assert answer.status_code == 201
    said = answer.json()
    assert said["link_base"] == f"http://satchel.test/drop/{said['name']}"
    assert "set-cookie" not in answer.headers
    assert said["token"]


async def test_members_see_who_is_in_the_session_and_who_is_its_host(satchel: Satchel) -> None:
    host = await opened(satchel)
    guest = await joined(satchel, host)
    async with here(satchel, guest):
        seen = await host.look()
    assert (seen["session_id"], seen["name"], seen["host_id"], seen["door_id"]) == (
        *(host.session_id, host.name, host.member_id, None),
    )
    assert {each["member_id"]: each["here"] for each in seen["members"]} == {
        host.member_id: False,
        guest.member_id: True,
    }
    assert seen == await host.look() | {"members": seen["members"]}
    assert (seen["files"], seen["requests"]) == ([], [])


async def test_the_server_keeps_neither_admission_nor_token(satchel: Satchel) -> None:
    host = await opened(satchel)
    ephemeral = satchel.stores.ephemeral
    kept = [
        *(await ephemeral.run(HashAll(SESSION(session_id=host.session_id)))).values(),
        *(await ephemeral.run(HashAll(f"members:{host.session_id}"))).values(),
    ]
    secret = host.token.partition(".")[2].encode()
    assert not [
        each for each in kept if host.admission in each or secret in each or b64(host.admission).encode() in each
    ]
    assert hashlib.sha256(host.admission).hexdigest().encode() in kept


async def test_a_session_is_found_by_its_name_however_it_is_written(satchel: Satchel) -> None:
    host = await opened(satchel)
    for written in (host.name, host.name.upper(), f" {host.name} "):
        answer = await satchel.caller()("GET", f"/drop/names/{written}")
        assert answer.json() == {"session_id": host.session_id}


async def test_what_is_no_name_finds_nothing(satchel: Satchel) -> None:
    host = await opened(satchel)
    for written in ("amber-otter-9999", host.session_id, "x", "a:b", "calls", "%00", "amber-otter-27%0A"):
        assert slug(await satchel.caller()("GET", f"/drop/names/{written}")) == (404, "session-unknown"), written


async def test_names_are_two_words_and_a_number() -> None:
    for words in (FIRST_WORDS, SECOND_WORDS):
        assert len(set(words)) == len(words) == 128
        assert all(word.isascii() and word.isalpha() and word.islower() and len(word) <= 10 for word in words)
    first, second, number = draw_name().split("-")
    assert first in FIRST_WORDS
    assert second in SECOND_WORDS
    assert 10 <= int(number) <= 999


async def test_an_id_is_opened_once(satchel: Satchel) -> None:
    host = await opened(satchel)
    again = await open_session(satchel.caller(), session_id=host.session_id)
    assert slug(again) == (409, "session-exists")
    assert (await host("GET")).status_code == 200


async def test_a_member_id_is_in_one_session_at_a_time(satchel: Satchel) -> None:
    host, other = await opened(satchel), await opened(satchel)
    taken = await join(satchel.caller(), other.session_id, other.admission, member_id=host.member_id)
    assert slug(taken) == (409, "conflict")
    assert slug(await open_session(satchel.caller(), member_id=host.member_id)) == (409, "conflict")
    assert (await host("DELETE", f"/members/{host.member_id}")).status_code == 204
    assert (await join(satchel.caller(), other.session_id, other.admission, member_id=host.member_id)).is_success


@pytest.mark.parametrize(
    "changes",
    [
        {"session_id": "A" * 32},
        {"session_id": "0" * 31},
        {"member_id": "0" * 32 + "\n"},
        {"admission": "x"},
        {"admission": "!" * 43},
        {"sealed": ""},
        {"sealed": "a" * 21_847},
        {"sealed": "no base64"},
        {"unknown": 1},
    ],
    ids=str,
)
async def test_what_is_not_well_formed_is_refused(satchel: Satchel, changes: dict[str, Any]) -> None:
    assert slug(await open_session(satchel.caller(), **changes)) == (422, "invalid")


async def test_a_wrong_admission_is_refused_and_too_many_are_counted(embedded: Satchel) -> None:
    host = await opened(embedded)
    stranger = embedded.caller("192.0.2.1")
    for _ in range(30):
        wrong = await join(stranger, host.session_id, secrets.token_bytes(32))
        assert slug(wrong) == (403, "admission-refused")
    refused = await join(stranger, host.session_id, host.admission)
    assert slug(refused) == (429, "too-many")
    assert refused.json()["limit"] == "access.attempts"
    assert int(refused.headers["retry-after"]) > 60
    assert (await join(embedded.caller("192.0.2.2"), host.session_id, host.admission)).status_code == 201
    embedded.clock.advance(timedelta(minutes=16))
    assert (await join(stranger, host.session_id, host.admission)).status_code == 201


async def test_an_office_joins_from_behind_one_address(satchel: Satchel) -> None:
    host = await opened(satchel, "192.0.2.1")
    for _ in range(99):
        await joined(satchel, host, "192.0.2.1")
    assert len((await host.look())["members"]) == 100
    assert slug(await join(satchel.caller(), host.session_id, host.admission)) == (409, "session-full")
    assert len((await host.look())["members"]) == 100


async def test_a_network_opens_a_bounded_number_of_sessions_and_closed_ones_do_not_count(embedded: Satchel) -> None:
    hosts = [await opened(embedded) for _ in range(60)]
    refused = await open_session(embedded.caller())
    assert slug(refused) == (409, "too-many-sessions")
    assert refused.json()["limit"] == 60
    assert (await open_session(embedded.caller("192.0.2.2"))).status_code == 201
    # Closed from elsewhere, of which the counter learns only when it matters.
    hosts[0].caller = embedded.caller("192.0.2.3")
    assert (await hosts[0]("DELETE")).status_code == 204
    assert (await open_session(embedded.caller())).status_code == 201


async def test_a_network_guesses_a_bounded_number_of_names(satchel: Satchel) -> None:
    host = await opened(satchel)
    guesser = satchel.caller("192.0.2.1")
    for number in range(60):
        assert (await guesser("GET", f"/drop/names/no-such-{number + 10}")).status_code == 404
    for name in (host.name, "no-such-99"):
        refused = await guesser("GET", f"/drop/names/{name}")
        assert (slug(refused), refused.json()["limit"]) == ((429, "too-many"), "names")
    assert (await satchel.caller()("GET", f"/drop/names/{host.name}")).status_code == 200


@pytest.mark.slow
async def test_a_network_makes_a_bounded_number_of_calls_within_a_second(embedded: Satchel) -> None:
    host = await opened(embedded, "192.0.2.1")
    for _ in range(199):
        assert (await host("GET")).status_code == 200
    refused = await host("GET")
    assert slug(refused) == (429, "too-many")
    assert (refused.json()["limit"], refused.headers["retry-after"]) == ("calls", "1")
    other = await opened(embedded, "192.0.2.2")
    assert (await other("GET")).status_code == 200
    embedded.clock.advance(1)
    assert (await host("GET")).status_code == 200


async def test_closing_a_session_leaves_nothing_of_it(satchel: Satchel) -> None:
    host = await opened(satchel)
    guest = await joined(satchel, host)
    file_ids = [await announced(host), await announced(guest)]
    request_ids = [
        await acknowledged(host, await asked(guest, file_ids[0])),
        await asked(host, file_ids[1]),
    ]
    await guest("POST", f"/requests/{request_ids[0]}/progress", json={"chunks": 2})
    await host("PUT", "/door")
    ids = {
        "session_id": [host.session_id],
        "name": [host.name],
        "file_id": file_ids,
        "request_id": request_ids,
        "member_id": [host.member_id, guest.member_id],
    }
    assert len(await left_of(satchel, ids)) > 10
    assert (await guest("DELETE")).status_code == 403
    async with hearing(satchel, guest) as heard:
        assert (await host("DELETE")).status_code == 204
        assert (await heard.until("drop.closed"))["reason"] == "closed"
    assert await left_of(satchel, ids) == []
    for person in (host, guest):
        assert slug(await person("GET")) == (404, "session-unknown")
    assert slug(await satchel.caller()("GET", f"/drop/names/{host.name}")) == (404, "session-unknown")


async def test_the_last_who_leaves_ends_the_session(satchel: Satchel) -> None:
    host = await opened(satchel)
    guest = await joined(satchel, host)
    file_id = await announced(guest)
    for person in (host, guest):
        assert (await person("DELETE", f"/members/{person.member_id}")).status_code == 204
    ids = {
        "session_id": [host.session_id],
        "name": [host.name],
        "file_id": [file_id],
        "request_id": [],
        "member_id": [host.member_id, guest.member_id],
    }
    left = await left_of(satchel, ids)
    # Who may open how many is counted by networks; an entry of a session that is over counts no more.
    assert [each for each in left if not each.startswith("created.sessions:")] == []


async def test_a_session_ends_a_day_after_the_last_sign_of_its_members(embedded: Satchel) -> None:
    host = await opened(embedded)
    guest = await joined(embedded, host)
    file_id = await announced(guest)
    await asked(host, file_id)
    for _ in range(4):
        embedded.clock.advance(timedelta(hours=23))
        assert (await guest("GET")).status_code == 200
    embedded.clock.advance(timedelta(hours=24, minutes=11))
    assert slug(await guest("GET")) == (404, "session-unknown")
    ephemeral = embedded.stores.ephemeral
    assert not await ephemeral.run(Exists(SESSION(session_id=host.session_id)))
    assert not await ephemeral.run(Exists(FILE(session_id=host.session_id, file_id=file_id)))


async def test_who_has_not_been_seen_for_a_day_is_no_longer_listed(satchel: Satchel) -> None:
    host = await opened(satchel)
    guest = await joined(satchel, host)
    file_id = await announced(host)
    await asked(guest, file_id)
    satchel.clock.advance(timedelta(hours=23))
    seen = await guest.look()
    assert {each["member_id"] for each in seen["members"]} == {host.member_id, guest.member_id}
    satchel.clock.advance(timedelta(hours=2))
    seen = await guest.look()
    assert [each["member_id"] for each in seen["members"]] == [guest.member_id]
    assert (seen["host_id"], seen["files"], seen["requests"]) == (guest.member_id, [], [])
    assert slug(await host("GET")) == (404, "session-unknown")


async def test_sessions_outlive_a_restart(tmp_path: Path) -> None:
    async with running_satchel(tmp_path) as before:
        host = await opened(before)
        guest = await joined(before, host)
        request_id = await acknowledged(host, await asked(guest, await announced(host)))
        await host("PUT", "/door")
        seen = await host.look()
    async with running_satchel(tmp_path, before.clock) as after:
        host.caller = guest.caller = after.caller()
        assert await host.look() == seen
        assert (await guest("DELETE", f"/requests/{request_id}")).status_code == 204
        assert (await after.caller()("GET", f"/drop/names/{host.name}")).json()["session_id"] == host.session_id


async def test_many_who_come_at_once_all_come_in_and_no_more_than_fit(satchel: Satchel) -> None:
    host = await opened(satchel)
    answers = await asyncio.gather(
        *(join(satchel.caller(f"192.0.2.{number}"), host.session_id, host.admission) for number in range(110))
    )
    assert sorted(answer.status_code for answer in answers) == [201] * 99 + [409] * 11
    assert len((await host.look())["members"]) == 100


async def test_who_comes_while_the_session_is_closed_leaves_nothing(satchel: Satchel) -> None:
    host = await opened(satchel)
    guest = await joined(satchel, host)
    file_id, member_id = new_id(), new_id()
    await asyncio.gather(
        host("DELETE"),
        join(satchel.caller(), host.session_id, host.admission, member_id=member_id),
        guest("POST", "/files", json={"files": [{"file_id": file_id, "sealed": sealed()}]}),
        guest("PUT", "/door"),
        ask(guest, file_id),
    )
    ids = {
        "session_id": [host.session_id],
        "name": [host.name],
        "file_id": [file_id],
        "request_id": [],
        "member_id": [host.member_id, guest.member_id, member_id],
    }
    assert await left_of(satchel, ids) == []
