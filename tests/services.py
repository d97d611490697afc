"""The real servers that the tests run against, started on free ports and stopped again."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

DYNAMODB_FOLDER = Path(__file__).parent.parent / ".cache" / "dynamodb-local"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def tool(name: str) -> str:
    """A program of this environment or of the machine; its absence is a failure, never a skipped test."""
    beside_python = Path(sys.executable).parent / name
    # Debian keeps some where only root looks.
    found = str(beside_python) if beside_python.exists() else shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    if found is None:
        raise RuntimeError(f"{name} is not installed; `make test` installs it")
    return found


def wait_for_port(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"{process.args!r} did not start listening:\n{log.read_text(errors='replace')[-2000:]}")


@dataclass
class Service:
    """A server process that can be killed and started again, with all that it has kept."""

    command: Sequence[str]
    port: int
    log: Path
    cwd: Path | None = None
    environment: Mapping[str, str] | None = None
    process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> "subprocess.Popen[bytes]":
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                self.command, stdout=output, stderr=subprocess.STDOUT, cwd=self.cwd, env=self.environment
            )
        wait_for_port(self.port, self.process, self.log)
        return self.process

    def send_signal(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def end(self) -> None:
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.kill()


@contextmanager
def running(
    command: Sequence[str], port: int, *, cwd: Path | None = None, environment: Mapping[str, str] | None = None
) -> "Generator[subprocess.Popen[bytes]]":
    """A server process that listens before the block begins and is gone after it."""
    with tempfile.TemporaryDirectory(prefix="satchel-service-") as folder:
        service = Service(command, port, Path(folder) / "log", cwd, environment)
        try:
            yield service.start()
        finally:
            service.end()


def redis_command(folder: Path, port: int, *options: str) -> list[str]:
    """Without persistence; further options as on its command line, e.g. `--maxmemory`, `4mb`."""
    command = [tool("redis-server"), "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
    return [*command, "--save", "", "--appendonly", "no", *options]


@contextmanager
def redis_server(*options: str, port: int | None = None) -> Generator[str]:
    port = port or free_port()
    with (
        tempfile.TemporaryDirectory(prefix="satchel-redis-") as folder,
        running(redis_command(Path(folder), port, *options), port),
    ):
        yield f"redis://127.0.0.1:{port}/0"


def dynamodb_command(port: int, *where: str, compiles: bool = False) -> list[str]:
    """AWS's own DynamoDB Local, run in its folder; `where` it keeps its tables: `-inMemory`, or `-dbPath` and one.

    If it `compiles`, its virtual machine does so as well as it can. For tests it does not live long enough.
    """
    jar = DYNAMODB_FOLDER / "DynamoDBLocal.jar"
    if not jar.exists():
        raise RuntimeError("DynamoDB Local is not unpacked; `make test` does it (tools/services)")
    java = [tool("java"), "-Xmx512m", "-XX:+UseSerialGC", *([] if compiles else ["-XX:TieredStopAtLevel=1"])]
    library = f"-Djava.library.path={DYNAMODB_FOLDER / 'DynamoDBLocal_lib'}"
    return [*java, library, "-jar", str(jar), *where, "-sharedDb", "-port", str(port)]


@contextmanager
def dynamodb_local(port: int | None = None, *, compiles: bool = False) -> Generator[str]:
    """In memory."""
    port = port or free_port()
    with running(dynamodb_command(port, "-inMemory", compiles=compiles), port, cwd=DYNAMODB_FOLDER):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def moto_server(port: int | None = None) -> Generator[str]:
    """moto's imitation of AWS, a second witness where the other servers fall short."""
    port = port or free_port()
    with running([tool("moto_server"), "-H", "127.0.0.1", "-p", str(port)], port):
        yield f"http://127.0.0.1:{port}"


@dataclass(frozen=True)
class S3Server:
    """Where a bucket is, and the keys to it."""

    endpoint: str
    bucket: str
    access_key: str = "satchel-test"
    secret_key: str = "satchel-test-secret"
    region: str = "us-east-1"

    def environment(self) -> dict[str, str]:
        return {"AWS_ACCESS_KEY_ID": self.access_key, "AWS_SECRET_ACCESS_KEY": self.secret_key}


def rclone_command(folder: Path, server: S3Server, *options: str) -> list[str]:
    """`rclone serve s3`, which makes a bucket of each folder in this one; further options such as `--read-only`."""
    (folder / server.bucket).mkdir(parents=True)
    keys, address = f"{server.access_key},{server.secret_key}", server.endpoint.removeprefix("http://")
    return [tool("rclone"), "serve", "s3", "--auth-key", keys, "--addr", address, *options, str(folder)]


@contextmanager
def rclone_s3(*options: str, port: int | None = None) -> Generator[S3Server]:
    """With one bucket, in a temporary folder."""
    port = port or free_port()
    server = S3Server(f"http://127.0.0.1:{port}", "bucket")
    with (
        tempfile.TemporaryDirectory(prefix="satchel-s3-") as folder,
        running(rclone_command(Path(folder), server, *options), port),
    ):
        yield server


def python_environment(**extra: str) -> dict[str, str]:
    """This process's environment without settings that would change what is tested."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SATCHEL_", "AWS_"))}
    return {**kept, **extra}


def answers(url: str) -> bool:
    with urlopen(url, timeout=5) as response:
        return response.status == 200
