"""Connections as they really are: slow, broken, pipelined, oversized, closed in the middle."""

import asyncio
import gc
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, contextmanager

import pytest
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send
from websockets.asyncio.client import connect
from websockets.frames import Frame, Opcode

from satchel.edge.api.endpoints import Body
from satchel.edge.http.limits import Limits
from satchel.edge.http.protocol import HttpProtocol
from satchel.edge.http.request_body import stream_body
from satchel.edge.http.websocket_protocol import WebsocketProtocol
from satchel.kernel.errors import Gone
from tests.edge.given import Edge, serving, slug, wire, wire_to_stopping

GET = b"GET /api/v1/hello HTTP/1.1\r\nhost: satchel.test\r\n\r\n"
SLOW = GET.replace(b"hello", b"slow")
PUT = b"PUT /api/v1/upload HTTP/1.1\r\nhost: satchel.test\r\n"
POST = b"POST /api/v1/echo HTTP/1.1\r\nhost: satchel.test\r\ncontent-type: application/json\r\n"
SHORT = Limits(head_seconds=0.2, stalled_seconds=0.2, linger_seconds=0.3, keep_alive_seconds=1, shutdown_seconds=2)


class Echo(Body, frozen=True):
    text: str


@pytest.fixture
def talking(edge: Edge) -> Edge:
    router = edge.router()

    @router.get("/hello")
    async def hello() -> list[str]:
        return ["hello"]

    @router.post("/echo")
    async def echo(body: Echo) -> list[str]:
        return [body.text]

    @router.put("/upload")
    async def upload(request: Request) -> list[int]:
        return [sum([len(piece) async for piece in stream_body(request, 300_000)])]

    @router.put("/refuse")
    async def refuse() -> None: ...

    @router.get("/stream")
    async def stream() -> Response:
        async def pieces() -> AsyncGenerator[bytes]:
            yield b"one "
            await asyncio.sleep(0.01)
            yield b"two"

        return StreamingResponse(pieces())

    @router.get("/half")
    async def half() -> Response:
        async def pieces() -> AsyncGenerator[bytes]:
            yield b"first"
            raise RuntimeError("disk gone")

        return StreamingResponse(pieces(), headers={"content-length": "100"})

    @router.get("/over")
    async def over() -> Response:
        async def pieces() -> AsyncGenerator[bytes]:
            yield b"first"
            raise Gone("It was taken back.")

        return StreamingResponse(pieces(), headers={"content-length": "100"})

    @router.get("/endless")
    async def endless() -> Response:
        async def pieces() -> AsyncGenerator[bytes]:
            while True:
                yield b"x" * 65536

        return StreamingResponse(pieces())

    @router.get("/broken-header")
    async def broken_header() -> Response:
        return Response(headers={"x-broken": "a\r\nset-cookie: b=c"})

    @router.get("/slow")
    async def slow() -> list[str]:
        await asyncio.sleep(0.3)
        return ["done"]

    return edge


async def test_many_requests_share_a_connection(talking: Edge) -> None:
    async with serving(talking.app()) as port, wire(port) as connection:
        for _ in range(3):
            await connection.send(GET)
            answer = await connection.answer()
            assert (answer.status, answer.body) == (200, b'["hello"]')
            assert "connection" not in answer.headers


async def test_pipelined_requests_are_answered_in_order(talking: Edge) -> None:
    post = POST + b'content-length: 13\r\n\r\n{"text": "%d"}'
    async with serving(talking.app()) as port, wire(port) as connection:
        await connection.send(GET, *(post % number for number in range(5)), GET)
        bodies = [(await connection.answer()).body for _ in range(7)]
        assert bodies == [b'["hello"]', *(b'["%d"]' % number for number in range(5)), b'["hello"]']


async def test_a_streamed_answer_is_chunked_and_the_connection_goes_on(talking: Edge) -> None:
    async with serving(talking.app()) as port, wire(port) as connection:
        await connection.send(GET.replace(b"hello", b"stream"), GET)
        assert (await connection.answer()).body == b"one two"
        assert (await connection.answer()).body == b'["hello"]'


