"""Uploads by a tus client that we did not write, to the real program."""

# tuspy leaves some of its types open.
# pyright: reportUnknownMemberType=false

import hashlib
import io
import os
from pathlib import Path
from typing import Any

import pytest
from tusclient.client import TusClient

from tests.application import PASSWORD
from tests.server.process import ServerProcess, serving

MIB = 1024 * 1024


def member_of(server: ServerProcess) -> dict[str, str]:
    body = {"email": "ann@example.org", "name": "Ann", "password": PASSWORD}
    tokens = server.client.post("/api/v1/accounts", json=body).json()["tokens"]
    return {"authorization": f"Bearer {tokens['access_token']}"}


def kept(server: ServerProcess, member: dict[str, str], url: str) -> bytes:
    became = server.client.get(url, headers=member).json()["became"]
    return server.client.get(f"/api/v1/shelf/files/{became}/content", headers=member).content


@pytest.mark.parametrize(
    ("size", "options"),
    [
        (0, {}),
        (1, {}),
        (20 * MIB + 5, {}),
        (20 * MIB + 5, {"chunk_size": 3 * MIB + 1}),
        (20 * MIB + 5, {"chunk_size": 9 * MIB, "upload_checksum": True}),
    ],
    ids=str,
)
def test_tuspy_uploads_to_the_shelf(tmp_path: Path, size: int, options: dict[str, Any]) -> None:
    data = os.urandom(size)
    said = {"destination": "shelf", "filename": "Frühling 🌷.bin"}
    with serving(tmp_path / "data", "--sign-up", "open") as server:
        member = member_of(server)
        client = TusClient(f"{server.url}/api/v1/uploads", headers=member)
        uploader = client.uploader(file_stream=io.BytesIO(data), metadata=said, **options)
        uploader.upload()
        assert uploader.url is not None
        assert kept(server, member, uploader.url) == data
        [shown] = server.client.get("/api/v1/shelf/entries", headers=member).json()["entries"]
        assert shown["name"] == said["filename"]
        assert shown["sha256"] == hashlib.sha256(data).hexdigest()


def test_tuspy_goes_on_after_the_server_was_killed(tmp_path: Path) -> None:
    data = os.urandom(20 * MIB)
    said = {"destination": "shelf", "filename": "film.bin"}
    with serving(tmp_path / "data", "--sign-up", "open") as server:
        member = member_of(server)
        client = TusClient(f"{server.url}/api/v1/uploads", headers=member)
        first = client.uploader(file_stream=io.BytesIO(data), metadata=said, chunk_size=6 * MIB)
        first.upload(stop_at=12 * MIB)
        assert first.url is not None
        path = first.url.removeprefix(server.url)
        server.kill()
    with serving(tmp_path / "data") as server:
        client = TusClient(f"{server.url}/api/v1/uploads", headers=member)
        again = client.uploader(file_stream=io.BytesIO(data), url=server.url + path)
        assert again.offset == 12 * MIB
        again.upload()
        assert kept(server, member, path) == data
