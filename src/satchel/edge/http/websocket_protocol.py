"""One websocket connection as an ASGI application sees it, on the sans-I/O protocol of `websockets`.

`websockets.server.ServerProtocol` knows the bytes of handshake, frames and closing. This class moves them. It holds a
client back that sends faster than the application listens. It asks idle clients whether they are still there. It aborts
connections whose client takes nothing: a transport that is closed first sends what it has buffered, which may be never.
"""

import asyncio
import logging
import secrets
from collections import deque
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

from websockets.datastructures import Headers
from websockets.exceptions import InvalidState
from websockets.frames import Close, Frame, Opcode
from websockets.http11 import Request, Response
from websockets.server import ServerProtocol

from satchel.edge.http.held_bytes import WORTH_COUNTING_BYTES, bytes_of_head
from satchel.edge.http.response import STATUS_LINES
from satchel.edge.http.server_state import ServerState, address_of, write_at_once
from satchel.stores.patterns.throttle import networks_of

if TYPE_CHECKING:
    from starlette.types import Message

_log = logging.getLogger("satchel.edge")
# What the library itself says, which is below a warning unless it is at fault.
_library_log = logging.getLogger("websockets.server")

_ASGI = {"version": "3.0", "spec_version": "2.4"}
_EXTENSIONS: dict[str, dict[str, Any]] = {"websocket.http.response": {}}
# The codes of RFC 6455: going away without a word, a fault of ours, a server that restarts.
_NO_CODE, _ABNORMAL, _INTERNAL, _RESTART = 1005, 1006, 1011, 1012
# What may wait for a client that asks for more than it takes, such as pongs.
_UNTAKEN_BYTES = 64 * 1024
# A websocket keeps its head as it came, as text and as bytes; that of a browser is in what each of them takes anyway.
_COPIES_OF_HEAD = 3
# So long a client has to answer that the connection is closed.
_CLOSE_SECONDS = 10.0


class WebsocketLeft(OSError):
    """The client has gone, so nothing can be sent to it any more."""


