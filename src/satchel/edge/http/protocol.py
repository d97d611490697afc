"""uvicorn's HTTP/1.1 protocol with what it lacks: limits, patience that ends, and problems as answers.

It builds on private parts of uvicorn, which is therefore pinned to the letter. The one seam is `_start_asgi_task`: it
is handed every request, pipelined ones as well, before the application sees it.
"""

import asyncio
from collections.abc import Collection
from contextlib import suppress
from typing import Any, ClassVar, cast

import httptools
from starlette.requests import ClientDisconnect
from uvicorn.protocols.http.flow_control import service_unavailable
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from satchel.edge.http.limits import Limits
from satchel.edge.http.middleware import SECURITY_HEADERS
from satchel.edge.http.problems import AddressTooLong, Busy, HeadersTooLarge, Malformed, TooSlow, problem_from
from satchel.edge.http.request_context import new_request_id
from satchel.edge.http.response import ZERO_COPY, Cycle
from satchel.edge.http.splice import POUR
from satchel.kernel.errors import SatchelError

_EXTENSIONS: dict[str, dict[str, Any]] = {ZERO_COPY: {}, POUR: {}}


async def _busy(_scope: Any, _receive: Any, send: Any) -> None:
    problem = problem_from(
        Busy("This server is answering as many requests as it can. Try again in a moment."), new_request_id()
    )
    headers = [*problem.headers, *SECURITY_HEADERS, (b"connection", b"close")]
    with suppress(ClientDisconnect):
        await send({"type": "http.response.start", "status": problem.status, "headers": headers})
        await send({"type": "http.response.body", "body": problem.body})


class Protocol(HttpToolsProtocol):
    """One connection."""

    limits: ClassVar[Limits] = Limits()
    # The connections of this server that have become websockets.
    upgraded: ClassVar[Collection[object]] = ()
    transport: asyncio.Transport
    _head_timer: asyncio.TimerHandle | None = None
    _head_bytes = 0
    _in_head = False
    _upgraded = False
    _refusal: SatchelError | None = None
    _lingering_bytes: int | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        super().connection_made(transport)
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unwatch_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._lingering_bytes is not None:
            self._drop(data)
            return
        if self._in_head:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._in_head and self._head_bytes > self.limits.head_bytes:
            self._refuse(self._too_large())
        elif not self._upgraded and (self._in_head or self._is_idle()):
            self._watch_head()

    def on_message_begin(self) -> None:
        self._in_head = True
        self._head_bytes = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._unwatch_head()
        if len(self.url) > self.limits.address_bytes:
            self._refusal = AddressTooLong(f"An address may have at most {self.limits.address_bytes} bytes.")
        elif sum(len(name) + len(value) + 4 for name, value in self.headers) > self.limits.head_bytes:
            self._refusal = self._too_large()
        if self._refusal is not None:
            # Caught by uvicorn as a parser's error, which ends in `send_400_response` below.
            raise ValueError
        # uvicorn counts websockets among the connections.
        self.limit_concurrency = self.limits.connections + len(self.upgraded)
        super().on_headers_complete()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        cycle.__class__ = Cycle
        cast("Cycle", cycle).connection = self
        if self.scheme == "http":
            cast("dict[str, Any]", cycle.scope)["extensions"] = _EXTENSIONS
        super()._start_asgi_task(cycle, _busy if app is service_unavailable else app)

    def body_taken(self) -> None:
        """Go on behind a body whose end was taken from the socket past the parser, which still waits for it."""
        if self.transport.is_closing():
            return
        self.parser = httptools.HttpRequestParser(self)
        self.on_message_complete()
        self.flow.resume_reading()

    def handle_websocket_upgrade(self) -> None:
        # From here on the connection belongs to another protocol.
        self._upgraded = True
        super().handle_websocket_upgrade()

    def _is_idle(self) -> bool:
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return cycle is None or cycle.response_complete

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 -- said in our own words
        self._refuse(self._refusal or Malformed("This is not an HTTP request that can be understood."))

    def _refuse(self, error: SatchelError) -> None:
        """Answer what never became a request, unless an answer to an earlier one is under way."""
        self._in_head = False
        if self.transport.is_closing():
            return
        if not self._is_idle():
            self.transport.close()
            return
        problem = problem_from(error, new_request_id())
        head = [STATUS_LINE[problem.status]]
        for name, value in (*self.server_state.default_headers, *problem.headers, *SECURITY_HEADERS):
            head += [name, b": ", value, b"\r\n"]
        self.transport.write(b"".join([*head, b"connection: close\r\n\r\n", problem.body]))
        self.linger()

    def linger(self) -> None:
        """Say no more, and drop what still comes for a while: closing at once could destroy an answer unread."""
        self._unset_keepalive_if_required()
        self._unwatch_head()
        self._lingering_bytes = 0
        if not self.transport.is_closing():
            # While nothing is read from a connection, nobody notices that it has gone.
            with suppress(OSError):
                self.transport.write_eof()
            self.flow.resume_reading()
            self._head_timer = self.loop.call_later(self.limits.linger_seconds, self.transport.abort)

    def _too_large(self) -> HeadersTooLarge:
        limit = self.limits.head_bytes
        return HeadersTooLarge(f"The headers of a request may have at most {limit} bytes in all.", limit_bytes=limit)

    def _drop(self, data: bytes) -> None:
        assert self._lingering_bytes is not None
        self._lingering_bytes += len(data)
        if self._lingering_bytes > self.limits.linger_bytes:
            self.transport.abort()

    def _watch_head(self) -> None:
        if self._head_timer is None and not self.transport.is_closing():
            self._head_timer = self.loop.call_later(self.limits.head_seconds, self._head_too_slow)

    def _unwatch_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_too_slow(self) -> None:
        self._head_timer = None
        if self._in_head:
            self._refuse(TooSlow(f"The headers did not arrive within {self.limits.head_seconds:g} seconds."))
        else:
            self.transport.close()
