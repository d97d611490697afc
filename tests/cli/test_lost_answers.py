"""Commands whose answer is lost on the way: they ask again under the same key, and make nothing twice."""

import http.client
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest

from tests.cli.photo_card import shoot
from tests.cli.terminal import Person
from tests.cli.test_put_get import listed
from tests.cli.test_rooms import sign_up
from tests.server.process import ServerProcess

pytestmark = pytest.mark.slow

LISTS = {"/rooms/mine": "rooms", "/links": "links", "/albums?mine=true": "albums", "/set-lists": "set_lists"}


class Line(BaseHTTPRequestHandler):
    """Passes requests on, and breaks off instead of the first answer to each `POST` that makes something."""

    server_at: str
    makes: tuple[str, ...]
    lost: set[str]

    def do_POST(self) -> None:
        self._pass_on()

    def do_GET(self) -> None:
        self._pass_on()

    def _pass_on(self) -> None:
        behind = http.client.HTTPConnection(self.server_at)
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        behind.request(self.command, self.path, body, dict(self.headers))
        answer = behind.getresponse()
        content = answer.read()
        behind.close()
        if self.command == "POST" and self.path.endswith(self.makes) and self.path not in self.lost:
            self.lost.add(self.path)
            self.close_connection = True
            return
        self.send_response(answer.status)
        self.send_header("content-type", answer.getheader("content-type") or "text/plain")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name is the base class's
        pass


@contextmanager
def bad_line(server: ServerProcess, *makes: str) -> Generator[str]:
    lost: set[str] = set()
    handler = type("BadLine", (Line,), {"server_at": urlsplit(server.url).netloc, "makes": makes, "lost": lost})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as line:
        thread = threading.Thread(target=line.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{line.server_address[1]}"
            assert len(lost) == len(makes), lost
        finally:
            line.shutdown()
            thread.join()


def test_a_guest_whose_answer_is_lost_comes_in_all_the_same(server: ServerProcess, ann: Person, bob: Person) -> None:
    sign_up(ann, server, "Ann")
    code = ann.run("room", "open", "--json").json["code"]
    with bad_line(server, "/guests") as address:
        joined = bob.run("room", "join", code, "--name", "Gus", "--server", address)
    assert (joined.code, joined.err) == (0, "The connection is lost. Trying again until the server is back.\n")


def test_nothing_is_made_twice_when_an_answer_is_lost(server: ServerProcess, ann: Person) -> None:
    sign_up(ann, server, "Ann")
    makes = ("/api/v1/rooms", "/chat", "/links", "/albums", "/set-lists")
    with bad_line(server, *makes) as address:
        kept = ann.credentials.read_text()
        ann.credentials.write_text(kept.replace(server.url, address))
        opened = ann.run("room", "open", "--json")
        assert (opened.code, opened.err) == (0, "The connection is lost. Trying again until the server is back.\n")
        assert ann.run("room", "say", "hello").code == 0
        code = opened.json["code"]
        assert ann.run("link", "--room", code, "--json").code == 0
        assert ann.run("album", "create", "Sea", "--from", "2024-07-01", "--to", "2024-07-31", "--yes").code == 0
        assert ann.run("setlist", "create", "Summer").code == 0
    token = ann.kept["sessions"][address]["access_token"]
    for path, name in LISTS.items():
        answer = server.client.get(f"/api/v1{path}", headers={"authorization": f"Bearer {token}"}).json()
        assert len(answer[name]) == 1, path
    room = opened.json["room_id"]
    said = server.client.get(f"/api/v1/rooms/{room}/chat", headers={"authorization": f"Bearer {token}"}).json()
    assert [message["text"] for message in said["messages"]] == ["hello"]


def test_the_folder_of_photos_that_are_sent_is_made_once(server: ServerProcess, ann: Person) -> None:
    sign_up(ann, server, "Ann")
    shoot(ann.home / "card/sea.JPG", "2024:01:12 12:00:00")
    assert ann.run("photos", "backup", "card", "--quiet").code == 0
    code = ann.run("room", "open", "--json").json["code"]
    kept = ann.credentials.read_text()
    with bad_line(server, "/shelf/folders") as address:
        ann.credentials.write_text(kept.replace(server.url, address))
        sent = ann.run("photos", "send", "card/sea.JPG", "--room", code)
        assert (sent.code, sent.err) == (0, "The connection is lost. Trying again until the server is back.\n")
    ann.credentials.write_text(ann.credentials.read_text().replace(address, server.url))
    assert len(listed(ann, "Sent")) == 1
