"""Bytes by the gigabyte, straight between a socket and a buffer; directly, or by the proxy that the environment names.

Whoever sends calls `begin` with a length, `send` until that is reached, then `finish`. Whoever receives calls `begin`,
then reads the answer of `response` with `readinto`. What goes wrong is `Refused`, `RefusedByProxy` or `Unreachable`;
after each, and whenever a body was not sent or read to its end, the pipe has to be closed before it can be used again.
"""

import select
import socket
import ssl
from collections.abc import Generator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse

from satchel.cli.drop.session.drop_session import DropSession
from satchel.cli.engine.http.client import API
from satchel.cli.engine.http.failures import Unreachable
from satchel.cli.engine.http.http_connection import Answer, close_if_dead, headers_of, route_to
from satchel.cli.engine.terminal.output import CommandFailed

# Longer than a side that comes first waits for the other, and than a receiver is given to go on reading.
_TIMEOUT_SECONDS = 120.0
# What fills the buffers of every machine on the way takes its time on a slow line.
_TAKEN_SECONDS = 600.0
# What a proxy says of a moment, not of a request.
_OF_THE_MOMENT = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS}


class RefusedByProxy(CommandFailed):
    """Something between us and the server does not let this pass, and never will."""

    def __init__(self, status: int) -> None:
        super().__init__(f"A proxy in front of the server does not pass files on (status {status}).")


class StreamConnection:
    """One kept connection of one thread, as one member of a session."""

    def __init__(self, session: DropSession) -> None:
        self._session = session
        route = route_to(session.client.server, _TIMEOUT_SECONDS)
        self._connection, self._before_path = route.connection, route.before_path
        self._headers = {**route.headers, "authorization": f"Bearer {session.token}", "user-agent": "satchel"}

    def begin(self, method: str, path: str, length: int | None = None) -> None:
        """Send the head of a request below the session; `length` is that of its body."""
        close_if_dead(self._connection)
        with self._explained():
            self._connection.putrequest(method, f"{self._before_path}{API}{self._session.path}{path}")
            for name, value in self._headers.items():
                self._connection.putheader(name, value)
            if length is not None:
                self._connection.putheader("content-type", "application/octet-stream")
                self._connection.putheader("content-length", str(length))
            self._connection.endheaders()
            self._connection.sock.settimeout(_TIMEOUT_SECONDS)

    def send(self, content: memoryview) -> None:
        """Raises `Refused` if the server has answered before it had everything, and why."""
        sock = self._connection.sock
        try:
            # In TLS something to read need not be an answer.
            if not isinstance(sock, ssl.SSLSocket) and select.select([sock], [], [], 0)[0]:
                raise BrokenPipeError
            sock.sendall(content)
        except OSError as error:
            self._hear_why()
            raise self._session.client.unreachable(error) from error

    def finish(self, timeout_seconds: float = _TAKEN_SECONDS) -> None:
        """Until the server has passed on everything that was sent."""
        self._connection.sock.settimeout(timeout_seconds)
        self._read_whole(self.response())

    def response(self) -> HTTPResponse:
        """A body to read, if the server said yes."""
        with self._explained():
            response = self._connection.getresponse()
            if response.status >= 300:
                self._read_whole(response)
            return response

    def interrupt(self) -> None:
        """From another thread: whoever waits for bytes here waits no longer."""
        if (sock := self._connection.sock) is not None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._connection.close()

    def _hear_why(self) -> None:
        """A server that says no in the middle says so before it closes the connection."""
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


def _is_proxys_no(response: HTTPResponse) -> bool:
    """Whatever the server itself refuses it explains, in a form of its own."""
    status = response.status
    if response.getheader("content-type", "").startswith("application/problem+json") or status in _OF_THE_MOMENT:
        return False
    return 400 <= status < 500 or status == HTTPStatus.NOT_IMPLEMENTED
