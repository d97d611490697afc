"""What the tests of live connections are given: a server with a live address, and clients that listen there."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from satchel.edge.http.callers import Guest, Member
from satchel.edge.http.limits import Limits
from satchel.edge.live.listeners import Listeners, SignedIn
from satchel.edge.live.live_sockets import Bounds, LiveSockets
from satchel.edge.live.presence import Attendance, PresenceTracker
from satchel.kernel.clock import ManualClock
from satchel.live import LiveEvent, Presence, tell
from satchel.stores.ports.ephemeral import Ephemeral
from tests.edge.given import Edge, serving

NO_GRACE = timedelta(milliseconds=20)
LONG_GRACE = timedelta(seconds=30)


class Said(LiveEvent, tag="said", frozen=True):
    """An event of a slice."""

    text: str


@dataclass
class Attendances:
    """Notes who came and went."""

    seen: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    async def came(self, person_id: str) -> None:
        self.seen.append(("came", person_id))

    async def went(self, person_id: str) -> None:
        self.seen.append(("went", person_id))


@dataclass
class LiveEdge:
    """A server with a live address, its store, and who watches the door."""

    edge: Edge
    ephemeral: Ephemeral
    clock: ManualClock
    attendances: Attendances = field(default_factory=Attendances)

    @property
    def presence(self) -> Presence:
        return Presence(self.ephemeral, self.clock)

    @asynccontextmanager
    async def serving(
        self,
        bounds: Bounds | None = None,
        *,
        through: Ephemeral | None = None,
        also: Sequence[Attendance] = (),
        grace: timedelta = LONG_GRACE,
        refresh_every: timedelta = LONG_GRACE,
        limits: Limits | None = None,
        send_buffer: int | None = None,
        listeners: Listeners | None = None,
    ) -> AsyncGenerator["LiveServer"]:
        tracker = PresenceTracker(self.presence, [*also, self.attendances], grace=grace, refresh_every=refresh_every)
        sockets = LiveSockets(through or self.ephemeral, tracker, clock=self.clock, bounds=bounds or Bounds())
        self.edge.live = sockets.open_to(listeners or SignedIn(self.edge.identity))
        self.edge.metrics.add(sockets)
        async with tracker.running(), serving(self.edge.app(), limits, send_buffer=send_buffer) as port:
            yield LiveServer(self.edge, sockets, port)

    async def tell(self, person: Member | Guest, text: str) -> None:
        for command in tell([person_id(person)], Said(text=text)):
            await self.ephemeral.run(command)


@dataclass
class LiveServer:
    """The server while it runs."""

    edge: Edge
    sockets: LiveSockets
    port: int

    @asynccontextmanager
    async def listening(
        self, who: Member | Guest, agent: str = "satchel", **headers: str
    ) -> AsyncGenerator["Listener"]:
        async with self.dial(agent=agent, **self.edge.bearer(who), **headers) as listener:
            await listener.hears("hello")
            yield listener

    @asynccontextmanager
    async def dial(self, agent: str = "satchel", **headers: str) -> AsyncGenerator["Listener"]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        url = f"ws://127.0.0.1:{self.port}/api/v1/live"
        async with connect(url, additional_headers=named, user_agent_header=agent, proxy=None) as connection:
            yield Listener(connection)

    async def refusal(self, **headers: str) -> dict[str, Any]:
        """The problem that a handshake is answered with."""
        try:
            async with self.dial(**headers):
                raise AssertionError("the handshake was accepted")
        except InvalidStatus as refused:
            response = refused.response
        assert response.headers["content-type"] == "application/problem+json"
        problem = msgspec.json.decode(response.body or b"")
        assert problem["status"] == response.status_code
        assert problem["instance"].endswith(response.headers["x-request-id"])
        return problem

    @property
    def open(self) -> float:
        return next(iter(self.sockets.collect())).samples[0].value


@dataclass
class Listener:
    """A client of the live address."""

    connection: ClientConnection

    async def next(self) -> dict[str, Any]:
        async with asyncio.timeout(20):
            return msgspec.json.decode(await self.connection.recv())

    async def hears(self, kind: str) -> dict[str, Any]:
        frame = await self.next()
        assert frame["type"] == kind, frame
        return frame

    async def closed_with(self) -> int | None:
        """The number that the server closes with, whatever it says before."""
        try:
            while True:
                await self.next()
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else None


def person_id(person: Member | Guest) -> str:
    return person.user_id if isinstance(person, Member) else person.id


async def eventually(holds: Callable[[], bool] | Callable[[], Awaitable[bool]]) -> None:
    """Returns once it holds."""
    async with asyncio.timeout(20):
        while True:
            answer = holds()
            if answer if isinstance(answer, bool) else await answer:
                return
            await asyncio.sleep(0.01)
