"""uvicorn's websocket protocol with what it lacks: an end to waiting for a client that takes nothing.

A transport that is closed first sends what it has buffered; to somebody who does not read, that is never.
"""

import asyncio
from typing import ClassVar

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from satchel.edge.http.limits import Limits


class UpgradedProtocol(WebSocketsSansIOProtocol):
    """One connection that has become a websocket."""

    limits: ClassVar[Limits] = Limits()
    upgraded: ClassVar["set[UpgradedProtocol]"] = set()
    _abort_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.upgraded.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.upgraded.discard(self)
        if self._abort_timer is not None:
            self._abort_timer.cancel()
        super().connection_lost(exc)

    async def run_asgi(self) -> None:
        await super().run_asgi()
        self._abort_soon()

    def keepalive_timeout(self) -> None:
        if self.read_paused:
            # Whom nobody listens to at the moment cannot be heard to answer.
            self.pong_timer = None
            self.schedule_ping()
            return
        super().keepalive_timeout()
        self._abort_soon()

    def shutdown(self) -> None:
        super().shutdown()
        self._abort_soon()

    def _abort_soon(self) -> None:
        if self._abort_timer is None and not self.disconnected:
            self._abort_timer = self.loop.call_later(self.limits.linger_seconds, self.transport.abort)
