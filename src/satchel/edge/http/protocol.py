"""One HTTP/1.1 connection: bytes are parsed into requests, which are answered one after the other, within limits.

`httptools` parses. This class decides what becomes a request, in which order requests run, how long a connection may be
silent and what happens at its end. `response.py` answers one request; `websocket_protocol.py` takes an upgraded
connection over.
"""

import asyncio
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

import httptools
from starlette.requests import ClientDisconnect

from satchel.edge.http.extensions import BREAK_OFF, SPLICE, WHOLE, ZERO_COPY
from satchel.edge.http.held_bytes import WORTH_COUNTING_BYTES
from satchel.edge.http.middleware import SECURITY_HEADERS
from satchel.edge.http.problems import AddressTooLong, Busy, HeadersTooLarge, Malformed, TooSlow, problem_from
from satchel.edge.http.request_context import new_request_id
from satchel.edge.http.response import STATUS_LINES, RequestCycle
from satchel.edge.http.server_state import ServerState, address_of, write_at_once
from satchel.kernel.errors import SatchelError
from satchel.stores.patterns.throttle import networks_of

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

_ASGI = {"version": "3.0", "spec_version": "2.3"}
_EXTENSIONS: dict[str, dict[str, Any]] = {ZERO_COPY: {}, WHOLE: {}, SPLICE: {}, BREAK_OFF: {}}
# What goes from socket to socket, or from a file, would go past the encryption.
_EXTENSIONS_OF_TLS: dict[str, dict[str, Any]] = {WHOLE: {}, BREAK_OFF: {}}
# Above this much of a body that the application has not asked for, nothing more is read.
_UNREAD_BODY_BYTES = 64 * 1024
# What a request takes that waits for its turn, besides its bytes.
_WAITING_REQUEST_BYTES = 4 * 1024


