"""Hand-out and hand-in: one file to all, each answer back in private, and who is missing."""

from tests.application import Caller, Satchel
from tests.features.shelf.given import uploaded
from tests.features.transfers.given import Room, a_guest, by_email, fetched, history, seen, slug


async def handed_out(room: Room) -> str:
    file_id = await room.bring(room.ann, "task.txt", b"do it")
    return (await room.handed(room.ann, file_id, wants_answers=True))["transfer_id"]


async def answer_to(room: Room, handout: str, who: Caller, content: bytes) -> str:
    """An answer without saying to whom: it goes to who asked."""
    file_id = await room.bring(who, "answer.txt", content, to=room.ann)
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
