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
    monkeypatch.setattr(state_budget, "MAX_SERVER_BYTES", 9 * MEMBER)


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
    statuses = [await open_session(satchel.caller(f"192.0.2.{number}")) for number in range(12)]
    refused = [answer for answer in statuses if answer.status_code != 201]
    assert len(refused) == 12 - 10
    assert refused[0].json()["limit"] == "server"


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
