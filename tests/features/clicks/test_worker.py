"""That `satchel worker` counts beside the servers, comes and goes without loss, and says so where it is not needed."""

import asyncio
import signal
import subprocess
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from satchel.features.clicks.records import ClickRow, click_row
from satchel.kernel.clock import iso
from satchel.stores.consumer import POSITIONS
from satchel.stores.embedded.ephemeral_memory import MemoryEphemeral
from satchel.stores.ports.table import Tables, Write
from satchel.worker import Worker, WorkerPlatform
from tests.application import PASSWORD
from tests.features.clicks.streams import (
    MOTO,
    NOW,
    Store,
    counted,
    expected,
    open_store,
    some_clicks,
    statistics,
    store_clicks,
)
from tests.features.hearing import heard_by
from tests.fork_server import SATCHEL
from tests.server.process import make_tables, serving
from tests.server.test_live import bearer
from tests.server.test_running import SECRET
from tests.services import python_environment
from tests.stores.harnesses_table import eventually

pytestmark = pytest.mark.services


def worker_command(store: Store, *options: str) -> list[str]:
    table = f"dynamodb://us-east-1?endpoint={store.endpoint}"
    return [
        *(str(SATCHEL), "worker", "--table", table, "--table-prefix", store.prefix, "--most-writes", "10"),
        *options,
    ]


