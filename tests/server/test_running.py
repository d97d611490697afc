"""`satchel serve` as people meet it: it starts, says where, stops cleanly, and explains itself when it cannot."""

import signal
import socket
from pathlib import Path

import httpx
import pytest

from tests.application import PASSWORD
from tests.server.process import make_tables, refused, serving
from tests.services import dynamodb_local, free_port, rclone_s3, redis_server

ANN = {"email": "ann@example.org", "name": "Ann", "password": PASSWORD}
SECRET = "s" * 32


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_says_where_it_runs_and_stops_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    with serving(tmp_path / "data") as server:
        assert f"Satchel is running at {server.url}" in server.said
        assert server.stop(number) == 0
        assert "Traceback" not in server.said


def test_everything_it_keeps_is_for_its_owner_alone(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        server.client.post("/api/v1/accounts", json=ANN)
        assert (tmp_path / "data").stat().st_mode & 0o077 == 0
        for name in ("secret", "lock", "objects/keys.db"):
            assert (tmp_path / "data" / name).stat().st_mode & 0o777 == 0o600, name


def test_a_port_in_use_is_one_clear_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        code, said = refused(tmp_path, "--port", str(taken.getsockname()[1]))
    assert code == 1
    assert "is in use" in said
    assert "--port" in said
    assert "Traceback" not in said


def test_a_second_server_on_the_same_folder_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path / "data"):
        code, said = refused(tmp_path / "data", "--port", str(free_port()))
    assert code == 1
    assert "Another Satchel is using the data folder" in said


@pytest.mark.parametrize(
    ("setting", "place", "told"),
    [
        ("SATCHEL_TABLE", "sqlite://{}/shared.db", "Another Satchel is using the tables in {}/shared.db."),
        ("SATCHEL_OBJECTS", "file://{}/objects", "Another Satchel is using the objects in {}/objects."),
    ],
)
def test_a_second_server_with_a_folder_of_its_own_but_the_same_store_is_refused(
    tmp_path: Path, setting: str, place: str, told: str
) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with serving(tmp_path / "one", environment={setting: place.format(tmp_path)}):
        same = {setting: place.format(tmp_path / "link")}
        code, said = refused(tmp_path / "two", "--port", str(free_port()), environment=same)
    assert code == 1
    assert told.format(tmp_path) in said
    assert "Stop it first" in said
    assert "Traceback" not in said


def test_a_data_folder_that_cannot_be_made_is_one_clear_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    code, said = refused(tmp_path / "file" / "data", "--port", str(free_port()))
    assert code == 1
    assert "data folder" in said
    assert "--data" in said
    assert "Traceback" not in said


def test_a_damaged_secret_is_one_clear_sentence(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("half a sec")
    code, said = refused(tmp_path, "--port", str(free_port()))
    assert code == 1
    assert "The secret in" in said
    assert "is damaged" in said
    assert "Traceback" not in said


def test_a_wrong_setting_is_one_clear_sentence(tmp_path: Path) -> None:
    code, said = refused(tmp_path, environment={"SATCHEL_SIGN_UP": "everybody"})
    assert code != 0
    assert "SATCHEL_SIGN_UP has to be one of open, invitation, closed" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("variable", "url"),
    [
        ("SATCHEL_EPHEMERAL", "redis://127.0.0.1:{port}/0"),
        ("SATCHEL_TABLE", "dynamodb://us-east-1?endpoint=http://127.0.0.1:{port}"),
        ("SATCHEL_OBJECTS", "s3://bucket?endpoint=http://127.0.0.1:{port}"),
    ],
)
def test_a_store_that_cannot_be_reached_is_one_clear_sentence(tmp_path: Path, variable: str, url: str) -> None:
    settings = {variable: url.format(port=free_port()), "SATCHEL_SECRET": SECRET}
    keys = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "SATCHEL_SINGLE_SERVER": "true"}
    code, said = refused(tmp_path, "--port", str(free_port()), environment={**settings, **keys})
    assert code == 1
    assert "Traceback" not in said
    assert len(said.strip().splitlines()) == 1, said


