"""Hand-out and hand-in: one file to all, each answer back in private, and who is missing."""

from pathlib import Path
from typing import Any

import pytest

from tests.application import Caller, Satchel, running_satchel
from tests.features.shelf.given import check_shelf, uploaded
from tests.features.transfers.given import Room, a_guest, by_email, fetched, history, seen, slug, waiting


async def handed_out(room: Room, by: Caller | None = None, **more: Any) -> str:
    asker = by or room.ann
    file_id = await room.bring(asker, "task.txt", b"do it")
    return (await room.handed(asker, file_id, wants_answers=True, **more))["transfer_id"]


async def answer_to(room: Room, handout: str, who: Caller, content: bytes, to: Caller | None = None) -> str:
    """An answer without saying to whom: it goes to who asked."""
    file_id = await room.bring(who, "answer.txt", content, to=to or room.ann)
    answer = await who("POST", "/transfers", json={"files": [file_id], "answers": handout})
    assert answer.status_code == 201, answer.text
    return answer.json()["transfer_id"]


async def missing(room: Room, handout: str) -> list[str]:
    return [each["name"] for each in (await seen(room.ann, handout))["missing"]]


async def test_answers_come_back_in_private_and_the_list_of_who_is_missing_shrinks(room: Room) -> None:
    handout = await handed_out(room)
    assert sorted(await missing(room, handout)) == ["Gus", "bob"]
    answer = await answer_to(room, handout, room.gus, b"done")
    assert await missing(room, handout) == ["bob"]
    got = await seen(room.ann, answer)
    assert (got["answers"], got["direction"], got["sender"]["name"]) == (handout, "received", "Gus")
    assert await fetched(room.ann, answer) == b"done"
    receipts = {each["name"]: each["answer"] for each in (await seen(room.ann, handout))["receipts"]}
    assert receipts == {"bob": None, "Gus": answer}
    assert (await room.bob("GET", f"/transfers/{answer}")).status_code == 404
    assert (await seen(room.bob, handout))["missing"] == []
    assert await history(room.bob) == [handout]


async def test_a_later_answer_takes_the_place_of_an_earlier_one(satchel: Satchel, room: Room) -> None:
    handout = await handed_out(room)
    await answer_to(room, handout, room.bob, b"first try")
    satchel.clock.advance(1)
    second = await answer_to(room, handout, room.bob, b"second try")
    receipt = next(each for each in (await seen(room.ann, handout))["receipts"] if each["name"] == "bob")
    assert (receipt["answer"], receipt["state"]) == (second, "opened")


async def test_who_came_later_can_answer_too(satchel: Satchel, room: Room) -> None:
    handout = await handed_out(room)
    late = await a_guest(satchel, "Lea")
    await room.join(late)
    answer = await answer_to(room, handout, late, b"late but here")
    receipts = {each["name"]: each["answer"] for each in (await seen(room.ann, handout))["receipts"]}
    assert receipts["Lea"] == answer


async def test_an_answer_goes_to_nobody_but_who_asked_and_is_not_left_for_all_to_see(room: Room) -> None:
    handout = await handed_out(room)
    public = await room.bring(room.bob, "answer.txt", b"look")
    for_gus = await room.bring(room.bob, "answer.txt", b"look", to=room.gus)
    assert (await room.hand(room.bob, public, to=room.ann, answers=handout)).status_code == 422
    assert (await room.hand(room.bob, for_gus, to=room.gus, answers=handout)).status_code == 422
    assert (await room.hand(room.bob, public, answers=handout)).status_code == 422
    assert sorted(await missing(room, handout)) == ["Gus", "bob"]


async def test_only_a_hand_out_is_answered_and_only_by_those_who_got_it(satchel: Satchel, room: Room) -> None:
    plain = (await room.handed(room.ann, await room.bring(room.ann, "a.txt", b"one")))["transfer_id"]
    file_id = await room.bring(room.bob, "answer.txt", b"done", to=room.ann)
    refused = await room.hand(room.bob, file_id, to=room.ann, answers=plain)
    assert (refused.status_code, slug(refused)) == (409, "no-answers-wanted")
    handout = await handed_out(room)
    own = await room.hand(room.ann, plain, answers=handout)
    assert (own.status_code, slug(own)) == (409, "no-answers-wanted")
    eve = satchel.caller()
    await eve.sign_up("eve@example.org")
    assert (await eve("POST", "/transfers", json={"files": ["x"], "answers": handout})).status_code == 404


