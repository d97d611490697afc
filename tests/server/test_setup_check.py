"""A set-up is whole or refused: what a server and `satchel doctor` say when stores do not go together."""

import json
import subprocess
from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from satchel.config import load_settings
from satchel.kernel.clock import system_clock
from satchel.kernel.signature import Signer
from satchel.setup_check import Flaw, clock_check
from satchel.stores.connect import open_ephemeral, open_objects, open_tables
from satchel.tables import FORMAT, SELF_TEST
from tests.fork_server import SATCHEL
from tests.server.process import refused, serving
from tests.services import dynamodb_local, free_port, python_environment, rclone_s3, redis_server

pytestmark = pytest.mark.services

SECRET = "s" * 32


@pytest.fixture(scope="module")
def shared() -> Generator[dict[str, str]]:
    """All three stores; this DynamoDB Local takes 10 writes a transaction, and this Redis keeps nothing."""
    with dynamodb_local() as dynamodb, redis_server() as redis, rclone_s3() as s3:
        yield {
            "SATCHEL_TABLE": f"dynamodb://us-east-1?endpoint={dynamodb}",
            "SATCHEL_MOST_WRITES": "10",
            "SATCHEL_EPHEMERAL": redis,
            "SATCHEL_OBJECTS": f"s3://{s3.bucket}?endpoint={s3.endpoint}",
            "SATCHEL_SECRET": SECRET,
            **s3.environment(),
        }


@pytest.fixture(scope="module")
def tables(shared: dict[str, str]) -> dict[str, str]:
    command = [str(SATCHEL), "tables", "create"]
    subprocess.run(command, env=python_environment(**shared), cwd="/", check=True, capture_output=True)
    return shared


def start(tmp_path: Path, settings: dict[str, str]) -> str:
    """What a server says that refuses to start: one sentence or two, in one line."""
    code, said = refused(tmp_path / "data", "--port", str(free_port()), environment=settings)
    assert code != 0
    assert "Traceback" not in said
    return said


def examine(settings: dict[str, str]) -> dict[str, tuple[str, str]]:
    """The outcome and the detail of every finding of `satchel doctor`, by part and step."""
    command = [str(SATCHEL), "doctor", "--port", str(free_port()), "--json"]
    done = subprocess.run(command, env=python_environment(**settings), cwd="/", capture_output=True, text=True)
    report: Any = json.loads(done.stdout)
    return {
        f"{each['part']}: {each['tried']}": (each["outcome"], f"{each['detail']} {each['fix']}")
        for each in report["findings"]
    }


@pytest.mark.parametrize(
    ("setting", "told"),
    [("SATCHEL_EPHEMERAL", "--ephemeral redis://host:6379/0"), ("SATCHEL_OBJECTS", "--objects s3://bucket")],
)
def test_shared_tables_beside_a_store_of_one_machine_are_refused(
    tmp_path: Path, tables: dict[str, str], setting: str, told: str
) -> None:
    settings = {name: value for name, value in tables.items() if name != setting}
    said = start(tmp_path, settings)
    assert "Servers share tables on DynamoDB" in said
    assert told in said
    outcome, detail = examine(settings | {"SATCHEL_DATA": str(tmp_path)})["settings: name stores that go together"]
    assert (outcome, told in detail) == ("bad", True)


def test_one_server_alone_may_keep_what_others_could_not_see(tmp_path: Path, tables: dict[str, str]) -> None:
    settings = {name: value for name, value in tables.items() if name != "SATCHEL_EPHEMERAL"}
    with serving(tmp_path / "data", environment=settings | {"SATCHEL_SINGLE_SERVER": "true"}) as server:
        assert server.client.get("/readyz").status_code == 200