class WebsocketProtocol(asyncio.Protocol):
    """One connection, from the request that asks for the upgrade on."""

    transport: asyncio.Transport

    def __init__(self, state: ServerState) -> None:
        self.state = state
        self.limits = state.limits
        self._loop = state.loop
        # Without compression: it costs memory per connection, and what is sent here is short or sealed.
        self._websocket = ServerProtocol(max_size=state.limits.websocket_bytes, logger=_library_log)
        self._scope: dict[str, Any] = {}
        self._accepting: Response | None = None
        self._refusing: tuple[int, list[tuple[bytes, bytes]], bytes] | None = None
        self._is_open = self._is_closed = self._is_lost = False
        self._task: asyncio.Task[None] | None = None
        # What the application has not asked for yet.
        self._messages: deque[Message] = deque()
        self._message_came = asyncio.Event()
        self._fragments: list[bytes | bytearray | memoryview] = []
        self._is_text = False
        self._client: tuple[str, int] | None = None
        self._unread_bytes = self._held_bytes = self._head_bytes = 0
        self._read_paused = False
        self._writable = asyncio.Event()
        self._writable.set()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._ping_payload: bytes | None = None

    # Called by asyncio.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self._client = address_of(transport.get_extra_info("peername"))
        write_at_once(self.transport)
        self.state.websockets.add(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 -- why makes no difference
        self.state.websockets.discard(self)
        self.state.held.gone(self)
        self._is_lost = True
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._tell({"type": "websocket.disconnect", "code": _NO_CODE if self._is_open else _ABNORMAL})
        self._writable.set()

    def eof_received(self) -> None:
        """Returning nothing closes the connection."""

    def pause_writing(self) -> None:
        self._writable.clear()
        self._count_held()

    def resume_writing(self) -> None:
        self._writable.set()
        self._count_held()

    def data_received(self, data: bytes) -> None:
        self._websocket.receive_data(data)
        for event in self._websocket.events_received():
            if isinstance(event, Request):
                self._shake_hands(event)
            elif isinstance(event, Frame):
                self._take(event)
        if self._websocket.close_expected() and not self._is_closed:
            self._end_after_error()
        else:
            # Pongs, for example.
            self._flush()
        self._count_held()
        if not self._writable.is_set() and self.transport.get_write_buffer_size() > _UNTAKEN_BYTES:
            # Only a client that goes on asking, without taking, comes here.
            self.transport.abort()

    # Called by the server.

    def network(self) -> str:
        return networks_of(self._client[0] if self._client else "")[-1][0]

    def abandon(self) -> None:
        self._held_bytes = 0
        self._loop.call_soon(self.transport.abort)

    def shutdown(self) -> None:
        self._stop_pings()
        if not self._is_closed:
            self._is_closed = True
            if self._is_open:
                self._tell({"type": "websocket.disconnect", "code": _RESTART})
                self._websocket.send_close(_RESTART)
                self._flush()
            elif self._accepting is not None:
                self._reject(503, "The server is being stopped.")
        self._close()

    # What comes in.

    def _shake_hands(self, request: Request) -> None:
        self._accepting = self._websocket.accept(request)
        if self._accepting.status_code != 101:
            self._is_closed = True
            self._websocket.send_response(self._accepting)
            self._flush()
            self._close()
            return
        raw_path, _, query = request.path.partition("?")
        protocols = request.headers.get_all("Sec-WebSocket-Protocol")
        self._scope = {
            "type": "websocket",
            "asgi": _ASGI,
            "http_version": "1.1",
            "scheme": "ws" if self.transport.get_extra_info("sslcontext") is None else "wss",
            "path": unquote(raw_path),
            "raw_path": raw_path.encode("ascii"),
            "query_string": query.encode("ascii"),
            "root_path": "",
            "headers": [(name.encode("ascii"), value.encode("latin-1")) for name, value in request.headers.raw_items()],
            "subprotocols": [each.strip() for protocol in protocols for each in protocol.split(",")],
            "server": address_of(self.transport.get_extra_info("sockname")),
            "client": self._client,
            "extensions": _EXTENSIONS,
        }
        self._head_bytes = max(0, bytes_of_head(self._scope["headers"]) - WORTH_COUNTING_BYTES) * _COPIES_OF_HEAD
        self._tell({"type": "websocket.connect"})
        self._task = self._loop.create_task(self._run())
        self.state.tasks.add(self._task)
        self._task.add_done_callback(self.state.tasks.discard)

    def _take(self, frame: Frame) -> None:
        match frame.opcode:
            case Opcode.TEXT | Opcode.BINARY:
                self._is_text = frame.opcode is Opcode.TEXT
                self._fragments = [frame.data]
                self._take_message(whole=frame.fin)
            case Opcode.CONT:
                self._fragments.append(frame.data)
                self._take_message(whole=frame.fin)
            case Opcode.PONG:
                if self._ping_payload is not None and bytes(frame.data) == self._ping_payload:
                    self._ping_payload = None
                    self._stop_pings()
                    self._ping_later()
            case Opcode.CLOSE:
                self._take_close(Close.parse(frame.data))
            case Opcode.PING:
                pass

    def _take_message(self, *, whole: bool) -> None:
        if not whole or self._is_closed:
            return
        data, self._fragments = b"".join(self._fragments), []
        self._unread_bytes += len(data)
        if self._is_text:
            try:
                self._tell({"type": "websocket.receive", "text": data.decode()})
            except UnicodeDecodeError:
                self._websocket.fail(1007, "this is not UTF-8")
                self._end_after_error()
                return
        else:
            self._tell({"type": "websocket.receive", "bytes": data})
        # One message at a time: the client is held back until the application has asked for it.
        if not self._read_paused:
            self._read_paused = True
            self.transport.pause_reading()

    def _take_close(self, received: Close) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._tell({"type": "websocket.disconnect", "code": received.code, "reason": received.reason})
        self._flush()
        self._close()

    def _end_after_error(self) -> None:
        """The client broke the rules; `websockets` has already said so to it."""
        self._is_closed = True
        self._tell({"type": "websocket.disconnect", "code": _ABNORMAL})
        self._flush()
        self._close()

    # The application.

    async def _run(self) -> None:
        try:
            await self.state.application(self._scope, self._receive, self._send)
        except WebsocketLeft:
            pass
        except Exception:  # noqa: BLE001 -- it is logged, and the client told
            _log.exception("an application failed on a websocket")
            if self._is_open and not self._is_closed:
                self._send_close(_INTERNAL, "")
        finally:
            if not self._is_open and not self._is_closed and not self._is_lost:
                self._reject(500, "Internal Server Error")
            if "close" not in self._timers:
                self.transport.close()
            self._abort_later()

    async def _receive(self) -> "Message":
        while not self._messages:
            self._message_came.clear()
            await self._message_came.wait()
        message = self._messages.popleft()
        self._unread_bytes = 0
        if self._held_bytes:
            self._count_held()
        if self._read_paused and not self._messages and not self._is_lost:
            self._read_paused = False
            self.transport.resume_reading()
        return message

    async def _send(self, message: "Message") -> None:
        await self._writable.wait()
        if self._is_lost:
            raise WebsocketLeft
        kind = message["type"]
        if kind == "websocket.send" and self._is_open:
            self._send_message(message)
        elif kind == "websocket.close" and self._is_open:
            if not self.transport.is_closing() and not self._is_closed:
                self._send_close(message.get("code", 1000), message.get("reason") or "")
        elif self._is_closed:  # the client has gone before it was answered
            raise WebsocketLeft
        elif self._is_open:
            raise RuntimeError(f"{kind} does not belong here")
        elif kind == "websocket.accept":
            self._accept(message)
        elif kind == "websocket.close":
            self._reject(403, "")
        elif kind == "websocket.http.response.start":
            self._refusing = (message["status"], list(message.get("headers", ())), b"")
        elif kind == "websocket.http.response.body" and self._refusing is not None:
            self._refuse(message)
        else:
            raise RuntimeError(f"{kind} does not belong here")

    def _send_message(self, message: "Message") -> None:
        data, text = message.get("bytes"), message.get("text")
        try:
            if data is not None:
                self._websocket.send_binary(data)
            else:
                self._websocket.send_text((text or "").encode())
        except InvalidState:
            # A close has gone out or come in.
            raise WebsocketLeft from None
        self._flush()

    def _accept(self, message: "Message") -> None:
        response = self._accepting
        if response is None or self.transport.is_closing():
            return
        for name, value in message.get("headers", ()):
            response.headers[name.decode("latin-1")] = value.decode("latin-1")
        if message.get("subprotocol"):
            response.headers["Sec-WebSocket-Protocol"] = message["subprotocol"]
        self._is_open = True
        self._websocket.send_response(response)
        self._flush()
        self._ping_later()

    def _refuse(self, message: "Message") -> None:
        """Answer the request for an upgrade as any other request is answered."""
        assert self._refusing is not None
        status, headers, body = self._refusing
        body += message.get("body", b"")
        self._refusing = (status, headers, body)
        if message.get("more_body", False):
            return
        given = Headers([(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers])
        given.setdefault("Content-Length", str(len(body)))
        given.setdefault("Date", self.state.date_line().decode("ascii")[6:-2])
        given.setdefault("Connection", "close")
        phrase = STATUS_LINES[status][len("HTTP/1.1 200 ") : -2].decode("ascii")
        self._respond(Response(status, phrase, given, body))

    def _reject(self, status: int, text: str) -> None:
        self._respond(self._websocket.reject(status, text))

    def _respond(self, response: Response) -> None:
        self._is_closed = True
        self._tell({"type": "websocket.disconnect", "code": _ABNORMAL})
        self._websocket.send_response(response)
        self._flush()
        self._close()

    def _send_close(self, code: int, reason: str) -> None:
        """Begin to close; the client's own close ends it, or the time it has for that."""
        self._is_closed = True
        self._tell({"type": "websocket.disconnect", "code": code, "reason": reason})
        self._stop_pings()
        try:
            self._websocket.send_close(code, reason)
        except InvalidState:
            raise WebsocketLeft from None
        self._flush()
        if self._read_paused:
            self._read_paused = False
            self.transport.resume_reading()
        self._set_timer("close", _CLOSE_SECONDS, self.transport.close)

    # Is the client still there?

    def _ping_later(self) -> None:
        self._set_timer("ping", self.limits.ping_seconds, self._ping)

    def _ping(self) -> None:
        if self._is_closed or self.transport.is_closing():
            return
        self._ping_payload = secrets.token_bytes(4)
        self._websocket.send_ping(self._ping_payload)
        self._flush()
        self._set_timer("pong", self.limits.ping_seconds, self._pong_missing)

    def _pong_missing(self) -> None:
        self._ping_payload = None
        if self._read_paused:
            # While reading is paused no pong can arrive; ping again later.
            self._ping_later()
            return
        if not self._is_closed and not self.transport.is_closing():
            self._is_closed = True
            self._websocket.fail(_INTERNAL, "keepalive ping timeout")
            self._flush()
        self._close()

    def _stop_pings(self) -> None:
        for name in ("ping", "pong"):
            if timer := self._timers.pop(name, None):
                timer.cancel()

    # Means.

    def _count_held(self) -> None:
        """Enter what the server holds for this client: a long head, half frames, what nobody asked for or takes."""
        held = (
            self._head_bytes + len(self._websocket.reader.buffer) + sum(map(len, self._fragments)) + self._unread_bytes
        )
        if not self._writable.is_set():
            held += self.transport.get_write_buffer_size()
        if held < WORTH_COUNTING_BYTES:
            held = 0
        if held != self._held_bytes and not self._is_lost:
            self._held_bytes = held
            self.state.held.note(self, held)

    def _tell(self, message: "Message") -> None:
        self._messages.append(message)
        self._message_came.set()

    def _flush(self) -> None:
        """Send what `websockets` has to say; an empty piece means that nothing will follow."""
        if data := b"".join(self._websocket.data_to_send()):
            self.transport.write(data)

    def _close(self) -> None:
        self.transport.close()
        self._abort_later()

    def _abort_later(self) -> None:
        if not self._is_lost and "abort" not in self._timers:
            self._set_timer("abort", self.limits.linger_seconds, self.transport.abort)

    def _set_timer(self, name: str, seconds: float, then: Any) -> None:
        if earlier := self._timers.get(name):
            earlier.cancel()
        self._timers[name] = self._loop.call_later(seconds, then)
