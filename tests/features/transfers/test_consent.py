"""Whose files come to a shelf at once, who has to ask, and what somebody who is blocked sees: nothing."""

from typing import Any

import pytest

from satchel.features.transfers.limits import OFFERS_PER_PAIR, STRANGERS_MEBIBYTES, STRANGERS_TRANSFERS
from tests.application import Caller, Satchel
from tests.features.shelf.given import uploaded
from tests.features.transfers.given import Room, a_file_sent, by_email, history, seen, slug, waiting

BOB = "bob@example.org"


async def takes_from(caller: Caller, whom: str) -> None:
    answer = await caller("PUT", "/contacts/receiving", json={"from_whom": whom})
    assert answer.json() == (await caller("GET", "/contacts/receiving")).json() == {"from_whom": whom}


async def blocks(caller: Caller, other: Caller) -> None:
    assert (await caller("PUT", f"/contacts/blocked/{other.user_id}")).status_code == 204


async def used(caller: Caller) -> int:
    return (await caller("GET", "/shelf/usage")).json()["used_bytes"]


async def state(sender: Caller, transfer: dict[str, Any]) -> str:
    return (await seen(sender, transfer["transfer_id"]))["state"]


@pytest.mark.parametrize("whom", ["nobody", "known"])
async def test_who_wants_to_be_asked_keeps_their_space_until_they_save(
    satchel: Satchel, ann: Caller, bob: Caller, whom: str
) -> None:
    await takes_from(bob, whom)
    sent = await a_file_sent(satchel, ann)
    assert (sent["state"], sent["asks_first"], await used(bob)) == ("offered", True, 0)
    assert await waiting(bob) == [sent["transfer_id"]]
    assert (await bob("POST", f"/transfers/{sent['transfer_id']}/save", json={})).status_code == 200
    assert await used(bob) == 3
    # From now on she is somebody whom he knows.
    again = await a_file_sent(satchel, ann, "b.txt", b"two")
    assert again["state"] == ("offered" if whom == "nobody" else "shelved")


