"""What a receiver can do with an offer, and how the receipt goes on: step by step, never back, never twice."""

import asyncio
import hashlib

import pytest

from tests.application import Caller, Satchel
from tests.features.shelf.given import check_shelf, made, names, uploaded
from tests.features.transfers.conftest import Offer
from tests.features.transfers.given import by_email, counts, history, proved, seen, slug, waiting


async def fetch(offer: Offer, place: int, **headers: str) -> bytes:
    path = f"/transfers/{offer.transfer_id}/files/{place}/content"
    answer = await offer.bob("GET", path, headers=headers)
    assert answer.status_code in (200, 206), answer.text
    return answer.content


async def verify(offer: Offer, place: int, content: bytes) -> int:
    return (await proved(offer.bob, offer.transfer_id, content, place)).status_code


async def test_an_offer_stands_when_the_shelf_is_full_and_can_be_saved_later(offer: Offer) -> None:
    assert (await seen(offer.ann, offer.transfer_id))["counts"] == counts(offered=1)
    refused = await offer.bob("POST", f"/transfers/{offer.transfer_id}/save", json={})
    assert (refused.status_code, slug(refused)) == (507, "quota-reached")
    assert await names(offer.bob) == ["filling.txt"]
    await offer.make_room()
    saved = (await offer.bob("POST", f"/transfers/{offer.transfer_id}/save", json={})).json()
    assert (saved["transfer"]["state"], saved["transfer"]["counts"]) == ("opened", counts(opened=1))
    assert saved["transfer"]["receipts"][0]["shelved_at"]
    assert [file.file_id for file in await check_shelf(offer.satchel, offer.bob)] == sorted(saved["files"])


async def test_saving_again_or_twice_at_once_comes_to_the_same_files(offer: Offer) -> None:
    await offer.make_room()
    path = f"/transfers/{offer.transfer_id}/save"
    answers = await asyncio.gather(*(offer.bob("POST", path, json={}) for _ in range(4)))
    again = await offer.bob("POST", path, json={})
    assert {tuple(answer.json()["files"]) for answer in answers} == {tuple(again.json()["files"])}
    assert len(await check_shelf(offer.satchel, offer.bob)) == 2
    assert (await seen(offer.ann, offer.transfer_id))["counts"] == counts(opened=1)


async def test_a_receiver_chooses_the_folder_to_save_into(offer: Offer) -> None:
    await offer.make_room()
    folder_id = await made(offer.bob, "Mine")
    assert await offer.act(offer.bob, "save", folder_id=folder_id) == 200
    assert await names(offer.bob, folder_id) == ["first.txt", "second.txt"]
    assert await names(offer.bob) == ["Mine"]


async def test_an_unknown_folder_is_refused_and_nothing_is_saved(offer: Offer) -> None:
    await offer.make_room()
    assert await offer.act(offer.bob, "save", folder_id="unknown") == 404
    assert await names(offer.bob) == []


async def test_a_receipt_goes_from_offered_to_verified_file_by_file(offer: Offer) -> None:
    async def states() -> tuple[str, list[str]]:
        transfer = await seen(offer.bob, offer.transfer_id)
        return transfer["state"], [file["state"] for file in transfer["files"]]

    assert await states() == ("offered", ["offered", "offered"])
    await offer.act(offer.bob, "opened")
    assert await states() == ("opened", ["opened", "opened"])
    first = await fetch(offer, 0)
    assert await states() == ("opened", ["downloaded", "opened"])
    second = await fetch(offer, 1)
    assert await states() == ("downloaded", ["downloaded", "downloaded"])
    assert await verify(offer, 1, second) == 200
    assert await states() == ("downloaded", ["downloaded", "verified"])
    assert await verify(offer, 0, first) == 200
    assert await states() == ("verified", ["verified", "verified"])
    assert (await seen(offer.ann, offer.transfer_id))["counts"] == counts(verified=1)


async def test_nothing_takes_a_receipt_back(offer: Offer) -> None:
    await verify(offer, 0, await fetch(offer, 0))
    await verify(offer, 1, await fetch(offer, 1))
    before = (await seen(offer.ann, offer.transfer_id))["receipts"]
    offer.satchel.clock.advance(60)
    await offer.act(offer.bob, "opened")
    await fetch(offer, 0)
    assert await offer.act(offer.bob, "decline") == 409
    assert await offer.act(offer.ann, "withdraw") == 409
    assert (await seen(offer.ann, offer.transfer_id))["receipts"] == before


async def test_a_wrong_hash_verifies_nothing(offer: Offer) -> None:
    await fetch(offer, 0)
    answer = await proved(offer.bob, offer.transfer_id, b"the firsT")
    assert (answer.status_code, slug(answer)) == (422, "hash-differs")
    assert (await seen(offer.bob, offer.transfer_id))["files"][0]["state"] == "downloaded"
    assert await offer.act(offer.bob, "files/0/verified", proof="short") == 422


