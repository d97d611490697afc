"""What strangers can make the server hold is bounded, and they alone lose their connections when it is too much."""

import asyncio
import gc
from collections.abc import Generator
from contextlib import AsyncExitStack

import pytest
from starlette.types import Receive, Scope, Send
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.frames import Frame, Opcode

from satchel.edge.api.endpoints import Body
from satchel.edge.http.held_bytes import HeldBytes
from satchel.edge.http.limits import Limits
from satchel.edge.http.protocol import HttpProtocol
from satchel.edge.http.response import RequestCycle
from tests.edge.given import Edge, Wire, serving, slug, wire

MEGABYTE = 1024 * 1024
HOST = b"host: satchel.test\r\n"
LARGE = b"GET /api/v1/large HTTP/1.1\r\n" + HOST + b"\r\n"
SMALL = b"GET /api/v1/small HTTP/1.1\r\n" + HOST + b"\r\n"
POST = b"POST /api/v1/echo HTTP/1.1\r\n" + HOST + b"content-type: application/json\r\ncontent-length: %d\r\n\r\n"
# The kernel keeps little of an answer for a client that does not read it.
KERNEL_BYTES = 16 * 1024


class Echo(Body, frozen=True):
    text: str


class Known:
    """A connection of a network, for the sums."""

    def __init__(self, network: str) -> None:
        self._network = network
        self.is_gone = False

    def network(self) -> str:
        return self._network

    def abandon(self) -> None:
        self.is_gone = True


@pytest.fixture
def large(edge: Edge) -> Edge:
    router = edge.router()

    @router.get("/large")
    async def read() -> str:
        return "x" * MEGABYTE

    @router.get("/small")
    async def look() -> str:
        return "here"

    @router.post("/echo")
    async def echo(body: Echo) -> int:
        return len(body.text)

    return edge