class HttpProtocol(asyncio.Protocol):
    """One connection."""

    __slots__ = (
        "_client",
        "_cycle",
        "_data_bytes",
        "_deadline",
        "_encodings",
        "_extensions",
        "_head_bytes",
        "_headers",
        "_held_bytes",
        "_hosts",
        "_in_head",
        "_lingering_bytes",
        "_parser",
        "_pipeline",
        "_read_paused",
        "_refusal",
        "_running",
        "_scheme",
        "_server",
        "_timer",
        "_unsent_bytes",
        "_upgrades",
        "_url",
        "_watches_head",
        "_writable",
        "limits",
        "loop",
        "state",
        "transport",
        "write_paused",
    )

    transport: asyncio.Transport

    def __init__(self, state: ServerState) -> None:
        self.state = state
        self.limits = state.limits
        self.loop = state.loop
        self.write_paused = False
        self._parser = _new_parser(self)
        # The request that is being parsed, the one that is being answered, and those that came meanwhile.
        self._cycle: RequestCycle | None = None
        self._running: RequestCycle | None = None
        self._pipeline: deque[RequestCycle] = deque()
        self._read_paused = False
        self._writable: asyncio.Event | None = None
        # What the client has not taken yet; and all that this connection makes the server hold, if it is much.
        self._unsent_bytes = self._held_bytes = 0
        self._url = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._hosts = 0
        self._encodings: list[bytes] = []
        self._in_head = False
        # At least as many as the head has, and in the piece that is being parsed.
        self._head_bytes = self._data_bytes = 0
        self._refusal: SatchelError | None = None
        self._upgrades = False
        self._lingering_bytes: int | None = None
        # A timer costs more than a number, so a request only moves the deadline; the timer looks when it fires.
        self._timer: asyncio.TimerHandle | None = None
        self._deadline: float | None = None
        self._watches_head = False

    # Called by asyncio.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self._server = address_of(transport.get_extra_info("sockname"))
        self._client = address_of(transport.get_extra_info("peername"))
        is_tls = transport.get_extra_info("sslcontext") is not None
        self._scheme = "https" if is_tls else "http"
        self._extensions = _EXTENSIONS_OF_TLS if is_tls else _EXTENSIONS
        write_at_once(self.transport)
        self.state.connections.add(self)
        self.state.make_room(self)
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 -- why makes no difference
        self.state.connections.discard(self)
        self.state.answering.discard(self)
        if self._timer is not None:
            self._timer.cancel()
        for cycle in (self._running, self._cycle):
            if cycle is not None:
                cycle.connection_lost()
        self._pipeline.clear()
        self.resume_writing()
        self.state.held.gone(self)
        self._let_go()

    def eof_received(self) -> None:
        """Returning nothing closes the connection, once what was written has left."""

    def pause_writing(self) -> None:
        self.write_paused = True
        self._unsent_bytes = self.transport.get_write_buffer_size()
        self.count_held()
        if self._writable is not None:
            self._writable.clear()

    def resume_writing(self) -> None:
        self.write_paused = False
        self._unsent_bytes = 0
        self.count_held()
        if self._writable is not None:
            self._writable.set()

    def data_received(self, data: bytes) -> None:
        if self._lingering_bytes is not None:
            self._drop(data)
            return
        self._data_bytes = len(data)
        if self._in_head:
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._upgrade(data[upgrade.args[0] :])
            return
        except httptools.HttpParserError:
            self._refuse(self._refusal or Malformed("This is not a valid HTTP request."))
            return
        if self._in_head:
            if self._head_bytes > self.limits.head_bytes:
                self._refuse(self._too_large())
            else:
                self._watch_head()
        elif self._running is None:
            self._watch_head()
        self.count_held()
        if self._in_head and self._held_bytes and self.state.held.is_overrun_by(self):
            self._parser = _new_parser(self)
            self._url, self._headers = b"", []
            self.transport.abort()

    # Called by httptools while it is fed.

    def on_message_begin(self) -> None:
        self._in_head = True
        self._head_bytes = self._data_bytes
        self._url = b""
        self._headers = []
        self._hosts = 0
        self._encodings = []

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        if name == b"host":
            self._hosts += 1
        elif name == b"transfer-encoding":
            self._encodings.append(value)
        self._headers.append((name, value))
        if len(self._headers) > self.limits.headers:
            self._refusal = HeadersTooLarge(f"A request may have at most {self.limits.headers} headers.")
            raise ValueError

    def on_headers_complete(self) -> None:
        self._in_head = self._watches_head = False
        self._deadline = None
        self._check_head()
        parser = self._parser
        method = parser.get_method().decode("ascii")
        version = parser.get_http_version()
        keep_alive = version != "1.0" and parser.should_keep_alive()
        if parser.should_upgrade():
            if method != "CONNECT":
                # `feed_data` ends here, and says where what follows begins.
                self._upgrades = True
                return
            keep_alive = False
        raw_path, query = _split(self._url)
        path = raw_path.decode("ascii")
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": _ASGI,
            "http_version": version,
            "method": method,
            "scheme": self._scheme,
            "path": unquote(path) if "%" in path else path,
            "raw_path": raw_path,
            "query_string": query,
            "root_path": "",
            "headers": self._headers,
            "server": self._server,
            "client": self._client,
            "extensions": self._extensions,
        }
        self._headers = []
        cycle = RequestCycle(self, scope, keep_alive=keep_alive)
        if cycle.held_bytes > WORTH_COUNTING_BYTES and self.state.held.is_overrun_by(self):
            self.transport.abort()
            # The parser stops here.
            raise ValueError
        self._cycle = cycle
        if self._running is None:
            self._start(cycle)
        else:
            self.pause_reading()
            self._pipeline.append(cycle)
            if len(self._pipeline) > self.limits.pipelined:
                # The parser stops here, and the connection is ended.
                raise ValueError

    def on_body(self, body: bytes) -> None:
        cycle = self._cycle
        if self._upgrades or cycle is None:
            return
        if self.state.held.is_overrun_by(self):
            cycle.connection_lost()
            self.transport.abort()
            return
        unread = cycle.add_body(body)
        if unread > _UNREAD_BODY_BYTES or (unread and self.state.held.is_half_full):
            self.pause_reading()

    def on_message_complete(self) -> None:
        if self._cycle is not None and not self._upgrades:
            self._cycle.end_body()

    # Called by whoever answers a request.

    def pause_reading(self) -> None:
        if not self._read_paused:
            self._read_paused = True
            self.transport.pause_reading()

    def resume_reading(self) -> None:
        if self._read_paused:
            self._read_paused = False
            self.transport.resume_reading()

    async def drain(self) -> None:
        """Wait until the client has taken some of what was written."""
        if self._writable is None:
            self._writable = asyncio.Event()
        if self.write_paused:
            await self._writable.wait()

    def count_held(self) -> None:
        """Enter what the server holds for this connection, if that is worth it."""
        held = self._unsent_bytes
        if self._in_head:
            held += self._head_bytes
        if self._running is not None:
            held += self._running.held_bytes
        for waiting in self._pipeline:
            held += waiting.held_bytes + _WAITING_REQUEST_BYTES
        if held < WORTH_COUNTING_BYTES:
            held = 0
        if held != self._held_bytes and self in self.state.connections:
            self._held_bytes = held
            self.state.held.note(self, held)

    def close(self) -> None:
        """Close once the client has taken all that was written, unless it stops taking."""
        self.transport.close()
        if self.write_paused:
            self._abort_if_stalled(self.transport.get_write_buffer_size() + 1)

    def response_complete(self) -> None:
        """Go on with the next request, or wait for one."""
        if self._cycle is self._running:
            self._cycle = None
        self._running = None
        self.state.answering.discard(self)
        self.count_held()
        if self.transport.is_closing() or self._lingering_bytes is not None:
            return
        self.resume_reading()
        if self._pipeline:
            self._start(self._pipeline.popleft())
        elif not self._in_head:
            self._watch(self.limits.keep_alive_seconds)

    def body_taken(self) -> None:
        """Go on behind a body whose end was taken from the socket past the parser, which still waits for it."""
        if self.transport.is_closing():
            return
        self._parser = _new_parser(self)
        self.on_message_complete()
        self.resume_reading()

    def linger(self) -> None:
        """Say no more, and drop what still comes for a while: closing at once could destroy an answer unread."""
        self._lingering_bytes = 0
        if not self.transport.is_closing():
            self.count_held()
            # While nothing is read from a connection, nobody notices that it has gone.
            if self.transport.can_write_eof():  # TLS has no such half
                with suppress(OSError):
                    self.transport.write_eof()
            self.resume_reading()
            self._watch(self.limits.linger_seconds)

    # Called by the server.

    def shutdown(self) -> None:
        if self._lingering_bytes is not None:
            return
        if self._running is None:
            self.close()
        else:
            self._running.keep_alive = False

    def abandon(self) -> None:
        self._held_bytes = 0
        self.loop.call_soon(self.transport.abort)

    def give_way(self) -> None:
        if self._lingering_bytes is None:
            self.close()
        else:
            self.loop.call_soon(self.transport.abort)

    def waits_until(self) -> float | None:
        return None if self._running is not None else self._deadline or 0

    def network(self) -> str:
        return networks_of(self._client[0] if self._client else "")[-1][0]

    # Within.

    def _start(self, cycle: RequestCycle) -> None:
        self._running = cycle
        application = self.state.application
        if self.state.is_full_for(self):
            application = _busy
        else:
            self.state.answering.add(self)
        task = self.loop.create_task(cycle.run(application))
        cycle.task = task
        self.state.tasks.add(task)

    def _upgrade(self, rest: bytes) -> None:
        """Do what an upgrade asks for, if it is to websockets; `rest` is what came behind the head."""
        self._upgrades = False
        parser = self._parser
        if parser.get_method() == b"GET" and (b"upgrade", b"websocket") in _lowered(self._headers):
            self._become_websocket(b"GET %b HTTP/1.1\r\n%b\r\n%b" % (self._url, _lines(self._headers), rest))
            return
        # Any other upgrade is refused by answering as if nobody had asked for it. A new parser has to read it anew,
        # because this one takes all that follows, the body too, for another protocol.
        self._parser = _new_parser(self)
        others = [header for header in self._headers if header[0] != b"upgrade"]
        start = b"%b %b HTTP/%b\r\n" % (parser.get_method(), self._url, parser.get_http_version().encode("ascii"))
        self.data_received(b"%b%b\r\n%b" % (start, _lines(others), rest))

    def _become_websocket(self, data: bytes) -> None:
        """Hand the connection to the protocol of websockets, from its request on."""
        # Imported here, because it is dear, and a server may never need it.
        from satchel.edge.http.websocket_protocol import WebsocketProtocol

        if self._timer is not None:
            self._timer.cancel()
        if self._running is not None:
            # Two protocols cannot share a connection, and the answer to an earlier request is still under way.
            self.transport.close()
            return
        # Of whatever network: a browser's is shorter, and what is longer takes many times as much for a moment.
        if self.state.held.is_overrun and len(data) > WORTH_COUNTING_BYTES:
            self.transport.abort()
            return
        websockets = self.state.websockets
        if len(websockets) >= self.limits.websockets or websockets.are_kept_from(self):
            self._refuse(Busy("This server has reached its limit of live connections. Try again in a moment."))
            return
        self.state.connections.discard(self)
        self.state.held.gone(self)
        protocol = WebsocketProtocol(self.state)
        self.transport.set_protocol(protocol)
        protocol.connection_made(self.transport)
        protocol.data_received(data)
        self._let_go()

    def _check_head(self) -> None:
        limits = self.limits
        if len(self._url) > limits.address_bytes:
            self._refusal = AddressTooLong(f"An address may have at most {limits.address_bytes} bytes.")
        elif (
            self._head_bytes > limits.head_bytes
            and sum(len(name) + len(value) + 4 for name, value in self._headers) > limits.head_bytes
        ):
            self._refusal = self._too_large()
        elif self._hosts > 1 or (not self._hosts and self._parser.get_http_version() == "1.1"):
            self._refusal = Malformed("A request has exactly one header `Host`.")
        elif self._encodings and (len(self._encodings) > 1 or self._encodings[0].strip().lower() != b"chunked"):
            # Of another one nobody knows where the body ends, so that there would never be an answer.
            self._refusal = Malformed("Of the transfer encodings, only `chunked` is understood.")
        if self._refusal is not None:
            # `feed_data` ends with the parser's own error then.
            raise ValueError

    def _refuse(self, error: SatchelError) -> None:
        """Answer what never became a request, unless an answer to an earlier one is under way."""
        self._in_head = False
        if self.transport.is_closing():
            return
        if self._running is not None:
            self.close()
            return
        problem = problem_from(error, new_request_id())
        lines = _lines([*problem.headers, *SECURITY_HEADERS, (b"connection", b"close")])
        head = [STATUS_LINES[problem.status], self.state.date_line(), lines, b"\r\n"]
        self.transport.write(b"".join([*head, problem.body]))
        self.linger()

    def _too_large(self) -> HeadersTooLarge:
        limit = self.limits.head_bytes
        return HeadersTooLarge(f"The headers of a request may have at most {limit} bytes in all.", limit_bytes=limit)

    def _drop(self, data: bytes) -> None:
        assert self._lingering_bytes is not None
        self._lingering_bytes += len(data)
        if self._lingering_bytes > self.limits.linger_bytes:
            self.transport.abort()

    def _let_go(self) -> None:
        """Forget what knows this connection in turn, at its end.

        Else nothing would be freed before the next collection of garbage, and strangers open and close connections
        faster than that comes.
        """
        self._cycle = self._running = self._timer = None
        self._headers = []
        del self._parser

    def _watch_head(self) -> None:
        """Wait for the head of a request, counted from its first byte."""
        if not self._watches_head and not self.transport.is_closing():
            self._watches_head = True
            self._watch(self.limits.head_seconds)

    def _watch(self, seconds: float) -> None:
        deadline = self._deadline = self.loop.time() + seconds
        if self._timer is not None:
            if self._timer.when() <= deadline:
                return
            self._timer.cancel()
        self._timer = self.loop.call_at(deadline, self._look)

    def _look(self) -> None:
        """Do what is due, if the deadline was not moved meanwhile."""
        self._timer = None
        if self._deadline is None or self.transport.is_closing():
            return
        if self._deadline > self.loop.time():
            self._timer = self.loop.call_at(self._deadline, self._look)
        elif self._lingering_bytes is not None:
            self.transport.abort()
        elif self._in_head:
            self._refuse(
                TooSlow(
                    f"The headers did not arrive within {self.limits.head_seconds:g} seconds. Send the request again."
                )
            )
        else:
            self.close()

    def _abort_if_stalled(self, before_bytes: int) -> None:
        """Look from time to time whether the client still takes something of what is left."""
        left_bytes = self.transport.get_write_buffer_size()
        if left_bytes >= before_bytes:
            self.transport.abort()
        elif left_bytes:
            self.loop.call_later(self.limits.stalled_seconds, self._abort_if_stalled, left_bytes)


