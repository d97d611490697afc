"""Downloads by a link from the real server: at once, broken off, gone on with, over a restart; each counts exactly."""

import hashlib
import io
import random
import signal
import time
import zipfile
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.application import PASSWORD
from tests.server.process import ServerProcess, make_tables, serving
from tests.server.streams import connected, head_from
from tests.server.test_running import SECRET
from tests.services import dynamodb_local, rclone_s3, redis_server
from tests.uploads.given import SENDS, TUS, pairs

# More than the buffers between the two take, so that the server notices when somebody leaves.
CONTENT = random.Random(1).randbytes(24 * 1024 * 1024)
SMALL = CONTENT[:300_000]


@dataclass
class Owner:
    """Somebody with files on a running server, and links to them."""

    server: ServerProcess
    token: str = ""

    def sign_in(self, path: str = "/sessions") -> None:
        body = {"email": "ann@example.org", "password": PASSWORD}
        answer = self.ask("POST", path, json=body if path == "/sessions" else {**body, "name": "Ann"})
        self.token = answer.json()["tokens"]["access_token"]

    def ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        headers = {"authorization": f"Bearer {self.token}"} if self.token else {}
        headers |= options.pop("headers", {})
        answer = self.server.client.request(method, f"/api/v1{path}", headers=headers, **options)
        assert answer.is_success, answer.text
        return answer

    def upload(self, name: str, content: bytes, folder: str = "") -> str:
        metadata = pairs(destination="shelf", filename=name, **({"folder": folder} if folder else {}))
        headers = {**SENDS, "upload-length": str(len(content)), "upload-metadata": metadata}
        return self.ask("POST", "/uploads", headers=headers, content=content).headers["location"].rpartition("/")[2]

    def give(self, kind: str, thing_id: str, **wishes: Any) -> "Link":
        given = self.ask("POST", "/links", json={"thing": {"kind": kind, "id": thing_id}, **wishes}).json()
        return Link(self, given["link_id"], f"/api/v1/open/{given['token']}")


@dataclass
class Link:
    """A link as its owner sees it, and its address on the server."""

    owner: Owner
    link_id: str
    path: str

    def seen(self) -> dict[str, int]:
        link = self.owner.ask("GET", f"/links/{self.link_id}").json()
        return {name: link[name] for name in ("opens", "people", "downloads", "downloads_used")}

    def comes_to(self, **wanted: int) -> None:
        """What is counted follows the last byte in a moment."""
        wanted = {"opens": 0, "people": 0, "downloads": 0, "downloads_used": 0} | wanted
        deadline = time.monotonic() + 20
        while (seen := self.seen()) != wanted and time.monotonic() < deadline:
            time.sleep(0.05)
        assert seen == wanted

    def get(self, way: str = "/content", who: str = "someone", method: str = "GET", **headers: str) -> httpx.Response:
        url = self.owner.server.url + self.path + way
        return httpx.request(method, url, headers={"user-agent": who, **headers}, timeout=60)

    def leave_in_the_middle(self, after: int, way: str = "/content", who: str = "someone") -> bytes:
        """What had come when the reader left."""
        with self.in_the_middle(after, way, who) as got:
            return got

    @contextmanager
    def in_the_middle(
        self, after: int, way: str = "/content", who: str = "someone", start: int = 0
    ) -> Generator[bytes]:
        """What had come when the reader began to wait for more."""
        with connected(self.owner.server, small=True) as reader:
            part = f"range: bytes={start}-\r\n" if start else ""
            request = f"GET {self.path}{way} HTTP/1.1\r\nhost: localhost\r\nuser-agent: {who}\r\n{part}\r\n"
            reader.sendall(request.encode())
            head, _, got = head_from(reader).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 206" if start else b"HTTP/1.1 200"), head
            while len(got) < after:
                got += reader.recv(min(65536, after - len(got)))
            yield got


@pytest.fixture
def owner(tmp_path: Path) -> Generator[Owner]:
    with serving(tmp_path / "data", "--sign-up", "open") as server:
        owner = Owner(server)
        owner.sign_in("/accounts")
        yield owner


def test_of_a_hundred_at_once_exactly_one_gets_what_one_may_have(owner: Owner) -> None:
    link = owner.give("file", owner.upload("a.bin", SMALL), downloads=1)
    with ThreadPoolExecutor(100) as people:
        asked = [people.submit(link.get, who=f"visitor {number}") for number in range(100)]
        answers = [each.result() for each in asked]
    got = [answer for answer in answers if answer.status_code == 200]
    assert [answer.content for answer in got] == [SMALL]
    assert {answer.status_code for answer in answers if answer not in got} == {410}
    link.comes_to(opens=1, people=1, downloads=1, downloads_used=1)


