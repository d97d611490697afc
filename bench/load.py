"""Hundreds of browsers with mixed traffic: how long acts take, and whether the server grows, fails or is rude."""

import asyncio
import statistics
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import msgspec

from bench.figures import Figure, alone, below
from bench.load_browsers import Seen
from bench.processes import children, cpu_seconds_of_tree, resident_megabytes, scratch_folder
from bench.rounds import QUICK, Effort
from bench.satchel_server import PASSWORD
from tests.fork_server import SATCHEL
from tests.server.process import ServerProcess, serving

_PROCESSES = 2
# Both are bounds, too: of memory, sockets and the disk.
MOST_CLIENTS, MOST_MINUTES = 2_000, 120
_WATCHED_EVERY_SECONDS = 1.0
_A_MINUTE = 60
# Caches fill first; growth is what comes after the first third.
_GROWTH_FROM = 1 / 3
_MOST_GROWTH = 1.0
_EXAMPLES = 5


@dataclass
class _Watched:
    """Memory of the server, second by second, and the most that it and its processes had."""

    at: list[float] = field(default_factory=list[float])
    megabytes: list[float] = field(default_factory=list[float])
    most_of_all: float = 0.0

    @property
    def slope(self) -> float:
        """MB a minute."""
        first = int(len(self.at) * _GROWTH_FROM)
        return 60 * statistics.linear_regression(self.at[first:], self.megabytes[first:]).slope


async def measure(effort: Effort) -> list[Figure]:
    clients, minutes = (50, 0.5) if effort is QUICK else (effort.clients, effort.minutes)
    with scratch_folder() as folder:
        options = ("--sign-up", "open", "--log-level", "warning")
        with serving(folder / "data", *options, program=SATCHEL) as server:
            # Who comes first administers the server, and is none of those who are counted.
            first = {"email": "first@example.org", "name": "First", "password": PASSWORD}
            await asyncio.to_thread(lambda: server.client.post("/api/v1/accounts", json=first).raise_for_status())
            watched, seen, cpu = await _run(server, clients, minutes * 60)
            traces, errors = server.said.count("Traceback"), server.said.count(" error: ")
            if traces or errors:
                print(server.said[-4000:], file=sys.stderr)
    return _figures(seen, watched, f"{clients} browsers for {minutes:g} minutes", cpu, traces + errors)


async def _run(server: ServerProcess, clients: int, seconds: float) -> tuple[_Watched, Seen, float]:
    async with AsyncExitStack() as opened:
        share = -(-clients // _PROCESSES)
        parts = [range(start, min(start + share, clients)) for start in range(0, clients, share)]
        processes = await asyncio.gather(
            *(opened.enter_async_context(_browsers(server.url, part, seconds)) for part in parts)
        )
        before, started = cpu_seconds_of_tree(server.process.pid), time.monotonic()
        watched = _Watched()
        watching = asyncio.create_task(_watch(server.process.pid, watched))
        outputs = [output for output, _ in await asyncio.gather(*(each.communicate(b"\n") for each in processes))]
        watching.cancel()
        cpu = (cpu_seconds_of_tree(server.process.pid) - before) / (time.monotonic() - started)
        return watched, _together([msgspec.json.decode(output, type=Seen) for output in outputs]), cpu


@asynccontextmanager
async def _browsers(url: str, part: range, seconds: float) -> AsyncGenerator[asyncio.subprocess.Process]:
    """A process that holds so many browsers, all of which are in."""
    pipe = asyncio.subprocess.PIPE
    arguments = ["-m", "bench.load_browsers", url, str(part.start), str(len(part)), str(seconds)]
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdin=pipe, stdout=pipe, limit=2**28)
    try:
        assert process.stdout is not None
        if await process.stdout.readline() != b"ready\n":
            raise RuntimeError("not every browser could come in")
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _watch(pid: int, watched: _Watched) -> None:
    while True:
        own = resident_megabytes(pid)
        watched.at.append(time.monotonic())
        watched.megabytes.append(own)
        watched.most_of_all = max(watched.most_of_all, own + sum(map(_resident, children(pid))))
        if len(watched.at) % _A_MINUTE == 0:
            print(f"load: {len(watched.at) // _A_MINUTE} min, {own:.0f} MB", file=sys.stderr)
        await asyncio.sleep(_WATCHED_EVERY_SECONDS)


def _resident(pid: int) -> float:
    try:
        return resident_megabytes(pid)
    except OSError:  # it has just ended
        return 0.0


def _together(parts: Sequence[Seen]) -> Seen:
    all_seen, refused = Seen(), Counter[int]()
    for part in parts:
        for name, times in part.times.items():
            all_seen.times.setdefault(name, []).extend(times)
        refused += Counter(part.refused)
        all_seen.impolite += part.impolite
        all_seen.failed += part.failed
        all_seen.lines += part.lines
        all_seen.heard += part.heard
        all_seen.missed += part.missed
    all_seen.refused = dict(refused)
    return all_seen


def _figures(seen: Seen, watched: _Watched, what: str, cpu: float, exceptions: int) -> list[Figure]:
    for told in (*seen.failed[:_EXAMPLES], *seen.impolite[:_EXAMPLES]):
        print(f"load: {told}", file=sys.stderr)
    acts = sum(map(len, seen.times.values()))
    figures: list[Figure] = []
    for name, times in sorted(seen.times.items()):
        figures.append(alone(f"{name}, p50", "ms", [statistics.median(times)], note=f"{len(times):,} times"))
        figures.append(alone(f"{name}, p99", "ms", [sorted(times)[int(len(times) * 0.99)]]))
    refused = ", ".join(f"{number:,} with {status}" for status, number in sorted(seen.refused.items()))
    by_minute = ", ".join(f"{each:.0f}" for each in watched.megabytes[::_A_MINUTE])
    return [
        *figures,
        alone("processor time of the server", "% of one core", [100 * cpu], note=f"{what}, {acts:,} acts"),
        alone(
            "resident, growth after a third",
            "MB/min",
            [watched.slope],
            target=below(_MOST_GROWTH),
            note=f"MB by the minute: {by_minute}",
        ),
        alone("resident with its processes, at most", "MB", [watched.most_of_all]),
        alone(
            "answers of 500 and above, lost ones, and any other that nobody expects",
            "",
            [len(seen.failed)],
            target=below(1),
        ),
        alone("exceptions and errors in the log", "", [exceptions], target=below(1)),
        alone("refusals without a problem or Retry-After", "", [len(seen.impolite)], target=below(1), note=refused),
        alone("messages that somebody did not hear live", "", [seen.missed], note=f"{seen.heard:,} heard"),
    ]
