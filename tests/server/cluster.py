"""Two servers and a worker behind nginx, on DynamoDB Local, Redis and an S3 server; each of them can be killed."""

import fcntl
import os
import signal
import sys
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import httpx

from tests.fork_server import ForkedProcess, fork_satchel
from tests.server.nginx import nginx, sample_of_two
from tests.server.process import ServerProcess, make_tables, serving
from tests.services import (
    DYNAMODB_FOLDER,
    S3Server,
    Service,
    dynamodb_command,
    free_port,
    python_environment,
    rclone_command,
    redis_command,
)

_LOCK = "transactions.lock"
_TRACE = "Traceback (most recent call last)"
SECRET = "what all servers of a set-up sign with"
# As docs/running-distributed.md asks for it.
_KEEPING = ("--appendonly", "yes", "--appendfsync", "everysec", "--maxmemory-policy", "noeviction")
Name: TypeAlias = Literal["one", "two"]


class WorkerProcess:
    """A running `satchel worker`."""

    def __init__(self, environment: Mapping[str, str], log: Path) -> None:
        self._environment = environment
        self.log = log
        self.process = self._start()

    def _start(self) -> ForkedProcess:
        with Path(os.devnull).open("rb") as nothing, self.log.open("ab") as output:
            files = (nothing.fileno(), output.fileno(), output.fileno())
            return fork_satchel(["worker"], environment=self._environment, folder=Path("/"), files=files)

    def send_signal(self, number: int) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def start(self) -> None:
        self.process = self._start()


@dataclass
class Cluster:
    """The parts, each of which can be killed and started again in the same place."""

    folder: Path
    settings: dict[str, str]
    options: tuple[str, ...]
    redis: Service
    objects: Service
    # None where it is shared with others, who would miss it.
    dynamodb: Service | None
    front: ServerProcess
    worker: WorkerProcess
    servers: dict[Name, ServerProcess]
    _ports: dict[Name, int]
    _stack: ExitStack

    def start(self, name: Name) -> None:
        """Start a server which was killed, where it was."""
        begun = serving(self.folder / name, *self.options, environment=self.settings, port=self._ports[name])
        self.servers[name] = self._stack.enter_context(begun)

    def kill_tables(self) -> None:
        """Not in the middle of what DynamoDB would do at once (`tests/dynamodb_front.py`)."""
        assert self.dynamodb is not None
        with (self.folder / _LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.dynamodb.kill()

    @property
    def traces(self) -> str:
        """What servers and the worker have logged about errors of ours, with what stands before it."""
        logs = [*(server.said for server in self.servers.values()), self.worker.log.read_text(errors="replace")]
        return "\n".join(log[max(0, log.index(_TRACE) - 500) :][:5000] for log in logs if _TRACE in log)


@contextmanager
def stopped(part: "Service | ServerProcess | WorkerProcess") -> Generator[None]:
    """It is there and does nothing, as on a machine that hangs."""
    process = part.process if isinstance(part, ServerProcess) else part
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


@contextmanager
def cluster(
    folder: Path, *options: str, environment: Mapping[str, str] | None = None, dynamodb: str | None = None
) -> Generator[Cluster]:
    """Empty, with these options for each server; `dynamodb` is where one runs already, which may have other tables."""
    ports: dict[Name, int] = {"one": free_port(), "two": free_port()}
    front, s3 = free_port(), S3Server(f"http://127.0.0.1:{free_port()}", "bucket")
    url = f"http://127.0.0.1:{front}"
    with ExitStack() as stack:
        redis, objects = _started(stack, _redis(folder)), _started(stack, _objects(folder, s3))
        tables = None if dynamodb else _started(stack, _dynamodb(folder))
        behind = tables.port if tables else int(str(dynamodb).rpartition(":")[2])
        before_tables = _started(stack, _dynamodb_front(folder, behind))
        settings = {
            "SATCHEL_TABLE": f"dynamodb://us-east-1?endpoint=http://127.0.0.1:{before_tables.port}",
            "SATCHEL_TABLE_PREFIX": f"{folder.name}-",
            "SATCHEL_EPHEMERAL": f"redis://127.0.0.1:{redis.port}/0",
            "SATCHEL_OBJECTS": f"s3://{s3.bucket}?endpoint={s3.endpoint}",
            "SATCHEL_SECRET": SECRET,
            "SATCHEL_TRUSTED_PROXIES": "127.0.0.1",
            **s3.environment(),
            **(environment or {}),
        }
        make_tables(settings)
        servers: dict[Name, ServerProcess] = {
            name: stack.enter_context(serving(folder / name, *options, environment=settings, port=port))
            for name, port in ports.items()
        }
        worker = WorkerProcess(python_environment(**settings), folder / "worker.log")
        stack.callback(worker.kill)
        between = stack.enter_context(nginx(folder / "nginx", front, sample_of_two(front, ports["one"], ports["two"])))
        client = stack.enter_context(httpx.Client(base_url=url, timeout=20))
        before = ServerProcess(between.process, url, between.folder / "error.log", client)
        yield Cluster(folder, settings, options, redis, objects, tables, before, worker, servers, ports, stack)


def _started(stack: ExitStack, service: Service) -> Service:
    stack.callback(service.end)
    service.start()
    return service


def _redis(folder: Path) -> Service:
    port = free_port()
    (folder / "redis").mkdir(parents=True)
    return Service(redis_command(folder / "redis", port, *_KEEPING), port, folder / "redis.log")


def _objects(folder: Path, s3: S3Server) -> Service:
    port = int(s3.endpoint.rpartition(":")[2])
    return Service(rclone_command(folder / "objects", s3), port, folder / "objects.log")


def _dynamodb(folder: Path) -> Service:
    port = free_port()
    (folder / "tables").mkdir()
    command = dynamodb_command(port, "-dbPath", str(folder / "tables"))
    return Service(command, port, folder / "dynamodb.log", DYNAMODB_FOLDER)


def _dynamodb_front(folder: Path, behind: int) -> Service:
    port = free_port()
    command = [sys.executable, "-m", "tests.dynamodb_front", str(port), str(behind), str(folder / _LOCK)]
    return Service(command, port, folder / "dynamodb_front.log", Path(__file__).parents[2])