def test_a_server_that_shares_its_tables_needs_a_secret_that_is_shared(tmp_path: Path) -> None:
    code, said = refused(tmp_path, environment={"SATCHEL_TABLE": "dynamodb://us-east-1?endpoint=http://127.0.0.1:1"})
    assert code != 0
    assert "SATCHEL_SECRET" in said


def test_a_disk_that_is_full_refuses_writes_and_the_server_goes_on(tmp_path: Path) -> None:
    # A file may not grow past this size, which is what a full disk looks like from inside.
    with serving(tmp_path / "data", wrapper=("prlimit", "--fsize=1500000")) as server:
        client = server.client
        token = client.post("/api/v1/accounts", json=ANN).json()["tokens"]["access_token"]
        headers = {"authorization": f"Bearer {token}"}
        granted = 0
        while (answer := grant(client, headers, granted)).status_code == 201 and granted < 5000:
            granted += 1
        assert answer.status_code in (503, 507), answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        assert client.get("/api/v1/accounts/me", headers=headers).status_code == 200
        assert client.get("/healthz").status_code == 200
    with serving(tmp_path / "data") as server:
        listed = server.client.get("/api/v1/scopes/granted?limit=1000", headers=headers).json()["scopes"]
        assert len(listed) >= min(granted, 1000)
        assert grant(server.client, headers, granted).status_code == 201


def grant(client: httpx.Client, headers: dict[str, str], number: int) -> httpx.Response:
    body = {"granted_to": "b@example.org", "type": "album:visitor", "resource_id": f"{number}-{'x' * 150}"}
    return client.post("/api/v1/scopes", json=body, headers=headers)


@pytest.mark.services
def test_the_same_program_runs_on_dynamodb_redis_and_s3_and_two_servers_share_everything(tmp_path: Path) -> None:
    with dynamodb_local() as dynamodb, redis_server() as redis, rclone_s3() as s3:
        shared = {
            "SATCHEL_TABLE": f"dynamodb://us-east-1?endpoint={dynamodb}",
            "SATCHEL_MOST_WRITES": "10",
            "SATCHEL_EPHEMERAL": redis,
            "SATCHEL_OBJECTS": f"s3://{s3.bucket}?endpoint={s3.endpoint}",
            "SATCHEL_SECRET": SECRET,
            **s3.environment(),
        }
        code, said = refused(tmp_path, "--port", str(free_port()), environment=shared)
        assert code == 1
        assert "satchel tables create" in said
        make_tables(shared)
        with (
            serving(tmp_path / "one", environment=shared) as one,
            serving(tmp_path / "two", environment=shared) as two,
        ):
            signed_up = one.client.post("/api/v1/accounts", json=ANN)
            assert signed_up.status_code == 201, signed_up.text
            tokens = signed_up.json()["tokens"]
            headers = {"authorization": f"Bearer {tokens['access_token']}"}
            assert two.client.get("/api/v1/accounts/me", headers=headers).json()["administrator"] is True
            assert two.client.get("/readyz").status_code == 200
            assert two.client.delete("/api/v1/sessions/current", headers=headers).status_code == 204
            assert one.client.get("/api/v1/accounts/me", headers=headers).status_code == 401
            assert not (tmp_path / "one").exists()


@pytest.mark.services
def test_a_redis_that_dies_and_comes_back_is_answered_honestly_and_forgotten(tmp_path: Path) -> None:
    port = free_port()
    with redis_server(port=port) as redis:
        context = serving(tmp_path / "data", environment={"SATCHEL_EPHEMERAL": redis})
        server = context.__enter__()
    try:
        down = server.client.post("/api/v1/sessions", json={"email": "a@example.org", "password": "x"})
        assert down.status_code == 503
        assert down.headers["content-type"] == "application/problem+json"
        assert server.client.get("/healthz").status_code == 200
        assert server.client.get("/readyz").status_code == 503
        with redis_server(port=port):
            up = server.client.post("/api/v1/sessions", json={"email": "a@example.org", "password": "x"})
            assert up.status_code == 401
    finally:
        context.__exit__(None, None, None)
