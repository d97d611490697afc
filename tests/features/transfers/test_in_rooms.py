"""Handing over in a room: to one, to all, to those who come later; for members and guests alike."""

import asyncio
import csv
import io

from tests.application import Caller, Satchel
from tests.features.shelf.given import check_shelf, names
from tests.features.transfers.given import Room, a_guest, counts, fetched, history, proved, seen, slug, waiting


async def test_everybody_in_the_room_gets_a_receipt_of_their_own(room: Room) -> None:
    sent = await room.handed(room.ann, await room.bring(room.ann, "a.txt", b"one"))
    transfer_id = sent["transfer_id"]
    assert sent["receiver"] == {"kind": "room", "id": room.room_id, "name": "Class"}
    assert (sent["counts"], sent["state"]) == (counts(offered=2), "offered")
    assert await waiting(room.bob) == await waiting(room.gus) == [transfer_id]
    content = await fetched(room.gus, transfer_id)
    await proved(room.gus, transfer_id, content)
    mine = await seen(room.ann, transfer_id)
    assert {each["name"]: each["state"] for each in mine["receipts"]} == {"bob": "offered", "Gus": "verified"}
    assert (mine["counts"], mine["state"]) == (counts(offered=1, verified=1), "offered")
    theirs = await seen(room.bob, transfer_id)
    assert [each["person_id"] for each in theirs["receipts"]] == [room.bob.user_id]


async def test_the_room_says_of_a_file_how_it_was_handed_over(room: Room) -> None:
    ids = [await room.bring(room.ann, name, name.encode()) for name in ("a.txt", "b.txt")]
    transfer_id = (await room.handed(room.ann, *ids))["transfer_id"]
    listed = (await room.bob("GET", f"/rooms/{room.room_id}/files")).json()["files"]
    assert {each["place"]: each["file_id"] for each in listed} == dict(enumerate(ids))
    assert {each["transfer_id"] for each in listed} == {transfer_id}


async def test_what_goes_to_one_person_is_not_there_for_the_others(room: Room) -> None:
    file_id = await room.bring(room.gus, "secret.txt", b"psst", to=room.ann)
    sent = await room.handed(room.gus, file_id, to=room.ann)
    assert sent["receiver"] == {"kind": "person", "id": room.ann.user_id, "name": "ann"}
    assert sent["sender"] == {"person_id": room.gus.user_id, "name": "Gus", "kind": "guest"}
    assert (await room.bob("GET", f"/transfers/{sent['transfer_id']}")).status_code == 404
    assert await history(room.bob) == []
    assert await fetched(room.ann, sent["transfer_id"]) == b"psst"


async def test_a_file_brought_for_one_person_goes_to_nobody_else(room: Room) -> None:
    file_id = await room.bring(room.ann, "secret.txt", b"psst", to=room.bob)
    assert (await room.hand(room.ann, file_id)).status_code == 422
    assert (await room.hand(room.ann, file_id, to=room.gus)).status_code == 422
    assert (await room.hand(room.gus, file_id, to=room.bob)).status_code == 404


async def test_who_comes_later_gets_a_receipt_when_they_fetch(satchel: Satchel, room: Room) -> None:
    transfer_id = (await room.handed(room.ann, await room.bring(room.ann, "a.txt", b"one")))["transfer_id"]
    late = await a_guest(satchel, "Lea")
    assert (await late("GET", f"/transfers/{transfer_id}")).status_code == 404
    await room.join(late)
    assert (await seen(late, transfer_id))["state"] == "offered"
    assert (await seen(room.ann, transfer_id))["counts"] == counts(offered=2)
    await asyncio.gather(*(fetched(late, transfer_id) for _ in range(5)))
    assert (await seen(room.ann, transfer_id))["counts"] == counts(offered=2, downloaded=1)
    assert await history(late, direction="received") == [transfer_id]


async def test_a_room_of_one_can_be_given_something_for_those_to_come(satchel: Satchel, ann: Caller) -> None:
    opened = (await ann("POST", "/rooms", json={})).json()
    room = Room(satchel, ann, ann, ann, opened["room_id"], opened["code"])
    sent = await room.handed(ann, await room.bring(ann, "a.txt", b"one"))
    assert (sent["counts"], sent["state"]) == (counts(), "offered")
    late = await a_guest(satchel, "Lea")
    await room.join(late)
    assert await fetched(late, sent["transfer_id"]) == b"one"
    assert (await seen(ann, sent["transfer_id"]))["state"] == "downloaded"


async def test_a_member_saves_what_the_room_has_and_keeps_it_when_the_room_ends(room: Room) -> None:
    transfer_id = (await room.handed(room.ann, await room.bring(room.ann, "a.txt", b"one")))["transfer_id"]
    saved = await room.bob("POST", f"/transfers/{transfer_id}/save", json={})
    assert (saved.status_code, saved.json()["transfer"]["state"]) == (200, "opened")
    assert (await room.gus("POST", f"/transfers/{transfer_id}/save", json={})).status_code == 401
    await room.ann("DELETE", f"/rooms/{room.room_id}")
    assert await names(room.bob) == ["Received"]
    assert await fetched(room.bob, transfer_id) == b"one"
    assert (await seen(room.bob, transfer_id))["is_available"]
    again = await room.bob("POST", f"/transfers/{transfer_id}/save", json={})
    assert again.json()["files"] == saved.json()["files"]


