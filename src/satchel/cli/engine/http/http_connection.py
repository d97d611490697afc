"""HTTP/1.1 to one server on kept connections, directly or through the proxy that the environment names.

It stands on `http.client`, of which loading costs a short command nothing to speak of, and a request of 4 KiB with 32
threads costs 0.1 ms of processor time; httpx took 1.2 ms for the same, and a third of the time of a short command to
load. Only `client.py`, `satchel doctor` and the streams of a drop use this module directly.
"""

import os
import select
import socket
import ssl
from base64 import b64encode
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import TypeAlias, cast
from urllib.parse import SplitResult, quote, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from satchel.cli.engine.http.silence import SilenceWatch
from satchel.cli.engine.terminal.output import CommandFailed, without_password

_CONNECT_SECONDS = 10.0
# What separates the parts of an address, and what is percent-encoded already; everything else is encoded.
_AS_IT_IS = "%/:?#[]@!$&'()*+,;="

Body: TypeAlias = bytes | Iterator[bytes] | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said; the names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


class BodyFailed(Exception):
    """The body of a request could not be read here; `error` says why."""

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.error = error


class StreamedAnswer:
    """An answer whose body is read as it arrives. Failures are OSError and HTTPException."""

    def __init__(self, response: HTTPResponse, silence: SilenceWatch) -> None:
        self._response = response
        self._silence = silence
        self.status = response.status
        self.headers = headers_of(response)
        # `HTTPResponse.read1` does not count in every version of Python. None where the body is sent in chunks.
        self._left_bytes = None if response.chunked else response.length

    @property
    def is_whole(self) -> bool:
        """Whether the body was read to its end, so that the connection can be used again."""
        return self._left_bytes == 0

    def read_some(self, most_bytes: int) -> bytes:
        """What has arrived, at least one byte; nothing at the end of the body."""
        wanted = most_bytes if self._left_bytes is None else min(most_bytes, self._left_bytes)
        piece = b""
        if wanted:
            with self._silence.waiting():
                piece = self._response.read1(wanted)
        if not piece and self._left_bytes:
            raise ConnectionResetError("it ended in the middle of an answer")
        if self._left_bytes is not None:
            self._left_bytes -= len(piece)
        elif not piece:
            self._left_bytes = 0
        return piece

    def read(self) -> bytes:
        with self._silence.waiting():
            content = self._response.read()
        self._left_bytes = 0
        return content

    def close(self) -> None:
        self._response.close()


@dataclass(frozen=True, slots=True)
class Route:
    """How requests get to a server: what to connect to, and what a proxy wants to see in each."""

    connection: HTTPConnection
    # Stands before the path in the first line of a request.
    before_path: str
    headers: Mapping[str, str]


class ServerConnections:
    """Connections to one server, for any number of threads. Failures are OSError and HTTPException."""

    def __init__(self, server: str, *, uses_proxy: bool = True, silence: SilenceWatch | None = None) -> None:
        self._server = server
        self._uses_proxy = uses_proxy
        self._silence = silence or SilenceWatch(lambda _: None)
        self._idle: list[Route] = []

    def request(
        self, method: str, path: str, headers: Mapping[str, str], content: Body, timeout_seconds: float
    ) -> Answer:
        with self.stream(method, path, headers, content, timeout_seconds) as answer:
            return Answer(answer.status, answer.headers, answer.read())

    @contextmanager
    def stream(
        self, method: str, path: str, headers: Mapping[str, str], content: Body, timeout_seconds: float
    ) -> Generator[StreamedAnswer]:
        """An answer whose body the block reads."""
        route = self._route()
        is_reusable = False
        try:
            with self._silence.waiting(route.connection):
                body = content if isinstance(content, bytes | None) else _told_apart(content, self._silence)
                response, is_sent = _exchange(route, method, path, headers, body, timeout_seconds)
            answer = StreamedAnswer(response, self._silence)
            yield answer
            answer.close()
            is_reusable = is_sent and answer.is_whole
        finally:
            if is_reusable:
                self._idle.append(route)
            else:
                route.connection.close()

    def close(self) -> None:
        while self._idle:
            self._idle.pop().connection.close()

    def _route(self) -> Route:
        try:
            kept = self._idle.pop()
        except IndexError:
            return route_to(self._server, _CONNECT_SECONDS, self._trust, uses_proxy=self._uses_proxy)
        close_if_dead(kept.connection)
        return kept

    @cached_property
    def _trust(self) -> ssl.SSLContext | None:
        return trust() if self._server.startswith("https:") else None


