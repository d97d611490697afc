"""Who listens hears everything that is meant for them, in order, and nothing else."""

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import Any

from satchel.edge.api.identity import ACCESS_COOKIE, Identity
from satchel.edge.http.callers import Member
from satchel.edge.http.limits import Limits
from satchel.edge.live.live_sockets import Bounds
from satchel.kernel.clock import iso
from satchel.live import person_channel, tell
from satchel.stores.ports.ephemeral import Ephemeral, Message, Publish
from tests.edge.given import ANN, GUS
from tests.edge.live.given import NO_GRACE, LiveEdge, Said, eventually

ANN_ELSEWHERE = Member(ANN.user_id, ANN.email, "s-9")


async def test_the_first_frame_says_who_listens_and_what_time_it_is(live: LiveEdge) -> None:
    cookie = f"{ACCESS_COOKIE}={live.edge.identity.issue_access(ANN).value}"
    async with live.serving() as server, server.dial(cookie=cookie) as ann, server.dial(**live.edge.bearer(GUS)) as gus:
        assert await ann.next() == {"type": "hello", "person_id": ANN.user_id, "at": iso(live.clock())}
        assert (await gus.next())["person_id"] == GUS.id


async def test_what_is_told_arrives_in_order_and_at_nobody_else(live: LiveEdge) -> None:
    async with live.serving() as server, server.listening(ANN) as ann, server.listening(GUS) as gus:
        for number in range(200):
            await live.tell(ANN, f"Nº {number}")
        await live.tell(GUS, "last")
        assert [(await ann.hears("said"))["text"] for _ in range(200)] == [f"Nº {number}" for number in range(200)]
        assert await gus.next() == {"type": "said", "text": "last"}


async def test_all_connections_of_a_person_hear_the_same(live: LiveEdge) -> None:
    async with live.serving() as server, server.listening(ANN) as one, server.listening(ANN_ELSEWHERE) as other:
        await live.tell(ANN, "hear")
        assert await one.next() == await other.next()


async def test_a_session_that_ends_closes_its_connections_and_no_others(live: LiveEdge) -> None:
    async with live.serving() as server, server.listening(ANN) as ended, server.listening(ANN_ELSEWHERE) as kept:
        await live.edge.identity.revoke(ANN.session_id)
        assert await ended.closed_with() == 4401
        await live.tell(ANN, "still here")
        assert (await kept.hears("said"))["text"] == "still here"


class EndsSessions:
    """A store that ends a session in the moment before somebody begins to listen for its end."""

    def __init__(self, store: Ephemeral, identity: Identity) -> None:
        self._store = store
        self._identity = identity

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @asynccontextmanager
    async def subscribe(self, *channels: str) -> AsyncGenerator[AsyncIterator[Message]]:
        await self._identity.revoke(ANN.session_id)
        async with self._store.subscribe(*channels) as messages:
            yield messages


async def test_a_session_that_ends_just_before_we_listen_is_refused(live: LiveEdge) -> None:
    hasty: Any = EndsSessions(live.ephemeral, live.edge.identity)
    async with live.serving(through=hasty) as server:
        assert (await server.refusal(**live.edge.bearer(ANN)))["status"] == 401


async def test_words_of_the_client_are_not_listened_to_and_long_ones_end_it(live: LiveEdge) -> None:
    async with live.serving() as server, server.listening(ANN) as ann:
        await ann.connection.send("a" * 1024)
        await live.tell(ANN, "go on")
        await ann.hears("said")
        await ann.connection.send("a" * 1025)
        assert await ann.closed_with() == 1009
        await eventually(lambda: server.open == 0)


async def test_who_falls_behind_is_told_to_read_everything_again(live: LiveEdge) -> None:
    async with live.serving() as server, server.listening(ANN) as ann:
        flood = tell([ANN.user_id], Said(text="flood")) * 1001
        await live.ephemeral.together(*flood)
        while (await ann.next())["type"] != "resync":
            pass
        await live.tell(ANN, "after")
        assert (await ann.hears("said"))["text"] == "after"


async def test_who_falls_behind_and_has_let_their_token_run_out_shows_it_anew(live: LiveEdge) -> None:
    async with live.serving() as server, server.listening(ANN) as ann:
        live.clock.advance(live.edge.identity.access_lifetime)
        await live.ephemeral.together(*(tell([ANN.user_id], Said(text="flood")) * 1001))
        assert await ann.closed_with() == 4401


async def test_who_takes_nothing_of_what_is_sent_is_disconnected(live: LiveEdge) -> None:
    bounds = Bounds(send_timeout=timedelta(milliseconds=200))
    limits = Limits(linger_seconds=0.2)
    async with live.serving(bounds, limits=limits, send_buffer=4096) as server:
        with socket.create_connection(("127.0.0.1", server.port)) as deaf:
            token = live.edge.identity.issue_access(ANN).value
            deaf.sendall(
                b"GET /api/v1/live HTTP/1.1\r\nhost: satchel.test\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
                b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                b"authorization: Bearer %s\r\n\r\n" % token.encode()
            )
            await eventually(lambda: server.open == 1)
            frame = Publish(person_channel(ANN.user_id), b"x" * 1_000_000)
            await live.ephemeral.together(*[frame] * 6)
            await eventually(lambda: server.open == 0)
            await asyncio.sleep(2 * limits.linger_seconds)
            # Only what the system had already taken over arrives; a buffer of ours would hold a whole frame.
            assert await asyncio.to_thread(_rest_of, deaf) < 1_000_000


def _rest_of(connection: socket.socket) -> int:
    return sum(iter(lambda: len(connection.recv(65536)), 0))


async def test_a_connection_does_not_outlast_its_time(live: LiveEdge) -> None:
    async with live.serving(Bounds(lifetime=timedelta(milliseconds=50))) as server, server.listening(ANN) as ann:
        assert await ann.closed_with() == 1012


async def test_a_store_that_fails_sends_everybody_away_for_a_while(live: LiveEdge) -> None:
    async with live.serving() as server, server.listening(ANN) as ann:
        await live.ephemeral.close()
        assert await ann.closed_with() == 1013


async def test_a_server_that_stops_asks_everybody_to_come_back(live: LiveEdge) -> None:
    async with AsyncExitStack() as clients:
        async with live.serving(grace=NO_GRACE, limits=Limits(shutdown_seconds=60)) as server:
            ann = await clients.enter_async_context(server.listening(ANN))
            closed = asyncio.create_task(ann.closed_with())
            server.sockets.stop()
            assert (await server.refusal(**live.edge.bearer(GUS)))["type"] == "/problems#shutting-down"
        assert await closed == 1012
    assert live.attendances.seen == [("came", ANN.user_id)]


async def test_connections_are_logged_and_counted(live: LiveEdge) -> None:
    async with live.serving() as server:
        async with server.listening(ANN), server.listening(GUS):
            page = live.edge.metrics.page()
            assert b"satchel_live_sockets 2.0" in page
            assert b"satchel_live_people 2.0" in page
            assert b"satchel_http_in_flight 0.0" in page
        await eventually(lambda: server.open == 0)
    lines = sorted((line["method"], line["route"], line["status"], line["caller"]) for line in live.edge.lines())
    assert lines == [
        ("WEBSOCKET", "/api/v1/live", 101, "guest"),
        ("WEBSOCKET", "/api/v1/live", 101, "member"),
    ]
