"""A server whose short-lived state is full: whoever filled it keeps nobody from signing in, or from making room."""

from pathlib import Path

import pytest

from satchel.features.rooms.limits import MESSAGES_PER_OWNER, MESSAGES_PER_PERSON
from satchel.stores.embedded import ephemeral_memory
from tests.application import PASSWORD, Caller, Satchel, running_satchel
from tests.features.rooms.given import guest, join, joined, opened, sent, slug


async def test_rooms_that_take_all_memory_leave_limits_and_deleting_what_they_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ephemeral_memory, "MAX_BYTES", 160_000)
    async with running_satchel(tmp_path, sign_up="open") as satchel:
        ann, bob = satchel.caller(), satchel.caller()
        await ann.sign_up("ann@example.org")
        await bob.sign_up("bob@example.org")
        room = await opened(ann)
        file_id = await sent(ann, room, "a.txt", b"hello")
        while (await ann("POST", f"/rooms/{room['room_id']}/chat", json={"text": "x" * 4000})).status_code == 201:
            satchel.clock.advance(1)
        # Of less than one more message, this is all that would fit.
        while (await ann("POST", f"/rooms/{room['room_id']}/chat", json={"text": "x"})).status_code == 201:
            satchel.clock.advance(1)
        await ann.refresh()
        assert slug(await bob("POST", "/rooms", json={})) == (507, "out-of-space")
        # What others guess is counted, right passwords are let in, and whoever signs out is out.
        late = satchel.caller("192.0.2.1")
        assert (await late.sign_in("bob@example.org", "not that one")).status_code == 401
        assert (await late.sign_in("bob@example.org", PASSWORD)).status_code == 201
        assert (await late("DELETE", "/sessions/current")).status_code == 204
        assert (await late("GET", "/accounts/me")).status_code == 401
        gus = await guest(satchel)
        wrong = "AAAAA" if room["code"] != "AAAAA" else "BBBBB"
        assert slug(await join(gus, wrong)) == (404, "room-unknown")
        # Its owner makes room.
        assert (await ann("DELETE", f"/rooms/{room['room_id']}/files/{file_id}")).status_code == 204
        assert (await ann("DELETE", f"/rooms/{room['room_id']}")).status_code == 204
        assert await opened(bob)


async def test_guests_without_number_cannot_write_into_one_members_rooms_without_end(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    room, other = await opened(ann), await opened(bob)
    hers, his = [f"/rooms/{each['room_id']}/chat" for each in (room, other)]
    for number in range(MESSAGES_PER_OWNER.times // MESSAGES_PER_PERSON.times):
        gus = await guest(satchel, address=f"192.0.2.{number + 1}")
        await joined(gus, room)
        for _ in range(MESSAGES_PER_PERSON.times):
            assert (await gus("POST", hers, json={"text": "x"})).status_code == 201
    late = await guest(satchel, address="198.51.100.1")
    await joined(late, room)
    answer = await late("POST", hers, json={"text": "x"})
    assert (slug(answer), "retry-after" in answer.headers) == ((429, "too-many"), True)
    assert (await bob("POST", his, json={"text": "in another's room"})).status_code == 201
    satchel.clock.advance(MESSAGES_PER_OWNER.window.total_seconds())
    assert (await late("POST", hers, json={"text": "x"})).status_code == 201
