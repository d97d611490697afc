"""One websocket as live connections use it: accept, send, wait for its end, close."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import Receive, Send


class Closing(IntEnum):
    """The codes that a socket is closed with, and what they tell the client to do."""

    # A message of the client was too long.
    TOO_LONG = 1009
    # Reconnect at once: this server stops, or the socket has reached its lifetime.
    RECONNECT = 1012
    # Reconnect after a while.
    TRY_LATER = 1013
    # The session has ended. Refresh it or sign in, then reconnect.
    SESSION_ENDED = 4401


class Overwhelmed(Exception):
    """The client does not take what it is sent."""


# Clients send nothing that matters here.
MAX_FRAME_BYTES = 1024


class Socket:
    """A websocket whose client only listens; what it sends is dropped."""

    def __init__(self, receive: "Receive", send: "Send", *, send_timeout: timedelta) -> None:
        self._receive = receive
        self._send = send
        self._send_seconds = send_timeout.total_seconds()
        self.is_accepted = False

    async def accept(self, subprotocol: str | None = None) -> None:
        await self._send({"type": "websocket.accept", "subprotocol": subprotocol})
        self.is_accepted = True

    async def say(self, frame: bytes) -> None:
        """Send a frame; raises `Overwhelmed` if the client does not take it in time, `OSError` if it has left."""
        try:
            async with asyncio.timeout(self._send_seconds):
                await self._send({"type": "websocket.send", "text": frame.decode()})
        except TimeoutError:
            raise Overwhelmed("This client does not take what it is sent.") from None

    async def left(self) -> Closing | None:
        """Wait until the client has gone; a code if it has to be closed instead."""
        while (message := await self._receive())["type"] != "websocket.disconnect":
            said: str | bytes = message.get("text") or message.get("bytes") or b""
            if len(said) > MAX_FRAME_BYTES:
                return Closing.TOO_LONG
        return None

    async def close(self, code: Closing) -> None:
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(self._send_seconds):
                await self._send({"type": "websocket.close", "code": int(code)})
