"""The door: who is it, and how a guest and it speak to each other through a server that understands nothing."""

import asyncio
from datetime import timedelta
from typing import Any

import httpx
import pytest

from satchel.features.drop.model import KnockId, KnockUnanswered, SessionId
from satchel.features.drop.records import KNOCK
from satchel.features.drop.service.session_knock import knock, present_tag
from satchel.stores.ports.ephemeral import Exists, Get
from tests.application import Caller, Satchel
from tests.features.drop.given import (
    Person,
    b64,
    drop_of,
    hearing,
    here,
    joined,
    new_id,
    opened,
    slug,
)
from tests.features.hearing import Hearing

SHARE, TAG, BOX = b64(b"s" * 32), b64(b"t" * 64), b64(b"b" * 45)


async def a_door(satchel: Satchel) -> Person:
    host = await opened(satchel)
    assert (await host("PUT", "/door")).status_code == 204
    return host


def knocks(caller: Caller, door: Person, knock_id: str) -> "asyncio.Task[httpx.Response]":
    body = {"knock_id": knock_id, "suite": 1, "share": b64(b"y" * 32)}
    return asyncio.create_task(caller("POST", f"/drop/sessions/{door.session_id}/knocks", json=body))


def tags(caller: Caller, door: Person, knock_id: str) -> "asyncio.Task[httpx.Response]":
    path = f"/drop/sessions/{door.session_id}/knocks/{knock_id}/tag"
    return asyncio.create_task(caller("POST", path, json={"tag": TAG}))


async def answered(caller: Caller, door: Person, heard: Hearing, knock_id: str) -> None:
    """A guest who has got as far as the door's public value."""
    waiting = knocks(caller, door, knock_id)
    told = await heard.until("drop.knock")
    assert told == {"type": "drop.knock", "knock_id": knock_id, "suite": 1, "share": b64(b"y" * 32)}
    assert (await door("POST", f"/knocks/{knock_id}/share", json={"share": SHARE})).status_code == 204
    assert (await waiting).json() == {"share": SHARE}


async def test_a_guest_and_the_door_exchange_four_words(satchel: Satchel) -> None:
    door, guest, knock_id = await a_door(satchel), satchel.caller("192.0.2.1"), new_id()
    async with here(satchel, door), hearing(satchel, door) as heard:
        await answered(guest, door, heard, knock_id)
        waiting = tags(guest, door, knock_id)
        assert await heard.until("drop.tag") == {"type": "drop.tag", "knock_id": knock_id, "tag": TAG}
        verdict = {"tag": b64(b"d" * 64), "sealed": BOX}
        assert (await door("POST", f"/knocks/{knock_id}/verdict", json=verdict)).status_code == 204
        assert (await waiting).json() == verdict
        # The door is free for the next.
        await answered(guest, door, heard, new_id())


@pytest.mark.parametrize(("refused", "status"), [("code-wrong", 403), ("code-dead", 410), ("versions-differ", 409)])
async def test_the_door_refuses_a_knock_or_a_tag(satchel: Satchel, refused: str, status: int) -> None:
    door, guest = await a_door(satchel), satchel.caller("192.0.2.1")
    async with here(satchel, door), hearing(satchel, door) as heard:
        first, second = new_id(), new_id()
        waiting = knocks(guest, door, first)
        await heard.until("drop.knock")
        assert (await door("POST", f"/knocks/{first}/verdict", json={"refused": refused})).status_code == 204
        assert slug(await waiting) == (status, refused)
        await answered(guest, door, heard, second)
        waiting = tags(guest, door, second)
        await heard.until("drop.tag")
        assert (await door("POST", f"/knocks/{second}/verdict", json={"refused": refused})).status_code == 204
        assert slug(await waiting) == (status, refused)


async def test_one_knock_is_open_at_a_time(satchel: Satchel) -> None:
    door = await a_door(satchel)
    async with here(satchel, door), hearing(satchel, door) as heard:
        knock_id = new_id()
        waiting = knocks(satchel.caller("192.0.2.1"), door, knock_id)
        await heard.until("drop.knock")
        busy = await knocks(satchel.caller("192.0.2.2"), door, new_id())
        assert slug(busy) == (409, "door-busy")
        assert busy.headers["retry-after"] == "1"
        await door("POST", f"/knocks/{knock_id}/verdict", json={"refused": "code-wrong"})
        await waiting