def test_a_table_store_that_takes_too_few_writes_at_once_is_refused(tmp_path: Path, tables: dict[str, str]) -> None:
    settings = tables | {"SATCHEL_MOST_WRITES": "100"}
    said = start(tmp_path, settings)
    assert "takes no transaction of 100 writes" in said
    assert "--most-writes 10" in said
    assert examine(settings)["set-up: transact as much as acts need"][0] == "bad"
    command = [str(SATCHEL), "worker", "--once"]
    worker = subprocess.run(command, env=python_environment(**settings), cwd="/", capture_output=True, text=True)
    assert worker.returncode == 1
    assert "takes no transaction of 100 writes" in worker.stderr


def test_a_redis_that_forgets_or_evicts_is_a_warning(tmp_path: Path, tables: dict[str, str]) -> None:
    with Redis.from_url(tables["SATCHEL_EPHEMERAL"]) as redis:  # pyright: ignore[reportUnknownMemberType]
        redis.config_set("maxmemory-policy", "allkeys-lru")  # pyright: ignore[reportUnknownMemberType]
        try:
            with serving(tmp_path / "data", environment=tables) as server:
                assert "Redis keeps nothing over a restart" in server.said
                assert "its policy is allkeys-lru" in server.said
            found = examine(tables)
            assert found["set-up: keep short-lived state over a restart"][0] == "warning"
            assert "appendonly yes" in found["set-up: keep short-lived state over a restart"][1]
            assert found["set-up: evict nothing"][0] == "warning"
            assert "noeviction" in found["set-up: evict nothing"][1]
            redis.config_set("maxmemory-policy", "noeviction")  # pyright: ignore[reportUnknownMemberType]
            redis.config_set("appendonly", "yes")  # pyright: ignore[reportUnknownMemberType]
            found = examine(tables)
            assert {outcome for outcome, _ in found.values()} == {"good"}
        finally:
            redis.config_set("maxmemory-policy", "noeviction")  # pyright: ignore[reportUnknownMemberType]
            redis.config_set("appendonly", "no")  # pyright: ignore[reportUnknownMemberType]


def test_keys_that_may_only_read_the_bucket_are_refused(tmp_path: Path, tables: dict[str, str]) -> None:
    with rclone_s3("--read-only") as reading:
        settings = tables | {"SATCHEL_OBJECTS": f"s3://{reading.bucket}?endpoint={reading.endpoint}"}
        said = start(tmp_path, settings | reading.environment())
    assert "The bucket cannot be used as a server needs it." in said
    assert "PutObject" in said


async def test_tables_of_a_newer_satchel_are_left_alone(
    tmp_path: Path, tables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in tables.items():
        monkeypatch.setenv(name, value)
    with serving(tmp_path / "data", environment=tables):
        pass
    store = await open_tables(load_settings({}, tables), system_clock)
    key = {"probe": "format of the tables"}
    try:
        assert await store.get(SELF_TEST, key) == {**key, "format": FORMAT}
        await store.put(SELF_TEST, {**key, "format": FORMAT + 1})
        said = start(tmp_path, tables)
        assert "A newer Satchel has written to these tables" in said
    finally:
        await store.put(SELF_TEST, {**key, "format": FORMAT})
        await store.close()


async def test_clocks_that_differ_are_a_warning_and_then_a_refusal(
    tables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in tables.items():
        monkeypatch.setenv(name, value)
    settings = load_settings({}, tables)
    ephemeral = await open_ephemeral(settings, system_clock)
    objects = await open_objects(settings, system_clock, Signer(SECRET.encode()))
    try:
        for store in (ephemeral, objects):
            for seconds, refuses in ((10, False), (-10, False), (60, True), (-60, True)):
                (check,) = clock_check(partial(clock_ahead, seconds), "other", store)
                with pytest.raises(Flaw, match="seconds apart") as flaw:
                    await check.attempt()
                assert flaw.value.refused is refuses
            (right,) = clock_check(system_clock, "other", store)
            assert await right.attempt() is None
    finally:
        await ephemeral.close()
        await objects.close()


def clock_ahead(seconds: float) -> float:
    return system_clock() + seconds


def test_a_server_on_stores_of_its_own_starts_without_a_warning(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        assert "WARNING" not in server.said
    with serving(tmp_path / "data") as server:
        assert server.client.get("/readyz").status_code == 200
