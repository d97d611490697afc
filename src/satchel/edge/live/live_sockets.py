"""Live connections: admit those who may listen, limit how many there are and how long they last, pass events on."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.requests import ClientDisconnect

from satchel.edge.http.problems import Busy, ShuttingDown
from satchel.edge.http.request_context import client_of
from satchel.edge.live.devices import device_of
from satchel.edge.live.listeners import Listener, Listeners
from satchel.edge.live.presence import Connection, PresenceTracker
from satchel.edge.live.websocket import Closing, Overwhelmed, Socket
from satchel.kernel.clock import Clock, iso
from satchel.kernel.errors import NotFound, TooMany, Unauthenticated, Unavailable
from satchel.kernel.ids import new_id
from satchel.live import LiveEvent, encode
from satchel.stores.patterns.throttle import networks_of
from satchel.stores.ports.ephemeral import Ephemeral, SubscriptionLost

if TYPE_CHECKING:
    from prometheus_client import Metric
    from starlette.types import ASGIApp, Receive, Scope, Send


class Hello(LiveEvent, tag="hello", frozen=True):
    """The first frame: from now on this person receives every event."""

    person_id: str
    at: str


class Resync(LiveEvent, tag="resync", frozen=True):
    """Events may have been missed: read everything again."""


_RESYNC = encode(Resync())
Admit = Callable[[], Awaitable[Listener]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Limits of live connections."""

    sockets: int = 2_500
    # When three quarters of them are taken, a network that has so many gets no more. A school may have them all before.
    sockets_per_network: int = 625
    sockets_per_person: int = 20
    # Those of visitors of links: a fifth of all, so that whoever is signed in always finds a place.
    visitors: int = 500
    visitors_per_network: int = 200
    # A client that does not take a frame within this time is cut off.
    send_timeout: timedelta = timedelta(seconds=20)
    # A session can expire without notice, so every client has to reconnect, and to be admitted again, now and then.
    lifetime: timedelta = timedelta(hours=12)
    # What a link leads to may have gone without notice.
    visitor_lifetime: timedelta = timedelta(minutes=10)