async def test_who_was_sent_something_is_known(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    await takes_from(bob, "known")
    await by_email(bob, (await uploaded(satchel, bob, "a.txt", b"one")).file_id, to="ann@example.org")
    assert (await a_file_sent(satchel, ann, "b.txt", b"two"))["state"] == "shelved"


async def test_after_a_decline_one_has_to_ask_until_accepted(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    sent = await a_file_sent(satchel, ann)
    assert sent["state"] == "shelved"
    assert (await bob("POST", f"/transfers/{sent['transfer_id']}/decline")).status_code == 200
    again = await a_file_sent(satchel, ann, "b.txt", b"two")
    assert (again["state"], await used(bob)) == ("offered", 0)
    assert (await bob("POST", f"/transfers/{again['transfer_id']}/save", json={})).status_code == 200
    assert (await a_file_sent(satchel, ann, "c.txt", b"three"))["state"] == "shelved"


async def test_a_stranger_fills_no_shelf_and_offers_only_so_much_a_day(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    """A hundred and fifty transfers in a few seconds were all taken once."""
    file = (await uploaded(satchel, ann, "a.txt", b"one")).file_id
    bodies = {"to": {"kind": "email", "email": BOB}, "files": [str(file)]}
    answers = [
        await ann("POST", "/transfers", json=bodies)
        for _ in range(STRANGERS_TRANSFERS.times + OFFERS_PER_PAIR.times + 1)
    ]
    states = [each.json().get("state") for each in answers]
    assert states == ["shelved"] * STRANGERS_TRANSFERS.times + ["offered"] * OFFERS_PER_PAIR.times + [None]
    assert answers[-1].status_code == 429
    satchel.clock.advance(24 * 3600)
    await ann.refresh()
    assert (await ann("POST", "/transfers", json=bodies)).status_code == 201


async def test_all_strangers_together_fill_only_so_much_of_a_shelf(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    """The count of transfers is each sender's, and a sender can come under many names."""
    taken = STRANGERS_MEBIBYTES.on(satchel.stores.ephemeral)
    await taken.add(bob.user_id, STRANGERS_MEBIBYTES.times - 1)
    assert (await a_file_sent(satchel, ann))["state"] == "shelved"
    sent = await a_file_sent(satchel, ann, "b.txt", b"two")
    assert (sent["state"], await used(bob)) == ("offered", 3)
    assert (await bob("POST", f"/transfers/{sent['transfer_id']}/save", json={})).status_code == 200
    # The bound is for strangers, which she is no more.
    assert (await a_file_sent(satchel, ann, "c.txt", b"three"))["state"] == "shelved"
    # What did not fit has taken nothing of it.
    assert await taken.add(bob.user_id, 0) == STRANGERS_MEBIBYTES.times


async def test_who_is_blocked_sees_an_offer_that_nobody_answers(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    await blocks(bob, ann)
    await blocks(bob, ann)
    sent = await a_file_sent(satchel, ann)
    assert (await waiting(bob), await history(bob), await used(bob)) == ([], [], 0)
    assert (await bob("GET", f"/transfers/{sent['transfer_id']}")).status_code == 404
    satchel.clock.advance(3601)
    await satchel.housekeep()
    await ann.refresh()
    await bob.refresh()
    assert (await state(ann, sent), await history(bob)) == ("offered", [])
    # The same answer as from somebody who wants to be asked.
    carl = satchel.caller()
    await carl.sign_up("carl@example.org")
    await takes_from(carl, "nobody")
    asked = await by_email(ann, (await uploaded(satchel, ann, "b.txt", b"b")).file_id, to="carl@example.org")
    changing = {"transfer_id", "receiver", "receipts", "files", "sent_at", "size_bytes"}
    assert {key: value for key, value in sent.items() if key not in changing} == {
        key: value for key, value in asked.items() if key not in changing
    }
    assert (await ann("POST", f"/transfers/{sent['transfer_id']}/resend")).status_code == 201
    assert await history(bob) == []
    assert (await ann("POST", f"/transfers/{sent['transfer_id']}/withdraw")).status_code == 200

    listed = (await bob("GET", "/contacts/blocked")).json()["blocked"]
    assert [(each["person_id"], each["name"]) for each in listed] == [(ann.user_id, "ann")]
    assert (await bob("DELETE", f"/contacts/blocked/{ann.user_id}")).status_code == 204
    after = await a_file_sent(satchel, ann, "c.txt", b"three")
    assert await waiting(bob) == [after["transfer_id"]]


async def test_a_block_holds_in_rooms_and_for_what_is_shared(
    satchel: Satchel, ann: Caller, bob: Caller, room: Room
) -> None:
    body = {"name": "Hers", "start": "2024-07-10", "end": "2024-07-20"}
    album = (await ann("POST", "/albums", json=body)).json()["album"]["album_id"]
    assert (await ann("PUT", f"/albums/{album}/shares/{BOB}", json={})).is_success
    assert album in [each["album_id"] for each in (await bob("GET", "/albums")).json()["albums"]]
    await blocks(bob, ann)
    file_id = await room.bring(ann, "a.txt", b"one", to=bob)
    handed = await room.handed(ann, file_id, to=bob)
    assert (handed["state"], await waiting(bob)) == ("offered", [])
    assert album not in [each["album_id"] for each in (await bob("GET", "/albums")).json()["albums"]]
    assert [each for each in (await bob("GET", "/scopes")).json()["scopes"] if each["resource_id"] == album] == []


async def test_nobody_blocks_themselves_or_whom_there_is_not(ann: Caller, bob: Caller) -> None:
    assert slug(await ann("PUT", f"/contacts/blocked/{ann.user_id}")) == "choice-unfit"
    assert (await ann("PUT", "/contacts/blocked/guest-x")).status_code == 404
    assert (await ann("DELETE", f"/contacts/blocked/{bob.user_id}")).status_code == 404
