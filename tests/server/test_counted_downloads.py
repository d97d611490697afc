"""Downloads in rooms, of albums and of transfers count exactly once, though the server is killed with the last byte."""

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.application import PASSWORD
from tests.media.samples import taken
from tests.server.process import ServerProcess, serving
from tests.server.streams import connected, head_from
from tests.server.test_link_downloads import CONTENT, SMALL
from tests.uploads.given import SENDS, TUS, pairs

PHOTO = taken("2024:01:31 12:00:00")
# Less than a sendfile, and more than the buffers between the two take.
SIZES = pytest.mark.parametrize("content", [SMALL[:1000], CONTENT], ids=["small", "large"])


@dataclass
class Person:
    """Somebody with an account on a server that is killed and started again."""

    name: str
    token: str = ""
    user_id: str = ""

    def sign_up(self, server: ServerProcess) -> None:
        email = f"{self.name}@example.org"
        account = self.ask(server, "POST", "/accounts", json={"name": self.name, "email": email, "password": PASSWORD})
        self.token, self.user_id = account["tokens"]["access_token"], account["user_id"]

    def ask(self, server: ServerProcess, method: str, path: str, **options: Any) -> Any:
        headers = {**({"authorization": f"Bearer {self.token}"} if self.token else {}), **options.pop("headers", {})}
        answer = server.client.request(method, f"/api/v1{path}", headers=headers, **options)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else answer.headers

    def upload(self, server: ServerProcess, content: bytes, **metadata: str) -> str:
        headers = {**SENDS, **TUS, "upload-length": str(len(content)), "upload-metadata": pairs(**metadata)}
        made = self.ask(server, "POST", "/uploads", headers=headers, content=content)
        state = self.ask(server, "GET", made["location"].removeprefix("/api/v1"))
        return state["became"] or made["location"].rpartition("/")[2]

    def downloads(self, server: ServerProcess, thing: str) -> dict[str, int]:
        summary = self.ask(server, "GET", f"/stats/thing:{thing}/summary")
        return {"downloads": summary["total"]["download"], "people": summary["total"]["people"]}

    @contextmanager
    def has_the_last_byte(self, server: ServerProcess, path: str, part: str = "") -> Generator[bytes]:
        """What came, in the moment in which it is all here. The server may be anywhere behind it."""
        with connected(server) as reader:
            request = f"GET /api/v1{path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {self.token}\r\n"
            reader.sendall(f"{request}{f'range: bytes={part}' if part else 'x-y: z'}\r\n\r\n".encode())
            head, _, got = head_from(reader).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 206" if part else b"HTTP/1.1 200"), head
            whole = _is_chunked_whole if b"chunked" in head else _has(int(_value(head, b"content-length")))
            while not whole(got):
                piece = reader.recv(1 << 20)
                assert piece, "the answer broke off"
                got += piece
            yield got


def _value(head: bytes, name: bytes) -> bytes:
    return next(line.partition(b":")[2].strip() for line in head.lower().split(b"\r\n") if line.startswith(name))


def _has(size: int) -> Callable[[bytes], bool]:
    return lambda got: len(got) >= size


def _is_chunked_whole(got: bytes) -> bool:
    """All pieces are here; whether the end was said is another thing. A zip file ends with its own directory."""
    return b"PK\x05\x06" in got[-200:]


@dataclass
class Shared:
    """What Ann shares with Bob: where its bytes are, and under which thing they are counted."""

    path: str
    thing: str


def in_a_room(server: ServerProcess, ann: Person, bob: Person, content: bytes) -> Shared:
    room = ann.ask(server, "POST", "/rooms", json={})
    room_id = room["room_id"]
    bob.ask(server, "POST", "/rooms/join", json={"code": room["code"], "key": ""})
    file_id = ann.upload(server, content, destination="room", room=room_id, filename="a.bin")
    return Shared(f"/rooms/{room_id}/files/{file_id}/content", f"room:{room_id}")


def by_transfer(server: ServerProcess, ann: Person, bob: Person, content: bytes) -> Shared:
    file_id = ann.upload(server, content, destination="shelf", filename="a.bin")
    body = {"to": {"kind": "email", "email": f"{bob.name}@example.org"}, "files": [file_id]}
    transfer_id = ann.ask(server, "POST", "/transfers", json=body)["transfer_id"]
    return Shared(f"/transfers/{transfer_id}/files/0/content", f"transfer:{transfer_id}")


