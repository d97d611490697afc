"""The bytes of a stream over HTTP: who may send and take them, and what each is told."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from tests.application import Satchel, running_satchel
from tests.features.drop.given import (
    Person,
    acknowledge,
    announced,
    asked,
    joined,
    new_id,
    opened,
    slug,
)


class Streaming:
    """An owner, a receiver, and a request between them."""

    def __init__(self, owner: Person, receiver: Person, request_id: str) -> None:
        self.owner = owner
        self.receiver = receiver
        self.path = f"/requests/{request_id}/bytes"

    async def put(
        self, content: bytes, offset: int = 0, *, last: bool = True, by: Person | None = None
    ) -> httpx.Response:
        path = f"{self.path}/{offset}{'?last=true' if last else ''}"
        return await (by or self.owner)("PUT", path, content=content)

    async def get(self, by: Person | None = None) -> httpx.Response:
        return await (by or self.receiver)("GET", self.path)


async def streaming(satchel: Satchel, length: int | None = 6) -> Streaming:
    owner = await opened(satchel)
    receiver = await joined(satchel, owner)
    request_id = await asked(receiver, await announced(owner))
    assert (await acknowledge(owner, request_id, bytes=length)).status_code == 204
    return Streaming(owner, receiver, request_id)


async def test_what_the_owner_sends_is_what_the_receiver_gets(satchel: Satchel) -> None:
    stream = await streaming(satchel)
    sent, got = await asyncio.gather(stream.put(b"sealed"), stream.get())
    assert sent.status_code == 204
    assert (got.status_code, got.content) == (200, b"sealed")
    assert got.headers["content-length"] == "6"
    assert got.headers["content-type"] == "application/octet-stream"
    assert got.headers["cache-control"] == "no-store"
    assert got.headers["x-accel-buffering"] == "no"


async def test_a_stream_of_unknown_length_comes_without_one(satchel: Satchel) -> None:
    stream = await streaming(satchel, length=None)
    taking = asyncio.create_task(stream.get())
    assert (await stream.put(b"sea", last=False)).status_code == 204
    assert (await stream.put(b"led", 3)).status_code == 204
    got = await taking
    assert got.content == b"sealed"
    assert "content-length" not in got.headers


async def test_everybody_else_is_told_that_there_is_nothing(satchel: Satchel) -> None:
    stream = await streaming(satchel)
    other = await joined(satchel, stream.owner)
    stranger = replace(stream.owner, token=f"{new_id()}.secret")
    nobody = replace(stream.owner, token="")
    elsewhere = await opened(satchel)
    for who in (stream.receiver, other, stranger, nobody, elsewhere):
        assert (await stream.put(b"sealed", by=who)).status_code == 404
    for who in (stream.owner, other, stranger, nobody, elsewhere):
        assert (await stream.get(by=who)).status_code == 404
    sent, got = await asyncio.gather(stream.put(b"sealed"), stream.get())
    assert (sent.status_code, got.content) == (204, b"sealed")


async def test_nothing_flows_before_the_owner_has_said_yes_nor_after_the_end(satchel: Satchel) -> None:
    owner = await opened(satchel)
    receiver = await joined(satchel, owner)
    stream = Streaming(owner, receiver, request_id := await asked(receiver, await announced(owner)))
    assert {(await stream.put(b"x")).status_code, (await stream.get()).status_code} == {404}
    await acknowledge(owner, request_id, bytes=6)
    assert (await receiver("DELETE", f"/requests/{request_id}")).status_code == 204
    assert {(await stream.put(b"x")).status_code, (await stream.get()).status_code} == {404}


async def test_a_request_that_is_given_up_ends_what_waits_for_it(satchel: Satchel) -> None:
    stream = await streaming(satchel)
    taking = asyncio.create_task(stream.get())
    while not (await stream.owner.look())["requests"][0]["is_flowing"]:
        await asyncio.sleep(0.02)
    await stream.receiver("DELETE", stream.path.removesuffix("/bytes"))
    assert slug(await taking) == (410, "stream-over")


async def test_a_session_that_is_closed_ends_what_flows_in_it(satchel: Satchel) -> None:
    stream = await streaming(satchel)
    taking = asyncio.create_task(stream.get())
    while not (await stream.owner.look())["requests"][0]["is_flowing"]:
        await asyncio.sleep(0.02)
    await stream.owner("DELETE")
    assert slug(await taking) == (410, "stream-over")


async def test_looking_at_the_headers_takes_nothing(satchel: Satchel) -> None:
    stream = await streaming(satchel)
    answer = await stream.receiver("HEAD", stream.path)
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, OPTIONS")
    sent, got = await asyncio.gather(stream.put(b"sealed"), stream.get())
    assert (sent.status_code, got.content) == (204, b"sealed")


@pytest.mark.parametrize(("offset", "content"), [(1, b"ealed"), (0, b"sealed!"), (-1, b"?"), (0, b"seal")])
async def test_a_segment_out_of_place_says_where_the_stream_is(satchel: Satchel, offset: int, content: bytes) -> None:
    stream = await streaming(satchel)
    taking = asyncio.create_task(stream.get())
    answer = await stream.put(content, offset)
    assert slug(answer) == (409, "segment-out-of-place")
    assert answer.json()["position"] == 0
    assert (await stream.put(b"sealed")).status_code == 204
    assert (await taking).content == b"sealed"


async def test_a_network_that_has_passed_enough_is_told_when_it_goes_on(tmp_path: Path) -> None:
    async with running_satchel(tmp_path, drop_daily_limit=10) as satchel:
        for wanted in (204, 429):
            stream = await streaming(satchel)
            taking = asyncio.create_task(stream.get())
            sent = await stream.put(b"sealed")
            assert sent.status_code == wanted
            taking.cancel()
            await asyncio.gather(taking, return_exceptions=True)
        assert slug(sent) == (429, "drop-limit")
        assert sent.json()["limit_bytes"] == 10
        assert int(sent.headers["retry-after"]) > 0


async def test_the_limit_is_told_in_the_middle_of_what_has_no_known_length(tmp_path: Path) -> None:
    async def pieces() -> AsyncGenerator[bytes]:
        yield b"sealed"

    async with running_satchel(tmp_path, drop_daily_limit=10) as satchel:
        stream = await streaming(satchel, length=None)
        taking = asyncio.create_task(stream.get())
        sent = await stream.owner("PUT", f"{stream.path}/0?last=true", content=pieces())
        assert slug(sent) == (429, "drop-limit")
        assert int(sent.headers["retry-after"]) > 0
        await asyncio.gather(taking, return_exceptions=True)