class LiveSockets:
    """The live connections of this server, at all of its addresses; a collector in prometheus-client's sense."""

    def __init__(
        self, ephemeral: Ephemeral, presence: PresenceTracker, *, clock: Clock, bounds: Bounds | None = None
    ) -> None:
        self._ephemeral = ephemeral
        self._clock = clock
        self._bounds = bounds or Bounds()
        self._open = 0
        self._open_of: Counter[str] = Counter()
        self._open_from: Counter[str] = Counter()
        self._visitors_from: Counter[str] = Counter()
        self._stopping = False
        self.presence = presence

    def stop(self) -> None:
        """Refuse new connections. The server itself closes those that are open."""
        self._stopping = True
        self.presence.stop()

    def collect(self) -> Iterator["Metric"]:
        from prometheus_client.core import GaugeMetricFamily

        yield GaugeMetricFamily("satchel_live_sockets", "Live connections open.", value=self._open)
        yield GaugeMetricFamily("satchel_live_people", "People with a live connection here.", value=len(self._open_of))

    def open_to(self, listeners: Listeners) -> "ASGIApp":
        """An ASGI application that lets these people listen."""

        async def serve(scope: "Scope", receive: "Receive", send: "Send") -> None:
            await receive()
            await self._serve(scope, Socket(receive, send, send_timeout=self._bounds.send_timeout), listeners)

        return serve

    async def _serve(self, scope: "Scope", socket: Socket, listeners: Listeners) -> None:
        admit = partial(listeners.admit, scope)
        listener = await admit()
        connection = Connection(new_id(self._clock), listener.person_id, device_of(client_of(scope).user_agent))
        networks = networks_of(client_of(scope).address)
        is_visitor = listener.follows is not None
        lifetime = self._bounds.visitor_lifetime if is_visitor else self._bounds.lifetime
        place = self._visitors_place(networks[0][0]) if is_visitor else self._place_of(connection.person_id)
        with place, self._place_for(networks[-1][0]):
            try:
                code = await self._until_over(socket, self._speak(socket, listener, connection, admit), lifetime)
            finally:
                self.presence.leave(connection)
            if code is not None:
                await socket.close(code)

    @contextmanager
    def _place_of(self, person_id: str) -> Generator[None]:
        if self._open_of[person_id] >= self._bounds.sockets_per_person:
            most = self._bounds.sockets_per_person
            raise TooMany(f"You have {most} live connections open already. Close some tabs.", retry_after=60)
        with _counted(self._open_of, person_id):
            yield

    @contextmanager
    def _visitors_place(self, network: str) -> Generator[None]:
        bounds = self._bounds
        is_full = self._visitors_from.total() >= bounds.visitors
        if is_full or self._visitors_from[network] >= bounds.visitors_per_network:
            raise TooMany("Too many visitors follow links live. Read the page again instead.", retry_after=60)
        with _counted(self._visitors_from, network):
            yield

    @contextmanager
    def _place_for(self, network: str) -> Generator[None]:
        bounds = self._bounds
        if self._stopping:
            raise ShuttingDown("The server is being stopped. Try again in a moment.")
        is_greedy = self._open_from[network] >= bounds.sockets_per_network and self._open >= bounds.sockets * 3 // 4
        if is_greedy or self._open >= bounds.sockets:
            raise Busy("This server has reached its limit of live connections. Try again in a moment.")
        self._open += 1
        try:
            with _counted(self._open_from, network):
                yield
        finally:
            self._open -= 1

    async def _until_over(
        self, socket: Socket, speech: Coroutine[Any, Any, Closing], lifetime: timedelta
    ) -> Closing | None:
        """The code to close the socket with; None when the client has gone."""
        speaking = asyncio.create_task(speech)
        leaving = asyncio.create_task(socket.left())
        try:
            both = (speaking, leaving)
            await asyncio.wait(both, timeout=lifetime.total_seconds(), return_when=asyncio.FIRST_COMPLETED)
            if leaving.done():
                if not socket.is_accepted:
                    raise ClientDisconnect
                return leaving.result()
            return speaking.result() if speaking.done() else Closing.RECONNECT
        except (OSError, Overwhelmed):
            return None
        finally:
            speaking.cancel()
            leaving.cancel()
            await asyncio.gather(speaking, leaving, return_exceptions=True)

    async def _speak(self, socket: Socket, listener: Listener, connection: Connection, admit: Admit) -> Closing:
        """Pass events on until there is a reason to stop. Before the socket is accepted, the reason is raised."""
        while True:
            try:
                return await self._pass_on(socket, listener, connection, admit)
            except (Unauthenticated, NotFound, Unavailable) as reason:
                if not socket.is_accepted:
                    raise
                if not isinstance(reason, Unavailable):
                    return Closing.SESSION_ENDED
                if not isinstance(reason, SubscriptionLost):
                    return Closing.TRY_LATER

    async def _pass_on(self, socket: Socket, listener: Listener, connection: Connection, admit: Admit) -> Closing:
        told, follows = listener.channel, listener.follows
        channels = [told] if listener.ending is None else [told, listener.ending]
        async with self._ephemeral.subscribe(*channels) as messages:
            # The session may have ended after it was checked and before the subscription began, so it is checked again.
            await admit()
            await self._greet(socket, listener, connection)
            async for message in messages:
                if message.channel != told:
                    return Closing.SESSION_ENDED
                frame = message.body if follows is None else follows.hear(message.body)
                if frame is not None:
                    await socket.say(frame)
        raise Unavailable("The subscription has ended.")

    async def _greet(self, socket: Socket, listener: Listener, connection: Connection) -> None:
        if socket.is_accepted:
            await socket.say(_RESYNC)
            return
        await socket.accept(listener.subprotocol)
        if listener.follows is None:
            await self.presence.enter(connection)
        await socket.say(encode(Hello(person_id=connection.person_id, at=iso(self._clock()))))


@contextmanager
def _counted(counts: Counter[str], subject: str) -> Generator[None]:
    counts[subject] += 1
    try:
        yield
    finally:
        counts[subject] -= 1
        if not counts[subject]:
            del counts[subject]