def _new_parser(protocol: HttpProtocol) -> httptools.HttpRequestParser:
    parser = httptools.HttpRequestParser(protocol)
    # What follows a request that ends the connection is never answered; it must not cost that request its answer.
    parser.set_dangerous_leniencies(lenient_data_after_close=True)
    return parser


def _split(url: bytes) -> tuple[bytes, bytes]:
    """The path and the query; only the form that every client uses is worth a way of its own."""
    if url.startswith(b"/") and b"#" not in url:
        path, _, query = url.partition(b"?")
        return path, query
    parsed = httptools.parse_url(url)
    return parsed.path, parsed.query or b""


def _lines(headers: list[tuple[bytes, bytes]]) -> bytes:
    return b"".join([b"%b: %b\r\n" % header for header in headers])


def _lowered(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    return [(name, value.strip().lower()) for name, value in headers]


async def _busy(_scope: "Scope", _receive: "Receive", send: "Send") -> None:
    problem = problem_from(
        Busy("This server has reached its limit of connections. Try again in a moment."), new_request_id()
    )
    headers = [*problem.headers, *SECURITY_HEADERS, (b"connection", b"close")]
    with suppress(ClientDisconnect):
        await send({"type": "http.response.start", "status": problem.status, "headers": headers})
        await send({"type": "http.response.body", "body": problem.body})
