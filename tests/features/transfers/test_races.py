"""Something else happens just before each write: whoever was first counts, once, and both sides are told the truth."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from httpx import Response

from tests.application import running_satchel
from tests.features.shelf.given import check_shelf
from tests.features.transfers.given import Room, a_guest, counts, fetched, history, seen
from tests.features.transfers.meddling import Before


@pytest.fixture
async def busy_room(tmp_path: Path, before: Before) -> AsyncGenerator[Room]:
    async with running_satchel(tmp_path, sign_up="open", through=before.through) as satchel:
        ann, bob = satchel.caller(), satchel.caller()
        await ann.sign_up("ann@example.org")
        await bob.sign_up("bob@example.org")
        opened = (await ann("POST", "/rooms", json={})).json()
        room = Room(satchel, ann, bob, await a_guest(satchel, "Gus"), opened["room_id"], opened["code"])
        await room.join(bob)
        yield room


async def offered(room: Room, *contents: bytes) -> str:
    ids = [await room.bring(room.ann, "a.txt", content, to=room.bob) for content in contents or (b"one",)]
    return (await room.handed(room.ann, *ids, to=room.bob))["transfer_id"]


async def test_withdrawing_before_any_write_of_a_save_leaves_all_or_nothing(busy_room: Room, before: Before) -> None:
    room, kept, number = busy_room, 0, 0
    while before.countdown <= 0:
        number += 1
        transfer_id = await offered(room, b"%d a" % number, b"%d b" % number)

        async def withdraw(transfer_id: str = transfer_id) -> None:
            await room.ann("POST", f"/transfers/{transfer_id}/withdraw")

        before.the_write(number, withdraw)
        saved = (await room.bob("POST", f"/transfers/{transfer_id}/save", json={})).status_code
        mine = await seen(room.ann, transfer_id)
        assert (saved, mine["counts"]) in [(200, counts(opened=1)), (409, counts(withdrawn=1))]
        kept += 2 if saved == 200 else 0
        assert len(await check_shelf(room.satchel, room.bob, leftovers=True)) == kept
    assert kept > 0
    assert number > 5


@pytest.mark.parametrize("what", ["withdraw", "decline", "opened"])
async def test_a_download_that_ends_while_something_else_happens_counts_once(
    busy_room: Room, before: Before, what: str
) -> None:
    room = busy_room
    transfer_id = await offered(room)
    who = room.ann if what == "withdraw" else room.bob

    async def meddle() -> None:
        assert (await who("POST", f"/transfers/{transfer_id}/{what}")).status_code == 200

    before.the_write(1, meddle)
    assert await fetched(room.bob, transfer_id) == b"one"
    state = {"withdraw": "withdrawn", "decline": "declined", "opened": "downloaded"}[what]
    mine = await seen(room.ann, transfer_id)
    assert mine["counts"] == counts(**{state: 1})
    assert mine["receipts"][0]["state"] == state


@pytest.mark.parametrize("what", ["withdraw", "decline"])
async def test_who_ends_it_after_it_was_taken_is_told_so(busy_room: Room, before: Before, what: str) -> None:
    room = busy_room
    transfer_id = await offered(room)
    who = room.ann if what == "withdraw" else room.bob

    async def take() -> None:
        await fetched(room.bob, transfer_id)

    # A withdrawal first says so on the transfer, then on each receipt.
    before.the_write(2 if what == "withdraw" else 1, take)
    assert (await who("POST", f"/transfers/{transfer_id}/{what}")).status_code == 409
    assert (await seen(room.ann, transfer_id))["counts"] == counts(downloaded=1)


async def test_who_comes_late_and_fetches_while_it_is_withdrawn_leaves_no_receipt(
    busy_room: Room, before: Before
) -> None:
    room = busy_room
    file_id = await room.bring(room.ann, "a.txt", b"one")
    transfer_id = (await room.handed(room.ann, file_id))["transfer_id"]
    await room.join(room.gus)

    async def withdraw() -> None:
        await room.ann("POST", f"/transfers/{transfer_id}/withdraw")

    before.the_write(1, withdraw)
    await fetched(room.gus, transfer_id)
    assert (await seen(room.ann, transfer_id))["counts"] == counts(withdrawn=1)
    assert (await room.gus("GET", f"/transfers/{transfer_id}")).status_code == 404


async def test_a_request_repeated_while_the_first_is_under_way_sends_once_however_late_it_is_repeated_again(
    busy_room: Room, before: Before
) -> None:
    room = busy_room
    file_id = await room.bring(room.ann, "a.txt", b"one")
    body = {"to": {"kind": "room", "room_id": room.room_id}, "files": [file_id]}
    meanwhile: list[Response] = []

    async def send() -> Response:
        return await room.ann("POST", "/transfers", json=body, headers={"idempotency-key": "k"})

    async def repeat() -> None:
        meanwhile.append(await send())

    before.the_write(1, repeat)
    first = await send()
    room.satchel.clock.advance(60)
    answers = [first, *meanwhile, await send()]
    assert [answer.status_code for answer in answers] == [201, 201, 201]
    assert len({answer.json()["transfer_id"] for answer in answers}) == 1
    assert await history(room.bob) == [first.json()["transfer_id"]]
