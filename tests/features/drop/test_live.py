"""The live connection of a session: who listens, who counts as here, and how it ends; also between two servers."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from satchel.kernel.clock import ManualClock
from tests.application import Satchel, running_satchel
from tests.edge.given import serving
from tests.features.drop.conftest import emptied
from tests.features.drop.given import Person, announced, asked, b64, hearing, joined, new_id, opened

PROTOCOL = Subprotocol("satchel.drop.1")


class Ears:
    """A live connection as its client hears it."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    async def until(self, kind: str) -> dict[str, Any]:
        async with asyncio.timeout(20):
            while (event := msgspec.json.decode(await self.connection.recv(), type=dict[str, Any]))["type"] != kind:
                pass
        return event

    async def closed_with(self) -> int | None:
        try:
            async with asyncio.timeout(20):
                while True:
                    await self.connection.recv()
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else None


@asynccontextmanager
async def listening(port: int, person: Person, *offered: str) -> AsyncGenerator[Ears]:
    url = f"ws://127.0.0.1:{port}/api/v1/drop/sessions/{person.session_id}/live"
    shown = [Subprotocol(each) for each in offered or (PROTOCOL, person.token)]
    async with connect(url, subprotocols=shown, proxy=None) as connection:
        assert connection.subprotocol == PROTOCOL
        ears = Ears(connection)
        await ears.until("hello")
        yield ears


async def refusal(port: int, person: Person, *offered: str) -> tuple[int, str]:
    with pytest.raises(InvalidStatus) as refused:
        async with listening(port, person, *offered):
            pass
    response = refused.value.response
    return response.status_code, msgspec.json.decode(response.body or b"")["type"].rpartition("#")[2]


async def test_members_are_told_what_happens_and_who_is_here(satchel: Satchel) -> None:
    host = await opened(satchel)
    guest = await joined(satchel, host)
    async with serving(satchel.app) as port, listening(port, host) as ears:
        assert [each["here"] for each in (await host.look())["members"] if each["member_id"] == host.member_id] == [
            True
        ]
        async with listening(port, guest):
            came = (await ears.until("drop.member"))["member"]
            while came["member_id"] != guest.member_id:
                came = (await ears.until("drop.member"))["member"]
            assert came["here"]
        file_id = await announced(host)
        request_id = await asked(guest, file_id)
        assert (await ears.until("drop.request"))["request"]["request_id"] == request_id


async def test_the_token_is_shown_as_a_subprotocol_and_by_nothing_else_than_its_own_session(satchel: Satchel) -> None:
    host, other = await opened(satchel), await opened(satchel)
    unknown = (404, "session-unknown")
    async with serving(satchel.app) as port:
        assert await refusal(port, host, PROTOCOL) == unknown
        assert await refusal(port, host, PROTOCOL, "x") == unknown
        assert await refusal(port, host, host.token) == unknown
        assert await refusal(port, replace(host, session_id=other.session_id)) == unknown
        assert await refusal(port, replace(host, session_id=new_id())) == unknown
        async with listening(port, host, host.token, PROTOCOL):
            pass


@pytest.mark.parametrize("how", ["closed", "removed", "left"])
async def test_the_end_of_a_membership_closes_its_sockets(satchel: Satchel, how: str) -> None:
    host = await opened(satchel)
    member = await joined(satchel, host)
    async with serving(satchel.app) as port:
        async with listening(port, member) as ears, listening(port, host) as hosts:
            if how == "closed":
                await host("DELETE")
                assert await hosts.closed_with() == 4401
            else:
                by = host if how == "removed" else member
                await by("DELETE", f"/members/{member.member_id}")
                assert (await hosts.until("drop.left"))["member_id"] == member.member_id
            assert (await ears.until("drop.closed"))["reason"] == how
            assert await ears.closed_with() == 4401
        assert await refusal(port, member) == (404, "session-unknown")


async def test_long_words_of_a_client_end_its_socket(satchel: Satchel) -> None:
    host = await opened(satchel)
    async with serving(satchel.app) as port, listening(port, host) as ears:
        await ears.connection.send("a" * 1025)
        assert await ears.closed_with() == 1009


@pytest.fixture
async def pair(redis_url: str, tmp_path: Path) -> AsyncGenerator[tuple[Satchel, Satchel]]:
    """Two servers that share nothing but Redis."""
    shared, clock = emptied(redis_url), ManualClock()
    async with (
        running_satchel(tmp_path / "one", clock, ephemeral=shared, secret="s" * 32) as one,
        running_satchel(tmp_path / "two", clock, ephemeral=shared, secret="s" * 32) as two,
    ):
        yield one, two


async def test_a_session_is_one_wherever_its_members_are(pair: tuple[Satchel, Satchel]) -> None:
    one, two = pair
    host = await opened(one)
    guest = await joined(two, host)
    async with serving(one.app) as first, serving(two.app) as second, listening(first, host) as hosts:
        async with listening(second, guest) as guests:
            file_id = await announced(host)
            assert (await guests.until("drop.files"))["files"][0]["file_id"] == file_id
            request_id = await asked(guest, file_id)
            assert (await hosts.until("drop.request"))["request"]["request_id"] == request_id
            seen = [await person.look() for person in (host, guest)]
            assert seen[0] == seen[1]
            assert [each["here"] for each in seen[0]["members"]] == [True, True]
            await host("DELETE", f"/members/{guest.member_id}")
            assert await guests.closed_with() == 4401
        assert await refusal(second, guest) == (404, "session-unknown")


async def test_a_guest_knocks_at_one_server_and_the_door_answers_at_the_other(pair: tuple[Satchel, Satchel]) -> None:
    one, two = pair
    door, guest, knock_id = await opened(one), two.caller("192.0.2.1"), new_id()
    await door("PUT", "/door")
    path = f"/drop/sessions/{door.session_id}/knocks"
    async with serving(one.app) as port, listening(port, door) as ears:
        body = {"knock_id": knock_id, "suite": 1, "share": b64(b"y" * 32)}
        knocking = asyncio.create_task(guest("POST", path, json=body))
        assert (await ears.until("drop.knock"))["knock_id"] == knock_id
        await door("POST", f"/knocks/{knock_id}/share", json={"share": b64(b"s" * 32)})
        assert (await knocking).json() == {"share": b64(b"s" * 32)}
        proving = asyncio.create_task(guest("POST", f"{path}/{knock_id}/tag", json={"tag": b64(b"t" * 64)}))
        assert (await ears.until("drop.tag"))["knock_id"] == knock_id
        verdict = {"tag": b64(b"d" * 64), "sealed": b64(b"b" * 45)}
        await door("POST", f"/knocks/{knock_id}/verdict", json=verdict)
        assert (await proving).json() == verdict


@pytest.mark.slow
async def test_who_vanishes_stays_listed_and_is_no_longer_here(embedded: Satchel) -> None:
    host = await opened(embedded)
    owner = await joined(embedded, host)
    file_id = await announced(owner)
    async with serving(embedded.app) as port, hearing(embedded, host) as heard:
        async with listening(port, owner):
            assert (await heard.until("drop.member"))["member"]["here"]
        # The grace that lets people load a page again has to pass.
        async with asyncio.timeout(30):
            assert not (await heard.until("drop.member"))["member"]["here"]
    seen = await host.look()
    assert {each["member_id"]: each["here"] for each in seen["members"]}[owner.member_id] is False
    assert [each["file_id"] for each in seen["files"]] == [file_id]
