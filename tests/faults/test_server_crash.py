"""What the server has acknowledged survives SIGKILL."""

import random
import threading
from pathlib import Path

import httpx

from satchel.features.accounts.limits import GRANTS_PER_GIVER
from tests.application import PASSWORD
from tests.server.process import serving

ROUNDS = 8


def test_every_acknowledged_grant_and_ended_session_survives_kill(tmp_path: Path) -> None:
    chance = random.Random(20)
    givers: list[dict[str, str]] = []
    acknowledged: list[str] = []
    ended: list[dict[str, str]] = []
    for round_number in range(ROUNDS):
        with serving(tmp_path / "data", "--sign-up", "open") as server:
            # One giver may grant so much a day only.
            email = f"giver-{round_number}@example.org"
            body = {"email": email, "name": "Ann", "password": PASSWORD}
            givers.append(_bearer(server.client.post("/api/v1/accounts", json=body)))
            other = _bearer(server.client.post("/api/v1/sessions", json={"email": email, "password": PASSWORD}))
            assert server.client.delete("/api/v1/sessions/current", headers=other).status_code == 204
            ended.append(other)
            killer = threading.Timer(chance.uniform(0.05, 0.6), server.kill)
            killer.start()
            _grant_until_it_dies(server.client, givers[-1], round_number, acknowledged)
            killer.join()
    with serving(tmp_path / "data") as server:
        stored = {grant for giver in givers for grant in _all_grants(server.client, giver)}
        assert set(acknowledged) <= stored
        assert len(acknowledged) > ROUNDS
        for bearer in ended:
            assert server.client.get("/api/v1/accounts/me", headers=bearer).status_code == 401


def _bearer(answer: httpx.Response) -> dict[str, str]:
    return {"authorization": f"Bearer {answer.json()['tokens']['access_token']}"}


def _grant_until_it_dies(
    client: httpx.Client, giver: dict[str, str], round_number: int, acknowledged: list[str]
) -> None:
    for number in range(GRANTS_PER_GIVER.times):
        name = f"{round_number}-{number}"
        body = {"granted_to": "b@example.org", "type": "album:visitor", "resource_id": name}
        try:
            answer = client.post("/api/v1/scopes", json=body, headers=giver)
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
