"""Servers that are not there, or are something else: one sentence each, and the next command works again."""

import socket
import ssl
import subprocess
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.cli.terminal import Person, Ran, explains
from tests.services import free_port

pytestmark = pytest.mark.slow


class SomethingElse(BaseHTTPRequestHandler):
    """A web server that is no Satchel."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        status, headers, body = {
            "/page/api/v1/sessions": (200, {"content-type": "text/html"}, b"<h1>Welcome</h1>"),
            "/missing/api/v1/sessions": (404, {"content-type": "text/html"}, b"<h1>Not found</h1>"),
            "/moved/api/v1/sessions": (308, {"location": "https://satchel.example.org/api/v1/sessions"}, b""),
            "/odd/api/v1/sessions": (400, {"content-type": "application/problem+json"}, b"{}"),
            "/evil/api/v1/sessions": (
                400,
                {"content-type": "application/problem+json"},
                b'{"detail": "Look: \\u001b[31mred\\u0007 and\\u009b2J"}',
            ),
        }[self.path]
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name is the base class's
        pass


@contextmanager
def listening(context: ssl.SSLContext | None = None) -> Generator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), SomethingElse) as web:
        if context is not None:
            web.socket = context.wrap_socket(web.socket, server_side=True)
        thread = threading.Thread(target=web.serve_forever)
        thread.start()
        try:
            yield web.server_address[1]
        finally:
            web.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def something_else() -> Iterator[str]:
    with listening() as port:
        yield f"http://127.0.0.1:{port}"


def login(person: Person, server: str) -> Ran:
    return person.run("login", "--server", server, "--email", "ann@example.org", SATCHEL_PASSWORD="secret words")


def test_no_server_at_all(ann: Person) -> None:
    address = f"http://127.0.0.1:{free_port()}"
    assert explains(login(ann, address), 1, "Nothing answers", address, "satchel serve")


def test_a_web_server_of_another_kind(ann: Person, something_else: str) -> None:
    for path in ("page", "missing", "odd"):
        assert explains(login(ann, f"{something_else}/{path}"), 1, "not a Satchel server", "--server")


def test_a_server_that_has_moved(ann: Person, something_else: str) -> None:
    assert explains(login(ann, f"{something_else}/moved"), 1, "redirects to https://satchel.example.org")


def test_a_server_that_tries_to_steer_the_terminal(ann: Person, something_else: str) -> None:
    ran = login(ann, f"{something_else}/evil")
    assert explains(ran, 1, "Look: ")
    assert not any(letter in ran.err for letter in "\x1b\x07\x9b")


def test_something_that_does_not_even_speak_http(ann: Person) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(b"220 mail.example.org ESMTP\r\n")
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass

        thread = threading.Thread(target=answer)
        thread.start()
        ran = login(ann, f"http://127.0.0.1:{listener.getsockname()[1]}")
        thread.join()
    assert explains(ran, 1, "not a Satchel server")


def test_a_server_without_the_certificate_that_its_address_promises(ann: Person, something_else: str) -> None:
    assert explains(login(ann, something_else.replace("http:", "https:")), 1, "TLS", "http://")


def test_a_certificate_that_nobody_vouches_for_and_how_to_vouch_for_it(ann: Person, tmp_path: Path) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=satchel"]
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*make, *names], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with listening(context) as port:
        address = f"https://127.0.0.1:{port}/page"
        assert explains(login(ann, address), 1, "certificate", "SSL_CERT_FILE")
        arguments = ("login", "--server", address, "--email", "ann@example.org")
        ran = ann.run(*arguments, SATCHEL_PASSWORD="secret words", SSL_CERT_FILE=str(certificate))
        assert explains(ran, 1, "not a Satchel server")


def test_a_machine_that_does_not_exist(ann: Person) -> None:
    ran = login(ann, "https://satchel.invalid")
    assert explains(ran, 1, "no machine called satchel.invalid")


def test_a_password_that_would_travel_unencrypted_is_warned_of(ann: Person) -> None:
    ran = login(ann, "http://satchel.invalid")
    assert "not encrypted" in ran.err.splitlines()[0]