def test_a_download_that_broke_off_goes_on_and_counts_once(owner: Owner) -> None:
    link = owner.give("file", owner.upload("a.bin", CONTENT), downloads=1)
    got = link.leave_in_the_middle(5_000_000)
    link.comes_to(opens=1, people=1)
    # It is somebody's already, so nobody else can have it.
    assert link.get(who="another").status_code == 410
    # Until the server has noticed that they left, they are told that they are still downloading.
    while (rest := link.get(range=f"bytes={len(got)}-")).status_code == 429:
        time.sleep(0.1)
    assert rest.status_code == 206
    assert hashlib.sha256(got + rest.content).digest() == hashlib.sha256(CONTENT).digest()
    link.comes_to(opens=1, people=1, downloads=1, downloads_used=1)
    assert link.get().status_code == 410


def test_revoking_a_link_breaks_off_what_is_under_way(owner: Owner) -> None:
    """All of the 60 MB came, however long ago the link was revoked."""
    link = owner.give("file", owner.upload("a.bin", CONTENT))
    with connected(owner.server, small=True) as reader:
        reader.sendall(f"GET {link.path}/content HTTP/1.1\r\nhost: localhost\r\n\r\n".encode())
        assert head_from(reader).startswith(b"HTTP/1.1 200")
        owner.ask("DELETE", f"/links/{link.link_id}")
        time.sleep(3)
        came = 0
        with suppress(ConnectionError):
            while piece := reader.recv(65536):
                came += len(piece)
    assert came < len(CONTENT)
    assert link.get().status_code == 410


def test_what_is_no_whole_download_uses_up_nothing(owner: Owner) -> None:
    link = owner.give("file", owner.upload("a.bin", SMALL), downloads=1)
    assert link.get(method="HEAD").headers["content-length"] == str(len(SMALL))
    link.comes_to()
    assert link.get(who="WhatsApp/2.23").status_code == 403
    assert link.get(range="bytes=-1").content == SMALL[-1:]
    assert link.get(range="bytes=0-99").content == SMALL[:100]
    link.comes_to(opens=1, people=1)
    assert link.get().content == SMALL
    link.comes_to(opens=1, people=1, downloads=1, downloads_used=1)
    assert link.get().status_code == 410
    assert link.get(way="").status_code == 410


def test_an_archive_counts_when_all_of_it_has_gone(owner: Owner) -> None:
    folder = owner.ask("POST", "/shelf/folders", json={"name": "Folder"}).json()["id"]
    owner.upload("a.bin", CONTENT, folder)
    link = owner.give("folder", folder, downloads=1)
    link.leave_in_the_middle(100_000, "/archive")
    link.comes_to(opens=1, people=1)
    whole = link.get("/archive")
    with zipfile.ZipFile(io.BytesIO(whole.content)) as archive:
        assert archive.read("Folder/a.bin") == CONTENT
    link.comes_to(opens=1, people=1, downloads=1, downloads_used=1)
    assert link.get("/archive").status_code == 410