def run(command: list[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command, env=python_environment(), capture_output=True, text=True, timeout=60, check=False, cwd="/"
    )


def clicks_of_now(number: int) -> list[ClickRow]:
    return [click_row(f"person{each % 3}", iso(time.time() - each)) for each in range(number)]


async def total(store: Store) -> int | None:
    found = [row["totalClicks"] for row in await statistics(store) if row["userId"] == "STAT#TOTAL"]
    return found[0] if found else None


async def holders(tables: Tables) -> list[str]:
    return [row["holder"] for row in (await tables.query(POSITIONS, "qit-db-local/clicks")).items if "holder" in row]


async def test_a_worker_for_once_counts_what_there_is_and_leaves(store: Store) -> None:
    clicks = clicks_of_now(7)
    await store_clicks(store, clicks)
    for _ in range(2):
        done = await asyncio.to_thread(run, worker_command(store, "--once"))
        assert done.returncode == 0, done.stderr
        assert "clicks folded" in done.stderr
    assert await counted(store, clicks) == expected(clicks)
    assert await total(store) == 7
    assert await holders(store.tables) == []


async def test_a_worker_counts_as_clicks_come_and_stops_when_told_to(store: Store) -> None:
    process = subprocess.Popen(worker_command(store), env=python_environment(), stderr=subprocess.PIPE, cwd="/")
    try:
        await eventually(lambda: total(store), 0, within_seconds=30)
        clicks = clicks_of_now(5)
        await store_clicks(store, clicks)
        await eventually(lambda: total(store), 5, within_seconds=30)
        process.send_signal(signal.SIGTERM)
        _, said = await asyncio.to_thread(process.communicate, None, 30)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    assert b"seconds_behind=" in said
    assert await counted(store, clicks) == expected(clicks)
    assert await holders(store.tables) == []


def test_more_writes_than_a_transaction_has_are_refused() -> None:
    done = run([str(SATCHEL), "worker", "--most-writes", "101"])
    assert done.returncode == 2
    assert "from 10 up to 100" in done.stderr


def test_with_sqlite_there_is_nothing_to_do_for_a_worker(tmp_path: Path) -> None:
    done = run([str(SATCHEL), "worker", "--data", str(tmp_path / "data")])
    assert done.returncode == 1
    assert "nothing for a worker to do" in done.stderr
    assert not (tmp_path / "data").exists()


def test_a_worker_without_tables_says_how_to_make_them(dynamodb_endpoint: str) -> None:
    table = f"dynamodb://us-east-1?endpoint={dynamodb_endpoint}"
    done = run([str(SATCHEL), "worker", "--table", table, "--table-prefix", "absent-"])
    assert done.returncode == 1
    assert "satchel tables create" in done.stderr


async def test_owners_are_told_while_they_look(request: pytest.FixtureRequest) -> None:
    store = await open_store(request, MOTO)
    ephemeral = await MemoryEphemeral.open(clock=store.clock)
    worker = Worker(WorkerPlatform(store.tables, ephemeral, store.clock, None))
    click = click_row("bob", iso(NOW), kind="open", owner="ann", target="link", thing="file:1")
    async with heard_by(ephemeral, "ann") as hearing:
        await store_clicks(store, [click])
        await worker.catch_up()
        told = await hearing.until("stats.changed")
    assert told == {"type": "stats.changed", "total": 1, "today": 1, "day": "2030-04-01"}
    await ephemeral.close()
    await store.tables.close()


async def test_owners_are_told_once_it_is_stored_and_not_before(request: pytest.FixtureRequest) -> None:
    store = await open_store(request, MOTO)
    ephemeral = await MemoryEphemeral.open(clock=store.clock)

    class Slow:
        """Tables of which the worker's other round is done just before a transaction."""

        def __getattr__(self, name: str) -> Any:
            return getattr(store.tables, name)

        async def transact(self, writes: Sequence[Write]) -> None:
            await worker.notify()
            await store.tables.transact(writes)

    worker = Worker(WorkerPlatform(cast("Tables", Slow()), ephemeral, store.clock, None))
    async with heard_by(ephemeral, "ann") as hearing:
        await store_clicks(store, [click_row("bob", iso(NOW), kind="open", owner="ann", target="link", thing="file:1")])
        await worker.fold_some()
        await worker.notify()
        assert (await hearing.until("stats.changed"))["total"] == 1
    await worker.leave()
    await ephemeral.close()
    await store.tables.close()


async def test_a_worker_that_finds_the_stream_cut_counts_the_days_again(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    clicks = some_clicks(8, links=False)
    await store_clicks(store, clicks)
    gone = {"consumer": "qit-db-local/clicks", "shard": "gone", "after": "1", "movedAt": int(NOW)}
    await store.tables.put(POSITIONS, gone)
    ephemeral = await MemoryEphemeral.open(clock=store.clock)
    platform = WorkerPlatform(store.tables, ephemeral, store.clock, None)
    await Worker(platform, most_writes=store.most_writes, settling=timedelta(0)).catch_up()
    assert "clicks were lost from the stream" in caplog.text
    assert await counted(store, clicks) == expected(clicks)
    assert await total(store) == sum(click.count for click in clicks)
    await ephemeral.close()


async def test_workers_go_on_while_the_line_is_bad(store: Store) -> None:
    clicks = some_clicks(12, links=False)
    ephemeral = await MemoryEphemeral.open(clock=store.clock)
    platform = WorkerPlatform(store.tables, ephemeral, store.clock, None)
    stopping = asyncio.Event()
    working = [asyncio.create_task(Worker(platform, most_writes=10).work(stopping)) for _ in range(2)]
    store.tables.lost_share = 0.05
    for click in clicks:
        await store_clicks(store, [click])
    wanted = sum(click.count for click in clicks)
    await eventually(lambda: total(store), wanted, within_seconds=40)
    store.tables.lost_share = 0.0
    stopping.set()
    await asyncio.gather(*working)
    assert await counted(store, clicks) == expected(clicks)
    assert await holders(store.tables) == []
    await ephemeral.close()


def test_what_servers_store_a_worker_counts_and_an_administrator_counts_again(
    tmp_path: Path, dynamodb_endpoint: str
) -> None:
    shared = {
        "SATCHEL_TABLE": f"dynamodb://us-east-1?endpoint={dynamodb_endpoint}",
        "SATCHEL_TABLE_PREFIX": "counted-",
        "SATCHEL_MOST_WRITES": "10",
        "SATCHEL_SINGLE_SERVER": "true",
        "SATCHEL_SECRET": SECRET,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
    }
    make_tables(shared)
    with serving(tmp_path / "data", environment=shared) as server:
        assert "run one beside the servers" in server.said
        body = {"email": "ann@example.org", "name": "ann", "password": PASSWORD}
        headers = bearer(server.client.post("/api/v1/accounts", json=body).raise_for_status().json())

        def ask(method: str, path: str, sent: object = None) -> Any:
            answer = server.client.request(method, f"/api/v1{path}", json=sent, headers=headers)
            return answer.raise_for_status().json()

        clicked = ask("POST", "/clicks", [{"clickCount": 2}, {"clickCount": 3}])["clicks"]
        assert ask("GET", "/clicks/stats/total")["totalClicks"] == 0
        done = subprocess.run(
            [str(SATCHEL), "worker", "--once"],
            env=python_environment(**shared),
            timeout=60,
            check=False,
            cwd="/",
        )
        assert done.returncode == 0
        assert ask("GET", "/clicks/stats/total")["totalClicks"] == 5
        again = ask("POST", "/clicks/rebuild", {"day": clicked[0]["createDateTime"][:10]})
        assert again == {"before": {"clicks": 5, "people": 1}, "after": {"clicks": 5, "people": 1}}
