"""An upload goes on where it was after its server was killed, again and again, and no byte is lost or doubled."""

import hashlib
import os
import random
import threading
import time
from collections.abc import Generator
from pathlib import Path

import httpx

from tests.application import PASSWORD
from tests.server.process import ServerProcess, serving
from tests.uploads.given import SENDS, TUS, pairs

SIZE = 40 * 1024 * 1024 + 4321
PACE = 64 * 1024


def test_an_upload_survives_one_kill_after_another(tmp_path: Path) -> None:
    chance = random.Random(7)
    data = os.urandom(SIZE)
    url, member, kills, offsets = "", {}, 0, [0]
    while offsets[-1] < SIZE:
        with serving(tmp_path / "data", "--sign-up", "open") as server:
            member = member or signed_up(server)
            url = url or created(server, member)
            offset = asked(server, url, member)
            assert offset >= offsets[-1]
            offsets.append(offset)
            killer = threading.Timer(chance.uniform(0.1, 0.5), server.kill)
            killer.start()
            try:
                server.client.patch(
                    url, content=paced(data[offset:]), headers={**SENDS, **member, "upload-offset": str(offset)}
                )
            except httpx.TransportError:
                kills += 1
            killer.join()
    with serving(tmp_path / "data") as server:
        assert asked(server, url, member) == SIZE
        became = server.client.get(url, headers=member).json()["became"]
        shown = server.client.get(f"/api/v1/shelf/files/{became}", headers=member).json()
        content = server.client.get(f"/api/v1/shelf/files/{became}/content", headers=member).content
    assert content == data
    assert (shown["sha256"], shown["size_bytes"]) == (hashlib.sha256(data).hexdigest(), SIZE)
    assert kills >= 3
    assert len(set(offsets)) > 3


def signed_up(server: ServerProcess) -> dict[str, str]:
    body = {"email": "ann@example.org", "name": "Ann", "password": PASSWORD}
    tokens = server.client.post("/api/v1/accounts", json=body).json()["tokens"]
    return {"authorization": f"Bearer {tokens['access_token']}"}


def created(server: ServerProcess, member: dict[str, str]) -> str:
    said = {"upload-length": str(SIZE), "upload-metadata": pairs(destination="shelf", filename="big.bin")}
    answer = server.client.post("/api/v1/uploads", headers={**TUS, **member, **said})
    assert answer.status_code == 201, answer.text
    return answer.headers["location"]


def asked(server: ServerProcess, url: str, member: dict[str, str]) -> int:
    answer = server.client.head(url, headers={**TUS, **member})
    assert answer.status_code == 200, answer.headers
    return int(answer.headers["upload-offset"])


def paced(data: bytes) -> Generator[bytes]:
    """So slow that a kill finds the upload under way."""
    for start in range(0, len(data), PACE):
        time.sleep(0.001)
        yield data[start : start + PACE]
