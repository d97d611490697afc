"""Clicks that are sent until they are acknowledged are counted once each, however often their server is killed."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from datetime import date, timedelta
from pathlib import Path

from satchel.kernel.clock import iso
from tests.faults.clicks_writer import CLIENTS, NOON, call_of, recording, send
from tests.features.clicks.figures_check import check_figures
from tests.services import python_environment

KILLS = 100
# Long enough for some to come while the file is being opened and its log replayed, most amid the writing.
LONGEST_LIFE_SECONDS = 0.12


def killed_again_and_again(path: Path) -> list[int]:
    """Which call each client has to send next, or again, after the last of the kills."""
    chance = random.Random()
    numbers = list(range(CLIENTS))
    command = [sys.executable, "-m", "tests.faults.clicks_writer", str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=python_environment()
    ) as forker:
        assert forker.stdin is not None
        assert forker.stdout is not None

        def heard_until(word: str) -> str:
            assert forker.stdout is not None
            while not (line := forker.stdout.readline()).startswith(word):
                sent = int(line.split()[1])
                numbers[sent % CLIENTS] = sent + CLIENTS
            return line

        for _ in range(KILLS):
            forker.stdin.write(" ".join(map(str, numbers)) + "\n")
            process = int(heard_until("started").split()[1])
            time.sleep(chance.uniform(0, LONGEST_LIFE_SECONDS))
            os.kill(process, signal.SIGKILL)
            assert heard_until("ended").strip() == f"ended {-signal.SIGKILL}"
        forker.stdin.close()
    return numbers


async def test_after_a_hundred_kills_every_click_is_counted_once(tmp_path: Path) -> None:
    path = tmp_path / "tables.sqlite"
    numbers = killed_again_and_again(path)
    async with recording(path) as (tables, recorder):
        for number in numbers:
            await send(recorder, number)
        noon = date.fromisoformat(iso(NOON)[:10])
        clicks = await check_figures(tables, noon - timedelta(days=3), noon + timedelta(days=1))
    sent = [number for client, last in enumerate(numbers) for number in range(client, last + 1, CLIENTS)]
    assert len(sent) > CLIENTS, "no client got any further"
    expected = [(click.label, click.user_id, click.count) for number in sent for click in call_of(number).new]
    assert sorted((click["label"], click["userId"], click["clickCount"]) for click in clicks) == sorted(expected)
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
