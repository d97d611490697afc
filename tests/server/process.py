"""The real program as a process of its own: started, spoken to over TCP, and stopped or killed."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.fork_server import SATCHEL, ForkedProcess, fork_satchel
from tests.services import free_port, python_environment


@dataclass
class ServerProcess:
    """A running `satchel serve`, or what stands before several of them."""

    process: "ForkedProcess | subprocess.Popen[bytes]"
    url: str
    log: Path
    client: httpx.Client

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(30)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    @property
    def said(self) -> str:
        return self.log.read_text(errors="replace")


@contextmanager
def serving(
    data: Path,
    *options: str,
    wrapper: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    program: Path | None = None,
    port: int | None = None,
) -> Generator[ServerProcess]:
    """`satchel serve`, on a free port unless told otherwise, once it answers; what is left of it afterwards is killed.

    With a wrapper, or a program of its own, that is what runs; else a fork of one that has imported Satchel.
    """
    port = port or free_port()
    arguments = ["serve", "--data", str(data), "--port", str(port), *options]
    env = python_environment(**(environment or {}))
    with (
        tempfile.NamedTemporaryFile(prefix="satchel-log-", delete=False) as output,
        Path(os.devnull).open("rb") as nothing,
    ):
        if wrapper or program:
            command = [*wrapper, str(program or SATCHEL), *arguments]
            process = subprocess.Popen(command, stdin=nothing, stdout=output, stderr=output, env=env, cwd="/")
        else:
            files = (nothing.fileno(), output.fileno(), output.fileno())
            process = fork_satchel(arguments, environment=env, folder=Path("/"), files=files)
    url = f"http://127.0.0.1:{port}"
    server = ServerProcess(process, url, Path(output.name), httpx.Client(base_url=url, timeout=20))
    try:
        _wait_until_it_answers(server)
        yield server
    finally:
        if process.poll() is None:
            server.kill()
        server.client.close()
        server.log.unlink()


def refused(data: Path, *options: str, environment: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Exit code and words of a `satchel serve` that should not be able to start."""
    done = subprocess.run(
        [str(SATCHEL), "serve", "--data", str(data), *options],
        capture_output=True,
        text=True,
        timeout=60,
        env=python_environment(**(environment or {})),
        cwd="/",
    )
    return done.returncode, done.stdout + done.stderr


def make_tables(environment: Mapping[str, str]) -> None:
    """`satchel tables create`."""
    command = [str(SATCHEL), "tables", "create"]
    done = subprocess.run(command, env=python_environment(**environment), capture_output=True, text=True, cwd="/")
    assert done.returncode == 0, done.stderr


def _wait_until_it_answers(server: ServerProcess) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and server.process.poll() is None:
        try:
            if httpx.get(f"{server.url}/healthz", timeout=5).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.02)
    raise AssertionError(f"the server did not start:\n{server.said}")
