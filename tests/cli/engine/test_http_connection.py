"""The one HTTP client: kept connections, streams in both directions, refusals in the middle of a body, and proxies."""

import socket
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from satchel.cli.engine.http.http_connection import BodyFailed, ServerConnections, fetch
from satchel.cli.engine.terminal.output import CommandFailed

CONTENT = bytes(range(256)) * 4096


class Echo(BaseHTTPRequestHandler):
    """Answers with what it was asked, and counts the connections that it was asked by."""

    protocol_version = "HTTP/1.1"
    ports: set[int]

    def do_GET(self) -> None:
        self.ports.add(self.client_address[1])
        body = CONTENT if self.path.endswith("/content") else self.path.encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body) + (10 if "short" in self.path else 0)))
        self.send_header("x-proof", self.headers.get("proxy-authorization", ""))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = "short" in self.path

    def do_PUT(self) -> None:
        self.ports.add(self.client_address[1])
        if self.path == "/refused":
            self.close_connection = True
            self._answer(413, b"too large")
            # As a server does that does not read on.
            self.connection.shutdown(socket.SHUT_WR)
            return
        self._answer(200, str(len(self.rfile.read(int(self.headers["content-length"])))).encode())

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name is the base class's
        pass


@contextmanager
def echoing() -> Generator[tuple[str, set[int]]]:
    ports: set[int] = set()
    handler = type("Counting", (Echo,), {"ports": ports})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as web:
        web.daemon_threads = True
        thread = threading.Thread(target=web.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{web.server_address[1]}", ports
        finally:
            web.shutdown()
            thread.join()


@pytest.fixture
def echo(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, set[int]]]:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    with echoing() as found:
        yield found


def pieces(count: int) -> Iterator[bytes]:
    yield from (b"x" * 65536 for _ in range(count))


def test_one_connection_serves_request_after_request(echo: tuple[str, set[int]]) -> None:
    server, ports = echo
    connections = ServerConnections(f"{server}/below")
    for number in range(3):
        assert connections.request("GET", f"/ü/{number}", {}, None, 5).content == f"/below/%C3%BC/{number}".encode()
    with connections.stream("GET", "/content", {}, None, 5) as answer:
        got = b"".join(iter(lambda: answer.read_some(100_000), b""))
    assert got == CONTENT
    headers = {"content-length": str(3 * 65536)}
    assert connections.request("PUT", "/file", headers, pieces(3), 5).content == str(3 * 65536).encode()
    assert len(ports) == 1
    connections.close()


def test_a_connection_whose_answer_was_not_read_to_its_end_is_not_used_again(echo: tuple[str, set[int]]) -> None:
    server, ports = echo
    connections = ServerConnections(server)
    with connections.stream("GET", "/content", {}, None, 5) as answer:
        assert answer.read_some(10)
    assert connections.request("GET", "/next", {}, None, 5).content == b"/next"
    assert len(ports) == 2
    connections.close()


def test_an_answer_that_ends_too_early_is_an_error(echo: tuple[str, set[int]]) -> None:
    connections = ServerConnections(echo[0])
    with pytest.raises(ConnectionResetError), connections.stream("GET", "/short", {}, None, 5) as answer:
        while answer.read_some(100):
            pass


def test_a_server_that_refuses_in_the_middle_of_a_body_is_heard(echo: tuple[str, set[int]]) -> None:
    connections = ServerConnections(echo[0])
    headers = {"content-length": str(400 * 65536)}
    answer = connections.request("PUT", "/refused", headers, pieces(400), 5)
    assert (answer.status, answer.content) == (413, b"too large")
    assert connections.request("GET", "/next", {}, None, 5).content == b"/next"
    connections.close()


def test_a_file_that_cannot_be_read_is_not_taken_for_a_lost_connection(echo: tuple[str, set[int]]) -> None:
    def failing() -> Iterator[bytes]:
        yield b"x"
        raise PermissionError("not yours")

    connections = ServerConnections(echo[0])
    with pytest.raises(BodyFailed) as failed:
        connections.request("PUT", "/file", {"content-length": "2"}, failing(), 5)
    assert isinstance(failed.value.error, PermissionError)


def test_a_proxy_is_asked_for_the_whole_address(echo: tuple[str, set[int]], monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("http_proxy", "all_proxy"):
        with monkeypatch.context() as environment:
            environment.setenv(variable, echo[0].replace("http://", "http://ann:s%C3%A4ge@"))
            answer = fetch("http://satchel.example.org/a?b=c", 5)
            assert answer.content == b"http://satchel.example.org/a?b=c"
            assert answer.headers["x-proof"] == "Basic YW5uOnPDpGdl"
            environment.setenv("no_proxy", "127.0.0.1")
            assert fetch(f"{echo[0]}/direct", 5).content == b"/direct"


def test_a_proxy_that_cannot_be_used_is_named(echo: tuple[str, set[int]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", "socks5://ann:secret@127.0.0.1:1080")
    with pytest.raises(CommandFailed, match=r"socks5://ann:…@127\.0\.0\.1:1080"):
        fetch(f"{echo[0]}/x", 5)