async def test_a_door_that_is_not_here_is_closed(satchel: Satchel) -> None:
    host = await opened(satchel)
    guest = satchel.caller()
    assert slug(await knocks(guest, host, new_id())) == (409, "door-closed")
    await host("PUT", "/door")
    assert slug(await knocks(guest, host, new_id())) == (409, "door-closed")
    host.session_id = new_id()
    assert slug(await knocks(guest, host, new_id())) == (404, "session-unknown")


async def test_a_knock_has_one_tag_and_each_word_its_turn(satchel: Satchel) -> None:
    door, guest, knock_id = await a_door(satchel), satchel.caller("192.0.2.1"), new_id()
    over = (404, "not-found")
    async with here(satchel, door), hearing(satchel, door) as heard:
        assert slug(await tags(guest, door, knock_id)) == over
        assert slug(await door("POST", f"/knocks/{knock_id}/share", json={"share": SHARE})) == over
        await answered(guest, door, heard, knock_id)
        verdict = {"tag": TAG, "sealed": BOX}
        assert slug(await door("POST", f"/knocks/{knock_id}/verdict", json=verdict)) == over
        waiting = tags(guest, door, knock_id)
        await heard.until("drop.tag")
        assert slug(await tags(guest, door, knock_id)) == over
        assert slug(await door("POST", f"/knocks/{knock_id}/share", json={"share": SHARE})) == over
        assert slug(await door("POST", f"/knocks/{new_id()}/verdict", json=verdict)) == over
        assert (await door("POST", f"/knocks/{knock_id}/verdict", json=verdict)).status_code == 204
        assert (await waiting).status_code == 200
        assert slug(await tags(guest, door, knock_id)) == over


async def test_a_door_that_does_not_answer_is_waited_for_only_so_long(satchel: Satchel) -> None:
    door, knock_id = await a_door(satchel), KnockId(new_id())
    drop = drop_of(satchel, knock_timeout=timedelta(milliseconds=300))
    session_id, at_the_door = SessionId(door.session_id), KNOCK(session_id=door.session_id)
    async with here(satchel, door), hearing(satchel, door) as heard:
        with pytest.raises(KnockUnanswered):
            await knock(drop, session_id, knock_id, suite=1, share=SHARE, network="n")
        assert not await satchel.stores.ephemeral.run(Exists(at_the_door))
        await heard.until("drop.knock")
        await answered(satchel.caller(), door, heard, knock_id)
        with pytest.raises(KnockUnanswered):
            await present_tag(drop, session_id, knock_id, tag=TAG, network="n")
        assert not await satchel.stores.ephemeral.run(Exists(at_the_door))


async def test_a_door_that_goes_away_is_not_waited_for(satchel: Satchel) -> None:
    door = await a_door(satchel)
    async with hearing(satchel, door) as heard:
        async with here(satchel, door):
            waiting = knocks(satchel.caller(), door, new_id())
            await heard.until("drop.knock")
        assert slug(await waiting) == (409, "door-closed")


async def test_a_guest_who_goes_away_leaves_the_door_to_others(satchel: Satchel) -> None:
    door = await a_door(satchel)
    drop, session_id = drop_of(satchel), SessionId(door.session_id)
    async with here(satchel, door), hearing(satchel, door) as heard:
        going = asyncio.create_task(knock(drop, session_id, KnockId(new_id()), suite=1, share=SHARE, network="n"))
        await heard.until("drop.knock")
        going.cancel()
        await asyncio.gather(going, return_exceptions=True)
        await answered(satchel.caller(), door, heard, new_id())