async def test_http_1_0_gets_no_chunks_and_its_connection_ends(talking: Edge) -> None:
    async with serving(talking.app()) as port, wire(port) as connection:
        await connection.send(b"GET /api/v1/stream HTTP/1.0\r\n\r\n")
        whole = await connection.reader.read()
        head, _, body = whole.partition(b"\r\n\r\n")
        assert b"transfer-encoding" not in head
        assert b"connection: close" in head
        assert body == b"one two"


async def test_head_has_the_headers_of_get_and_no_body(talking: Edge) -> None:
    async with serving(talking.app()) as port, wire(port) as connection:
        await connection.send(GET.replace(b"GET", b"HEAD"), GET)
        head = await connection.answer(bodyless=True)
        get = await connection.answer()
        assert head.headers["content-length"] == get.headers["content-length"] == "9"


async def test_a_client_that_wants_no_more_is_disconnected(talking: Edge) -> None:
    async with serving(talking.app()) as port, wire(port) as connection:
        await connection.send(GET.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n"))
        assert (await connection.answer()).headers["connection"] == "close"
        assert await connection.ended()


@pytest.mark.parametrize(
    "broken",
    [
        b"NONSENSE\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /api/v1/hello HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: nonsense\r\n\r\n",
        b"GET /api/v1/hello HTTP/1.1\r\n\r\n",
        b"GET /api/v1/hello HTTP/1.1\r\nhost: one.test\r\nhost: two.test\r\n\r\n",
        b"GET /api/v1/hello HTTP/1.0\r\nhost: one.test\r\nhost: one.test\r\n\r\n",
        PUT + b"transfer-encoding: xchunked\r\n\r\n",
        PUT + b"transfer-encoding: gzip, chunked\r\n\r\n",
        PUT + b"transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
)
async def test_what_is_not_http_is_answered_with_a_problem(talking: Edge, broken: bytes) -> None:
    async with serving(talking.app()) as port, wire(port) as connection:
        await connection.send(broken)
        answer = await connection.answer()
        assert (answer.status, slug(answer.problem())) == (400, "malformed")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert await connection.ended()
        async with wire(port) as another:
            await another.send(GET)
            assert (await another.answer()).status == 200


async def test_an_address_over_the_limit_is_refused(talking: Edge) -> None:
    async with serving(talking.app()) as port, wire(port) as connection:
        await connection.send(b"GET /" + b"a" * 17_000 + b" HTTP/1.1\r\n\r\n")
        answer = await connection.answer()
        assert (answer.status, slug(answer.problem())) == (414, "address-too-long")


async def test_headers_over_the_limit_are_refused_complete_or_not(talking: Edge) -> None:
    many = b"".join(b"x-%d: %s\r\n" % (number, b"y" * 1000) for number in range(70))
    endless = b"x-endless: " + b"y" * 200_000
    async with serving(talking.app()) as port:
        for headers in (many + b"\r\n", endless):
            async with wire(port) as connection:
                for start in range(0, len(headers), 30_000):
                    piece = headers[start : start + 30_000]
                    await connection.send(piece if start else GET[:-2] + piece)
                    await asyncio.sleep(0.01)
                answer = await connection.answer()
                assert (answer.status, slug(answer.problem())) == (431, "headers-too-large")


async def test_headers_that_do_not_come_are_not_waited_for(talking: Edge) -> None:
    async with serving(talking.app(), SHORT) as port:
        async with wire(port) as silent:
            assert await silent.ended()
        async with wire(port) as slow:
            await slow.send(GET[:-5])
            answer = await slow.answer()
            assert (answer.status, slug(answer.problem())) == (408, "too-slow")
            assert await slow.ended()
        async with wire(port) as drip:
            await drip.send(GET)
            await drip.answer()
            await drip.send(b"\r\n")
            assert await drip.ended()


async def test_a_body_that_does_not_come_is_not_waited_for(talking: Edge) -> None:
    async with serving(talking.app(), SHORT) as port, wire(port) as connection:
        await connection.send(POST + b"content-length: 20\r\n\r\n{")
        answer = await connection.answer()
        assert (answer.status, slug(answer.problem())) == (408, "too-slow")


async def test_a_long_answer_is_not_held_up_by_how_long_it_takes_to_think(talking: Edge) -> None:
    async with serving(talking.app(), SHORT) as port, wire(port) as connection:
        await connection.send(SLOW)
        assert (await connection.answer()).body == b'["done"]'


async def test_a_streamed_upload_is_counted_as_it_comes(talking: Edge) -> None:
    chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
    async with serving(talking.app()) as port, wire(port) as connection:
        await connection.send(PUT + b"transfer-encoding: chunked\r\n\r\n", chunk, chunk, b"0\r\n\r\n")
        assert (await connection.answer()).body == b"[131072]"
        await connection.send(PUT + b"transfer-encoding: chunked\r\n\r\n", chunk * 5)
        answer = await connection.answer()
        assert (answer.status, slug(answer.problem())) == (413, "too-large")


async def test_a_refusal_can_be_read_though_the_client_is_still_sending(talking: Edge) -> None:
    async with serving(talking.app()) as port, wire(port) as connection:
        await connection.send(PUT + b"content-length: 1000000\r\n\r\n", b"x" * 400_000)
        answer = await connection.answer()
        assert (answer.status, answer.headers["connection"]) == (413, "close")
        await connection.send(b"x" * 600_000)
        assert await connection.ended()


async def test_a_client_that_asks_before_sending_much_is_spared_the_sending(talking: Edge) -> None:
    expecting = b"expect: 100-continue\r\n\r\n"
    async with serving(talking.app()) as port:
        async with wire(port) as connection:
            await connection.send(PUT + b"content-length: 1000000\r\n" + expecting)
            assert (await connection.answer()).status == 413
            assert await connection.ended()
        async with wire(port) as connection:
            await connection.send(PUT + b"content-length: 5\r\n" + expecting)
            assert await connection.reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            await connection.send(b"12345")
            assert (await connection.answer()).body == b"[5]"


async def test_a_small_unread_body_does_not_cost_the_connection(talking: Edge) -> None:
    async with serving(talking.app()) as port, wire(port) as connection:
        await connection.send(PUT.replace(b"upload", b"refuse") + b"content-length: 5\r\n\r\n")
        assert (await connection.answer()).status == 204
        await connection.send(b"12345", GET)
        assert (await connection.answer()).body == b'["hello"]'


async def test_what_follows_a_refused_body_is_dropped_only_so_far(talking: Edge) -> None:
    async with serving(talking.app(), Limits(linger_bytes=1_000_000)) as port, wire(port) as connection:
        await connection.send(PUT + b"content-length: 100000000\r\n\r\n")
        await connection.answer()
        with pytest.raises(ConnectionError):
            while True:
                await connection.send(b"x" * 100_000)


@pytest.mark.parametrize(("path", "is_known"), [(b"half", False), (b"over", True)])
async def test_an_answer_that_fails_half_way_breaks_the_connection(
    talking: Edge, caplog: pytest.LogCaptureFixture, path: bytes, *, is_known: bool
) -> None:
    async with serving(talking.app()) as port, wire(port) as connection:
        await connection.send(GET.replace(b"hello", path))
        with pytest.raises(asyncio.IncompleteReadError):
            await connection.answer()
        (record,) = [each for each in caplog.records if "failed half-way" in each.getMessage()]
        # Where an error says itself what is wrong, a traceback only hides it.
        assert (record.exc_info is None, "It was taken back." in record.getMessage()) == (is_known, is_known)


async def test_a_header_that_would_break_the_answer_becomes_a_500(talking: Edge) -> None:
    async with serving(talking.app()) as port, wire(port) as connection:
        await connection.send(GET.replace(b"hello", b"broken-header"))
        answer = await connection.answer()
        assert answer.status == 500
        assert "set-cookie" not in answer.headers


async def test_a_reader_who_stops_reading_is_dropped(talking: Edge) -> None:
    async with serving(talking.app(), SHORT) as port, wire(port) as connection:
        await connection.send(GET.replace(b"hello", b"endless"))
        await connection.reader.readexactly(1000)
        while not talking.lines():
            await asyncio.sleep(0.02)
        assert talking.lines()[0]["route"] == "/api/v1/endless"


async def test_a_client_that_leaves_before_its_answer_is_noted_and_nothing_else(
    talking: Edge, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(talking.app()) as port:
        async with wire(port) as connection:
            await connection.send(SLOW)
            await asyncio.sleep(0.05)
        while not talking.lines():
            await asyncio.sleep(0.02)
    assert talking.lines()[0]["status"] == 499
    assert caplog.records == []


async def test_more_connections_than_allowed_are_told_to_come_back(edge: Edge) -> None:
    router = edge.router()
    free = asyncio.Event()

    @router.get("/held")
    async def held() -> None:
        await free.wait()

    held_request = GET.replace(b"hello", b"held")
    async with serving(edge.app(), Limits(connections=3)) as port, wire(port) as one, wire(port) as two:
        # Both are being answered, so neither can be ended for a newcomer.
        for each in (one, two):
            await each.send(held_request)
        while edge.metrics.requests.in_flight < 2:
            await asyncio.sleep(0.01)
        async with wire(port) as last:
            await last.send(held_request)
            answer = await last.answer()
            assert (answer.status, slug(answer.problem())) == (503, "busy")
            assert answer.headers["retry-after"] == "2"
            assert await last.ended()
        free.set()
        assert (await one.answer()).status == 204


async def test_half_requests_of_one_network_take_no_places_of_others(talking: Edge) -> None:
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(serving(talking.app(), Limits(connections=20)))
        person = await stack.enter_async_context(wire(port))
        await person.send(GET)
        assert (await person.answer()).status == 200
        for _ in range(60):
            _, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=("127.0.0.2", 0))
            stack.callback(writer.close)
            writer.write(GET[:-5])
        newcomer = await stack.enter_async_context(wire(port))
        await newcomer.send(GET)
        assert (await newcomer.answer()).status == 200
        # Whoever was connected before stays so.
        await person.send(GET)
        assert (await person.answer()).status == 200


async def test_requests_under_way_of_one_network_leave_others_a_quarter(edge: Edge) -> None:
    """Bodies that come a byte at a time, or answers that nobody reads, are no half requests: they are not ended."""
    router = edge.router()
    free = asyncio.Event()

    @router.get("/held")
    async def held() -> None:
        await free.wait()

    @router.get("/hello")
    async def hello() -> str:
        return "hello"

    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(serving(edge.app(), Limits(connections=20)))
        person = await stack.enter_async_context(wire(port))
        for number in range(18):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=("127.0.0.2", 0))
            stack.callback(writer.close)
            writer.write(GET.replace(b"hello", b"held"))
            # Fifteen are three quarters.
            if number >= 15:
                assert b" 503 " in await reader.readline()
            while edge.metrics.requests.in_flight < min(number + 1, 15):
                await asyncio.sleep(0.01)
        assert edge.metrics.requests.in_flight == 15
        newcomer = await stack.enter_async_context(wire(port))
        for each in (person, newcomer, person):
            await each.send(GET)
            assert (await each.answer()).status == 200
        free.set()


async def test_refused_requests_that_are_still_read_take_no_places_of_others(talking: Edge) -> None:
    limits = Limits(connections=20, head_seconds=0.1, linger_seconds=60)
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(serving(talking.app(), limits))
        for _ in range(19):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=("127.0.0.2", 0))
            stack.callback(writer.close)
            writer.write(GET[:-5])
            assert b" 408 " in await reader.readline()
        for _ in range(3):
            newcomer = await stack.enter_async_context(wire(port))
            await newcomer.send(GET)
            assert (await newcomer.answer()).status == 200


