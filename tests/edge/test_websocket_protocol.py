"""Websockets as they really are: clients that answer nothing, or cannot be heard."""

import asyncio

import pytest
from starlette.types import Receive, Scope, Send
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from satchel.edge.http.limits import Limits
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
