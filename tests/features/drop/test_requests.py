"""Requests: asked, acknowledged, told of, ended; each by those two alone whom it concerns."""

import asyncio
from typing import Any

import pytest

from satchel.features.drop.model import MAX_RECEIPTS, RequestId, RequestUnknown, SessionId
from satchel.features.drop.records import READY, RECEIPTS, request_channel
from satchel.features.drop.service.drop_requests import Flow, receiver_of, sender_of
from satchel.stores.ports.ephemeral import Exists, ListPush, Put
from tests.application import Satchel
from tests.features.drop.given import (
    Person,
    acknowledge,
    acknowledged,
    announced,
    ask,
    asked,
    b64,
    drop_of,
    hearing,
    joined,
    new_id,
    opened,
    slug,
)


async def an_owner_and_a_receiver(satchel: Satchel) -> tuple[Person, Person, str]:
    owner = await opened(satchel)
    receiver = await joined(satchel, owner)
    return owner, receiver, await announced(owner)


async def requests_seen_by(person: Person) -> list[dict[str, Any]]:
    return (await person.look())["requests"]


async def test_a_request_goes_from_asked_over_acknowledged_to_done(satchel: Satchel) -> None:
    owner, receiver, file_id = await an_owner_and_a_receiver(satchel)
    async with hearing(satchel, owner) as owners, hearing(satchel, receiver) as receivers:
        answer = await ask(receiver, file_id)
        request = (await owners.until("drop.request"))["request"]
        assert (answer.status_code, answer.json()) == (201, request)
        assert (request["receiver_id"], request["owner_id"]) == (receiver.member_id, owner.member_id)
        assert (request["acknowledged"], request["chunks"], request["is_flowing"]) == (None, 0, False)
        path = f"/requests/{request['request_id']}"

        said = {"public_key": b64(bytes(32)), "sealed": "c2VhbGVk", "chunks": 3, "bytes": 600_000}
        assert (await acknowledge(owner, request["request_id"], **said)).status_code == 204
        await receivers.until("drop.request")
        acknowledged_ = (await receivers.until("drop.request"))["request"]
        assert acknowledged_ == {**request, "acknowledged": said}
        assert await requests_seen_by(receiver) == [acknowledged_]

        assert (await receiver("POST", f"{path}/progress", json={"chunks": 2})).status_code == 204
        assert (await owners.until("drop.progress")) == {
            "type": "drop.progress",
            "request_id": request["request_id"],
            "chunks": 2,
        }
        await satchel.stores.ephemeral.run(Put(READY(request_id=request["request_id"]), b"true"))
        (seen,) = await requests_seen_by(owner)
        assert (seen["chunks"], seen["is_flowing"]) == (2, True)

        receipt = b64(bytes(range(32)))
        assert (await receiver("POST", f"{path}/done", json={"receipt": receipt})).status_code == 204
        assert (await owners.until("drop.done"))["receipt"] == receipt
    assert await requests_seen_by(owner) == []
    assert slug(await receiver("POST", f"{path}/done", json={"receipt": receipt})) == (404, "request-unknown")


async def test_an_owner_who_was_away_finds_the_receipt(satchel: Satchel) -> None:
    owner = await opened(satchel)
    receiver, other = await joined(satchel, owner), await joined(satchel, owner)
    receipts = [{"request_id": "", "receipt": b64(bytes([number]) * 32)} for number in range(2)]
    for each in receipts:
        each["request_id"] = await acknowledged(owner, await asked(receiver, await announced(owner)))
        path = f"/requests/{each['request_id']}/done"
        assert (await receiver("POST", path, json={"receipt": each["receipt"]})).status_code == 204
    seen = await owner.look()
    assert (seen["requests"], seen["receipts"]) == ([], receipts[::-1])
    assert [(await person.look())["receipts"] for person in (receiver, other)] == [[], []]
    await owner("DELETE", f"/members/{owner.member_id}")
    assert not await satchel.stores.ephemeral.run(Exists(RECEIPTS(member_id=owner.member_id)))


async def test_only_the_latest_receipts_are_kept(satchel: Satchel) -> None:
    owner = await opened(satchel)
    receiver = await joined(satchel, owner)
    key = RECEIPTS(member_id=owner.member_id)
    earlier = [f"{new_id()}@{b64(bytes(32))}".encode() for _ in range(MAX_RECEIPTS)]
    await satchel.stores.ephemeral.together(*(ListPush(key, each) for each in earlier))
    request_id = await acknowledged(owner, await asked(receiver, await announced(owner)))
    await receiver("POST", f"/requests/{request_id}/done", json={"receipt": b64(bytes(32))})
    kept = (await owner.look())["receipts"]
    assert (len(kept), kept[0]["request_id"]) == (MAX_RECEIPTS, request_id)


