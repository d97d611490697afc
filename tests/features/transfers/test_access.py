"""Every route of a transfer tried by everybody who could want to: who may not know of it finds nothing there."""

from typing import Any

import pytest

from tests.application import Caller, Satchel
from tests.features.transfers.conftest import Offer
from tests.features.transfers.given import Room, a_guest

STRANGER, GUEST, UNINVOLVED, SENDER, RECEIVER, FORMER = (
    "stranger",
    "guest",
    "uninvolved member",
    "sender",
    "receiver",
    "former member of the room",
)
PROOF = {"json": {"proof": "0" * 64}}
# What a sender and a receiver are answered; everybody else gets 401 or 404.
ROUTES: dict[tuple[str, str], tuple[int, int, dict[str, Any]]] = {
    ("GET", ""): (200, 200, {}),
    ("GET", "/receipts.csv"): (200, 200, {}),
    ("GET", "/files/0/content"): (200, 200, {}),
    ("POST", "/files/0/challenge"): (403, 201, {}),
    ("POST", "/files/0/verified"): (403, 409, PROOF),
    ("POST", "/opened"): (403, 200, {}),
    ("POST", "/resend"): (201, 403, {}),
    ("POST", "/save"): (403, 507, {"json": {}}),
    ("POST", "/decline"): (403, 200, {}),
    ("POST", "/withdraw"): (200, 403, {}),
}


async def status(caller: Caller, route: tuple[str, str], transfer_id: str) -> int:
    method, path = route
    answer = await caller(method, f"/transfers/{transfer_id}{path}", **ROUTES[route][2])
    return answer.status_code


@pytest.mark.parametrize("route", ROUTES, ids=" ".join)
async def test_a_transfer_by_email_is_there_for_its_two_parties_only(offer: Offer, route: tuple[str, str]) -> None:
    callers = {
        STRANGER: offer.satchel.caller(),
        GUEST: await a_guest(offer.satchel, "Gus"),
        UNINVOLVED: offer.eve,
        SENDER: offer.ann,
        RECEIVER: offer.bob,
    }
    answers = {kind: await status(caller, route, offer.transfer_id) for kind, caller in callers.items()}
    sender, receiver, _ = ROUTES[route]
    assert answers == {
        STRANGER: 401,
        GUEST: 401 if route[1] == "/save" else 404,
        UNINVOLVED: 404,
        SENDER: sender,
        RECEIVER: receiver,
    }


async def test_who_left_the_room_before_something_was_handed_to_it_finds_nothing(satchel: Satchel, room: Room) -> None:
    await room.bob("POST", f"/rooms/{room.room_id}/leave")
    sent = await room.handed(room.ann, await room.bring(room.ann, "a.txt", b"one"))
    outside = satchel.caller()
    await outside.sign_up("eve@example.org")
    callers = {FORMER: room.bob, UNINVOLVED: outside, STRANGER: satchel.caller()}
    for route in ROUTES:
        answers = {kind: await status(caller, route, sent["transfer_id"]) for kind, caller in callers.items()}
        assert answers == {FORMER: 404, UNINVOLVED: 404, STRANGER: 401}, route
    lists = [(await room.bob("GET", f"/transfers{path}")).json()["transfers"] for path in ("", "/waiting")]
    assert lists == [[], []]
