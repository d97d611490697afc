"""One websocket as the rest of this package sees it: accepted, spoken on, left or closed."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import Receive, Send


class Closing(IntEnum):
    """What the number that a socket is closed with tells the client."""

    # More was said than is listened to.
    TOO_LONG = 1009
    # Come back: this server ends, or has kept the socket for long enough.
    COME_BACK = 1012
    # Come back, but not at once.
    TRY_LATER = 1013
    # The session has ended. Refresh it or sign in, then come back.
    SESSION_ENDED = 4401


class Overwhelmed(Exception):
    """The client takes nothing of what it is sent."""


# Nothing that a client says here is long.
MAX_FRAME_BYTES = 1024


class Socket:
    """A websocket; what a client says on it is not listened to."""

    def __init__(self, receive: "Receive", send: "Send", *, patience: timedelta) -> None:
        self._receive = receive
        self._send = send
        self._patience_seconds = patience.total_seconds()
        self.is_accepted = False

    async def accept(self, subprotocol: str | None = None) -> None:
        await self._send({"type": "websocket.accept", "subprotocol": subprotocol})
        self.is_accepted = True

    async def say(self, frame: bytes) -> None:
        """Send a frame; raises `Overwhelmed` if the client does not take it in time, `OSError` if it has left."""
        try:
            async with asyncio.timeout(self._patience_seconds):
                await self._send({"type": "websocket.send", "text": frame.decode()})
        except TimeoutError:
            raise Overwhelmed("This client takes nothing of what it is sent.") from None

    async def left(self) -> Closing | None:
        """Returns once the client has gone, or why it has to."""
        while (message := await self._receive())["type"] != "websocket.disconnect":
            said: str | bytes = message.get("text") or message.get("bytes") or b""
            if len(said) > MAX_FRAME_BYTES:
                return Closing.TOO_LONG
        return None

    async def close(self, code: Closing) -> None:
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(self._patience_seconds):
                await self._send({"type": "websocket.close", "code": int(code)})
