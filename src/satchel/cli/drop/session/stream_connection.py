"""HTTP connections for large bodies, without copies between socket and buffer, also by the proxy of the environment.

A sender calls `begin` with a length, `send` until that is reached, then `finish`. A receiver calls `begin`, then reads
what `response` answers with `body_of`. Errors are `Refused`, `RefusedByProxy` and `Unreachable`. After an error, and
after a body that was not sent or read to its end, the connection has to be closed before it can be used again.
"""

import select
import socket
import ssl
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse

from satchel.cli.drop.session.drop_session import DropSession
from satchel.cli.drop.stream_wait import Wait
from satchel.cli.engine.http.client import API
from satchel.cli.engine.http.failures import Unreachable
from satchel.cli.engine.http.http_connection import Answer, close_if_dead, headers_of, route_to
from satchel.cli.engine.terminal.output import CommandFailed

# Longer than the server waits for the other side, and for a receiver that does not read.
_TIMEOUT_SECONDS = 120.0
# On a slow connection it takes long to send what is in the buffers on the way.
_TAKEN_SECONDS = 600.0
# A proxy's answers that concern the moment, not the request.
_OF_THE_MOMENT = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS}


class RefusedByProxy(CommandFailed):
    """A proxy refuses this request, and would refuse it again."""

    def __init__(self, status: int) -> None:
        super().__init__(f"A proxy in front of the server does not pass files on (status {status}).")


class StreamConnection:
    """A persistent connection of one thread, as one member of a session. `wait` is what it waits for the other side."""

    def __init__(self, session: DropSession, wait: Wait) -> None:
        self._session = session
        self._wait = wait
        route = route_to(session.client.server, _TIMEOUT_SECONDS)
        self._connection, self._before_path = route.connection, route.before_path
        # The connection forgets its socket when it hands out an answer that ends with it. An interruption needs it.
        self._socket: socket.socket | None = None
        self._headers = {**route.headers, "authorization": f"Bearer {session.token}", "user-agent": "satchel"}

    def begin(self, method: str, path: str, length: int | None = None) -> None:
        """Send the head of a request below the session; `length` is that of its body."""
        close_if_dead(self._connection)
        with self._explained(), self._wait:
            self._connection.putrequest(method, f"{self._before_path}{API}{self._session.path}{path}")
            for name, value in self._headers.items():
                self._connection.putheader(name, value)
            if length is not None:
                self._connection.putheader("content-type", "application/octet-stream")
                self._connection.putheader("content-length", str(length))
            self._connection.endheaders()
            self._connection.sock.settimeout(_TIMEOUT_SECONDS)
            self._socket = self._connection.sock

    def send(self, content: memoryview) -> None:
        """Raises `Refused` if the server has answered before it had the whole body."""
        sock = self._connection.sock
        try:
            # With TLS, readable bytes need not be an answer.
            if not isinstance(sock, ssl.SSLSocket) and select.select([sock], [], [], 0)[0]:
                raise BrokenPipeError
            with self._wait.on(sock):
                sock.sendall(content)
        except OSError as error:
            self._hear_why()
            raise self._session.client.unreachable(error) from error

    def finish(self, timeout_seconds: float = _TAKEN_SECONDS) -> None:
        """Wait until the server has passed on everything that was sent."""
        sock = self._connection.sock
        sock.settimeout(timeout_seconds)
        self._wait.on(sock)
        self._read_whole(self.response())

    def response(self) -> HTTPResponse:
        """The answer, whose body can be read if the server accepted the request."""
        with self._explained(), self._wait:
            response = self._connection.getresponse()
            if response.status >= 300:
                self._read_whole(response)
            return response

    def interrupt(self) -> None:
        """Called from another thread: ends a read that waits for bytes."""
        if (sock := self._socket) is not None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """A thread that reads holds a lock that closing waits for, so its read is ended first."""
        self.interrupt()
        self._connection.close()
        self._socket = None

    def _hear_why(self) -> None:
        """Looks for an early refusal. The server sends it before it closes the connection."""
        with suppress(Unreachable, OSError):
            self.finish(timeout_seconds=1)

    def _read_whole(self, response: HTTPResponse) -> None:
        with self._explained():
            content = response.read()
        if _is_proxys_no(response):
            raise RefusedByProxy(response.status)
        self._session.client.read(Answer(response.status, headers_of(response), content), object)

    @contextmanager
    def _explained(self) -> Generator[None]:
        try:
            yield
        except (OSError, HTTPException) as error:
            raise self._session.client.unreachable(error) from error


def body_of(response: HTTPResponse) -> Callable[[memoryview], int]:
    """Reads what has arrived into a buffer, and says how much; 0 at the end.

    `HTTPResponse.readinto` would wait until the buffer is full, and fill the rest of it in small steps.
    """
    left = response.length

    def read_counted(room: memoryview) -> int:
        nonlocal left
        assert left is not None
        read = response.fp.readinto1(room[:left]) if left else 0
        left -= read
        if not left:
            response.close()  # so that the connection takes another request
        return read

    def read_chunked(room: memoryview) -> int:
        piece = response.read1(len(room))
        room[: len(piece)] = piece
        return len(piece)

    return read_chunked if left is None else read_counted


def _is_proxys_no(response: HTTPResponse) -> bool:
    """Whether a proxy has refused the request. The server's own refusals are problem documents."""
    status = response.status
    if response.getheader("content-type", "").startswith("application/problem+json") or status in _OF_THE_MOMENT:
        return False
    return 400 <= status < 500 or status == HTTPStatus.NOT_IMPLEMENTED
