"""Live connections to the real program: greeted, ended with their session, asked back when it stops."""

import json
import signal
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.application import PASSWORD
from tests.server.process import ServerProcess, serving
from tests.services import free_port, redis_server

ANN = {"email": "ann@example.org", "name": "Ann", "password": PASSWORD}


def signed_up(server: ServerProcess) -> dict[str, Any]:
    return server.client.post("/api/v1/accounts", json=ANN).raise_for_status().json()


def bearer(signed_in: dict[str, Any]) -> dict[str, str]:
    return {"authorization": f"Bearer {signed_in['tokens']['access_token']}"}


def listen(server: ServerProcess, headers: dict[str, str]) -> ClientConnection:
    address = server.url.replace("http", "ws") + "/api/v1/live"
    return connect(address, additional_headers=headers, proxy=None)


def refused(server: ServerProcess, headers: dict[str, str]) -> int:
    with pytest.raises(InvalidStatus) as refusal, listen(server, headers):
        pass
    return refusal.value.response.status_code


def closed_with(connection: ClientConnection) -> int | None:
    with pytest.raises(ConnectionClosed) as closed:
        connection.recv(timeout=20)
    return closed.value.rcvd.code if closed.value.rcvd else None


def test_who_listens_is_greeted_until_their_session_ends(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        ann = signed_up(server)
        here = server.client.post("/api/v1/sessions", json={"email": ANN["email"], "password": PASSWORD}).json()
        with listen(server, bearer(ann)) as ended, listen(server, bearer(here)) as kept:
            for connection in (ended, kept):
                hello = json.loads(connection.recv(timeout=20))
                assert (hello["type"], hello["person_id"]) == ("hello", ann["user_id"])
            server.client.delete(f"/api/v1/sessions/{ann['session_id']}", headers=bearer(here)).raise_for_status()
            assert closed_with(ended) == 4401
            assert refused(server, bearer(ann)) == 401
            with pytest.raises(TimeoutError):
                kept.recv(timeout=0)


def test_a_server_that_stops_asks_everybody_back_and_waits_for_nobody(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server, ExitStack() as opened:
        headers = bearer(signed_up(server))
        connections = [opened.enter_context(listen(server, headers)) for _ in range(10)]
        for connection in connections:
            connection.recv(timeout=20)
        assert server.stop(signal.SIGTERM) == 0
        assert {closed_with(connection) for connection in connections} == {1012}
        assert "Traceback" not in server.said
        assert "graceful" not in server.said


@pytest.mark.services
def test_a_redis_that_dies_sends_everybody_away_until_it_is_back(tmp_path: Path) -> None:
    port = free_port()
    with ExitStack() as opened:
        with redis_server(port=port) as redis:
            shared = {"SATCHEL_EPHEMERAL": redis}
            server = opened.enter_context(serving(tmp_path / "data", environment=shared))
            headers = bearer(signed_up(server))
            connection = opened.enter_context(listen(server, headers))
            connection.recv(timeout=20)
        assert closed_with(connection) == 1013
        assert refused(server, headers) == 503
        with redis_server(port=port), listen(server, headers) as again:
            assert json.loads(again.recv(timeout=20))["type"] == "hello"
