"""Rooms, transfers, albums and scores on DynamoDB, Redis and S3: two servers, a person at each."""

import hashlib
import json
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.sync.client import ClientConnection

from tests.application import PASSWORD
from tests.fork_server import SATCHEL
from tests.media.made_scores import ABC, pdfium
from tests.media.samples import is_flag, jpeg, photo, taken, video
from tests.server.process import ServerProcess, make_tables, serving
from tests.server.test_live import bearer, listen
from tests.server.test_running import SECRET
from tests.services import dynamodb_local, python_environment, rclone_s3, redis_server
from tests.uploads.given import SENDS, a_bundle, pairs

pytestmark = pytest.mark.services


class Person:
    """Somebody with an account, at one of the servers."""

    def __init__(self, server: ServerProcess, name: str) -> None:
        self.server = server
        self.email = f"{name}@example.org"
        body = {"email": self.email, "name": name, "password": PASSWORD}
        signed_up = server.client.post("/api/v1/accounts", json=body).raise_for_status().json()
        self.person_id: str = signed_up["user_id"]
        self.headers = bearer(signed_up)

    def ask(self, method: str, path: str, **request: Any) -> httpx.Response:
        headers = {**self.headers, **request.pop("headers", {})}
        answer = self.server.client.request(method, f"/api/v1{path}", headers=headers, **request)
        assert answer.is_success, answer.text
        return answer

    def upload(self, content: bytes, **metadata: str) -> str:
        headers = {**SENDS, "upload-length": str(len(content)), "upload-metadata": pairs(**metadata)}
        where = self.ask("POST", "/uploads", headers=headers, content=content).headers["location"]
        return self.ask("GET", where.partition("/api/v1")[2]).json()["became"]


@pytest.fixture(scope="module")
def shared() -> Generator[dict[str, str]]:
    """The settings that all servers and workers have."""
    with dynamodb_local() as dynamodb, redis_server() as redis, rclone_s3() as s3:
        yield {
            "SATCHEL_TABLE": f"dynamodb://us-east-1?endpoint={dynamodb}",
            "SATCHEL_MOST_WRITES": "10",
            "SATCHEL_EPHEMERAL": redis,
            "SATCHEL_OBJECTS": f"s3://{s3.bucket}?endpoint={s3.endpoint}",
            "SATCHEL_SECRET": SECRET,
            "SATCHEL_SIGN_UP": "open",
            **s3.environment(),
        }


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory, shared: dict[str, str]) -> Generator[tuple[Person, Person]]:
    folder = tmp_path_factory.mktemp("servers")
    make_tables(shared)
    with serving(folder / "one", environment=shared) as one, serving(folder / "two", environment=shared) as two:
        yield Person(one, "ann"), Person(two, "bob")


def heard(connection: ClientConnection, kind: str) -> Any:
    """The next event of a kind."""
    while True:
        event = json.loads(connection.recv(timeout=30))
        if event["type"] == kind:
            return event