async def test_an_owner_who_does_not_know_the_length_says_so(satchel: Satchel) -> None:
    owner, receiver, file_id = await an_owner_and_a_receiver(satchel)
    request_id = await asked(receiver, file_id)
    assert (await acknowledge(owner, request_id, chunks=None, bytes=None)).status_code == 204
    (seen,) = await requests_seen_by(owner)
    assert (seen["acknowledged"]["chunks"], seen["acknowledged"]["bytes"]) == (None, None)


async def test_a_declined_request_is_over(satchel: Satchel) -> None:
    owner, receiver, file_id = await an_owner_and_a_receiver(satchel)
    request_id = await asked(receiver, file_id)
    async with hearing(satchel, receiver) as heard:
        answer = await owner("POST", f"/requests/{request_id}/decline", json={"reason": "changed"})
        assert answer.status_code == 204
        assert (await heard.until("drop.declined"))["reason"] == "changed"
    assert await requests_seen_by(owner) == []


@pytest.mark.parametrize("ender", ["owner", "receiver"])
async def test_either_side_ends_a_request_and_its_stream(satchel: Satchel, ender: str) -> None:
    owner, receiver, file_id = await an_owner_and_a_receiver(satchel)
    request_id = await acknowledged(owner, await asked(receiver, file_id))
    async with (
        hearing(satchel, owner) as heard,
        satchel.stores.ephemeral.subscribe(request_channel(RequestId(request_id))) as ending,
    ):
        by = owner if ender == "owner" else receiver
        assert (await by("DELETE", f"/requests/{request_id}")).status_code == 204
        assert (await heard.until("drop.ended"))["request_id"] == request_id
        assert (await anext(ending)).body == b"ended"
    assert await requests_seen_by(receiver) == []


async def test_asking_again_takes_the_place_of_the_earlier_request(satchel: Satchel) -> None:
    owner, receiver, file_id = await an_owner_and_a_receiver(satchel)
    other = await joined(satchel, owner)
    first = await acknowledged(owner, await asked(receiver, file_id))
    theirs = await asked(other, file_id)
    async with hearing(satchel, owner) as heard:
        second = await asked(receiver, file_id)
        assert (await heard.until("drop.ended"))["request_id"] == first
        assert (await heard.until("drop.request"))["request"]["request_id"] == second
    assert {each["request_id"] for each in await requests_seen_by(owner)} == {theirs, second}
    assert slug(await acknowledge(owner, first)) == (404, "request-unknown")
    assert (await acknowledge(owner, second)).status_code == 204


async def test_of_many_requests_for_one_file_at_once_one_is_left(satchel: Satchel) -> None:
    owner, receiver, file_id = await an_owner_and_a_receiver(satchel)
    answers = await asyncio.gather(*(ask(receiver, file_id) for _ in range(10)))
    assert {answer.status_code for answer in answers} == {201}
    (left,) = await requests_seen_by(owner)
    assert left["request_id"] in {answer.json()["request_id"] for answer in answers}


async def test_asking_the_same_twice_changes_nothing(satchel: Satchel) -> None:
    owner, receiver, file_id = await an_owner_and_a_receiver(satchel)
    same = {"request_id": new_id(), "public_key": b64(bytes(32))}
    first = await ask(receiver, file_id, **same)
    await acknowledged(owner, same["request_id"])
    again = await ask(receiver, file_id, **same)
    assert again.status_code == 201
    assert again.json() == {**first.json(), "acknowledged": (await requests_seen_by(owner))[0]["acknowledged"]}


async def test_the_id_of_somebody_elses_request_cannot_be_taken(satchel: Satchel) -> None:
    owner, receiver, file_id = await an_owner_and_a_receiver(satchel)
    other, elsewhere = await joined(satchel, owner), await opened(satchel)
    stranger = await joined(satchel, elsewhere)
    theirs = await announced(elsewhere)
    request_id = await asked(receiver, file_id)
    before = await requests_seen_by(owner)
    assert slug(await ask(other, file_id, request_id=request_id)) == (409, "conflict")
    assert slug(await ask(stranger, theirs, request_id=request_id)) == (409, "conflict")
    assert await requests_seen_by(owner) == before


