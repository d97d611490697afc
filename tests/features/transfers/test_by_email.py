"""Files from one shelf to another by e-mail address: they land at once, and wait to be seen."""

import asyncio
from pathlib import Path

import pytest

from tests.application import Caller, Satchel, running_satchel
from tests.features.shelf.given import check_shelf, made, names, uploaded
from tests.features.transfers.given import a_file_sent, by_email, counts, history, seen, slug, waiting
from tests.features.transfers.meddling import Before, nothing


async def test_a_file_lands_on_the_shelf_of_an_absent_person_and_waits_to_be_seen(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    sent = await a_file_sent(satchel, ann, "report.txt", b"all of it")
    assert await names(bob) == ["Received"]
    (kept,) = await check_shelf(satchel, bob)
    assert (kept.name, kept.size_bytes) == ("report.txt", 9)
    received = (await bob("GET", "/transfers/waiting")).json()
    assert (received["more"], len(received["transfers"])) == (False, 1)
    (line,) = received["transfers"]
    assert (line["direction"], line["sender"]["name"], line["receiver"]["name"]) == ("received", "ann", "bob")
    assert (line["file_count"], line["size_bytes"]) == (1, 9)
    assert line["files"][0]["name"] == "report.txt"
    assert line["receipts"][0]["opened_at"] is None
    assert (sent["direction"], sent["state"], sent["counts"]) == ("sent", "shelved", counts(shelved=1))


async def test_both_sides_see_the_same_receipt(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    transfer_id = (await a_file_sent(satchel, ann))["transfer_id"]
    satchel.clock.advance(60)
    assert (await bob("POST", f"/transfers/{transfer_id}/opened")).status_code == 200
    mine, theirs = await seen(ann, transfer_id), await seen(bob, transfer_id)
    assert mine["receipts"] == theirs["receipts"]
    (receipt,) = mine["receipts"]
    assert receipt["opened_at"] > receipt["shelved_at"] >= receipt["offered_at"]
    assert (receipt["downloaded_at"], receipt["verified_at"]) == (None, None)
    assert (receipt["person_id"], receipt["name"], receipt["state"]) == (bob.user_id, "bob", "opened")
    assert await waiting(bob) == []


async def test_folders_come_with_their_structure(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    trip = await made(ann, "Trip")
    day = await made(ann, "Day 1", trip)
    await uploaded(satchel, ann, "map.txt", b"map", folder_id=trip)
    await uploaded(satchel, ann, "photo.txt", b"photo", folder_id=day)
    note = await uploaded(satchel, ann, "note.txt", b"note")
    sent = await by_email(ann, trip, note.file_id)
    assert {(each["folder"], each["name"]) for each in sent["files"]} == {
        ("Trip", "map.txt"),
        ("Trip/Day 1", "photo.txt"),
        ("", "note.txt"),
    }
    received = (await bob("GET", "/shelf/entries")).json()["entries"][0]["id"]
    assert await names(bob, received) == ["Trip", "note.txt"]
    assert len(await check_shelf(satchel, bob)) == 3


async def test_the_receivers_copy_is_their_own(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"one")
    transfer_id = (await by_email(ann, file.file_id))["transfer_id"]
    await ann("DELETE", f"/shelf/files/{file.file_id}")
    await ann("DELETE", f"/shelf/bin/{file.file_id}")
    content = await bob("GET", f"/transfers/{transfer_id}/files/0/content")
    assert (content.status_code, content.content) == (200, b"one")
    assert (await seen(bob, transfer_id))["is_available"]
    assert not (await seen(ann, transfer_id))["is_available"]
    again = await ann("POST", f"/transfers/{transfer_id}/resend")
    assert (again.status_code, slug(again)) == (409, "files-gone")


async def test_who_deletes_their_copy_has_none_though_the_sender_keeps_theirs(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    transfer_id = (await a_file_sent(satchel, ann))["transfer_id"]
    (kept,) = await check_shelf(satchel, bob)
    await bob("DELETE", f"/shelf/files/{kept.file_id}")
    assert not (await seen(bob, transfer_id))["is_available"]
    content = await bob("GET", f"/transfers/{transfer_id}/files/0/content")
    assert (content.status_code, slug(content)) == (409, "files-gone")


async def test_sending_again_makes_another_transfer_of_the_same_files(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    first = await a_file_sent(satchel, ann)
    satchel.clock.advance(1)
    answer = await ann("POST", f"/transfers/{first['transfer_id']}/resend")
    assert answer.status_code == 201
    second = answer.json()
    assert (second["files"], second["receiver"]) == (first["files"], first["receiver"])
    assert await history(bob) == [second["transfer_id"], first["transfer_id"]]
    assert [file.name for file in await check_shelf(satchel, bob)] == ["a.txt", "a (1).txt"]


@pytest.mark.parametrize(("who", "what", "state"), [("ann", "withdraw", "withdrawn"), ("bob", "decline", "declined")])
async def test_what_has_landed_unseen_goes_from_the_shelf_again_when_it_is_withdrawn_or_declined(
    satchel: Satchel, ann: Caller, bob: Caller, who: str, what: str, state: str
) -> None:
    transfer_id = (await a_file_sent(satchel, ann))["transfer_id"]
    answer = await (ann if who == "ann" else bob)("POST", f"/transfers/{transfer_id}/{what}")
    assert (answer.status_code, answer.json()["state"]) == (200, state)
    assert await check_shelf(satchel, bob) == []
    assert (await bob("GET", "/shelf/bin")).json()["entries"] == []
    assert await waiting(bob) == []
    assert (await bob("GET", f"/transfers/{transfer_id}/files/0/content")).status_code == 409


@pytest.mark.parametrize("binned", ["the file", "its folder"])
@pytest.mark.parametrize("what", ["withdraw", "decline"])
async def test_what_was_binned_unseen_goes_from_the_bin_when_it_is_withdrawn_or_declined(
    satchel: Satchel, ann: Caller, bob: Caller, what: str, binned: str
) -> None:
    transfer_id = (await a_file_sent(satchel, ann))["transfer_id"]
    (kept,) = await check_shelf(satchel, bob)
    path = f"files/{kept.file_id}" if binned == "the file" else f"folders/{kept.folder_id}"
    assert (await bob("DELETE", f"/shelf/{path}")).status_code == 204
    assert (await (ann if what == "withdraw" else bob)("POST", f"/transfers/{transfer_id}/{what}")).status_code == 200
    for entry in (await bob("GET", "/shelf/bin")).json()["entries"]:
        await bob("POST", f"/shelf/bin/{entry['id']}/restore")
    assert await check_shelf(satchel, bob) == []


@pytest.mark.parametrize("how", ["content", "preview", "archive", "rename", "hand on"])
async def test_whoever_uses_what_they_find_on_their_shelf_has_taken_it(
    satchel: Satchel, ann: Caller, bob: Caller, how: str
) -> None:
    transfer_id = (await a_file_sent(satchel, ann))["transfer_id"]
    (kept,) = await check_shelf(satchel, bob)
    if how == "archive":
        answer = await bob("GET", f"/shelf/archive?file={kept.file_id}")
    elif how == "rename":
        answer = await bob("PATCH", f"/shelf/files/{kept.file_id}", json={"name": "mine.txt"})
    elif how == "hand on":
        room_id = (await bob("POST", "/rooms", json={})).json()["room_id"]
        answer = await bob("POST", f"/rooms/{room_id}/files", json={"shelf": [kept.file_id]})
    else:
        answer = await bob("GET", f"/shelf/files/{kept.file_id}/{how}")
    assert answer.is_success
    assert (await seen(ann, transfer_id))["counts"] == counts(opened=1)
    assert await waiting(bob) == []
    assert (await ann("POST", f"/transfers/{transfer_id}/withdraw")).status_code == 409


async def test_what_was_looked_at_can_neither_be_withdrawn_nor_declined(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    transfer_id = (await a_file_sent(satchel, ann))["transfer_id"]
    await bob("POST", f"/transfers/{transfer_id}/opened")
    for caller, what in ((ann, "withdraw"), (bob, "decline")):
        answer = await caller("POST", f"/transfers/{transfer_id}/{what}")
        assert (answer.status_code, slug(answer)) == (409, "already-taken")
    assert (await seen(ann, transfer_id))["counts"] == counts(opened=1)


async def test_nobody_sends_to_themselves_or_to_nobody(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"one")

    async def refused(email: str, file_id: str = file.file_id) -> tuple[int, str]:
        body = {"to": {"kind": "email", "email": email}, "files": [file_id]}
        answer = await ann("POST", "/transfers", json=body)
        return answer.status_code, slug(answer)

    assert await refused("Ann@example.org") == (409, "to-yourself")
    assert await refused("nobody@example.org") == (404, "receiver-unknown")
    assert await refused("no address") == (422, "email-unfit")
    assert await refused("bob@example.org", "unknown") == (404, "not-found")
    await ann("PATCH", f"/people/{bob.user_id}", json={"suspended": True})
    assert await refused("bob@example.org") == (404, "receiver-unknown")
    assert await history(ann) == []


async def test_trying_out_addresses_ends_with_a_wait_that_right_ones_do_not_bring_nearer(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"one")

    async def tried(email: str) -> int:
        body = {"to": {"kind": "email", "email": email}, "files": [file.file_id]}
        return (await ann("POST", "/transfers", json=body)).status_code

    assert [await tried("bob@example.org") for _ in range(2)] == [201] * 2
    assert [await tried(f"{number}@example.org") for number in range(60)] == [404] * 60
    assert [await tried("nobody@example.org"), await tried("bob@example.org")] == [429, 429]
    satchel.clock.advance(15 * 60 + 1)
    await ann.refresh()
    assert await tried("bob@example.org") == 201


async def test_an_empty_folder_is_nothing_to_send(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    body = {"to": {"kind": "email", "email": "bob@example.org"}, "files": [await made(ann, "Empty")]}
    assert (await ann("POST", "/transfers", json=body)).status_code == 422
    assert (await ann("POST", "/transfers", json=body | {"files": []})).status_code == 422


async def test_two_sends_in_the_same_millisecond_are_two_transfers(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"one")
    sent = await asyncio.gather(*(by_email(ann, file.file_id) for _ in range(5)))
    ids = {each["transfer_id"] for each in sent}
    assert len(ids) == 5
    assert set(await history(bob)) == set(await history(ann)) == ids
    assert len(await check_shelf(satchel, bob)) == 5


@pytest.mark.slow
async def test_many_files_are_all_there_though_lists_show_the_first_ten(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    folder = await made(ann, "Many")
    for number in range(123):
        await uploaded(satchel, ann, f"{number:03}.txt", b"%d" % number, folder_id=folder)
    sent = await by_email(ann, folder)
    assert [each["place"] for each in sent["files"]] == list(range(123))
    (line,) = (await bob("GET", "/transfers")).json()["transfers"]
    assert (line["file_count"], len(line["files"])) == (123, 10)
    for place in (0, 9, 10, 109, 110, 122):
        content = await bob("GET", f"/transfers/{sent['transfer_id']}/files/{place}/content")
        assert content.content == b"%d" % place
    places, query = list[int](), {"limit": "55"}
    while True:
        page = (await bob("GET", f"/transfers/{sent['transfer_id']}", params=query)).json()
        assert len(page["files"]) <= 55 and page["is_available"]
        places += [each["place"] for each in page["files"]]
        if page["cursor"] is None:
            break
        query["cursor"] = page["cursor"]
    assert places == list(range(123))
    odd = await bob("GET", f"/transfers/{sent['transfer_id']}", params={"cursor": "-1"})
    assert (odd.status_code, odd.json()["type"]) == (422, "/problems#cursor-invalid")
    assert (await bob("GET", f"/transfers/{sent['transfer_id']}/files/123/content")).status_code == 404
    assert (await bob("GET", f"/transfers/{sent['transfer_id']}/files/-1/content")).status_code == 404


async def test_many_files_are_written_together(tmp_path: Path) -> None:
    writing = Before()
    async with running_satchel(tmp_path, sign_up="open", through=writing.through) as satchel:
        ann, bob = satchel.caller(), satchel.caller()
        await ann.sign_up("ann@example.org")
        await bob.sign_up("bob@example.org")
        folder = await made(ann, "Many")
        for number in range(200):
            await uploaded(satchel, ann, f"{number:03}.txt", b"%d" % number, folder_id=folder)
        writing.the_write(1_000_000, nothing)
        assert (await by_email(ann, folder))["state"] == "shelved"
        # Each is copied once, and its rows stand in a transaction with those of others.
        assert 1_000_000 - writing.countdown < 200 + 30
        assert len(await check_shelf(satchel, bob)) == 200


async def test_more_files_than_a_transfer_can_hold_are_refused_and_nothing_is_sent(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    body = {"to": {"kind": "email", "email": "bob@example.org"}, "files": ["x"] * 5001}
    assert (await ann("POST", "/transfers", json=body)).status_code == 422
    assert await history(bob) == []


async def test_whoever_has_to_repeat_a_request_with_its_key_sends_once(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    file = await uploaded(satchel, ann, "a.txt", b"one")
    body = {"to": {"kind": "email", "email": "bob@example.org"}, "files": [file.file_id]}
    refused = await ann("POST", "/transfers", json=body | {"files": ["none"]}, headers={"idempotency-key": "k"})
    assert refused.status_code == 404
    answers = [await ann("POST", "/transfers", json=body, headers={"idempotency-key": "k"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert len({answer.json()["transfer_id"] for answer in answers}) == 1
    assert len(await history(bob)) == 1
    satchel.clock.advance(1)
    other = await ann("POST", "/transfers", json=body, headers={"idempotency-key": "another"})
    assert (await history(bob))[0] == other.json()["transfer_id"] != answers[0].json()["transfer_id"]
    changed = await ann("POST", "/transfers", json=body | {"note": "other"}, headers={"idempotency-key": "k"})
    assert (changed.status_code, slug(changed)) == (422, "transfer-key-reused")
    sent_again = f"/transfers/{other.json()['transfer_id']}/resend"
    resent = [await ann("POST", sent_again, headers={"idempotency-key": "r"}) for _ in range(2)]
    assert len({answer.json()["transfer_id"] for answer in resent}) == 1
    assert len(await history(bob)) == 3


async def test_an_address_can_be_tried_before_anything_is_uploaded(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    async def tried(email: str) -> int:
        return (await ann("POST", "/transfers/receiver", json={"email": email})).status_code

    assert await tried("bob@example.org") == 204
    assert await tried("ann@example.org") == 409
    assert await tried("no address") == 422
    assert (await waiting(bob), await history(ann)) == ([], [])
    # Trying is no cheaper a way to find out who has an account than sending is.
    tries = [await tried(f"nobody{number}@example.org") for number in range(70)]
    assert set(tries) == {404, 429}
    assert await tried("bob@example.org") == 429


async def test_what_the_receiver_has_made_their_own_is_not_withdrawn(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    async def link(kind: str, thing_id: str) -> None:
        answer = await bob("POST", "/links", json={"thing": {"kind": kind, "id": thing_id}})
        assert answer.status_code == 201, answer.text

    async def link_file(_: str, file_id: str) -> None:
        await link("file", file_id)

    async def link_folder(folder_id: str, _: str) -> None:
        await link("folder", folder_id)

    async def rename_folder(folder_id: str, _: str) -> None:
        assert (await bob("PATCH", f"/shelf/folders/{folder_id}", json={"name": "Mine"})).status_code == 200

    async def restore_file(_: str, file_id: str) -> None:
        await bob("DELETE", f"/shelf/files/{file_id}")
        assert (await bob("POST", f"/shelf/bin/{file_id}/restore")).status_code == 200

    async def restore_folder(folder_id: str, _: str) -> None:
        await bob("DELETE", f"/shelf/folders/{folder_id}")
        assert (await bob("POST", f"/shelf/bin/{folder_id}/restore")).status_code == 200

    for number, make_own in enumerate((link_file, link_folder, rename_folder, restore_file, restore_folder)):
        folder = await made(ann, f"Trip {number}")
        await uploaded(satchel, ann, "map.txt", b"%d" % number, folder_id=folder)
        transfer_id = (await by_email(ann, folder))["transfer_id"]
        untouched = (await a_file_sent(satchel, ann, f"{number}.txt"))["transfer_id"]
        (kept,) = [each for each in await check_shelf(satchel, bob) if each.came_by == transfer_id]
        await make_own(str(kept.folder_id), str(kept.file_id))
        answer = await ann("POST", f"/transfers/{transfer_id}/withdraw")
        assert (answer.status_code, slug(answer)) == (409, "already-taken"), make_own.__name__
        assert (await seen(ann, transfer_id))["state"] == "opened"
        assert (await ann("POST", f"/transfers/{untouched}/withdraw")).status_code == 200
        assert kept.file_id in {each.file_id for each in await check_shelf(satchel, bob)}
