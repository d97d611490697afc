"""What the server has acknowledged survives SIGKILL."""

import random
import threading
from pathlib import Path

import httpx

from tests.application import PASSWORD
from tests.server.process import serving

ROUNDS = 8


def test_every_acknowledged_grant_and_ended_session_survives_kill(tmp_path: Path) -> None:
    chance = random.Random(20)
    acknowledged: list[str] = []
    with serving(tmp_path / "data", "--sign-up", "open") as server:
        body = {"email": "ann@example.org", "name": "Ann", "password": PASSWORD}
        tokens = server.client.post("/api/v1/accounts", json=body).json()["tokens"]
        server.kill()
    headers = {"authorization": f"Bearer {tokens['access_token']}"}
    ended: list[dict[str, str]] = []
    for round_number in range(ROUNDS):
        with serving(tmp_path / "data") as server:
            other = server.client.post("/api/v1/sessions", json={"email": "ann@example.org", "password": PASSWORD})
            bearer = {"authorization": f"Bearer {other.json()['tokens']['access_token']}"}
            assert server.client.delete("/api/v1/sessions/current", headers=bearer).status_code == 204
            ended.append(bearer)
            killer = threading.Timer(chance.uniform(0.05, 0.6), server.kill)
            killer.start()
            _grant_until_it_dies(server.client, headers, round_number, acknowledged)
            killer.join()
    with serving(tmp_path / "data") as server:
        stored = _all_grants(server.client, headers)
        assert set(acknowledged) <= set(stored)
        assert len(acknowledged) > ROUNDS
        for bearer in ended:
            assert server.client.get("/api/v1/accounts/me", headers=bearer).status_code == 401


def _grant_until_it_dies(
    client: httpx.Client, headers: dict[str, str], round_number: int, acknowledged: list[str]
) -> None:
    for number in range(100_000):
        name = f"{round_number}-{number}"
        body = {"granted_to": "b@example.org", "type": "album:visitor", "resource_id": name}
        try:
            answer = client.post("/api/v1/scopes", json=body, headers=headers)
        except httpx.TransportError:
            return
        assert answer.status_code == 201
        acknowledged.append(name)


def _all_grants(client: httpx.Client, headers: dict[str, str]) -> list[str]:
    found: list[str] = []
    cursor: str | None = None
    while True:
        params = {"limit": "1000"} | ({"cursor": cursor} if cursor else {})
        page = client.get("/api/v1/scopes/granted", params=params, headers=headers).json()
        found += [each["resource_id"] for each in page["scopes"]]
        cursor = page["cursor"]
        if cursor is None:
            return found
