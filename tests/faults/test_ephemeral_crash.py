"""The in-process store keeps every acknowledged change of a durable key, however often it is killed."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

from satchel.kernel.clock import system_clock
from satchel.stores.embedded.ephemeral_memory import MemoryEphemeral
from satchel.stores.ports.ephemeral import Exists, Get, HashAll, ListRange, SetAll, TimeToLive
from tests.faults.ephemeral_writer import WRITERS
from tests.services import python_environment

KILLS = 30
# Long enough for some to come while the file is being opened and its rows are replayed, most amid the writing.
LONGEST_LIFE_SECONDS = 0.5


def killed_again_and_again(path: Path) -> dict[str, list[str]]:
    """What the writers said before each was killed at a moment of chance, by the first word."""
    chance = random.Random()
    said: dict[str, list[str]] = defaultdict(list)

    def listen(until: str) -> str:
        assert forker.stdout is not None
        while True:
            word, rest = forker.stdout.readline().split()
            if word == until:
                return rest
            said[word].append(rest)

    command = [sys.executable, "-m", "tests.faults.ephemeral_writer", str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=python_environment()
    ) as forker:
        assert forker.stdin is not None
        for turn in range(KILLS):
            forker.stdin.write(f"{turn}\n")
            process = int(listen("started"))
            time.sleep(chance.uniform(0, LONGEST_LIFE_SECONDS))
            os.kill(process, signal.SIGKILL)
            assert listen("ended") == str(-signal.SIGKILL)
        forker.stdin.close()
    return said


async def test_every_acknowledged_change_survives_being_killed(tmp_path: Path) -> None:
    path = tmp_path / "ephemeral.db"
    said = killed_again_and_again(path)
    store = await MemoryEphemeral.open(clock=system_clock, path=path, durable=["kept:"])
    assert len(said["put"]) > KILLS

    counts = [int(count) for count in said["counted"]]
    counted = int(await store.run(Get("kept:count")) or b"0")
    assert len(counts) == len(set(counts))
    # What was under way when a process died may have happened: at most one thing for each writer and life.
    assert max(counts) <= counted <= len(counts) + KILLS * WRITERS

    members, fields = await store.together(SetAll("kept:set"), HashAll("kept:hash"))
    added, removed = set(said["added"]), set(said["removed"])
    assert added <= set(fields)
    assert added - removed - _perhaps_removed(said) <= members
    assert members.isdisjoint(removed)
    # Run together: whatever became a member got its field.
    assert members <= set(fields)
    assert set(fields) - members <= removed | _perhaps_removed(said)

    queue = [value.decode() for value in await store.run(ListRange("kept:queue"))]
    assert len(queue) == len(set(queue))
    assert set(queue).isdisjoint(said["popped"])
    assert len(said["popped"]) == len(set(said["popped"]))
    missing = set(said["pushed"]) - set(said["popped"]) - set(queue)
    # A pop that was under way may have happened, its value gone with the process.
    assert len(missing) <= KILLS * WRITERS
    _in_the_order_of_pushing(queue)

    deleted = set(said["deleted"])
    for name in said["put"]:
        key = f"kept:{name}"
        if name in deleted:
            assert await store.run(Exists(key)) is False
        elif await store.run(Get(key)) is None:
            # Only a delete that was under way explains this, and only even ones are ever deleted.
            assert int(name.rpartition(".")[2]) % 2 == 0
        else:
            assert await store.run(TimeToLive(key)) is not None
    await store.close()


def _perhaps_removed(said: dict[str, list[str]]) -> set[str]:
    """Members whose removal may have been under way when their process died."""
    return {name for name in said["added"] if int(name.rpartition(".")[2]) % 3 == 2}


def _in_the_order_of_pushing(queue: list[str]) -> None:
    """Newest at the left, for each writer of each life."""
    latest: dict[str, int] = {}
    for name in reversed(queue):
        writer, _, n = name.rpartition(".")
        assert int(n) > latest.get(writer, 0)
        latest[writer] = int(n)