def test_a_server_that_stops_and_starts_again_remembers_how_far_everybody_was(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(data, "--sign-up", "open") as server:
        owner = Owner(server)
        owner.sign_in("/accounts")
        link = owner.give("file", owner.upload("a.bin", CONTENT), downloads=1)
        got = link.leave_in_the_middle(3_000_000)
        link.comes_to(opens=1, people=1)
        assert server.stop(signal.SIGTERM) == 0
    with serving(data) as server:
        owner.server = server
        assert link.get(who="another").status_code == 410
        rest = link.get(range=f"bytes={len(got)}-")
        assert got + rest.content == CONTENT
        link.comes_to(opens=1, people=1, downloads=1, downloads_used=1)


def test_a_server_that_is_killed_lets_everybody_go_on_at_once_and_counts_once(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(data, "--sign-up", "open") as server:
        owner = Owner(server)
        owner.sign_in("/accounts")
        link = owner.give("file", owner.upload("a.bin", CONTENT), downloads=1)
        with link.in_the_middle(3_000_000) as got:
            server.kill()
    with serving(data) as server:
        owner.server = server
        assert link.get(who="another").status_code == 410
        with link.in_the_middle(3_000_000, start=len(got)) as more:
            server.kill()
    with serving(data) as server:
        owner.server = server
        rest = link.get(range=f"bytes={len(got + more)}-")
        assert got + more + rest.content == CONTENT
        link.comes_to(opens=1, people=1, downloads=1, downloads_used=1)
        assert link.get().status_code == 410


def test_a_server_that_is_killed_with_the_last_byte_has_counted_each_download_exactly_once(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(data, "--sign-up", "open") as server:
        owner = Owner(server)
        owner.sign_in("/accounts")
        links = [
            owner.give("file", owner.upload(f"{number}.bin", content), downloads=1)
            for number, content in enumerate((SMALL[:1000], SMALL, CONTENT))
        ]
        with ExitStack() as readers:
            # Once the last byte is here, the server may be anywhere behind it.
            for link, size in zip(links, (1000, len(SMALL), len(CONTENT)), strict=True):
                reader = readers.enter_context(connected(server))
                reader.sendall(f"GET {link.path}/content HTTP/1.1\r\nhost: x\r\nuser-agent: someone\r\n\r\n".encode())
                got = len(head_from(reader).partition(b"\r\n\r\n")[2])
                while got < size:
                    got += len(reader.recv(1 << 20))
            server.kill()
    with serving(data) as server:
        owner.server = server
        for link in links:
            link.comes_to(opens=1, people=1, downloads=1, downloads_used=1)
            assert link.get(who="another").status_code == 410
            summary = owner.ask("GET", f"/stats/link:{link.link_id}/summary").json()
            assert summary["total"]["download"] == 1


def test_a_stranger_sends_what_was_asked_for_without_a_cookie(owner: Owner) -> None:
    folder = owner.ask("POST", "/shelf/folders", json={"name": "Homework"}).json()["id"]
    link = owner.give("request", folder, max_bytes=len(SMALL))
    entered = httpx.post(owner.server.url + link.path + "/enter", json={}, headers={"user-agent": "someone"})
    assert "set-cookie" not in entered.headers
    token = link.path.rpartition("/")[2]
    metadata = pairs(destination="link", link=token, **{"pass": entered.json()["pass"]}, filename="a", uploader="Zoë")
    begun = httpx.post(
        f"{owner.server.url}/api/v1/uploads",
        headers={**TUS, "upload-length": str(len(SMALL)), "upload-metadata": metadata},
    )
    url = owner.server.url + begun.headers["location"]
    for start in range(0, len(SMALL), 100_000):
        part = SMALL[start : start + 100_000]
        sent = httpx.patch(url, headers={**SENDS, "upload-offset": str(start)}, content=part)
        assert sent.status_code == 204, sent.text
        assert "set-cookie" not in sent.headers
    (zoe,) = owner.ask("GET", "/shelf/entries", params={"folder": folder}).json()["entries"]
    (file,) = owner.ask("GET", "/shelf/entries", params={"folder": zoe["id"]}).json()["entries"]
    assert (zoe["name"], file["name"], file["size_bytes"]) == ("Zoë", "a", len(SMALL))
    assert owner.ask("GET", f"/shelf/files/{file['id']}/content").content == SMALL


@pytest.mark.services
def test_at_two_servers_at_once_as_many_get_it_as_may(tmp_path: Path) -> None:
    with dynamodb_local() as dynamodb, redis_server() as redis, rclone_s3() as s3:
        shared = {
            "SATCHEL_TABLE": f"dynamodb://us-east-1?endpoint={dynamodb}",
            "SATCHEL_MOST_WRITES": "10",
            "SATCHEL_EPHEMERAL": redis,
            "SATCHEL_OBJECTS": f"s3://{s3.bucket}?endpoint={s3.endpoint}",
            "SATCHEL_SECRET": SECRET,
            "SATCHEL_SIGN_UP": "open",
            **s3.environment(),
        }
        make_tables(shared)
        with serving(tmp_path / "1", environment=shared) as one, serving(tmp_path / "2", environment=shared) as two:
            owner = Owner(one)
            owner.sign_in("/accounts")
            link = owner.give("file", owner.upload("a.bin", SMALL), downloads=3)
            elsewhere = Link(Owner(two), link.link_id, link.path)
            with ThreadPoolExecutor(30) as people:
                ways = [(link, elsewhere)[number % 2] for number in range(30)]
                asked = [people.submit(way.get, who=f"visitor {number}") for number, way in enumerate(ways)]
                answers = [each.result() for each in asked]
            assert [answer.content for answer in answers if answer.status_code == 200] == [SMALL] * 3
            assert {answer.status_code for answer in answers} == {200, 410}
            deadline = time.monotonic() + 20
            while link.seen()["downloads_used"] < 3 and time.monotonic() < deadline:
                time.sleep(0.05)
            assert link.seen()["downloads_used"] == 3