async def test_what_is_not_offered_or_ones_own_cannot_be_asked_for(satchel: Satchel) -> None:
    owner, receiver, file_id = await an_owner_and_a_receiver(satchel)
    elsewhere = await opened(satchel)
    assert slug(await ask(owner, file_id)) == (409, "own-file")
    assert slug(await ask(receiver, new_id())) == (404, "file-unknown")
    assert slug(await ask(receiver, await announced(elsewhere))) == (404, "file-unknown")


@pytest.mark.slow
async def test_a_member_waits_for_a_bounded_number_of_files(satchel: Satchel) -> None:
    owner, receiver, first = await an_owner_and_a_receiver(satchel)
    files = [first, *[await announced(owner) for _ in range(64)]]
    for file_id in files[:64]:
        await asked(receiver, file_id)
    assert slug(await ask(receiver, files[64])) == (409, "too-many-requests-open")
    assert len(await requests_seen_by(owner)) == 64
    # One that takes the place of another is not one more.
    await asked(receiver, first)
    assert len(await requests_seen_by(owner)) == 64


async def test_nobody_touches_the_requests_of_others(satchel: Satchel) -> None:
    owner, receiver, file_id = await an_owner_and_a_receiver(satchel)
    other = await joined(satchel, owner)
    request_id = await acknowledged(owner, await asked(receiver, file_id))
    before = await requests_seen_by(owner)
    path = f"/requests/{request_id}"
    unknown = (404, "request-unknown")
    receipt = {"receipt": b64(bytes(32))}
    for person in (other, receiver):
        assert slug(await acknowledge(person, request_id)) == unknown
        assert slug(await person("POST", f"{path}/decline", json={"reason": "gone"})) == unknown
    for person in (other, owner):
        assert slug(await person("POST", f"{path}/progress", json={"chunks": 9})) == unknown
        assert slug(await person("POST", f"{path}/done", json=receipt)) == unknown
    assert slug(await other("DELETE", path)) == unknown
    assert slug(await acknowledge(owner, request_id)) == (409, "conflict")
    assert await requests_seen_by(owner) == before


async def test_only_the_two_of_an_acknowledged_request_reach_its_stream(satchel: Satchel) -> None:
    owner, receiver, file_id = await an_owner_and_a_receiver(satchel)
    other = await joined(satchel, owner)
    drop, session_id = drop_of(satchel), SessionId(owner.session_id)
    request_id = RequestId(await asked(receiver, file_id))
    with pytest.raises(RequestUnknown):
        await sender_of(drop, session_id, request_id, owner.token)
    await acknowledged(owner, request_id)
    flow = Flow(session_id, request_id, 600_000)
    assert await sender_of(drop, session_id, request_id, owner.token) == flow
    assert await receiver_of(drop, session_id, request_id, receiver.token) == flow
    for way, people in ((sender_of, (receiver, other)), (receiver_of, (owner, other))):
        for person in people:
            with pytest.raises(RequestUnknown):
                await way(drop, session_id, request_id, person.token)


async def test_a_member_who_leaves_takes_files_and_requests_along(satchel: Satchel) -> None:
    host = await opened(satchel)
    leaver, other = await joined(satchel, host), await joined(satchel, host)
    theirs, hosts = await announced(leaver), await announced(host)
    served, made, unrelated = await asked(other, theirs), await asked(leaver, hosts), await asked(other, hosts)
    async with hearing(satchel, other) as heard, hearing(satchel, leaver) as leavers:
        assert (await leaver("DELETE", f"/members/{leaver.member_id}")).status_code == 204
        assert (await heard.until("drop.withdrawn"))["file_ids"] == [theirs]
        assert {(await heard.until("drop.ended"))["request_id"] for _ in range(2)} == {served, made}
        assert await heard.until("drop.left") == {
            "type": "drop.left",
            "member_id": leaver.member_id,
            "host_id": host.member_id,
        }
        assert (await leavers.until("drop.closed"))["reason"] == "left"
    seen = await host.look()
    assert leaver.member_id not in {each["member_id"] for each in seen["members"]}
    assert [each["file_id"] for each in seen["files"]] == [hosts]
    assert [each["request_id"] for each in seen["requests"]] == [unrelated]


async def test_a_file_that_is_withdrawn_while_it_is_asked_for_leaves_no_request(satchel: Satchel) -> None:
    owner, receiver, file_id = await an_owner_and_a_receiver(satchel)
    await asyncio.gather(*(ask(receiver, file_id) for _ in range(5)), owner("DELETE", f"/files/{file_id}"))
    seen = await owner.look()
    assert (seen["files"], seen["requests"]) == ([], [])
