"""How much of a download has gone out: all of it, a part, or what left before the reader did."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from starlette.responses import Response

from satchel.edge.files.archives import Archive, ArchiveEntry
from satchel.edge.files.downloads import Download, Sent
from satchel.kernel.errors import Gone
from satchel.stores.embedded.objects_folder import FolderObjects
from tests.edge.given import BIG, SMALL, Edge, once, serving, wire

HUGE = BIG * 8
REQUEST = b"GET /%b HTTP/1.1\r\nhost: satchel.test\r\n\r\n"


@dataclass
class Meter:
    """Notes where each answer began, what it was to have, what of it has gone, and whether that was all."""

    begun: list[int] = field(default_factory=list[int])
    announced: list[int | None] = field(default_factory=list[int | None])
    gone: list[int] = field(default_factory=list[int])
    whole: list[bool] = field(default_factory=list[bool])
    refusal: Exception | None = None

    @asynccontextmanager
    async def __call__(self, start: int, length: int | None) -> AsyncGenerator[Sent]:
        if self.refusal is not None:
            raise self.refusal
        self.begun.append(start)
        self.announced.append(length)
        sent, is_whole = Sent(), False
        try:
            yield sent
            is_whole = True
        finally:
            self.gone.append(sent.count)
            self.whole.append(is_whole)


@pytest.fixture
def meter() -> Meter:
    return Meter()


@pytest.fixture
async def metering(edge: Edge, objects: FolderObjects, meter: Meter) -> Edge:
    for key, content in (("huge", HUGE), ("small", SMALL), ("empty", b"")):
        await objects.put(key, once(content))
    router = edge.router(prefix="")

    @router.get("/files/{key}")
    async def download(key: str) -> Response:
        return Download(objects, key, metered=meter)

    async def entries() -> AsyncGenerator[ArchiveEntry]:
        yield ArchiveEntry("huge", 0, "huge")

    @router.get("/archive")
    async def archive() -> Response:
        return Archive(objects, "all", entries(), metered=meter)

    return edge


@pytest.mark.parametrize(
    ("method", "asked", "begins", "goes"),
    [
        ("GET", {}, [0], [len(SMALL)]),
        ("GET", {"range": "bytes=2-"}, [2], [len(SMALL) - 2]),
        ("GET", {"range": "bytes=-1"}, [len(SMALL) - 1], [1]),
        ("GET", {"range": "bytes=0-3"}, [0], [4]),
        ("GET", {"range": "bytes=900-"}, [], []),
        ("GET", {"if-none-match": "*"}, [], []),
        ("HEAD", {}, [], []),
    ],
)
async def test_what_goes_out_is_metered(
    metering: Edge, meter: Meter, method: str, asked: dict[str, str], begins: list[int], goes: list[int]
) -> None:
    await metering.client().request(method, "/files/small", headers=asked)
    assert meter.begun == begins
    assert meter.announced == meter.gone == goes
    assert meter.whole == [True] * len(goes)


async def test_an_empty_file_goes_out_whole(metering: Edge, meter: Meter) -> None:
    await metering.client().get("/files/empty")
    assert (meter.gone, meter.whole) == ([0], [True])


async def test_who_meters_can_refuse_before_the_first_byte(metering: Edge, meter: Meter) -> None:
    meter.refusal = Gone("No more.")
    for path in ("/files/small", "/archive"):
        answer = await metering.client().get(path)
        assert (answer.status_code, answer.json()["detail"]) == (410, "No more.")


async def test_an_archive_is_metered_as_it_is_made(metering: Edge, meter: Meter) -> None:
    await metering.client().head("/archive")
    assert meter.announced == []
    answer = await metering.client().get("/archive")
    assert (meter.announced, meter.gone, meter.whole) == ([None], [len(answer.content)], [True])


@pytest.mark.parametrize("path", [b"files/huge", b"archive"])
async def test_of_who_leaves_it_is_known_how_much_went_out(metering: Edge, meter: Meter, path: bytes) -> None:
    async with serving(metering.app()) as port:
        leaving = socket.socket()
        leaving.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        leaving.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(leaving, ("127.0.0.1", port))
        await loop.sock_sendall(leaving, REQUEST % path)
        got = 0
        while got < 100_000:
            got += len(await loop.sock_recv(leaving, 65536))
        leaving.close()
        while not meter.gone:
            await asyncio.sleep(0.02)
        head_at_most = 2000
        assert got - head_at_most <= meter.gone[0] < len(HUGE)
        assert meter.whole == [False]
        async with wire(port) as staying:
            await staying.send(REQUEST % path)
            await staying.answer()
    assert meter.whole == [False, True]
    assert meter.gone[1] >= len(HUGE)
