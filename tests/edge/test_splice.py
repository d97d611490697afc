"""Bodies spliced into answers, over real sockets, on both event loops."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from satchel.edge.http.extensions import BREAK_OFF
from satchel.edge.http.limits import Limits
from satchel.edge.http.problems import TooSlow
from satchel.edge.http.splice import BodyBroken, splice
from satchel.kernel.errors import Gone
from tests.edge.given import BIG, Edge, Wire, serving, slug, wire
from tests.edge.test_sendfile import open_files, settled, wire_with_small_buffer

HELLO = b"GET /hello HTTP/1.1\r\nhost: satchel.test\r\n\r\n"
# More than all the buffers between the two ends hold.
HUGE = BIG * 10


class Meeting:
    """Where one request leaves its body for the answer to another."""

    def __init__(self) -> None:
        self.brought: asyncio.Queue[tuple[Request, asyncio.Future[int]]] = asyncio.Queue()


class Spliced(Response):
    """An answer that is the bodies of so many other requests."""

    def __init__(self, meeting: Meeting, length: int | None, parts: int) -> None:
        super().__init__()
        self._meeting = meeting
        self._length = length
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        length = [] if self._length is None else [(b"content-length", b"%d" % self._length)]
        await send({"type": "http.response.start", "status": 200, "headers": length})
        for _ in range(self._parts):
            request, taken = await self._meeting.brought.get()
            splicing = asyncio.create_task(splice(request.scope, request.receive, scope, send))
            leaving = asyncio.create_task(self._left(receive))
            await asyncio.wait({splicing, leaving}, return_when=asyncio.FIRST_COMPLETED)
            leaving.cancel()
            if not splicing.done():
                splicing.cancel()
            (count,) = await asyncio.gather(splicing, return_exceptions=True)
            if isinstance(count, int):
                taken.set_result(count)
                continue
            taken.set_exception(Gone("The other side has left.") if not isinstance(count, TooSlow) else count)
            if isinstance(count, BodyBroken | TooSlow):
                await send({"type": BREAK_OFF})
            raise ClientDisconnect
        await send({"type": "http.response.body", "body": b""})

    async def _left(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass


@pytest.fixture
def meeting(edge: Edge) -> Edge:
    router = edge.router(prefix="")
    place = Meeting()

    @router.put("/in")
    async def bring(request: Request) -> list[int]:
        taken: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        await place.brought.put((request, taken))
        return [await taken]

    @router.get("/out/{length}/{parts}")
    async def take(length: int, parts: int) -> Response:
        return Spliced(place, length, parts)

    @router.get("/unknown")
    async def take_unknown() -> Response:
        return Spliced(place, None, 1)

    @router.get("/hello")
    async def hello() -> list[str]:
        return ["hello"]

    return edge


def out(length: int, parts: int = 1) -> bytes:
    return b"GET /out/%d/%d HTTP/1.1\r\nhost: satchel.test\r\n\r\n" % (length, parts)


def put(length: int, *headers: bytes) -> bytes:
    lines = (b"PUT /in HTTP/1.1", b"host: satchel.test", b"content-length: %d" % length, *headers, b"", b"")
    return b"\r\n".join(lines)


@asynccontextmanager
async def both(meeting: Edge, limits: Limits | None = None) -> AsyncGenerator[tuple[Wire, Wire]]:
    """A sender and a receiver."""
    async with serving(meeting.app(), limits) as port, wire(port) as sender, wire(port, buffer=2**20) as receiver:
        yield sender, receiver


@pytest.mark.parametrize("size", [0, 1, 70_000, len(BIG)])
async def test_a_body_becomes_the_answer_and_both_connections_go_on(meeting: Edge, size: int) -> None:
    async with both(meeting) as (sender, receiver):
        for _ in range(3):
            await receiver.send(out(size))
            sending = asyncio.create_task(sender.send(put(size), BIG[:size]))
            assert (await receiver.answer()).body == BIG[:size]
            await sending
            assert (await sender.answer()).body == b"[%d]" % size
        for each in (sender, receiver):
            await each.send(HELLO)
            assert (await each.answer()).body == b'["hello"]'
    assert [line["bytes"] for line in meeting.lines() if line["route"].startswith("/out")] == [size] * 3


async def test_what_follows_the_body_on_its_connection_is_the_next_request(meeting: Edge) -> None:
    async with both(meeting) as (sender, receiver):
        await receiver.send(out(2 * len(BIG) + 5, parts=3))
        sending = asyncio.create_task(
            sender.send(put(len(BIG)), BIG, put(5), b"short", put(len(BIG)), BIG, HELLO, HELLO)
        )
        assert (await receiver.answer()).body == BIG + b"short" + BIG
        await sending
        answers = [(await sender.answer()).body for _ in range(5)]
        size = b"[%d]" % len(BIG)
        assert answers == [size, b"[5]", size, b'["hello"]', b'["hello"]']


async def test_a_body_in_chunks_and_an_answer_in_chunks_take_the_plain_way(meeting: Edge) -> None:
    in_chunks = put(0).replace(b"content-length: 0", b"transfer-encoding: chunked")
    async with both(meeting) as (sender, receiver):
        await receiver.send(out(len(BIG)))
        sending = asyncio.create_task(sender.send(in_chunks, b"%x\r\n" % len(BIG), BIG, b"\r\n0\r\n\r\n", HELLO))
        assert (await receiver.answer()).body == BIG
        await sending
        assert (await sender.answer()).body == b"[%d]" % len(BIG)
        assert (await sender.answer()).body == b'["hello"]'
        await receiver.send(HELLO.replace(b"hello", b"unknown"))
        sending = asyncio.create_task(sender.send(put(len(BIG)), BIG))
        assert (await receiver.answer()).body == BIG
        await sending


async def test_a_client_that_waits_to_be_asked_for_its_body_is_asked(meeting: Edge) -> None:
    async with both(meeting) as (sender, receiver):
        await sender.send(put(5, b"expect: 100-continue"))
        await receiver.send(out(5))
        assert await sender.reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        await sender.send(b"hello")
        assert (await receiver.answer()).body == b"hello"
        assert (await sender.answer()).body == b"[5]"


@pytest.mark.parametrize("sent", [0, 100_000])
async def test_a_body_that_breaks_off_breaks_the_answer_off(
    meeting: Edge, sent: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with both(meeting) as (sender, receiver):
        await receiver.send(out(len(BIG)))
        await sender.send(put(len(BIG)), BIG[:sent])
        await receiver.reader.readuntil(b"\r\n\r\n")
        received = await receiver.reader.readexactly(sent)
        sender.writer.close()
        rest = await receiver.reader.read()
        assert received + rest == BIG[:sent]
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.parametrize("size", [10_000, len(HUGE)])
async def test_a_receiver_who_leaves_is_told_to_the_sender_whose_rest_is_no_request(meeting: Edge, size: int) -> None:
    before = open_files()
    async with serving(meeting.app()) as port, wire(port) as sender:
        async with wire(port) as receiver:
            await receiver.send(out(size))
            await sender.send(put(size), HELLO)
            await receiver.reader.readexactly(100)
        answer = await sender.answer()
        assert (answer.status, slug(answer.problem())) == (410, "gone")
        assert answer.headers["connection"] == "close"
        await sender.send(HELLO)
        assert await sender.ended()
    assert await settled(before)


@pytest.mark.slow
async def test_a_sender_is_read_no_faster_than_the_receiver_takes(meeting: Edge) -> None:
    async with serving(meeting.app()) as port, wire(port) as sender, wire_with_small_buffer(port) as receiver:
        await receiver.send(out(len(HUGE)))
        sending = asyncio.create_task(sender.send(put(len(HUGE)), HUGE))
        await receiver.reader.readuntil(b"\r\n\r\n")
        _, waiting = await asyncio.wait({sending}, timeout=0.5)
        assert waiting
        assert await receiver.reader.readexactly(len(HUGE)) == HUGE
        await sending
        assert (await sender.answer()).status == 200


async def test_a_receiver_who_takes_nothing_is_cut_off(meeting: Edge) -> None:
    limits = Limits(stalled_seconds=0.3, linger_seconds=0.3)
    async with serving(meeting.app(), limits) as port, wire(port) as sender, wire_with_small_buffer(port) as receiver:
        await receiver.send(out(len(HUGE)))
        sending = asyncio.create_task(sender.send(put(len(HUGE)), HUGE))
        assert (await sender.answer()).status == 410
        sending.cancel()
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await receiver.reader.readexactly(len(HUGE))


async def test_a_sender_who_falls_silent_is_told_so(meeting: Edge) -> None:
    async with both(meeting, Limits(stalled_seconds=0.2, linger_seconds=0.3)) as (sender, receiver):
        await receiver.send(out(len(BIG)))
        await sender.send(put(len(BIG)), b"begun")
        answer = await sender.answer()
        assert (answer.status, slug(answer.problem())) == (408, "too-slow")
        await receiver.reader.readuntil(b"\r\n\r\n")
        assert await receiver.reader.read() == b"begun"


async def test_a_slow_receiver_holds_nobody_else_up(meeting: Edge) -> None:
    async with serving(meeting.app()) as port, wire(port) as sender, wire_with_small_buffer(port) as stuck:
        await stuck.send(out(len(HUGE)))
        sending = asyncio.create_task(sender.send(put(len(HUGE)), HUGE))
        await stuck.reader.readuntil(b"\r\n\r\n")
        async with wire(port) as another, wire(port, buffer=2**20) as receiver:
            await receiver.send(out(len(BIG)))
            passing = asyncio.create_task(another.send(put(len(BIG)), BIG))
            assert (await receiver.answer()).body == BIG
            await passing
        assert not sending.done()
        sending.cancel()
