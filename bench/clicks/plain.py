"""The least that storing clicks can cost: their rows and the index by date, by hand in plain sqlite3."""

import os
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path

from bench.clicks.crowd import Crowd
from bench.figures import Sample
from bench.processes import cpu_seconds_of_tree
from bench.rounds import Measure
from satchel.features.clicks.model import stamp
from satchel.features.clicks.records import click_row

GROUP = 100

_Row = tuple[str, str, int, str, str]


class PlainClicks:
    """A file with nothing but clicks in it, committed in groups and flushed each time; nothing is counted."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute(
            "CREATE TABLE click (userId TEXT, createDateTime TEXT, clickCount INTEGER, dateKey TEXT, recordSort TEXT,"
            " PRIMARY KEY (userId, createDateTime))"
        )
        self._connection.execute("CREATE INDEX DateIndex ON click (dateKey, recordSort)")

    def insert(self, rows: Sequence[_Row]) -> None:
        for start in range(0, len(rows), GROUP):
            self._connection.execute("BEGIN")
            self._connection.executemany("INSERT INTO click VALUES (?, ?, ?, ?, ?)", rows[start : start + GROUP])
            self._connection.execute("COMMIT")

    def close(self) -> None:
        self._connection.close()


def inserting(plain: PlainClicks, crowd: Crowd, clicks: int) -> Measure:
    """So many clicks of people who have not been here before, whose rows have to be made as well."""

    async def run() -> Sample:
        people = crowd.clicks(clicks)
        cpu, started = cpu_seconds_of_tree(os.getpid()), time.perf_counter()
        now = int(time.time() * 1000)
        plain.insert([_row(user_id, now + place) for place, user_id in enumerate(people)])
        return Sample(clicks, time.perf_counter() - started, cpu_seconds_of_tree(os.getpid()) - cpu)

    return run


def _row(user_id: str, at: int) -> _Row:
    row = click_row(user_id, stamp(at))
    return row.user_id, row.created, row.count, row.date_key, row.record_sort
