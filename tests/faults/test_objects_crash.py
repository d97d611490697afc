"""A process that keeps objects in a folder is killed again and again: what it acknowledged is there, and whole."""

import random
import signal
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from satchel.stores.embedded.objects_folder import FolderObjects
from tests.faults.objects_writer import open_folder, version_of
from tests.services import python_environment

KILLS = 20


@dataclass
class Ledger:
    """What the writer said: the last acknowledged version of each key, None if deleted, and what was under way."""

    acknowledged: dict[str, int | None] = field(default_factory=dict[str, "int | None"])
    under_way: defaultdict[str, set[int | None]] = field(default_factory=lambda: defaultdict(set))

    def enter(self, lines: list[str]) -> int:
        """Take note, and answer the newest version."""
        self.under_way.clear()
        newest = 0
        for line in lines:
            word, kind, key, version = line.split(" ")
            state = None if kind == "delete" else int(version)
            newest = max(newest, int(version))
            if word == "begin":
                self.under_way[key].add(state)
            else:
                self.under_way.pop(key)
                self.acknowledged[key] = state
        return newest

    def check(self, found: dict[str, int]) -> None:
        for key in {*self.acknowledged, *self.under_way, *found}:
            allowed = {self.acknowledged.get(key), *self.under_way.get(key, ())}
            assert found.get(key) in allowed, (key, found.get(key), allowed)
            self.acknowledged[key] = found.get(key)


def run_and_kill(root: Path, first_version: int, chance: random.Random) -> list[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.objects_writer", str(root), str(first_version), str(chance.random())],
        stdout=subprocess.PIPE,
        env=python_environment(),
        text=True,
    )
    assert process.stdout is not None
    with process.stdout as output:
        assert output.readline() == "ready\n"
        time.sleep(chance.uniform(0.0, 0.5))
        process.send_signal(signal.SIGKILL)
        said = output.read().splitlines()
    assert process.wait() == -signal.SIGKILL
    return said


async def whole_objects(store: FolderObjects) -> dict[str, int]:
    """The version of every object, each read in full; listing and heading agree."""
    found: dict[str, int] = {}
    after: str | None = ""
    while after is not None:
        listed = await store.list(after=after, limit=100)
        after = listed.after
        for info in listed.objects:
            assert (await store.head(info.key)).etag == info.etag
            async with store.read(info.key) as reading:
                data = b"".join([chunk async for chunk in reading])
            found[info.key] = version_of(data, info.key.removesuffix(".source"))
    return found


async def test_what_was_acknowledged_survives_being_killed_at_any_moment(tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)
    root, chance, ledger = tmp_path / "store", random.Random(seed), Ledger()
    version = acknowledged = 0
    for _ in range(KILLS):
        lines = run_and_kill(root, version, chance)
        acknowledged += sum(line.startswith("done") for line in lines)
        version = max(version, ledger.enter(lines))
        store = await open_folder(root)
        found = await whole_objects(store)
        ledger.check({key: version for key, version in found.items() if not key.endswith(".source")})
        await store.clean(timedelta(0))
        assert await store.clean(timedelta(0)) == 0
        await store.close()
        assert [*(root / "drafts").iterdir(), *(root / "uploads").iterdir()] == []
        assert sum(1 for _ in (root / "objects").glob("*/*")) == len(found)
    assert acknowledged > KILLS
