"""However many sessions, members and requests strangers make: the memory that they take is bounded, as an answer is."""

import pytest

from satchel.features.drop.service import session_show, state_budget
from satchel.features.drop.service.member_token import recognise
from tests.application import Satchel
from tests.features.drop.given import (
    Person,
    acknowledge,
    announced,
    ask,
    asked,
    b64,
    drop_of,
    join,
    joined,
    open_session,
    opened,
    slug,
)

MEMBER = 30_000
LONG = b64(bytes(1024))


@pytest.fixture(autouse=True)
def small_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the proportions of the real ones, so that few calls reach them."""
    monkeypatch.setattr(state_budget, "MAX_SESSION_BYTES", 4 * MEMBER)
    monkeypatch.setattr(state_budget, "MAX_NETWORK_BYTES", 5 * MEMBER)
    monkeypatch.setattr(state_budget, "MAX_WIDE_NETWORK_BYTES", 7 * MEMBER)
    monkeypatch.setattr(state_budget, "MAX_SMALL_BYTES", MEMBER)
    monkeypatch.setattr(state_budget, "MAX_SERVER_BYTES", 12 * MEMBER)


async def filled(satchel: Satchel, address: str) -> tuple[Person, Person, list[str]]:
    """A session into which nothing more fits: its host, a receiver, and the requests that are open."""
    host = await opened(satchel, address)
    guest = await joined(satchel, host, address)
    requests: list[str] = []
    while True:
        answer = await ask(guest, await announced(host), sealed=LONG)
        if answer.status_code != 201:
            assert slug(answer) == (413, "drop-state-full")
            assert answer.json()["limit"] == "session"
            return host, guest, requests
        requests.append(answer.json()["request_id"])


async def test_what_does_not_fit_into_a_session_is_refused_and_what_ends_makes_room(satchel: Satchel) -> None:
    host, guest, requests = await filled(satchel, "192.0.2.1")
    assert slug(await join(satchel.caller(), host.session_id, host.admission)) == (413, "drop-state-full")
    assert {each["request_id"] for each in (await host.look())["requests"]} == set(requests)
    assert (await guest("DELETE", f"/requests/{requests[0]}")).status_code == 204
    assert (await acknowledge(host, requests[1])).status_code == 204
    other = await opened(satchel, "192.0.2.2")
    assert await asked(await joined(satchel, other, "192.0.2.2"), await announced(other))


async def test_a_network_takes_its_share_and_leaves_the_others_theirs(satchel: Satchel) -> None:
    host, _, _ = await filled(satchel, "192.0.2.1")
    assert (await open_session(satchel.caller("192.0.2.1"))).status_code == 201
    refused = await open_session(satchel.caller("192.0.2.1"))
    assert (slug(refused), refused.json()["limit"]) == ((413, "drop-state-full"), "network")
    assert (await open_session(satchel.caller("192.0.2.2"))).status_code == 201
    assert (await host("DELETE")).status_code == 204
    assert (await open_session(satchel.caller("192.0.2.1"))).status_code == 201


async def test_all_networks_together_do_not_take_more_than_the_server_has(satchel: Satchel) -> None:
    answers = [await open_session(satchel.caller(f"192.0.2.{number}")) for number in range(15)]
    refused = [answer for answer in answers if answer.status_code != 201]
    assert 1 <= len(refused) <= 3
    assert refused[0].json()["limit"] == "server"


async def test_whoever_has_taken_little_finds_room_where_others_have_taken_all_they_may(satchel: Satchel) -> None:
    await filled(satchel, "192.0.2.1")
    await filled(satchel, "192.0.2.2")
    refused = [await open_session(satchel.caller("192.0.2.3")) for _ in range(3)][-1]
    assert (slug(refused), refused.json()["limit"]) == ((413, "drop-state-full"), "server")
    assert (await open_session(satchel.caller("192.0.2.4"))).status_code == 201


async def test_many_networks_of_one_household_do_not_have_a_share_each(satchel: Satchel) -> None:
    answers = [await open_session(satchel.caller(f"2001:db8:1:{number:x}::1")) for number in range(9)]
    refused = [answer for answer in answers if answer.status_code != 201]
    assert refused[0].json()["limit"] == "network"
    assert len(refused) >= 1
    assert (await open_session(satchel.caller("2001:db8:2::1"))).status_code == 201


async def test_a_session_is_written_in_small_pieces_only_as_fast_as_it_is_read(satchel: Satchel) -> None:
    host = await opened(satchel)
    for _ in range(40):
        await announced(host)
    drop = drop_of(satchel)
    caller = await recognise(drop, host.session_id, host.token)  # type: ignore[arg-type]
    pieces = [piece async for piece in session_show.write_session(drop, caller)]
    assert max(map(len, pieces)) < sum(map(len, pieces)) / 2
    shown = await host.look()
    assert len(shown["files"]) == 40
    assert (await host("GET")).content == b"".join(pieces)
