"""A proxy in front of a server: it can refuse or delay large bodies, pass no streams, and lose its connections."""

import re
import socket
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Literal
from urllib.parse import urlsplit

_BAD_GATEWAY = b"HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n"
_LARGE_BYTES = 1024**2
_STREAM = re.compile(rb"GET \S+/bytes ")
_TOO_LARGE = b"HTTP/1.1 413 Request Entity Too Large\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n"


class Front:
    """Passes requests on to wherever `target` is at the moment."""

    def __init__(self, target: str, most_body_bytes: int | None = None) -> None:
        self.target = target
        self.most_body_bytes = most_body_bytes
        self.refused = 0
        # What becomes of streams to receivers.
        self.streams: Literal["pass", "refuse", "hold"] = "pass"
        # Of a body above a megabyte nothing passes while this is not set, and then a piece at a time, with a pause.
        self.large_bodies = threading.Event()
        self.large_bodies.set()
        self.pause_seconds = 0.0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def pass_slowly(self) -> None:
        """Let large bodies pass, 64 KiB every 50 ms."""
        self.pause_seconds = 0.05
        self.large_bodies.set()

    def lose_all_lines(self) -> None:
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.lose_all_lines()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._open.append(client)
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        at = urlsplit(self.target)
        with client, suppress(OSError), _hung_up(socket.create_connection((at.hostname, at.port))) as server:
            self._open.append(server)
            threading.Thread(target=_pour, args=(server, client), daemon=True).start()
            received = b""
            while head := _head(client, received):
                head, received = head
                length = int(found[1]) if (found := re.search(rb"(?i)\ncontent-length: *(\d+)", head)) else 0
                if self.most_body_bytes is not None and length > self.most_body_bytes:
                    self.refused += 1
                    client.sendall(_TOO_LARGE)
                    return
                if self.streams != "pass" and _STREAM.match(head):
                    self.refused += 1
                    self._keep_stream(client, head)
                    return
                server.sendall(head)
                received = self._pass_on(client, server, received, length)
                if b"upgrade: websocket" in head.lower():
                    server.sendall(received)
                    _pour(client, server)
                    return

    def _pass_on(self, client: socket.socket, server: socket.socket, received: bytes, length: int) -> bytes:
        """A body of this length; what of it has been received is not waited for."""
        is_large = length > _LARGE_BYTES
        if is_large:
            self.large_bodies.wait()
        body, rest = received[:length], received[length:]
        server.sendall(body)
        length -= len(body)
        while length and (more := client.recv(min(length, 65536))):
            server.sendall(more)
            length -= len(more)
            if is_large and self.pause_seconds:
                time.sleep(self.pause_seconds)
        return rest

    def _keep_stream(self, client: socket.socket, head: bytes) -> None:
        if self.streams == "refuse":
            client.sendall(_BAD_GATEWAY)
            return
        at = urlsplit(self.target)
        with socket.create_connection((at.hostname, at.port)) as server:
            server.sendall(head)
            while server.recv(65536):
                pass
            client.recv(1)


@contextmanager
def _hung_up(connection: socket.socket) -> Generator[socket.socket]:
    """In the end, also if somebody still waits for something to come: merely closing it would not tell them."""
    with connection:
        try:
            yield connection
        finally:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def _head(client: socket.socket, received: bytes) -> tuple[bytes, bytes] | None:
    """The head of the next request, and what came behind it."""
    while b"\r\n\r\n" not in received:
        more = client.recv(65536)
        if not more:
            return None
        received += more
    head, _, rest = received.partition(b"\r\n\r\n")
    return head + b"\r\n\r\n", rest


def _pour(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(65536):
            target.sendall(piece)
    with suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)


@contextmanager
def fronting(target: str, most_body_bytes: int | None = None) -> Generator[Front]:
    front = Front(target, most_body_bytes)
    try:
        yield front
    finally:
        front.close()