# It comes first: a worker counts clicks too, and DynamoDB Local has no room for what a click on a link writes at once.
def test_a_worker_makes_the_pictures_and_pages_of_all_servers(
    pair: tuple[Person, Person], shared: dict[str, str]
) -> None:
    ann, bob = pair
    made = {"flag.jpg": jpeg(), "photo.jpg": photo(), "film.mp4": video()}
    ids = [ann.upload(content, destination="shelf", filename=name) for name, content in made.items()]
    states = [ann.ask("GET", f"/shelf/files/{each}").json()["picture"]["state"] for each in ids]
    assert states == ["pending"] * 3
    # Nobody makes it here; who asks is told to come again.
    assert ann.ask("GET", f"/shelf/files/{ids[0]}/picture/grid/1").status_code == 202
    # DynamoDB Local takes no empty texts.
    described = {"title": "plough", "description": "For Friday"}
    score_id = ann.ask("POST", "/scores", json=described).json()["score_id"]
    ann.upload(ABC, destination="score", filename="plough.abc", score=score_id)
    taken_id = ann.upload(taken("2024:07:14 10:00:00"), destination="photos", filename="IMG_1.JPG")
    score = f"/scores/{score_id}"
    assert [each["state"] for each in ann.ask("GET", score).json()["imports"]] == ["waiting"]
    environment = python_environment(**shared)
    command = [str(SATCHEL), "worker", "--once"]
    done = subprocess.run(command, env=environment, cwd="/", timeout=120, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for server in (ann.server, bob.server):
        for size in ("grid", "preview"):
            address = f"/api/v1/shelf/files/{ids[0]}/picture/{size}/1"
            assert is_flag(server.client.get(address, headers=ann.headers).content)
    assert ann.ask("GET", f"/shelf/files/{ids[1]}").json()["picture"]["width"] == 4000
    assert is_flag(
        bob.server.client.get(f"/api/v1/photos/{ann.person_id}/{taken_id}/preview", headers=ann.headers).content
    )
    # Whoever opens the timeline next sees at once what it looks like.
    assert ann.ask("GET", "/photos").json()["placeholders"] != [None]
    made_score = ann.ask("GET", score).json()
    assert ([each["state"] for each in made_score["imports"]], len(made_score["pages"])) == (["ready"], 1)
    assert made_score["title"] == "Speed the Plough"
    assert ann.ask("GET", f"/shelf/files/{ids[2]}").json()["picture"]["duration_ms"] == 1200
    for each in ids:
        ann.ask("DELETE", f"/shelf/files/{each}")
        ann.ask("DELETE", f"/shelf/bin/{each}")
    assert ann.server.client.get(f"/api/v1/shelf/files/{ids[0]}/picture/grid/1", headers=ann.headers).status_code == 404


def test_a_score_is_one_wherever_its_people_are(pair: tuple[Person, Person]) -> None:
    """From its first page to a PDF of a set list, one half of it at each server."""
    ann, bob = pair
    # DynamoDB Local takes no empty texts.
    score_id = ann.ask("POST", "/scores", json={"title": "Air", "description": "For Friday"}).json()["score_id"]
    path = f"/scores/{score_id}"
    for number in range(2):
        ann.upload(jpeg() + bytes([number]), destination="score", filename=f"{number}.jpg", score=score_id)
    ann.ask("PUT", f"{path}/shares/{bob.email}", json={"role": "editor"})
    first, second = [page["page_id"] for page in bob.ask("GET", path).json()["pages"]]
    layer = ann.ask("POST", f"{path}/layers", json={"name": "Bowings"}).json()["layer_id"]
    ann.ask("PATCH", f"{path}/layers/{layer}", json={"published": True})
    note = {"page_id": first, "kind": "text", "text": "Slowly", "size": 300}
    bob.ask("PUT", f"{path}/presence", json={})
    with listen(bob.server, bob.headers) as line:
        ann.ask("POST", f"{path}/layers/{layer}/marks", json={"add": [note]})
        assert [each["text"] for each in heard(line, "score.marks")["added"]] == ["Slowly"]
    assert [each["has_news"] for each in bob.ask("GET", "/scores?q=Air").json()["scores"]] == [True]
    bob.ask("PUT", f"{path}/news")
    assert [each["has_news"] for each in bob.ask("GET", "/scores?q=Air").json()["scores"]] == [False]
    kept = bob.ask("POST", f"{path}/snapshots", json={"name": "Concert"}).json()["snapshot_id"]
    read = ann.ask("GET", path).json()
    pages = [{"page_id": page["page_id"], "item_id": page["item"]["item_id"]} for page in read["pages"][1:]]
    ann.ask("PUT", f"{path}/pages", json={"pages": pages}, headers={"if-match": f'"{read["etag"]}"'})
    assert [page["page_id"] for page in bob.ask("GET", path).json()["pages"]] == [second]
    assert len(bob.ask("GET", f"{path}/snapshots/{kept}").json()["marks"]) == 1
    bob.ask("POST", f"{path}/snapshots/{kept}/restore", headers={"if-match": "*"})
    entries = [{"score_id": score_id, "notes": "Twice", "page_ids": [first, second, first]}]
    listed = ann.ask("POST", "/set-lists", json={"name": "Friday", "notes": "At eight", "entries": entries}).json()
    ann.ask("PUT", f"/set-lists/{listed['list_id']}/shares/{bob.email}")
    document = pdfium.PdfDocument(bob.ask("GET", f"/set-lists/{listed['list_id']}/export").content)
    assert (len(document), "Slowly" in document[0].get_textpage().get_text_range()) == (3, True)
    ann.ask("DELETE", path)
    assert bob.server.client.get(f"/api/v1{path}", headers=bob.headers).status_code == 404


def test_an_album_is_one_wherever_its_people_are(pair: tuple[Person, Person]) -> None:
    """Shared at one server and looked at from the other, while its dates change and are changed back."""
    ann, bob = pair
    sea = {"name": "Sea", "start": "2024-07-10", "end": "2024-07-21"}
    album_id = ann.ask("POST", "/albums", json=sea).json()["album"]["album_id"]
    path = f"/albums/{album_id}"
    ann.ask("PUT", f"{path}/shares/{bob.email}", json={"role": "contributor"})
    content = taken("2024:07:15 10:00:00", 1)
    with listen(bob.server, bob.headers) as line:
        heard(line, "hello")
        first = ann.upload(content, destination="photos", filename="IMG_1.JPG")
        assert heard(line, "album.photos")["album_ids"] == [album_id]
    added = taken("2024:07:16 10:00:00", 2)
    mine = bob.upload(added, destination="photos", filename="IMG_2.JPG", album=album_id)
    assert bob.ask("GET", f"{path}/medias").json()["ids"][-2:] == [first, mine]
    assert is_flag(bob.ask("GET", f"/photos/{ann.person_id}/{first}/content").content)
    # What somebody adds to an album stays in it, and the other one leaves it.
    act = ann.ask("PATCH", path, json={"start": "2024-07-17"}).json()["act"]
    assert bob.ask("GET", f"{path}/medias").json()["ids"] == [mine]
    assert bob.server.client.get(f"/api/v1/photos/{ann.person_id}/{first}", headers=bob.headers).status_code == 404
    ann.ask("POST", f"/albums/acts/{act['act_id']}/undo", json={})
    assert first in bob.ask("GET", f"{path}/medias").json()["ids"]
    assert first in bob.ask("GET", "/photos?shared=true").json()["ids"]
    signature = {"sha256": hashlib.sha256(content).hexdigest(), "size_bytes": len(content)}
    verified = ann.ask("POST", "/photos/verify", json={"files": [signature]}).json()["files"]
    assert [each["state"] for each in verified] == ["verified"]
    assert ann.ask("POST", "/albums/check", json={}).json()["drifts"] == []
    ann.ask("DELETE", f"{path}?quarters=true")
    assert album_id not in [each["album_id"] for each in bob.ask("GET", "/albums").json()["albums"]]


def test_a_room_is_one_wherever_its_people_are(pair: tuple[Person, Person]) -> None:
    ann, bob = pair
    room = ann.ask("POST", "/rooms", json={"name": "Practice"}).json()
    room_id = room["room_id"]
    with listen(bob.server, bob.headers) as ears:
        heard(ears, "hello")
        assert bob.ask("POST", "/rooms/join", json={"code": room["code"]}).json()["room"]["room_id"] == room_id
        ann.ask("POST", f"/rooms/{room_id}/chat", json={"text": "from bar 12"})
        assert heard(ears, "room.chat")["message"]["text"] == "from bar 12"
        file_id = ann.upload(b"do re mi", destination="room", room=room_id, filename="part.txt")
        assert heard(ears, "room.file")["file"]["file_id"] == file_id
        to = {"kind": "person", "room_id": room_id, "person_id": bob.person_id}
        transfer_id = ann.ask("POST", "/transfers", json={"to": to, "files": [file_id]}).json()["transfer_id"]
        assert heard(ears, "transfer.offered")["transfer_id"] == transfer_id
    content = bob.ask("GET", f"/transfers/{transfer_id}/files/0/content").content
    assert content == b"do re mi"
    challenge = bob.ask("POST", f"/transfers/{transfer_id}/files/0/challenge").json()["challenge"]
    proof = hashlib.sha256(bytes.fromhex(challenge) + content).hexdigest()
    bob.ask("POST", f"/transfers/{transfer_id}/files/0/verified", json={"proof": proof})
    assert ann.ask("GET", f"/transfers/{transfer_id}").json()["state"] == "verified"
    ann.ask("DELETE", f"/rooms/{room_id}")
    assert bob.server.client.get(f"/api/v1/rooms/{room_id}", headers=bob.headers).status_code == 404
    assert not bob.ask("GET", f"/transfers/{transfer_id}").json()["is_available"]


def test_what_is_sent_by_e_mail_at_one_server_is_received_at_the_other(pair: tuple[Person, Person]) -> None:
    ann, bob = pair
    contents = {"a.txt": b"first", "b.txt": b"second"}
    ids = [ann.upload(content, destination="shelf", filename=name) for name, content in contents.items()]
    sent = ann.ask("POST", "/transfers", json={"to": {"kind": "email", "email": bob.email}, "files": ids}).json()
    (waiting,) = bob.ask("GET", "/transfers/waiting").json()["transfers"]
    assert waiting["transfer_id"] == sent["transfer_id"]
    bob.ask("POST", f"/transfers/{sent['transfer_id']}/opened")
    (line,) = ann.ask("GET", "/transfers?direction=sent&limit=1").json()["transfers"]
    assert line["counts"]["opened"] == 1
    (received,) = bob.ask("GET", "/shelf/entries").json()["entries"]
    files = bob.ask("GET", f"/shelf/entries?folder={received['id']}").json()["entries"]
    fetched = {file["name"]: bob.ask("GET", f"/shelf/files/{file['id']}/content").content for file in files}
    assert fetched == contents


def test_a_link_given_at_one_server_opens_at_the_other_until_it_is_revoked(pair: tuple[Person, Person]) -> None:
    ann, bob = pair
    for path in ("Set/Inner/a.txt", "Set/b.txt", "Set/c#.txt"):
        ann.upload(path.encode(), destination="shelf", relativePath=path)
    (folder_id,) = [each["id"] for each in ann.ask("GET", "/shelf/entries").json()["entries"] if each["name"] == "Set"]
    link = ann.ask(
        "POST", "/links", json={"thing": {"kind": "folder", "id": folder_id}, "password": "swordfish"}
    ).json()
    address, token = f"/links/{link['link_id']}", link["token"]
    entered = bob.ask("POST", f"/open/{token}/enter", json={"password": "swordfish"}).json()
    assert [file["path"] for file in entered["listing"]["files"]] == ["Inner/a.txt", "b.txt", "c#.txt"]
    ann.ask("PATCH", address, json={"note": "for you", "badge": True, "password": None, "downloads": 5})
    seen = bob.ask("GET", f"/open/{token}").json()
    assert (seen["note"], seen["files"], seen["needs_password"]) == ("for you", 3, False)
    (listed,) = ann.ask("GET", f"/links?thing=folder:{folder_id}").json()["links"]
    assert (listed["state"], listed["downloads_limit"]) == ("active", 5)
    ann.ask("DELETE", address)
    assert bob.server.client.get(f"/api/v1/open/{token}").status_code == 410
    assert ann.ask("GET", address).json()["state"] == "revoked"


def test_small_files_are_kept_together_on_dynamodb(tmp_path: Path, moto_endpoint: str) -> None:
    # DynamoDB Local as it is installed here has room for 10 writes in a transaction; DynamoDB and moto have for 100.
    environment = {
        "SATCHEL_TABLE": f"dynamodb://us-east-1?endpoint={moto_endpoint}",
        "SATCHEL_SINGLE_SERVER": "true",
        "SATCHEL_SECRET": SECRET,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
    }
    make_tables(environment)
    with serving(tmp_path / "data", environment=environment) as server:
        ann = Person(server, "ann")
        contents = {f"{number}.txt": b"%d" % number for number in range(50)}
        bundle = a_bundle(*(({"filename": name}, data) for name, data in contents.items()), destination="shelf")
        ann.ask("POST", "/uploads/bundle", content=bundle, headers={"content-type": "application/vnd.satchel.bundle"})
        files = ann.ask("GET", "/shelf/entries").json()["entries"]
        fetched = {file["name"]: ann.ask("GET", f"/shelf/files/{file['id']}/content").content for file in files}
        assert fetched == contents
        assert ann.ask("GET", "/shelf/usage").json()["files"] == 50


def test_a_deleted_account_is_gone_at_every_server(pair: tuple[Person, Person]) -> None:
    """What others received stays theirs, and the address is free again."""
    _, bob = pair
    carl = Person(pair[0].server, "carl")
    file_id = carl.upload(b"from carl", destination="shelf", filename="carl.txt")
    carl.upload(photo(), destination="photos", filename="carl.jpg")
    carl.ask("POST", "/rooms", json={"name": "His"})
    carl.ask("POST", "/scores", json={"title": "His", "description": "Slow"})
    token = carl.ask("POST", "/links", json={"thing": {"kind": "file", "id": file_id}}).json()["address"][-22:]
    sent = carl.ask("POST", "/transfers", json={"to": {"kind": "email", "email": bob.email}, "files": [file_id]}).json()
    said = carl.ask("GET", "/accounts/me/deletion").json()
    assert [said[kind] for kind in ("files", "photos", "scores", "links", "rooms", "transfers")] == [1] * 6
    assert carl.ask("POST", "/accounts/me/deletion", json={"password": PASSWORD}).json()["finished"]

    there = bob.server.client
    assert there.get("/api/v1/accounts/me", headers=carl.headers).status_code == 401
    refused = there.post("/api/v1/sessions", json={"email": carl.email, "password": PASSWORD})
    assert refused.json()["type"].endswith("#wrong-credentials")
    assert there.get(f"/api/v1/open/{token}").status_code == 404
    got = bob.ask("GET", f"/transfers/{sent['transfer_id']}").json()
    assert got["sender"]["name"] == "a deleted person"
    assert bob.ask("GET", f"/transfers/{sent['transfer_id']}/files/0/content").content == b"from carl"
    again = Person(bob.server, "carl")
    assert again.person_id != carl.person_id
    assert again.ask("GET", "/shelf/usage").json()["files"] == 0
