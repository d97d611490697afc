"""What the tests of the edge are given: an application around a few endpoints, and ways to call it."""

import asyncio
import os
import socket
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import msgspec
from starlette.types import ASGIApp

from satchel.edge.api.disk_reserve import DiskReserve
from satchel.edge.api.endpoints import Router
from satchel.edge.api.health import Checks
from satchel.edge.api.identity import Identity
from satchel.edge.application import application
from satchel.edge.http.callers import Guest, Member
from satchel.edge.http.limits import Limits
from satchel.edge.http.logs import Journal, LogFormat
from satchel.edge.http.metrics import Metrics
from satchel.edge.http.middleware import Exposure
from satchel.edge.http.server import Server, listen

ANN = Member("u-ann", "ann@example.org", "s-1")
ADA = Member("u-ada", "ada@example.org", "s-2", admin=True)
GUS = Guest("g-gus", "Gus")
BIG = os.urandom(3_000_000)
SMALL = b"small"
DOWNLOAD_NAME = 'Frühling "2026" \U0001f337\u202egpj.exe'


async def once(data: bytes) -> AsyncGenerator[bytes]:
    yield data


@dataclass
class Edge:
    """An edge without a slice: add routers, then call it in process or over a socket."""

    identity: Identity
    routers: list[Router] = field(default_factory=list[Router])
    exposure: Exposure = field(default_factory=Exposure)
    checks: Checks = field(default_factory=dict[str, Any])
    metrics: Metrics = field(default_factory=Metrics)
    live: ASGIApp | None = None
    disk: DiskReserve | None = None
    log_format: LogFormat = "json"
    log_level: str = "info"
    written: list[bytes] = field(default_factory=list[bytes])

    def app(self) -> ASGIApp:
        journal = Journal(self.log_format, self.log_level, self.written.append)
        return application(
            self.routers,
            identity=self.identity,
            checks=self.checks,
            exposure=self.exposure,
            journal=journal,
            metrics=self.metrics,
            version="1.2.3",
            live=self.live,
            disk=self.disk,
        )

    def router(self, *, prefix: str = "/api/v1") -> Router:
        router = Router("things", prefix=prefix)
        self.routers.append(router)
        return router

    def client(self, *, peer: str = "192.0.2.7", https: bool = False) -> httpx.AsyncClient:
        """Calls in process; what the application raises is not hidden."""
        transport = httpx.ASGITransport(self.app(), client=(peer, 50000))
        return httpx.AsyncClient(transport=transport, base_url=f"http{'s' if https else ''}://satchel.test")

    def lines(self) -> list[dict[str, Any]]:
        return [msgspec.json.decode(line) for line in self.written]

    def bearer(self, who: Member | Guest) -> dict[str, str]:
        issue = self.identity.issue_access if isinstance(who, Member) else self.identity.issue_guest
        return {"authorization": f"Bearer {issue(who).value}"}  # pyright: ignore[reportArgumentType]


@asynccontextmanager
async def serving(
    app: ASGIApp,
    limits: Limits | None = None,
    *,
    send_buffer: int | None = None,
    tls: ssl.SSLContext | None = None,
) -> AsyncGenerator[int]:
    """A real server on the loop of the test; yields its port."""
    started = asyncio.Event()
    with listen("127.0.0.1", 0) as listener:
        if send_buffer is not None:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        server = Server(app, limits or Limits(), started.set, tls=tls)
        running = asyncio.create_task(server.serve(listener))
        await started.wait()
        try:
            yield listener.getsockname()[1]
        finally:
            server.stop()
            await running


@dataclass
class Answer:
    """An answer as it came over the wire."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def problem(self) -> dict[str, Any]:
        assert self.headers["content-type"] == "application/problem+json"
        return msgspec.json.decode(self.body)


class Wire:
    """A connection that sends exactly the bytes it is told to, and reads answers one by one."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, *pieces: bytes) -> None:
        self.writer.write(b"".join(pieces))
        await self.writer.drain()

    async def answer(self, *, bodyless: bool = False) -> Answer:
        head = await self.reader.readuntil(b"\r\n\r\n")
        status_line, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        length = 0 if bodyless else int(headers.get("content-length", 0))
        body = await self.reader.readexactly(length)
        if headers.get("transfer-encoding") == "chunked":
            body = await self._chunks()
        return Answer(int(status_line.split(" ")[1]), headers, body)

    async def _chunks(self) -> bytes:
        whole = b""
        while size := int(await self.reader.readline(), 16):
            whole += (await self.reader.readexactly(size + 2))[:-2]
        await self.reader.readline()
        return whole

    async def ended(self) -> bool:
        """Whether the server has ended the connection, and said nothing more before."""
        return await self.reader.read() == b""


@asynccontextmanager
async def wire(port: int, *, buffer: int = 2**16, trust: ssl.SSLContext | None = None) -> AsyncGenerator[Wire]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=buffer, ssl=trust)
    try:
        yield Wire(reader, writer)
    finally:
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


@asynccontextmanager
async def wire_to_stopping(
    edge: Edge, request: bytes, limits: Limits | None = None
) -> AsyncGenerator[tuple[Wire, asyncio.Future[None]]]:
    """A connection with a request under way, to a server that has just been told to stop."""
    stopped: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    ready, stop = asyncio.Event(), asyncio.Event()
    ports: list[int] = []

    async def run() -> None:
        async with serving(edge.app(), limits) as port:
            ports.append(port)
            ready.set()
            await stop.wait()
        stopped.set_result(None)

    task = asyncio.create_task(run())
    await ready.wait()
    async with wire(ports[0]) as connection:
        await connection.send(request)
        await asyncio.sleep(0.1)
        stop.set()
        yield connection, stopped
    await task


def slug(problem: Mapping[str, Any]) -> str:
    return problem["type"].removeprefix("/problems#")
