"""Many small files through the command line, up and down, each contestant with its own server.

`satchel put` stands beside copyparty's own `u2c`. For the way back copyparty has no program: curl fetches file by file
from it, over many connections, or an archive that tar unpacks. Only `satchel get` compares each file with its SHA-256.
"""

import asyncio
import filecmp
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
_CONNECTIONS = 16
# One takes long enough for a disturbance not to decide it.
_MOST_ROUNDS = 3


async def measure(effort: Effort) -> list[Figure]:
    with ExitStack() as opened:
        folder = opened.enter_context(scratch_folder())
        satchel = opened.enter_context(satchel_server(folder / "satchel"))
        copyparty = opened.enter_context(copyparty_server(folder / "copyparty"))
        files = effort.small_requests
        program = await _signed_in(satchel, folder / "home")
        put = [*program, "put", "--quiet"]
        contestants = {
            "satchel": _sending(folder, files, put, satchel.pid),
            "u2c": _sending(folder, files, _u2c(copyparty), copyparty.pid),
            "u2c and sync": _sending(folder, files, _u2c(copyparty), copyparty.pid, flushed=True),
        }
        samples = await in_turn("shelf", min(effort.rounds, _MOST_ROUNDS), contestants)
        stored = await asyncio.to_thread(_count, copyparty.folder)
        if stored != 2 * files * min(effort.rounds, _MOST_ROUNDS):
            raise RuntimeError(f"copyparty stored {stored} files")
        down = await _downloads(satchel, copyparty, program, folder, effort)
    what = f"{files:,} files of 4 KiB with the command line"
    return [
        *down,
        compare(what, "files/s", samples, peer="u2c", target=at_least(1.0)),
        compare(
            "the same, both on the disk",
            "files/s",
            samples,
            peer="u2c and sync",
            note="Satchel answers when a file is on the disk; copyparty does not wait for that, so one sync follows.",
        ),
    ]


async def _signed_in(satchel: SatchelServer, home: Path) -> Sequence[str]:
    """The command, signed in."""
    await asyncio.to_thread(home.mkdir)
    program = ["env", f"HOME={home}", f"XDG_CONFIG_HOME={home}", tool("satchel")]
    who = ("--server", satchel.url, "--email", "ann@example.org", "--name", "Ann")
    await output_of("env", f"SATCHEL_PASSWORD={PASSWORD}", *program, "signup", *who)
    return program


async def _downloads(
    satchel: SatchelServer, copyparty: Peer, program: Sequence[str], folder: Path, effort: Effort
) -> list[Figure]:
    """One folder that both servers have."""
    files = effort.small_requests
    source = folder / f"files-{next(_NUMBERS)}"
    await asyncio.to_thread(_fill, source, files)
    await output_of(*program, "put", "--quiet", str(source))
    await output_of(*_u2c(copyparty), str(source))
    each = folder / "each.conf"
    one_by_one = "curl", "-sf", "--parallel", "--parallel-max", str(_CONNECTIONS), "-K", str(each)
    archive = f"curl -sf '{copyparty.url}/{source.name}/?tar' | tar -x"
    contestants = {
        "satchel": _fetching(source, [*program, "get", "--quiet", source.name], satchel.pid, files),
        "curl": _fetching(source, one_by_one, copyparty.pid, files, listed=(each, copyparty.url)),
        "tar": _fetching(source, ("sh", "-c", archive), copyparty.pid, files),
    }
    samples = await in_turn("shelf, down", min(effort.rounds, _MOST_ROUNDS), contestants)
    what = f"{files:,} files of 4 KiB with `satchel get`"
    return [
        compare(what, "files/s", samples, peer="curl", target=at_least(1.0)),
        compare("the same against an archive of copyparty, unpacked", "files/s", samples, peer="tar"),
    ]


def _fetching(
    source: Path, command: Sequence[str], pid: int, files: int, *, listed: tuple[Path, str] | None = None
) -> Measure:
    """Into a new folder each time. They stay until the end, as those that are sent."""

    async def run() -> Sample:
        landing = source.parent / f"landing-{next(_NUMBERS)}"
        await asyncio.to_thread(landing.mkdir)
        if listed is not None:
            await asyncio.to_thread(_list_each, source, landing, *listed)
        await asyncio.to_thread(os.sync)
        cpu_before, started = cpu_seconds_of_tree(pid), time.perf_counter()
        await output_of(*command, cwd=landing)
        sample = Sample(files, time.perf_counter() - started, cpu_seconds_of_tree(pid) - cpu_before)
        if not await asyncio.to_thread(_is_same, source, landing / source.name):
            raise RuntimeError(f"{command[0]} fetched something else than was sent")
        return sample

    return run


def _list_each(source: Path, landing: Path, settings: Path, url: str) -> None:
    """What curl reads: every address with the file that it becomes. It makes folders only if it is told to."""
    lines = ["create-dirs\n"]
    for path in source.rglob("*.bin"):
        place = path.relative_to(source.parent)
        lines.append(f'url = "{url}/{place}"\noutput = "{landing / place}"\n')
    settings.write_text("".join(lines))


def _is_same(source: Path, landed: Path) -> bool:
    names = [str(path.relative_to(source)) for path in source.rglob("*.bin")]
    return filecmp.cmpfiles(source, landed, names, shallow=False)[0] == names


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
