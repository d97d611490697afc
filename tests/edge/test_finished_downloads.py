"""When a download counts as finished: with the last byte, for whoever was there to get it."""

import asyncio
import socket

import pytest
from starlette.responses import Response

from satchel.edge.files.downloads import Download
from satchel.stores.embedded.objects_folder import FolderObjects
from tests.edge.given import BIG, SMALL, Edge, once, serving, wire


@pytest.fixture
def finished() -> list[str]:
    return []


@pytest.fixture
async def counting(edge: Edge, objects: FolderObjects, finished: list[str]) -> Edge:
    """An edge that notes which downloads were finished."""
    for key, content in (("huge", BIG * 8), ("small", SMALL), ("empty", b"")):
        await objects.put(key, once(content))

    @edge.router(prefix="").get("/files/{key}")
    async def download(key: str) -> Response:
        async def note() -> None:
            finished.append(key)

        return Download(objects, key, finished=note)

    return edge


@pytest.mark.parametrize(
    ("method", "asked", "counts"),
    [
        ("GET", {}, True),
        ("GET", {"range": "bytes=2-"}, True),
        ("GET", {"range": "bytes=-1"}, True),
        ("GET", {"range": "bytes=0-3"}, False),
        ("GET", {"range": "bytes=9-"}, False),
        ("GET", {"if-none-match": "*"}, False),
        ("HEAD", {}, False),
    ],
)
async def test_the_last_byte_is_what_counts(
    counting: Edge, finished: list[str], method: str, asked: dict[str, str], counts: bool
) -> None:
    await counting.client().request(method, "/files/small", headers=asked)
    assert finished == (["small"] if counts else [])


async def test_a_file_without_bytes_is_finished_at_once(counting: Edge, finished: list[str]) -> None:
    await counting.client().get("/files/empty")
    assert finished == ["empty"]


async def test_who_leaves_has_not_finished(counting: Edge, finished: list[str]) -> None:
    request = b"GET /files/%b HTTP/1.1\r\nhost: satchel.test\r\n\r\n"
    async with serving(counting.app()) as port:
        leaving = socket.socket()
        leaving.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        leaving.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(leaving, ("127.0.0.1", port))
        await loop.sock_sendall(leaving, request % b"huge")
        await loop.sock_recv(leaving, 1000)
        leaving.close()
        while not counting.lines():
            await asyncio.sleep(0.02)
        assert finished == []
        async with wire(port) as staying:
            await staying.send(request % b"huge")
            assert (await staying.answer()).body == BIG * 8
            await staying.send(request % b"small")
            await staying.answer()
    assert finished == ["huge", "small"]
