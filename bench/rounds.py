"""Taking turns: contestants measured one after the other in every round, so that a busy machine is busy for all."""

import asyncio
import itertools
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from bench.figures import Sample
from bench.processes import cpu_seconds_of_tree

Measure = Callable[[], Awaitable[Sample]]
Operation = Callable[[int], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is spent on every figure."""

    rounds: int = 5
    seconds: float = 2.0
    file_bytes: int = 256 * 1024 * 1024
    small_requests: int = 10_000
    # Of `load`, which measures once.
    clients: int = 500
    minutes: float = 10

    @property
    def file_size(self) -> str:
        return f"{self.file_bytes // 1024**2} MiB"


QUICK = Effort(rounds=2, seconds=0.5, file_bytes=64 * 1024 * 1024, small_requests=2_000)


async def in_turn(what: str, rounds: int, contestants: Mapping[str, Measure]) -> dict[str, list[Sample]]:
    """Every contestant once a round; who begins changes from round to round."""
    samples: dict[str, list[Sample]] = {name: [] for name in contestants}
    names = list(contestants)
    for number in range(rounds):
        print(f"{what}: round {number + 1} of {rounds}", file=sys.stderr)
        first = number % len(names)
        for name in names[first:] + names[:first]:
            samples[name].append(await contestants[name]())
    return samples


async def keep_busy(operation: Operation, *, tasks: int, seconds: float, pid: int | None = None) -> Sample:
    """Repeat an operation in so many tasks at once for so long, each call with a number of its own.

    After each call a task lets the others go first, as it would in a server; without that, a call that never waits
    would leave all the work to one task. The processor time is that of `pid` and its children.
    """
    numbers = itertools.count()
    done = 0

    async def work() -> None:
        nonlocal done
        while time.perf_counter() < deadline:
            await operation(next(numbers))
            done += 1
            await asyncio.sleep(0)

    cpu_before = cpu_seconds_of_tree(pid) if pid is not None else 0.0
    started = time.perf_counter()
    deadline = started + seconds
    await asyncio.gather(*(work() for _ in range(tasks)))
    elapsed = time.perf_counter() - started
    return Sample(done, elapsed, cpu_seconds_of_tree(pid) - cpu_before if pid is not None else None)