async def test_when_the_room_has_ended_the_line_stays_and_the_files_are_gone(room: Room) -> None:
    transfer_id = (await room.handed(room.ann, await room.bring(room.ann, "a.txt", b"one")))["transfer_id"]
    await room.ann("DELETE", f"/rooms/{room.room_id}")
    for caller in (room.ann, room.bob, room.gus):
        assert await history(caller) == [transfer_id]
        (line,) = (await caller("GET", "/transfers")).json()["transfers"]
        assert not line["is_available"]
        assert not (await seen(caller, transfer_id))["is_available"]
        answer = await caller("GET", f"/transfers/{transfer_id}/files/0/content")
        assert (answer.status_code, slug(answer)) == (409, "files-gone")
    again = await room.ann("POST", f"/transfers/{transfer_id}/resend")
    assert (again.status_code, slug(again)) == (409, "files-gone")


async def test_who_was_put_out_keeps_the_line_and_loses_the_files(room: Room) -> None:
    transfer_id = (await room.handed(room.ann, await room.bring(room.ann, "a.txt", b"one")))["transfer_id"]
    await room.ann("DELETE", f"/rooms/{room.room_id}/people/{room.bob.user_id}")
    assert not (await seen(room.bob, transfer_id))["is_available"]
    answer = await room.bob("GET", f"/transfers/{transfer_id}/files/0/content")
    assert (answer.status_code, slug(answer)) == (409, "files-gone")
    assert (await room.bob("POST", f"/transfers/{transfer_id}/save", json={})).status_code == 409
    later = await room.handed(room.ann, await room.bring(room.ann, "b.txt", b"two"))
    assert (await room.bob("GET", f"/transfers/{later['transfer_id']}")).status_code == 404
    assert (await room.hand(room.bob, "x")).status_code == 404
    answer = await room.hand(room.ann, await room.bring(room.ann, "c.txt", b"three"), to=room.bob)
    assert (answer.status_code, slug(answer)) == (404, "receiver-unknown")


async def test_withdrawing_takes_it_from_those_who_have_not_taken_it_and_from_the_room(
    satchel: Satchel, room: Room
) -> None:
    file_id = await room.bring(room.ann, "a.txt", b"one")
    transfer_id = (await room.handed(room.ann, file_id))["transfer_id"]
    await fetched(room.bob, transfer_id)
    answer = await room.ann("POST", f"/transfers/{transfer_id}/withdraw")
    assert answer.json()["counts"] == counts(downloaded=1, withdrawn=1)
    assert await room.file_ids(room.gus) == set()
    late = await a_guest(satchel, "Lea")
    await room.join(late)
    assert (await late("GET", f"/transfers/{transfer_id}")).status_code == 404
    refused = await room.gus("GET", f"/transfers/{transfer_id}/files/0/content")
    assert (refused.status_code, slug(refused)) == (409, "not-offered")


async def test_withdrawing_leaves_in_the_room_what_others_brought_and_what_was_handed_over_again(room: Room) -> None:
    bobs = await room.bring(room.bob, "b.txt", b"two")
    anns = await room.bring(room.ann, "a.txt", b"one")
    first = await room.handed(room.ann, anns, bobs)
    second = (await room.ann("POST", f"/transfers/{first['transfer_id']}/resend")).json()
    await room.ann("POST", f"/transfers/{first['transfer_id']}/withdraw")
    assert await room.file_ids(room.gus) == {bobs, anns}
    await room.ann("POST", f"/transfers/{second['transfer_id']}/withdraw")
    assert await room.file_ids(room.gus) == {bobs}


async def test_nobody_hands_over_to_themselves_or_files_that_are_not_there(room: Room) -> None:
    file_id = await room.bring(room.ann, "a.txt", b"one")
    answer = await room.hand(room.ann, file_id, to=room.ann)
    assert (answer.status_code, slug(answer)) == (409, "to-yourself")
    assert (await room.hand(room.ann, "unknown")).status_code == 404


async def test_a_guest_has_no_shelf_to_send_from(room: Room) -> None:
    body = {"to": {"kind": "email", "email": "bob@example.org"}, "files": ["x"]}
    assert (await room.gus("POST", "/transfers", json=body)).status_code == 401


async def test_receipts_can_be_taken_away_as_a_table_in_which_no_name_is_a_formula(
    satchel: Satchel, room: Room
) -> None:
    await room.join(await a_guest(satchel, '=HYPERLINK("http://example.org";"Ümit")'))
    transfer_id = (await room.handed(room.ann, await room.bring(room.ann, "a.txt", b"one")))["transfer_id"]
    await fetched(room.bob, transfer_id)
    answer = await room.ann("GET", f"/transfers/{transfer_id}/receipts.csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"].startswith("attachment")
    rows = list(csv.reader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert rows[0][:3] == ["name", "person_id", "state"]
    assert [(row[0], row[2]) for row in rows[1:]] == [
        ('\'=HYPERLINK("http://example.org";"Ümit")', "offered"),
        ("bob", "downloaded"),
        ("Gus", "offered"),
    ]
    theirs = (await room.bob("GET", f"/transfers/{transfer_id}/receipts.csv")).content.decode("utf-8-sig")
    assert len(theirs.splitlines()) == 2


async def test_what_was_binned_with_its_folder_can_be_saved_again(room: Room) -> None:
    file_id = await room.bring(room.ann, "a.txt", b"one")
    path = f"/transfers/{(await room.handed(room.ann, file_id))['transfer_id']}/save"
    await room.bob("POST", path, json={})
    (first,) = await check_shelf(room.satchel, room.bob)
    await room.bob("DELETE", f"/shelf/folders/{first.folder_id}")
    saved = (await room.bob("POST", path, json={})).json()["files"]
    assert [file.file_id for file in await check_shelf(room.satchel, room.bob)] == saved