async def test_a_request_under_way_is_finished_when_the_server_stops(talking: Edge) -> None:
    async with wire_to_stopping(talking, SLOW) as (connection, stopped):
        answer = await connection.answer()
        assert (answer.body, answer.headers["connection"]) == (b'["done"]', "close")
        await stopped


async def test_a_request_that_takes_too_long_is_told_that_the_server_stops(edge: Edge) -> None:
    router = edge.router()

    @router.get("/slow")
    async def slow() -> None:
        await asyncio.Event().wait()

    async with wire_to_stopping(edge, SLOW, Limits(shutdown_seconds=1)) as (connection, stopped):
        answer = await connection.answer()
        assert (answer.status, slug(answer.problem())) == (503, "shutting-down")
        await stopped


async def test_a_websocket_from_another_site_is_refused_and_one_to_nowhere_not_found(edge: Edge) -> None:
    upgrade = (
        b"GET /api/v1/nowhere HTTP/1.1\r\nhost: satchel.test\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
        b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\norigin: %s\r\n\r\n"
    )
    async with serving(edge.app()) as port:
        for origin, status in ((b"http://evil.test", 403), (b"http://satchel.test", 404)):
            async with wire(port) as connection:
                await connection.send(upgrade % origin)
                answer = await connection.answer()
                assert answer.status == status
                assert answer.problem()["status"] == status
    assert [(line["method"], line["status"]) for line in edge.lines()] == [("WEBSOCKET", 403), ("WEBSOCKET", 404)]


