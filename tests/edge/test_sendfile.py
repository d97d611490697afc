"""Files sent by the kernel, over real sockets, on both event loops."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from starlette.responses import Response

from satchel.edge.http.limits import Limits
from satchel.stores.embedded.objects_folder import FolderObjects
from tests.edge.given import BIG, SMALL, Edge, Wire, once, serving, wire, wire_to_stopping


def ask(key: str = "big", *headers: str, method: str = "GET") -> bytes:
    return "\r\n".join((f"{method} /files/{key} HTTP/1.1", "host: satchel.test", *headers, "", "")).encode()


@asynccontextmanager
async def visiting(library: Edge, limits: Limits | None = None) -> AsyncGenerator[Wire]:
    async with serving(library.app(), limits) as port, wire(port) as connection:
        yield connection


@pytest.mark.parametrize(("key", "content"), [("big", BIG), ("small", SMALL), ("empty", b"")])
async def test_the_bytes_arrive_as_they_were_stored(library: Edge, key: str, content: bytes) -> None:
    async with visiting(library) as connection:
        await connection.send(ask(key))
        answer = await connection.answer()
        assert (answer.status, answer.body == content) == (200, True)
        assert answer.headers["accept-ranges"] == "bytes"
    assert library.lines()[0]["bytes"] == len(content)


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=1-99", 1, 100),
        ("bytes=70000-2900000", 70_000, 2_900_001),
        ("bytes=2999999-", 2_999_999, 3_000_000),
        ("bytes=1000-99999999", 1000, 3_000_000),
        ("bytes=-100000", 2_900_000, 3_000_000),
        ("bytes=-99999999", 0, 3_000_000),
        ("BYTES=5-6", 5, 7),
    ],
)
async def test_a_part_is_sent_with_its_place_in_the_whole(library: Edge, asked: str, start: int, end: int) -> None:
    async with visiting(library) as connection:
        await connection.send(ask("big", f"range: {asked}"), ask("small"))
        answer = await connection.answer()
        assert answer.status == 206
        assert answer.headers["content-range"] == f"bytes {start}-{end - 1}/3000000"
        assert answer.body == BIG[start:end]
        assert (await connection.answer()).body == SMALL


async def test_head_tells_what_get_would_send(library: Edge) -> None:
    async with visiting(library) as connection:
        await connection.send(ask("big", "range: bytes=0-1", method="HEAD"), ask("small"))
        answer = await connection.answer(bodyless=True)
        assert (answer.status, answer.headers["content-length"]) == (200, "3000000")
        assert (await connection.answer()).body == SMALL


async def test_downloads_can_be_pipelined(library: Edge) -> None:
    async with visiting(library) as connection:
        await connection.send(ask("big"), ask("small"), ask("big", "range: bytes=0-999999"), ask("empty"))
        bodies = [(await connection.answer()).body for _ in range(4)]
        assert bodies == [BIG, SMALL, BIG[:1_000_000], b""]


# More than all the buffers between the two ends hold, so that the server has to wait for its reader.
HUGE = BIG * 8


@pytest.fixture
async def large(library: Edge, objects: FolderObjects) -> Edge:
    await objects.put("huge", once(HUGE))
    return library


async def test_a_slow_reader_gets_every_byte_and_holds_nobody_up(large: Edge) -> None:
    async with serving(large.app()) as port, wire_with_small_buffer(port) as slow, wire(port) as fast:
        await slow.send(ask("huge"))
        head = await slow.reader.readuntil(b"\r\n\r\n")
        received = bytearray()
        for piece in range(len(HUGE) // 240_000):
            received += await slow.reader.readexactly(240_000)
            await fast.send(ask("small"))
            assert (await fast.answer()).body == SMALL, f"after piece {piece}"
        assert b" 200 OK" in head
        assert bytes(received) == HUGE
        await slow.send(ask("small"))
        assert (await slow.answer()).body == SMALL


async def test_a_file_waits_for_what_was_said_before_it(library: Edge, objects: FolderObjects) -> None:
    said, kept = BIG[:60_000], BIG[60_000:130_000]
    await objects.put("kept", once(kept))

    @library.router(prefix="").get("/said")
    async def say() -> Response:
        return Response(said)

    # Nobody reads, and the buffers in between are so small that what was said is still here when the file follows.
    async with serving(library.app(), send_buffer=4096) as port, wire_with_small_buffer(port) as slow:
        await slow.send(ask("").replace(b"/files/", b"/said"), ask("kept"))
        await asyncio.sleep(0.2)
        slow.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1_000_000)
        assert (await slow.answer()).body == said
        assert (await slow.answer()).body == kept


async def test_a_reader_who_stops_is_dropped_and_the_file_closed(large: Edge) -> None:
    async with serving(large.app(), Limits(stalled_seconds=0.1)) as port:
        before = open_files()
        async with wire_with_small_buffer(port) as stopped:
            await stopped.send(ask("huge"))
            while not large.lines():
                await asyncio.sleep(0.02)
            with pytest.raises(asyncio.IncompleteReadError):
                await stopped.reader.readexactly(len(HUGE))
        assert await settled(before)
    assert large.lines()[0]["status"] == 499


async def test_a_reader_who_leaves_is_noted_and_the_file_closed(large: Edge, caplog: pytest.LogCaptureFixture) -> None:
    async with serving(large.app()) as port:
        before = open_files()
        for _ in range(5):
            async with wire_with_small_buffer(port) as leaving:
                await leaving.send(ask("huge"))
                await leaving.reader.readexactly(1000)
        while len(large.lines()) < 5:
            await asyncio.sleep(0.02)
        assert await settled(before)
        async with wire(port) as connection:
            await connection.send(ask("huge"))
            assert (await connection.answer()).body == HUGE
    assert caplog.records == []


async def test_a_download_under_way_is_not_touched_by_a_new_version(large: Edge, objects: FolderObjects) -> None:
    async with serving(large.app()) as port, wire_with_small_buffer(port) as slow:
        await slow.send(ask("huge"))
        await slow.reader.readuntil(b"\r\n\r\n")
        await objects.put("huge", once(b"new"))
        assert await slow.reader.readexactly(len(HUGE)) == HUGE
        await slow.send(ask("huge"))
        assert (await slow.answer()).body == b"new"


async def test_stopping_the_server_ends_a_download_that_takes_too_long_and_lets_the_file_go(large: Edge) -> None:
    before = open_files()
    async with wire_to_stopping(large, ask("huge"), Limits(shutdown_seconds=1)) as (connection, stopped):
        await stopped
        with pytest.raises(asyncio.IncompleteReadError):
            await connection.reader.readexactly(len(HUGE))
    assert await settled(before)


@asynccontextmanager
async def wire_with_small_buffer(port: int) -> AsyncGenerator[Wire]:
    """A connection whose kernel takes in little, so that the server feels how slowly it is read."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
    client.setblocking(False)
    await asyncio.get_running_loop().sock_connect(client, ("127.0.0.1", port))
    reader, writer = await asyncio.open_connection(sock=client, limit=8192)
    try:
        yield Wire(reader, writer)
    finally:
        writer.transport.abort()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


def open_files() -> int:
    """How many descriptors lead to a stored object or to a peer; those of the event loop are not ours to count."""
    targets = [str(each.readlink()) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    return sum(1 for target in targets if "socket:" in target or "/objects/" in target)


async def settled(count: int) -> bool:
    """Whether no more files are open than that, once those that are being closed are."""
    for _ in range(100):
        if open_files() <= count:
            return True
        await asyncio.sleep(0.02)
    return False
