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


@contextmanager
def running(
    command: Sequence[str], port: int, *, cwd: Path | None = None, environment: Mapping[str, str] | None = None
) -> "Generator[subprocess.Popen[bytes]]":
    """A server process that listens before the block begins and is gone after it."""
    with tempfile.TemporaryDirectory(prefix="satchel-service-") as folder:
        log = Path(folder) / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, cwd=cwd, env=environment)
        try:
            wait_for_port(port, process, log)
            yield process
        finally:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def redis_server(*options: str, port: int | None = None) -> Generator[str]:
    """A Redis without persistence; further options as on its command line, e.g. `--maxmemory`, `4mb`."""
    port = port or free_port()
    with tempfile.TemporaryDirectory(prefix="satchel-redis-") as folder:
        command = [tool("redis-server"), "--port", str(port), "--bind", "127.0.0.1", "--dir", folder]
        with running([*command, "--save", "", "--appendonly", "no", *options], port):
            yield f"redis://127.0.0.1:{port}/0"


@contextmanager
def dynamodb_local(port: int | None = None) -> Generator[str]:
    """AWS's own DynamoDB Local, in memory."""
    jar = DYNAMODB_FOLDER / "DynamoDBLocal.jar"
    if not jar.exists():
        raise RuntimeError("DynamoDB Local is not unpacked; `make test` does it (tools/services)")
    port = port or free_port()
    library = f"-Djava.library.path={DYNAMODB_FOLDER / 'DynamoDBLocal_lib'}"
    command = [
        tool("java"),
        "-Xmx512m",
        # It does not live long enough for what it does to be worth compiling well.
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        library,
        "-jar",
        str(jar),
        "-inMemory",
        "-sharedDb",
        "-port",
        str(port),
    ]
    with running(command, port, cwd=DYNAMODB_FOLDER):
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


@contextmanager
def rclone_s3(*options: str, port: int | None = None) -> Generator[S3Server]:
    """`rclone serve s3` over a temporary folder, with one bucket; further options such as `--read-only`."""
    port = port or free_port()
    with tempfile.TemporaryDirectory(prefix="satchel-s3-") as folder:
        (Path(folder) / "bucket").mkdir()
        server = S3Server(f"http://127.0.0.1:{port}", "bucket")
        keys = f"{server.access_key},{server.secret_key}"
        address = f"127.0.0.1:{port}"
        with running([tool("rclone"), "serve", "s3", "--auth-key", keys, "--addr", address, *options, folder], port):
            yield server


def python_environment(**extra: str) -> dict[str, str]:
    """This process's environment without settings that would change what is tested."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SATCHEL_", "AWS_"))}
    return {**kept, **extra}


def answers(url: str) -> bool:
    with urlopen(url, timeout=5) as response:
        return response.status == 200