async def stranger(stack: AsyncExitStack, port: int) -> Wire:
    """A connection of another network than the others."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=("127.0.0.2", 0), limit=1024)
    stack.callback(writer.close)
    return Wire(reader, writer)


def test_who_holds_the_most_goes_first_and_the_largest_of_theirs() -> None:
    held = HeldBytes(100)
    few, small, big = Known("one"), Known("two"), Known("two")
    held.note(few, 30)
    held.note(small, 10)
    held.note(big, 50)
    held.note(few, 45)
    assert (few.is_gone, small.is_gone, big.is_gone) == (False, False, True)
    assert held.total == 55
    held.note(few, 0)
    held.note(small, 0)
    held.note(big, 0)
    assert held.total == 0


def test_what_is_left_of_those_who_had_to_go_counts_until_they_are_gone() -> None:
    held = HeldBytes(100)
    several = [Known("two") for _ in range(4)]
    for each in several:
        held.note(each, 30)
    assert held.is_overrun_by(several[0])
    assert not held.is_overrun_by(Known("one"))
    for each in several:
        held.gone(each)
    assert (held.total, held.ending, held.is_overrun_by(several[0])) == (0, 0, False)


async def test_heads_of_requests_under_way_cost_the_network_that_sends_them(large: Edge) -> None:
    """A body that never comes keeps the head of its request; sixty kilobytes of it were counted nowhere."""
    long_heads = b"".join(b"x%d: %b\r\n" % (number, b"y" * 600) for number in range(90))
    head = (POST % 100)[:-2] + long_heads + b"\r\n{"
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(serving(large.app(), Limits(held_bytes=MEGABYTE)))
        stalled = [await stranger(stack, port) for _ in range(30)]
        for each in stalled:
            await each.send(head)
        honest = await stack.enter_async_context(wire(port))
        await honest.send(POST % 14, b'{"text": "ab"}')
        assert (await honest.answer()).body == b"2"
        ended = await asyncio.gather(*(asyncio.wait_for(each.ended(), 1) for each in stalled), return_exceptions=True)
        assert sum(not isinstance(each, TimeoutError) for each in ended) >= 15


async def test_heads_of_websockets_cost_the_network_that_sends_them(large: Edge) -> None:
    large.live = listener
    long_heads = {f"x{number}": "y" * 600 for number in range(90)}
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(serving(large.app(), Limits(held_bytes=MEGABYTE)))
        address = f"ws://127.0.0.1:{port}/api/v1/live"
        honest = await stack.enter_async_context(connect(address, proxy=None))
        many = [
            await stack.enter_async_context(
                connect(address, proxy=None, local_addr=("127.0.0.2", 0), additional_headers=long_heads)
            )
            for _ in range(12)
        ]
        while sum(each.transport.is_closing() for each in many) < 6:
            await asyncio.sleep(0.05)
        await (await honest.ping())


@pytest.fixture
def uncollected() -> Generator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def connections() -> int:
    return sum(type(each) in (HttpProtocol, RequestCycle) for each in gc.get_objects())


@pytest.mark.usefixtures("uncollected")
async def test_of_a_connection_that_has_ended_nothing_waits_for_the_collection_of_garbage(large: Edge) -> None:
    """Strangers who came and went with half requests left 600 MB behind in less than a minute."""
    large.live = listener
    async with serving(large.app()) as port:
        before = connections()
        for sent in (LARGE[:-2], LARGE, POST % 100 + b"{", SMALL * 3):
            async with wire(port) as stranger:
                await stranger.send(sent)
                if sent in (LARGE, SMALL * 3):
                    await stranger.answer()
                await asyncio.sleep(0.05)
        async with connect(f"ws://127.0.0.1:{port}/api/v1/live", proxy=None):
            pass
        async with asyncio.timeout(10):
            while connections() != before:
                await asyncio.sleep(0.01)


async def test_answers_that_a_network_does_not_read_cost_that_network(large: Edge) -> None:
    limits = Limits(held_bytes=5 * MEGABYTE)
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(serving(large.app(), limits, send_buffer=KERNEL_BYTES))
        slow = await stack.enter_async_context(wire(port, buffer=1024))
        await slow.send(LARGE)
        unread = [await stranger(stack, port) for _ in range(12)]
        for each in unread:
            await each.send(LARGE)
            await asyncio.sleep(0.01)
        other = await stack.enter_async_context(wire(port))
        await other.send(SMALL)
        assert (await other.answer()).status == 200
        # Whoever reads slowly, in another network, gets all of it.
        assert len((await slow.answer()).body) == MEGABYTE + 2
        lost = 0
        for each in unread:
            try:
                await each.answer()
            except (ConnectionResetError, asyncio.IncompleteReadError):
                lost += 1
        assert 6 <= lost < 12


async def test_the_kernel_takes_little_of_an_answer_that_nobody_reads(large: Edge) -> None:
    """What it takes is counted nowhere: it would take all of these answers, and the bound would never be reached."""
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(serving(large.app(), Limits(held_bytes=5 * MEGABYTE)))
        unread = [await stranger(stack, port) for _ in range(12)]
        for each in unread:
            await each.send(LARGE)
            await asyncio.sleep(0.01)
        lost = 0
        for each in unread:
            try:
                await each.answer()
            except (ConnectionResetError, asyncio.IncompleteReadError):
                lost += 1
        assert 4 <= lost < 12


async def test_half_sent_bodies_cost_the_network_that_sends_them(large: Edge) -> None:
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(serving(large.app(), Limits(held_bytes=3 * MEGABYTE)))
        half = [await stranger(stack, port) for _ in range(8)]
        for each in half:
            await each.send(POST % MEGABYTE, b'{"text": "', b"x" * (MEGABYTE - 100))
        honest = await stack.enter_async_context(wire(port))
        body = b'{"text": "%b"}' % (b"x" * 200_000)
        await honest.send(POST % len(body), body)
        assert (await honest.answer()).body == b"200000"
        ended = await asyncio.gather(
            *(asyncio.wait_for(each.reader.read(), 2) for each in half), return_exceptions=True
        )
        assert sum(isinstance(each, ConnectionResetError) or each == b"" for each in ended) >= 5


async def test_an_answer_that_nobody_takes_is_not_kept_for_ever(large: Edge) -> None:
    limits = Limits(stalled_seconds=0.2, keep_alive_seconds=0)
    async with serving(large.app(), limits, send_buffer=KERNEL_BYTES) as port, wire(port, buffer=1024) as unread:
        await unread.send(LARGE)
        await asyncio.sleep(1)
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await unread.answer()


async def test_a_request_has_so_many_headers_and_no_more(large: Edge) -> None:
    async with serving(large.app()) as port:
        async with wire(port) as honest:
            await honest.send(SMALL[:-2], b"a: b\r\n" * 99, b"\r\n")
            assert (await honest.answer()).status == 200
        async with wire(port) as greedy:
            await greedy.send(SMALL[:-2], b"a:\r\n" * 5000, b"\r\n")
            answer = await greedy.answer()
            assert (answer.status, slug(answer.problem())) == (431, "headers-too-large")


async def test_requests_that_were_sent_ahead_are_bounded(large: Edge) -> None:
    async with serving(large.app()) as port:
        async with wire(port) as honest:
            await honest.send(SMALL * 60)
            assert [(await honest.answer()).status for _ in range(60)] == [200] * 60
        async with wire(port) as greedy:
            await greedy.send(SMALL * 2000)
            with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
                for _ in range(2000):
                    await greedy.answer()


async def listener(_scope: Scope, receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "websocket.accept"})
    while (await receive())["type"] != "websocket.disconnect":
        pass


async def test_a_websocket_that_asks_for_pongs_and_takes_none_is_cut_off(large: Edge) -> None:
    large.live = listener
    pings = Frame(Opcode.PING, b"x" * 100).serialize(mask=True) * 10_000
    async with (
        serving(large.app(), send_buffer=KERNEL_BYTES) as port,
        connect(f"ws://127.0.0.1:{port}/api/v1/live", proxy=None) as connection,
    ):
        connection.transport.pause_reading()
        for _ in range(50):
            connection.transport.write(pings)
        while not connection.transport.is_closing():
            await asyncio.sleep(0.05)


async def test_half_frames_of_websockets_cost_the_network_that_sends_them(large: Edge) -> None:
    large.live = listener
    frame = Frame(Opcode.BINARY, b"x" * (MEGABYTE - 100)).serialize(mask=True)
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(serving(large.app(), Limits(held_bytes=3 * MEGABYTE)))
        address = f"ws://127.0.0.1:{port}/api/v1/live"
        honest = await stack.enter_async_context(connect(address, proxy=None))
        half = [
            await stack.enter_async_context(connect(address, proxy=None, local_addr=("127.0.0.2", 0))) for _ in range(8)
        ]
        for each in half:
            each.transport.write(frame[:-10])
        while sum(each.transport.is_closing() for each in half) < 5:
            await asyncio.sleep(0.05)
        await honest.ping()
        await honest.send(b"x" * 200_000)
        await (await honest.ping())


async def test_websockets_of_one_network_leave_others_a_quarter(large: Edge) -> None:
    large.live = listener
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(serving(large.app(), Limits(websockets=8)))
        address = f"ws://127.0.0.1:{port}/api/v1/live"
        for _ in range(6):
            await stack.enter_async_context(connect(address, proxy=None, local_addr=("127.0.0.2", 0)))
        with pytest.raises(InvalidStatus) as refused:
            await connect(address, proxy=None, local_addr=("127.0.0.2", 0))
        assert refused.value.response.status_code == 503
        for _ in range(2):
            await stack.enter_async_context(connect(address, proxy=None))


async def test_websockets_have_a_number_that_includes_those_at_the_door(large: Edge) -> None:
    large.live = listener
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(serving(large.app(), Limits(websockets=2)))
        address = f"ws://127.0.0.1:{port}/api/v1/live"
        for _ in range(2):
            await stack.enter_async_context(connect(address, proxy=None))
        with pytest.raises(InvalidStatus) as refused:
            await connect(address, proxy=None)
        assert refused.value.response.status_code == 503
