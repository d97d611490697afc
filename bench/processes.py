"""What the machine can tell: processor time and memory of a process, how busy others are, what a program prints."""

import asyncio
import os
import resource
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from bench.figures import Noise
from tests.services import running

# On disk, where `/tmp` may be memory.
SCRATCH = Path(__file__).parent.parent / ".cache" / "bench"


def cpu_seconds(pid: int) -> float:
    """All processor time of a process, threads that have ended included, to the nanosecond."""
    # The number that clock_getcpuclockid(3) gives for a process; Python wraps it for threads only.
    return time.clock_gettime(~pid << 3 | 2)


def children(pid: int) -> list[int]:
    found: list[int] = []
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has just ended
            found += [int(child) for child in (thread / "children").read_text().split()]
    return found


def cpu_seconds_of_tree(pid: int) -> float:
    """Processor time of a process and all its living descendants."""
    total = cpu_seconds(pid)
    for child in children(pid):
        with suppress(OSError):  # a child that has just ended
            total += cpu_seconds_of_tree(child)
    return total


def resident_megabytes(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


class Watch:
    """Says afterwards how busy the machine was with anything but us."""

    def __init__(self) -> None:
        self._load = os.getloadavg()[0]
        self._before = self._now()

    def noise(self) -> Noise:
        total, busy, stolen, own = (after - before for before, after in zip(self._before, self._now(), strict=True))
        return Noise(
            load_before=self._load,
            load_after=os.getloadavg()[0],
            others_percent=max(0.0, 100 * (busy - own) / total),
            stolen_percent=100 * stolen / total,
        )

    def _now(self) -> tuple[float, float, float, float]:
        """Seconds of all processors together: available, in use, taken by the hypervisor, used by us."""
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
        user, nice, system, idle, waiting, irq, soft_irq, stolen = (
            int(each) / os.sysconf("SC_CLK_TCK") for each in fields
        )
        busy = user + nice + system + irq + soft_irq
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        own = cpu_seconds_of_tree(os.getpid()) + ended.ru_utime + ended.ru_stime
        return busy + idle + waiting + stolen, busy, stolen, own


@contextmanager
def scratch_folder() -> Generator[Path]:
    """A new empty folder on a disk, gone after the block."""
    SCRATCH.mkdir(parents=True, exist_ok=True)
    _refuse_memory(SCRATCH)
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        yield Path(folder)


def _refuse_memory(folder: Path) -> None:
    where, kind = Path("/"), ""
    for line in Path("/proc/mounts").read_text().splitlines():
        _, mounted, file_system, *_ = line.split()
        if folder.is_relative_to(mounted) and Path(mounted).is_relative_to(where):
            where, kind = Path(mounted), file_system
    if kind in ("tmpfs", "ramfs"):
        raise SystemExit(f"{folder} is in memory, so nothing durable can be measured there. Check out onto a disk.")


@contextmanager
def serving(
    command: Sequence[str], port: int, *, cwd: Path | None = None, environment: Mapping[str, str] | None = None
) -> Generator[int]:
    """A server process and its pid; it listens before the block begins and is gone after it."""
    # `env` becomes the command, so that the pid stays.
    variables = [f"{name}={value}" for name, value in (environment or {}).items()]
    with running(["env", *variables, *command] if variables else command, port, cwd=cwd) as process:
        yield process.pid


async def output_of(*command: str, cwd: Path | None = None) -> str:
    """What a program that succeeds prints."""
    process = await asyncio.create_subprocess_exec(
        *command, cwd=cwd, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await process.communicate()
    text = output.decode(errors="replace")
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{text[-2000:]}")
    return text