def shared_album(server: ServerProcess, ann: Person, bob: Person) -> tuple[Shared, Shared]:
    """A photo, and the album with it."""
    wanted = {"name": "Snow", "start": "2024-01-30", "end": "2024-02-02"}
    album_id = ann.ask(server, "POST", "/albums", json=wanted)["album"]["album_id"]
    ann.ask(server, "PUT", f"/albums/{album_id}/shares/{bob.name}@example.org", json={"role": "visitor"})
    media_id = ann.upload(server, PHOTO, destination="photos", filename="IMG_1.JPG", filetype="image/jpeg")
    photo = Shared(f"/photos/{ann.user_id}/{media_id}/content", f"photo:{media_id}")
    return photo, Shared(f"/albums/{album_id}/archive", f"album:{album_id}")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def two(data: Path) -> tuple[Person, Person]:
    people = Person("ann"), Person("bob")
    with serving(data, "--sign-up", "open") as server:
        for person in people:
            person.sign_up(server)
    return people


def check_counted(data: Path, ann: Person, *things: str, times: int = 1) -> None:
    """It stays so when the server is started again, and again."""
    for _ in range(2):
        with serving(data) as server:
            for thing in things:
                assert ann.downloads(server, thing) == {"downloads": times, "people": 1}, thing
            server.kill()


@SIZES
def test_a_file_of_a_room_counts_once_though_the_server_is_killed_with_its_last_byte(
    data: Path, two: tuple[Person, Person], content: bytes
) -> None:
    ann, bob = two
    with serving(data) as server:
        shared = in_a_room(server, ann, bob, content)
        with bob.has_the_last_byte(server, shared.path) as got:
            server.kill()
    assert got == content
    check_counted(data, ann, shared.thing)


def test_parts_of_a_file_of_a_room_count_once_though_the_server_is_killed_with_each(
    data: Path, two: tuple[Person, Person]
) -> None:
    ann, bob = two
    with serving(data) as server:
        shared = in_a_room(server, ann, bob, SMALL)
        with bob.has_the_last_byte(server, shared.path, "0-199999") as first:
            server.kill()
    with serving(data) as server:
        assert ann.ask(server, "GET", "/stats/mine/summary")["total"]["download"] == 0
        with bob.has_the_last_byte(server, shared.path, "200000-") as second:
            server.kill()
    assert first + second == SMALL
    check_counted(data, ann, shared.thing)


@SIZES
def test_a_file_of_a_transfer_is_downloaded_though_the_server_is_killed_with_its_last_byte(
    data: Path, two: tuple[Person, Person], content: bytes
) -> None:
    ann, bob = two
    with serving(data) as server:
        shared = by_transfer(server, ann, bob, content)
        with bob.has_the_last_byte(server, shared.path) as got:
            server.kill()
    assert got == content
    check_counted(data, ann, shared.thing)
    with serving(data) as server:
        transfer = ann.ask(server, "GET", f"/transfers/{shared.thing.partition(':')[2]}")
        assert transfer["state"] == "downloaded"


def test_photos_and_archives_count_once_though_the_server_is_killed_with_their_last_bytes(
    data: Path, two: tuple[Person, Person]
) -> None:
    ann, bob = two
    with serving(data) as server:
        photo, album = shared_album(server, ann, bob)
        room = in_a_room(server, ann, bob, SMALL)
        archive = f"/rooms/{room.thing.partition(':')[2]}/archive"
        with ExitStack() as reading:
            for path in (photo.path, album.path, archive):
                reading.enter_context(bob.has_the_last_byte(server, path))
            server.kill()
    check_counted(data, ann, photo.thing, room.thing)
    # Its photo, and its archive.
    check_counted(data, ann, album.thing, times=2)


def test_what_was_cut_off_when_the_server_was_killed_counts_nothing(data: Path, two: tuple[Person, Person]) -> None:
    ann, bob = two
    with serving(data) as server:
        shared = in_a_room(server, ann, bob, CONTENT)
        with connected(server, small=True) as reader:
            request = f"GET /api/v1{shared.path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {bob.token}\r\n\r\n"
            reader.sendall(request.encode())
            assert head_from(reader).startswith(b"HTTP/1.1 200")
            server.kill()
    with serving(data) as server:
        assert ann.ask(server, "GET", "/stats/mine/summary")["total"]["download"] == 0
        with bob.has_the_last_byte(server, shared.path):
            pass
    check_counted(data, ann, shared.thing)