async def test_nobody_verifies_by_what_the_transfer_itself_tells_or_twice_by_one_challenge(offer: Offer) -> None:
    told = (await seen(offer.bob, offer.transfer_id))["files"][0]["sha256"]
    way = f"/transfers/{offer.transfer_id}/files/0"
    answer = await offer.bob("POST", f"{way}/verified", json={"proof": told})
    assert (answer.status_code, slug(answer)) == (409, "challenge-over")
    challenge = bytes.fromhex((await offer.bob("POST", f"{way}/challenge")).json()["challenge"])
    for proof in (told, hashlib.sha256(challenge + b"the first").hexdigest()):
        # The first answer, which is wrong, ends the challenge.
        refused = await offer.bob("POST", f"{way}/verified", json={"proof": proof})
        assert refused.status_code in (422, 409)
    assert (await seen(offer.ann, offer.transfer_id))["counts"] == counts(offered=1)
    assert await verify(offer, 0, b"the first") == 200
    assert (await seen(offer.bob, offer.transfer_id))["files"][0]["state"] == "verified"


async def test_a_file_is_downloaded_once_each_of_its_bytes_went(offer: Offer) -> None:
    async def state() -> str:
        return (await seen(offer.bob, offer.transfer_id))["files"][0]["state"]

    path = f"/transfers/{offer.transfer_id}/files/0/content"
    assert (await offer.bob("HEAD", path)).status_code == 200
    assert await state() == "offered"
    for _ in range(3):
        assert await fetch(offer, 0, range="bytes=-1") == b"t"
        assert await fetch(offer, 0, range="bytes=0-3") == b"the "
        assert await state() == "opened"
    assert await fetch(offer, 0, range="bytes=3-7") == b" firs"
    assert await state() == "downloaded"


async def test_a_download_that_ends_many_times_counts_once(offer: Offer) -> None:
    await asyncio.gather(*(fetch(offer, place) for place in (0, 1) * 5))
    assert (await seen(offer.ann, offer.transfer_id))["counts"] == counts(downloaded=1)


async def test_the_sender_may_read_what_they_sent_without_being_counted(offer: Offer) -> None:
    answer = await offer.ann("GET", f"/transfers/{offer.transfer_id}/files/1/content")
    assert answer.content == b"the second"
    assert (await seen(offer.ann, offer.transfer_id))["counts"] == counts(offered=1)


async def test_what_was_declined_is_over(offer: Offer) -> None:
    assert await offer.act(offer.bob, "decline") == 200
    assert await offer.act(offer.bob, "decline") == 200
    assert await waiting(offer.bob) == []
    for what, body in (("save", {}), ("files/0/verified", {"proof": "0" * 64})):
        assert await offer.act(offer.bob, what, **body) == 409
    refused = await offer.bob("GET", f"/transfers/{offer.transfer_id}/files/0/content")
    assert (refused.status_code, slug(refused)) == (409, "not-offered")
    mine = await seen(offer.ann, offer.transfer_id)
    assert (mine["state"], mine["counts"]) == ("declined", counts(declined=1))


async def test_what_was_withdrawn_is_over_for_the_receiver_and_stays_in_both_histories(offer: Offer) -> None:
    await offer.act(offer.bob, "opened")
    assert await offer.act(offer.ann, "withdraw") == 200
    assert await offer.act(offer.ann, "withdraw") == 200
    assert await offer.act(offer.bob, "decline") == 409
    assert await offer.act(offer.bob, "opened") == 200
    refused = await offer.bob("GET", f"/transfers/{offer.transfer_id}/files/0/content")
    assert (refused.status_code, slug(refused)) == (409, "not-offered")
    theirs = await seen(offer.bob, offer.transfer_id)
    assert (theirs["state"], theirs["is_available"], theirs["counts"]) == ("withdrawn", False, counts(withdrawn=1))
    assert await history(offer.bob) == await history(offer.ann) == [offer.transfer_id]


@pytest.mark.parametrize("what", ["decline", "save"])
async def test_of_two_who_end_it_at_once_exactly_one_does(offer: Offer, what: str) -> None:
    await offer.make_room()
    statuses = await asyncio.gather(offer.act(offer.bob, what), offer.act(offer.ann, "withdraw"))
    assert sorted(statuses)[0] == 200
    mine = await seen(offer.ann, offer.transfer_id)
    assert sum(mine["counts"].values()) == 1
    assert mine["counts"][mine["receipts"][0]["state"]] == 1
    # Whoever was told that it is withdrawn has nothing of it, and whoever has saved it has all.
    expected = 2 if mine["receipts"][0]["shelved_at"] else 0
    assert len(await check_shelf(offer.satchel, offer.bob)) == expected


async def test_a_receiver_hears_of_deleted_files(offer: Offer) -> None:
    await offer.make_room()
    await offer.ann("DELETE", f"/shelf/files/{offer.sent_ids[1]}")
    assert not (await seen(offer.bob, offer.transfer_id))["is_available"]
    assert await fetch(offer, 0) == b"the first"
    answer = await offer.bob("POST", f"/transfers/{offer.transfer_id}/save", json={})
    assert (answer.status_code, slug(answer)) == (409, "files-gone")
    assert await names(offer.bob) == []


async def test_an_answer_to_a_proof_has_the_first_files_alone(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    """It is asked for each of thousands of files, and had a thousand of them each time."""
    folder_id = await made(ann, "folder")
    for number in range(12):
        await uploaded(satchel, ann, f"{number:02}.txt", b"%d" % number, folder_id=folder_id)
    transfer_id = (await by_email(ann, folder_id))["transfer_id"]
    answer = await proved(bob, transfer_id, b"11", place=11)
    assert (answer.status_code, len(answer.json()["files"]), answer.json()["cursor"]) == (200, 10, "10")
    assert (await seen(bob, transfer_id))["files"][11]["state"] == "verified"