def _exchange(
    route: Route, method: str, path: str, headers: Mapping[str, str], content: Body, timeout_seconds: float
) -> tuple[HTTPResponse, bool]:
    """The answer, and whether all of the request was sent before it came."""
    connection, is_sent = route.connection, True
    if connection.sock is None:
        connection.connect()
    cast("socket.socket", connection.sock).settimeout(timeout_seconds)
    try:
        target = quote(route.before_path + path, safe=_AS_IT_IS)
        connection.request(method, target, content, {**headers, **route.headers})
    except (BrokenPipeError, ConnectionResetError):
        if not content:
            raise
        is_sent = False  # a server that refuses a body says why before it closes the connection
    response = connection.getresponse()
    return response, is_sent and not response.will_close


def _told_apart(content: Iterator[bytes], silence: SilenceWatch) -> Iterator[bytes]:
    """The same, so that a disk that fails is not taken for a connection that does."""
    try:
        for piece in content:
            silence.heard()
            yield piece
    except OSError as error:
        raise BodyFailed(error) from error


def fetch(url: str, timeout_seconds: float, *, uses_proxy: bool = True) -> Answer:
    """The answer to one GET. Failures are OSError and HTTPException."""
    parts = urlsplit(url)
    connections = ServerConnections(f"{parts.scheme}://{parts.netloc}", uses_proxy=uses_proxy)
    try:
        return connections.request("GET", parts._replace(scheme="", netloc="").geturl(), {}, None, timeout_seconds)
    finally:
        connections.close()


def route_to(
    server: str, timeout_seconds: float, trusted: ssl.SSLContext | None = None, *, uses_proxy: bool = True
) -> Route:
    """A way to the server that is not connected yet."""
    parts = urlsplit(server)
    host, port = parts.hostname or "", parts.port
    proxy = _proxy_for(parts.scheme, host) if uses_proxy else None
    proof = _proxy_proof(proxy.username, proxy.password or "") if proxy and proxy.username else {}
    reached = (proxy.hostname or "", proxy.port or 80) if proxy else (host, port)
    if parts.scheme == "http":
        return Route(HTTPConnection(*reached, timeout=timeout_seconds), server if proxy else parts.path, proof)
    connection = HTTPSConnection(*reached, timeout=timeout_seconds, context=trusted or trust())
    if proxy:
        connection.set_tunnel(host, port, proof)
    return Route(connection, parts.path, {})


def close_if_dead(connection: HTTPConnection) -> None:
    """Close a kept connection that the server has closed: there is something to read before anything was asked."""
    sock = cast("socket.socket | None", connection.sock)
    if sock is not None and select.select([sock], [], [], 0)[0]:
        connection.close()


def headers_of(response: HTTPResponse) -> dict[str, str]:
    return {name.lower(): value for name, value in response.getheaders()}


def trust() -> ssl.SSLContext:
    """Authorities whose certificates count: those of SSL_CERT_FILE or SSL_CERT_DIR, else those that certifi lists."""
    if file := os.environ.get("SSL_CERT_FILE"):
        return ssl.create_default_context(cafile=file)
    if folder := os.environ.get("SSL_CERT_DIR"):
        return ssl.create_default_context(capath=folder)
    import certifi

    return ssl.create_default_context(cafile=certifi.where())


def _proxy_for(scheme: str, host: str) -> SplitResult | None:
    proxies = getproxies()
    named = proxies.get(scheme) or proxies.get("all")
    if not named or proxy_bypass(host):
        return None
    parts = urlsplit(named if "//" in named else f"http://{named}")
    if parts.scheme != "http":
        raise CommandFailed(
            f"The proxy {without_password(named)} cannot be used. Name one whose address begins with http://."
        )
    return parts


def _proxy_proof(user: str, password: str) -> dict[str, str]:
    spoken = f"{unquote(user)}:{unquote(password)}".encode()
    return {"proxy-authorization": f"Basic {b64encode(spoken).decode()}"}