async def test_only_a_room_is_asked_for_answers(satchel: Satchel, room: Room) -> None:
    file = await uploaded(satchel, room.ann, "a.txt", b"one")
    body = {"to": {"kind": "email", "email": "bob@example.org"}, "files": [file.file_id], "wants_answers": True}
    assert (await room.ann("POST", "/transfers", json=body)).status_code == 422
    assert (await room.ann("POST", "/transfers", json={"files": [file.file_id]})).status_code == 422
    assert (await by_email(room.ann, file.file_id))["wants_answers"] is False


async def close(room: Room) -> None:
    assert (await room.ann("DELETE", f"/rooms/{room.room_id}")).status_code == 204


async def paths(caller: Caller) -> list[str]:
    """What is on the shelf, folders with a / behind them."""

    async def below(folder_id: str, way: str) -> list[str]:
        found: list[str] = []
        for entry in (await caller("GET", "/shelf/entries", params={"folder": folder_id})).json()["entries"]:
            is_folder = entry["kind"] == "folder"
            found += await below(entry["id"], f"{way}{entry['name']}/") if is_folder else [way + entry["name"]]
        return found

    return await below("root", "")


async def test_answers_to_a_member_are_on_their_shelf_and_outlive_the_room(satchel: Satchel, room: Room) -> None:
    handout = await handed_out(room, note="Essay 3/4: on trees\nby Friday")
    asked = await seen(room.gus, handout)
    folder = f"Received/{asked['sent_at'][:10]} Essay 3-4: on trees"
    assert asked["answers_folder"] == folder
    answer = await answer_to(room, handout, room.gus, b"done")
    sent = await seen(room.gus, answer)
    assert (sent["state"], sent["shelf_folder"]) == ("shelved", f"{folder}/Gus")
    assert sent["receipts"][0]["shelved_at"] and not sent["receipts"][0]["opened_at"]
    assert await waiting(room.ann) == [answer]
    await close(room)
    assert await paths(room.ann) == [f"{folder}/Gus/answer.txt"]
    assert await fetched(room.ann, answer) == b"done"
    listed = (await room.ann("GET", "/transfers")).json()["transfers"]
    assert {each["transfer_id"]: each["is_available"] for each in listed} == {answer: True, handout: False}
    assert [file.came_by for file in await check_shelf(satchel, room.ann)] == [answer]


async def test_answers_to_a_guest_stay_in_the_room_and_that_is_said(room: Room) -> None:
    handout = await handed_out(room, by=room.gus)
    assert (await seen(room.bob, handout))["answers_folder"] is None
    answer = await answer_to(room, handout, room.bob, b"done", to=room.gus)
    sent = await seen(room.bob, answer)
    assert (sent["state"], sent["shelf_folder"]) == ("offered", None)


@pytest.mark.parametrize("what", ["withdraw", "decline"])
async def test_an_answer_that_nobody_looked_at_goes_from_the_shelf_when_it_is_withdrawn_or_declined(
    satchel: Satchel, room: Room, what: str
) -> None:
    handout = await handed_out(room)
    answer = await answer_to(room, handout, room.bob, b"done")
    ended = await (room.bob if what == "withdraw" else room.ann)("POST", f"/transfers/{answer}/{what}")
    assert ended.status_code == 200, ended.text
    assert await check_shelf(satchel, room.ann) == []
    kept = await answer_to(room, handout, room.bob, b"once more")
    (file,) = await check_shelf(satchel, room.ann)
    assert (await room.ann("GET", f"/shelf/files/{file.file_id}/content")).status_code == 200
    late = await (room.bob if what == "withdraw" else room.ann)("POST", f"/transfers/{kept}/{what}")
    assert (late.status_code, slug(late)) == (409, "already-taken")


async def test_an_answer_for_which_the_shelf_has_no_space_waits_in_the_room(tmp_path: Path) -> None:
    async with running_satchel(tmp_path, sign_up="open", quota=100) as satchel:
        ann, bob = satchel.caller(), satchel.caller()
        await ann.sign_up("ann@example.org")
        await bob.sign_up("bob@example.org")
        opened = (await ann("POST", "/rooms", json={"name": "Class"})).json()
        room = Room(satchel, ann, bob, bob, opened["room_id"], opened["code"])
        await room.join(bob)
        filling = await uploaded(satchel, ann, "filling.txt", b"f" * 99)
        answer = await answer_to(room, await handed_out(room, note="Essay"), bob, b"done")
        sent = await seen(bob, answer)
        assert (sent["state"], sent["receipts"][0]["shelved_at"], sent["is_available"]) == ("offered", None, True)
        await ann("DELETE", f"/shelf/files/{filling.file_id}")
        await ann("DELETE", "/shelf/bin")
        assert (await ann("POST", f"/transfers/{answer}/save", json={})).status_code == 200
        await close(room)
        assert await paths(ann) == [f"Received/{sent['sent_at'][:10]} Essay/bob/answer.txt"]
        assert await fetched(ann, answer) == b"done"
