"""The embedded table store keeps every acknowledged write, and nothing half-written, however often it is killed."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from satchel.kernel.clock import system_clock
from satchel.stores.embedded.table_sqlite import SqliteTables
from satchel.stores.ports.table import Item
from tests.faults.table_writer import TABLE
from tests.services import python_environment

KILLS = 100
# Long enough for some to come while the file is being opened and its log replayed, most amid the writing.
LONGEST_LIFE_SECONDS = 0.12


def killed_again_and_again(path: Path) -> list[str]:
    """What the writers said before each of them was killed at a moment of chance."""
    chance = random.Random()
    said: list[str] = []
    command = [sys.executable, "-m", "tests.faults.table_writer", str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=python_environment()
    ) as forker:
        assert forker.stdin is not None
        assert forker.stdout is not None
        for kill in range(KILLS):
            forker.stdin.write(f"{kill}\n")
            while not (line := forker.stdout.readline()).startswith("started"):
                said.append(line.strip())
            time.sleep(chance.uniform(0, LONGEST_LIFE_SECONDS))
            os.kill(int(line.split()[1]), signal.SIGKILL)
            while not (line := forker.stdout.readline()).startswith("ended"):
                said.append(line.strip())
            assert line.strip() == f"ended {-signal.SIGKILL}"
        forker.stdin.close()
    return said


def key(item: Item) -> tuple[str, str]:
    return item["kind"], item["id"]


async def partition(tables: SqliteTables, value: str, index: str | None = None) -> list[Item]:
    items: list[Item] = []
    cursor = None
    while True:
        page = await tables.query(TABLE, value, index=index, limit=1000, cursor=cursor)
        items += page.items
        if (cursor := page.cursor) is None:
            return items


async def replayed(tables: SqliteTables) -> dict[tuple[str, str], Item]:
    """The items as the change stream tells them, each change fitting the one before."""
    items: dict[tuple[str, str], Item] = {}
    after = None
    while changes := (await tables.changes(TABLE, "0", after, limit=1000)).changes:
        for change in changes:
            assert items.pop(key(change.key), None) == change.old
            if change.new is not None:
                items[key(change.key)] = change.new
        after = changes[-1].position
    return items


def check_acknowledged(said: Iterable[str], stored: dict[tuple[str, str], Item]) -> None:
    words = [line.split() for line in said]
    gone = {name for kind, name, *_ in words if kind == "gone"}
    for kind, name, *count in words:
        if kind == "counter":
            assert stored["counter", name]["count"] >= int(count[0])
        elif kind == "entry":
            assert ("entry", name) in stored
        elif kind == "item":
            # The last put of a writer may have been deleted by a delete that was killed before it could be told.
            assert ("item", name) in stored or name in gone or ("item", follower(name)) in stored
    assert not any(("item", name) in stored for name in gone)


def follower(name: str) -> str:
    writer, _, n = name.rpartition(".")
    return f"{writer}.{int(n) + 1}"


async def test_acknowledged_writes_survive_a_hundred_kills_and_nothing_is_half_written(tmp_path: Path) -> None:
    path = tmp_path / "tables.sqlite"
    said = killed_again_and_again(path)
    assert {line.split()[0] for line in said} == {"item", "gone", "counter", "entry"}

    tables = await SqliteTables.open(path, clock=system_clock)
    try:
        by_kind = {kind: await partition(tables, kind) for kind in ("item", "counter", "pair", "entry")}
        stored = {key(item): item for items in by_kind.values() for item in items}
        check_acknowledged(said, stored)
        assert stored["pair", "left"]["count"] == stored["pair", "right"]["count"] == len(by_kind["entry"])

        assert await replayed(tables) == stored
        groups = Counter(item["group"] for item in stored.values() if "group" in item)
        for group, size in groups.items():
            found = await partition(tables, group, "ByGroup")
            assert [stored[key(item)] for item in found] == found
            assert len(found) == size
    finally:
        await tables.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
