"""Large files go between people and the bucket itself, with the same names, hashes and checks as through the server."""

import json
import random
from collections.abc import Generator
from pathlib import Path

import httpx
import pytest

from tests.application import PASSWORD
from tests.cli.terminal import Person
from tests.server.process import ServerProcess, serving
from tests.services import S3Server, free_port

pytestmark = pytest.mark.services
LARGE_BYTES = 20 * 1024**2 + 1


@pytest.fixture
def ann(tmp_path: Path) -> Person:
    (tmp_path / "ann").mkdir()
    return Person(tmp_path / "ann")


@pytest.fixture
def large(ann: Person) -> Path:
    path = ann.home / "large.bin"
    path.write_bytes(random.randbytes(LARGE_BYTES))
    return path


def settings(s3: S3Server, **more: str) -> dict[str, str]:
    objects = f"s3://{s3.bucket}?endpoint={s3.endpoint}&public={s3.endpoint}"
    return {
        "SATCHEL_OBJECTS": objects,
        "SATCHEL_LOG_FORMAT": "json",
        "SATCHEL_SIGN_UP": "open",
        **s3.environment(),
        **more,
    }


def sign_up(person: Person, server: ServerProcess) -> None:
    signup = ("signup", "--server", server.url, "--email", "ann@example.org", "--name", "Ann")
    assert person.run(*signup, SATCHEL_PASSWORD=PASSWORD).code == 0


def requests(server: ServerProcess) -> list[tuple[str, int]]:
    """What was asked of the server: methods and statuses."""
    lines = [json.loads(line) for line in server.said.splitlines() if line.startswith("{")]
    return [(line["method"], line["status"]) for line in lines if "method" in line]


@pytest.fixture
def server(tmp_path: Path, s3: S3Server) -> Generator[ServerProcess]:
    with serving(tmp_path / "data", environment=settings(s3)) as running:
        yield running


def test_the_command_sends_and_fetches_large_files_past_the_server(
    ann: Person, server: ServerProcess, large: Path
) -> None:
    sign_up(ann, server)
    done = ann.run("put", str(large))
    assert done.code == 0, done.err
    assert "PATCH" not in {method for method, _ in requests(server)}
    done = ann.run("get", "large.bin", "-o", "here")
    assert done.code == 0, done.err
    assert (ann.home / "here" / "large.bin").read_bytes() == large.read_bytes()
    assert ("GET", 307) in requests(server)


def test_a_browser_that_saves_a_file_is_sent_to_the_bucket_and_a_page_is_not(
    ann: Person, server: ServerProcess, s3: S3Server
) -> None:
    sign_up(ann, server)
    (ann.home / "naïve.html").write_bytes(b"<script>")
    assert ann.run("put", "naïve.html").code == 0
    token = next(iter(ann.kept["sessions"].values()))["access_token"]
    server.client.headers["authorization"] = f"Bearer {token}"
    (file,) = server.client.get("/api/v1/shelf/entries").json()["entries"]
    address = f"/api/v1/shelf/files/{file['id']}/content"
    for headers in ({}, {"sec-fetch-mode": "cors", "sec-fetch-dest": "empty"}, {"sec-fetch-dest": "iframe"}):
        assert server.client.get(address, headers=headers).content == b"<script>"
    saving = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    led = server.client.get(address, headers=saving)
    assert (led.status_code, led.headers["cache-control"]) == (307, "no-store")
    assert led.headers["location"].startswith(s3.endpoint)
    answer = httpx.get(led.headers["location"])
    assert answer.content == b"<script>"
    assert "na%C3%AFve.html" in answer.headers["content-disposition"]
    # Who may not have it gets no link.
    del server.client.headers["authorization"]
    server.client.cookies.clear()
    assert server.client.get(address, headers=saving).status_code == 401


def test_a_setting_keeps_all_bytes_in_the_server(ann: Person, tmp_path: Path, s3: S3Server, large: Path) -> None:
    with serving(tmp_path / "data", environment=settings(s3, SATCHEL_SIGNED_LINKS="false")) as server:
        sign_up(ann, server)
        assert ann.run("put", str(large)).code == 0
        assert ann.run("get", "large.bin", "-o", "here").code == 0
        asked = requests(server)
        assert "PATCH" in {method for method, _ in asked}
        assert 307 not in {status for _, status in asked}
        assert s3.endpoint not in server.client.get("/").headers["content-security-policy"]


def test_where_the_bucket_cannot_be_reached_the_server_takes_and_gives_the_bytes(
    ann: Person, tmp_path: Path, s3: S3Server, large: Path
) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    objects = f"s3://{s3.bucket}?endpoint={s3.endpoint}&public={nowhere}"
    with serving(tmp_path / "data", environment=settings(s3, SATCHEL_OBJECTS=objects)) as server:
        assert nowhere in server.client.get("/").headers["content-security-policy"]
        sign_up(ann, server)
        done = ann.run("put", str(large))
        assert done.code == 0, done.err
        done = ann.run("get", "large.bin", "-o", "here")
        assert done.code == 0, done.err
        assert (ann.home / "here" / "large.bin").read_bytes() == large.read_bytes()
