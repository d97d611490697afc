"""Websockets as they really are: clients that answer nothing, or cannot be heard."""

import asyncio

import pytest
from starlette.types import Receive, Scope, Send
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from satchel.edge.http.limits import Limits
from satchel.kernel.errors import Forbidden
from tests.edge.given import Edge, serving

OFTEN = Limits(ping_seconds=0.1, linger_seconds=0.2)


async def slow_listener(_scope: Scope, receive: Receive, send: Send) -> None:
    """Listens only after a while to what it was told, and says it back."""
    await receive()
    await send({"type": "websocket.accept"})
    await asyncio.sleep(0.7)
    message = await receive()
    await send({"type": "websocket.send", "bytes": message["bytes"]})
    await receive()


async def test_a_client_that_nobody_listens_to_is_not_taken_for_dead(edge: Edge) -> None:
    edge.live = slow_listener
    async with (
        serving(edge.app(), OFTEN) as port,
        connect(f"ws://127.0.0.1:{port}/api/v1/live", proxy=None) as connection,
    ):
        await connection.send(b"wait")
        assert await connection.recv() == b"wait"


async def test_a_client_that_does_not_answer_is_taken_for_dead(edge: Edge) -> None:
    edge.live = slow_listener
    async with (
        serving(edge.app(), OFTEN) as port,
        connect(f"ws://127.0.0.1:{port}/api/v1/live", proxy=None) as connection,
    ):
        connection.transport.pause_reading()
        await asyncio.sleep(0.5)
        connection.transport.resume_reading()
        with pytest.raises(ConnectionClosed):
            await connection.recv()


async def test_a_client_that_leaves_before_it_is_refused_is_no_failure(
    edge: Edge, caplog: pytest.LogCaptureFixture
) -> None:
    refused = asyncio.Event()

    async def refuse(_scope: Scope, receive: Receive, _send: Send) -> None:
        await receive()
        assert (await receive())["type"] == "websocket.disconnect"
        refused.set()
        raise Forbidden("Nobody is let in here.")

    edge.live = refuse
    async with serving(edge.app(), OFTEN) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        lines = ["GET /api/v1/live HTTP/1.1", "Host: 127.0.0.1", "Upgrade: websocket", "Connection: Upgrade"]
        lines += ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="]
        writer.write("\r\n".join([*lines, "", ""]).encode() + b"\x88\x80abcd")
        await writer.drain()
        await refused.wait()
        while await reader.read(1000):
            pass
        writer.close()
    assert not any(record.exc_info for record in caplog.records)
