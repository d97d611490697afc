"""One port for HTTPS and plain HTTP, on both event loops."""

import asyncio
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send
from websockets.asyncio.client import connect

from satchel.edge.http.limits import Limits
from satchel.edge.http.splice import splice
from satchel.edge.tls.certificates import LocalCertificates
from tests.edge.given import BIG, Edge, serving, wire


@pytest.fixture
def certificates(tmp_path: Path) -> LocalCertificates:
    return LocalCertificates(tmp_path / "tls", lambda: ["127.0.0.1", "localhost"])


@pytest.fixture
def trust(certificates: LocalCertificates) -> ssl.SSLContext:
    assert certificates.authority is not None
    return ssl.create_default_context(cadata=certificates.authority.pem.decode())


@pytest.fixture
def door(library: Edge) -> Edge:
    router = library.router()

    @router.get("/scheme")
    async def scheme(request: Request) -> list[str]:
        return [request.url.scheme]

    @router.post("/size")
    async def size(request: Request) -> list[int]:
        return [len(await request.body())]

    return library


def get(path: str, *more: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", "host: 127.0.0.1", *more, "", ""]).encode()


async def test_one_port_answers_both_and_the_application_sees_which(
    door: Edge, certificates: LocalCertificates, trust: ssl.SSLContext
) -> None:
    async with (
        serving(door.app(), tls=certificates.context) as port,
        wire(port, trust=trust) as secure,
        wire(port) as plain,
    ):
        for connection, scheme in ((secure, b"https"), (plain, b"http"), (secure, b"https")):
            await connection.send(get("/api/v1/scheme"))
            assert (await connection.answer()).body == b'["%b"]' % scheme


async def test_large_bodies_go_both_ways_through_tls(
    door: Edge, certificates: LocalCertificates, trust: ssl.SSLContext
) -> None:
    async with serving(door.app(), tls=certificates.context) as port, wire(port, trust=trust) as secure:
        await secure.send(get("/files/big"))
        assert (await secure.answer()).body == BIG
        head = f"POST /api/v1/size HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(BIG)}\r\n\r\n".encode()
        await secure.send(head, BIG)
        assert (await secure.answer()).body == b"[%d]" % len(BIG)


async def test_a_body_of_one_connection_becomes_the_answer_of_another(
    edge: Edge, certificates: LocalCertificates, trust: ssl.SSLContext
) -> None:
    """From TLS to plain and back: what goes past the transports must not go past the encryption."""
    handed: asyncio.Queue[tuple[Request, asyncio.Event]] = asyncio.Queue()
    router = edge.router()

    @router.post("/give")
    async def give(request: Request) -> list[str]:
        done = asyncio.Event()
        await handed.put((request, done))
        await done.wait()
        return ["given"]

    class Taken(StreamingResponse):
        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002  # as in ASGI
            request, done = await handed.get()
            length = request.headers["content-length"].encode()
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
            await splice(request.scope, request.receive, scope, send)
            await send({"type": "http.response.body", "body": b""})
            done.set()

    @router.get("/take")
    async def take() -> Taken:
        return Taken(iter(()))

    head = f"POST /api/v1/give HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(BIG)}\r\n\r\n".encode()
    async with serving(edge.app(), tls=certificates.context) as port:
        for giver, taker in ((trust, None), (None, trust), (trust, trust)):
            async with wire(port, trust=giver) as one, wire(port, trust=taker, buffer=2**22) as other:
                await other.send(get("/api/v1/take"))
                _, answer = await asyncio.gather(one.send(head, BIG), other.answer())
                assert answer.body == BIG
                assert (await one.answer()).body == b'["given"]'


async def test_websockets_work_through_tls(edge: Edge, certificates: LocalCertificates, trust: ssl.SSLContext) -> None:
    async def live(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "text": scope["scheme"]})
        await send({"type": "websocket.close"})

    edge.live = live
    async with (
        serving(edge.app(), tls=certificates.context) as port,
        connect(f"wss://127.0.0.1:{port}/api/v1/live", ssl=trust) as socket,
    ):
        assert await socket.recv() == "wss"


async def test_a_refused_request_still_reads_its_answer(
    edge: Edge, certificates: LocalCertificates, trust: ssl.SSLContext
) -> None:
    async with serving(edge.app(), tls=certificates.context) as port, wire(port, trust=trust) as secure:
        await secure.send(b"GET / HTTP/1.1\r\n\r\n")
        assert (await secure.answer()).status == 400


async def test_a_client_that_does_not_trust_us_or_speaks_nonsense_harms_nobody(
    door: Edge, certificates: LocalCertificates, trust: ssl.SSLContext
) -> None:
    async with serving(door.app(), tls=certificates.context) as port:
        with pytest.raises(ssl.SSLCertVerificationError):
            async with wire(port, trust=ssl.create_default_context()):
                pass
        async with wire(port) as nonsense:
            await nonsense.send(b"\x16\x03\x01 this is no handshake")
            assert (await nonsense.reader.read())[:1] in (b"", b"\x15")
        async with wire(port, trust=trust) as secure:
            await secure.send(get("/api/v1/scheme"))
            assert (await secure.answer()).status == 200


async def test_whoever_says_nothing_is_ended_and_makes_room_for_others(
    door: Edge, certificates: LocalCertificates, trust: ssl.SSLContext
) -> None:
    limits = Limits(connections=4, head_seconds=60)
    async with (
        serving(door.app(), limits, tls=certificates.context) as port,
        silent(port, 8),
        wire(port, trust=trust) as secure,
    ):
        await secure.send(get("/api/v1/scheme"))
        assert (await secure.answer()).status == 200


async def test_silence_has_a_deadline(door: Edge, certificates: LocalCertificates) -> None:
    async with (
        serving(door.app(), Limits(head_seconds=0.2), tls=certificates.context) as port,
        wire(port) as nothing,
        wire(port) as half,
    ):
        await half.send(b"\x16")
        assert await nothing.ended()
        assert await half.ended()


@asynccontextmanager
async def silent(port: int, count: int) -> AsyncGenerator[None]:
    """So many connections that never send anything."""
    writers = [(await asyncio.open_connection("127.0.0.1", port))[1] for _ in range(count)]
    yield
    for writer in writers:
        writer.close()


async def test_a_server_that_stops_ends_those_who_have_said_nothing(
    door: Edge, certificates: LocalCertificates
) -> None:
    async with serving(door.app(), tls=certificates.context) as port, wire(port) as nothing:
        await asyncio.sleep(0.05)
        waiting = asyncio.create_task(nothing.ended())
    assert await waiting