@pytest.mark.slow
async def test_who_fails_too_often_is_kept_from_the_door_and_who_gets_in_does_not_count(embedded: Satchel) -> None:
    door, office, guesser = await a_door(embedded), embedded.caller("192.0.2.1"), embedded.caller("192.0.2.2")
    async with here(embedded, door), hearing(embedded, door) as heard:
        for _ in range(35):
            knock_id = new_id()
            await answered(office, door, heard, knock_id)
            waiting = tags(office, door, knock_id)
            await heard.until("drop.tag")
            await door("POST", f"/knocks/{knock_id}/verdict", json={"tag": TAG, "sealed": BOX})
            assert (await waiting).status_code == 200
            embedded.clock.advance(0.5)
        for _ in range(30):
            knock_id = new_id()
            waiting = knocks(guesser, door, knock_id)
            await heard.until("drop.knock")
            await door("POST", f"/knocks/{knock_id}/verdict", json={"refused": "code-wrong"})
            assert slug(await waiting) == (403, "code-wrong")
        refused = await knocks(guesser, door, new_id())
        assert slug(refused) == (429, "too-many")
        assert refused.json()["limit"] == "access.attempts"
        await answered(office, door, heard, new_id())


async def test_one_member_who_is_here_is_the_door_and_the_host_can_take_it_over(satchel: Satchel) -> None:
    host = await opened(satchel)
    first, second = await joined(satchel, host), await joined(satchel, host)
    async with hearing(satchel, second) as heard:
        assert (await first("PUT", "/door")).status_code == 204
        assert (await heard.until("drop.door"))["door_id"] == first.member_id
        async with here(satchel, first):
            assert slug(await second("PUT", "/door")) == (409, "conflict")
            assert (await first("PUT", "/door")).status_code == 204
        assert (await second("PUT", "/door")).status_code == 204
        async with here(satchel, second):
            assert (await host("PUT", "/door")).status_code == 204
            # Who is not the door has nothing to give up.
            assert (await second("DELETE", "/door")).status_code == 204
            assert (await second.look())["door_id"] == host.member_id
        assert (await host("DELETE", "/door")).status_code == 204
        told = [(await heard.until("drop.door"))["door_id"] for _ in range(4)]
    assert told == [first.member_id, second.member_id, host.member_id, None]
    assert (await host.look())["door_id"] is None


async def test_a_door_that_leaves_is_no_door_any_more(satchel: Satchel) -> None:
    host = await opened(satchel)
    door = await joined(satchel, host)
    await door("PUT", "/door")
    async with hearing(satchel, host) as heard:
        await door("DELETE", f"/members/{door.member_id}")
        assert (await heard.until("drop.door"))["door_id"] is None
    assert (await host.look())["door_id"] is None


async def test_only_the_door_answers_and_hears(satchel: Satchel) -> None:
    door = await a_door(satchel)
    member, knock_id = await joined(satchel, door), new_id()
    async with here(satchel, door), hearing(satchel, door) as heard, hearing(satchel, member) as others:
        waiting = knocks(satchel.caller(), door, knock_id)
        await heard.until("drop.knock")
        for path, body in (("share", {"share": SHARE}), ("verdict", {"refused": "code-dead"})):
            assert slug(await member("POST", f"/knocks/{knock_id}/{path}", json=body)) == (403, "forbidden")
        await door("POST", f"/knocks/{knock_id}/verdict", json={"refused": "code-wrong"})
        await waiting
        await door("DELETE", "/door")
        assert (await others.next())["type"] == "drop.door"


@pytest.mark.parametrize(
    "body", [{}, {"tag": TAG}, {"sealed": BOX}, {"tag": TAG, "sealed": BOX, "refused": "code-wrong"}]
)
async def test_a_verdict_is_one_or_the_other(satchel: Satchel, body: dict[str, Any]) -> None:
    door = await a_door(satchel)
    assert slug(await door("POST", f"/knocks/{new_id()}/verdict", json=body)) == (422, "combination-unfit")


async def test_of_what_is_said_at_the_door_nothing_is_kept(satchel: Satchel) -> None:
    door, guest, knock_id = await a_door(satchel), satchel.caller("192.0.2.1"), new_id()
    async with here(satchel, door), hearing(satchel, door) as heard:
        await answered(guest, door, heard, knock_id)
        kept = await satchel.stores.ephemeral.run(Get(KNOCK(session_id=door.session_id)))
    assert kept == f"{knock_id}@answered".encode()
