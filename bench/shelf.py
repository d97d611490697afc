"""Many small files through the command line: `satchel put` beside copyparty's own `u2c`, each to its own server."""

import asyncio
import itertools
import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from bench.figures import Figure, Sample, at_least, compare
from bench.processes import cpu_seconds_of_tree, output_of, scratch_folder
from bench.rounds import Effort, Measure, in_turn
from bench.satchel_server import PASSWORD, SatchelServer, satchel_server
from bench.transfers import Peer, copyparty_server
from tests.services import tool

_FILE_BYTES = 4096
_FILES_PER_FOLDER = 100
# One takes long enough for a disturbance not to decide it.
_MOST_ROUNDS = 3


async def measure(effort: Effort) -> list[Figure]:
    with ExitStack() as opened:
        folder = opened.enter_context(scratch_folder())
        satchel = opened.enter_context(satchel_server(folder / "satchel"))
        copyparty = opened.enter_context(copyparty_server(folder / "copyparty"))
        files = effort.small_requests
        put = await _satchel_put(satchel, folder / "home")
        contestants = {
            "satchel": _sending(folder, files, put, satchel.pid),
            "u2c": _sending(folder, files, _u2c(copyparty), copyparty.pid),
            "u2c and sync": _sending(folder, files, _u2c(copyparty), copyparty.pid, flushed=True),
        }
        samples = await in_turn("shelf", min(effort.rounds, _MOST_ROUNDS), contestants)
        stored = await asyncio.to_thread(_count, copyparty.folder)
    if stored != 2 * files * min(effort.rounds, _MOST_ROUNDS):
        raise RuntimeError(f"copyparty stored {stored} files")
    what = f"{files:,} files of 4 KiB with the command line"
    return [
        compare(what, "files/s", samples, peer="u2c", target=at_least(1.0)),
        compare(
            "the same, both on the disk",
            "files/s",
            samples,
            peer="u2c and sync",
            note="Satchel answers when a file is on the disk; copyparty does not wait for that, so one sync follows.",
        ),
    ]


async def _satchel_put(satchel: SatchelServer, home: Path) -> Sequence[str]:
    """The command, signed in."""
    await asyncio.to_thread(home.mkdir)
    program = ["env", f"HOME={home}", f"XDG_CONFIG_HOME={home}", tool("satchel")]
    who = ("--server", satchel.url, "--email", "ann@example.org", "--name", "Ann")
    await output_of("env", f"SATCHEL_PASSWORD={PASSWORD}", *program, "signup", *who)
    return [*program, "put", "--quiet"]


def _u2c(copyparty: Peer) -> Sequence[str]:
    return [tool("u2c"), "-ns", f"{copyparty.url}/"]


def _sending(folder: Path, files: int, command: Sequence[str], pid: int, *, flushed: bool = False) -> Measure:
    """New bytes under a new name each time: neither of the two takes in again what it has.

    They stay until the end: ext4 is slow to make files where thousands were deleted half a minute before.
    """

    async def run() -> Sample:
        source = folder / f"files-{next(_NUMBERS)}"
        await asyncio.to_thread(_fill, source, files)
        cpu_before, started = cpu_seconds_of_tree(pid), time.perf_counter()
        await output_of(*command, str(source))
        if flushed:
            await asyncio.to_thread(os.sync)
        return Sample(files, time.perf_counter() - started, cpu_seconds_of_tree(pid) - cpu_before)

    return run


def _count(folder: Path) -> int:
    return sum(path.is_file() for path in folder.rglob("*.bin"))


_NUMBERS = itertools.count()


def _fill(source: Path, files: int) -> None:
    for number in range(files):
        folder = source / f"{number // _FILES_PER_FOLDER:03}"
        if number % _FILES_PER_FOLDER == 0:
            folder.mkdir(parents=True)
        (folder / f"{number:05}.bin").write_bytes(os.urandom(_FILE_BYTES))
    os.sync()