async def parrot(_: Scope, receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": message["text"]})


async def test_a_websocket_outlives_the_timeout_for_headers() -> None:
    from websockets.asyncio.client import connect

    async with serving(parrot, SHORT) as port, connect(f"ws://127.0.0.1:{port}/", proxy=None) as socket:
        await asyncio.sleep(0.5)
        await socket.send("still here")
        assert await socket.recv() == "still here"


async def test_what_a_client_says_along_with_its_wish_for_a_websocket_is_heard() -> None:
    wish = (
        b"GET / HTTP/1.1\r\nhost: satchel.test\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
        b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    async with serving(parrot) as port, wire(port) as connection:
        await connection.send(wish, Frame(Opcode.TEXT, b"early").serialize(mask=True))
        assert (await connection.answer()).status == 101
        assert await connection.reader.readexactly(7) == Frame(Opcode.TEXT, b"early").serialize(mask=False)


async def test_a_wish_for_another_protocol_is_answered_as_if_it_had_not_been_there(talking: Edge) -> None:
    wish = b"connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: x\r\n"
    post = POST + b"content-length: 14\r\n"
    async with serving(talking.app()) as port, wire(port) as connection:
        await connection.send(GET[:-2] + wish + b"\r\n", post + wish + b"\r\n" + b'{"text": "me"}', GET)
        bodies = [(await connection.answer()).body for _ in range(3)]
        assert bodies == [b'["hello"]', b'["me"]', b'["hello"]']


async def test_a_client_that_leaves_is_noticed_though_it_has_sent_another_request(edge: Edge) -> None:
    router = edge.router()
    gone = asyncio.Event()

    @router.get("/wait")
    async def wait(request: Request) -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        gone.set()

    async with serving(edge.app()) as port:
        async with wire(port) as connection:
            await connection.send(GET.replace(b"hello", b"wait"), GET)
            await asyncio.sleep(0.1)
        async with asyncio.timeout(10):
            await gone.wait()


async def test_a_request_after_a_pause_within_the_keep_alive_time_is_answered(talking: Edge) -> None:
    limits = Limits(head_seconds=0.3, keep_alive_seconds=1)
    async with serving(talking.app(), limits) as port, wire(port) as connection:
        for _ in range(2):
            await connection.send(GET)
            assert (await connection.answer()).status == 200
            await asyncio.sleep(0.6)
        assert await connection.ended()


async def test_a_connection_that_has_ended_is_freed_without_collecting_garbage(talking: Edge) -> None:
    async with serving(talking.app()) as port:
        with without_collection():
            for _ in range(3):
                async with wire(port) as line:
                    await line.send(GET)
                    assert (await line.answer()).status == 200
            await gone(HttpProtocol)


async def test_a_websocket_keeps_nothing_of_the_connection_that_it_was(edge: Edge) -> None:
    async def accept(_scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await receive()

    edge.live = accept
    async with serving(edge.app()) as port:
        with without_collection():
            async with connect(f"ws://127.0.0.1:{port}/api/v1/live", proxy=None):
                await gone(HttpProtocol)
            await gone(WebsocketProtocol)


@contextmanager
def without_collection() -> Generator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


async def gone(kind: type) -> None:
    """Wait until there is none of these."""
    async with asyncio.timeout(10):
        while any(type(each) is kind for each in gc.get_objects()):
            await asyncio.sleep(0.01)
