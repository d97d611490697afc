"""The real `satchel` in a process of its own, forked from one that has imported it: most of a short command is imports.

A fork runs the same `main` as the installed script, with its own arguments, environment, folder and open files. Whoever
tests how the program is found, loaded or decoded starts the script itself.
"""

import atexit
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

_IMPORTED_FIRST = (
    "satchel.app",
    "satchel.cli.account",
    "satchel.cli.albums",
    "satchel.cli.links",
    "satchel.cli.photos",
    "satchel.cli.put_get",
    "satchel.cli.rooms",
    "satchel.cli.serve",
    "satchel.cli.shelf",
    "satchel.cli.stats",
    "satchel.cli.transfers",
)
SATCHEL = Path(sys.executable).parent / "satchel"
_REQUEST_BYTES = 1 << 20


class ForkedProcess:
    """What a test needs of a `subprocess.Popen`; the exit code comes from the process that waits for it."""

    def __init__(self, arguments: Sequence[str], link: socket.socket) -> None:
        self.args = [str(SATCHEL), *arguments]
        self._link = link
        self.pid = int(self._line())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        with suppress(TimeoutError):
            return self.wait(0.0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            # Zero would make it a socket that never waits, which says something else than TimeoutError.
            self._link.settimeout(timeout if timeout is None else max(timeout, 0.001))
            self.returncode = int(self._line())
            self._link.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _line(self) -> bytes:
        # Numbers are sent whole, each on its own.
        said = self._link.recv(16)
        if not said:
            raise RuntimeError(f"nobody waits for {self.args} any more")
        return said


def fork_satchel(
    arguments: Sequence[str], *, environment: Mapping[str, str], folder: Path, files: tuple[int, int, int]
) -> ForkedProcess:
    """Start `satchel` with these arguments; `files` become its standard input, output and error."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    request = json.dumps({"arguments": list(arguments), "environment": dict(environment), "folder": str(folder)})
    with theirs:
        socket.send_fds(_server(), [request.encode()], [theirs.fileno(), *files])
    return ForkedProcess(arguments, ours)


@cache
def _server() -> socket.socket:
    """One a test process, begun by its first command; it ends when this end is closed."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _REQUEST_BYTES)
    with theirs:
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.fork_server", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env=environment,
            stdin=subprocess.DEVNULL,
        )

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def _serve(requests: socket.socket) -> None:
    for module in _IMPORTED_FIRST:
        import_module(module)
    gc.freeze()
    # Those who wait for a command are nobody's business here.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    # Ctrl-C at the tests' own terminal is theirs.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        request, files, _, _ = socket.recv_fds(requests, _REQUEST_BYTES, 4)
        if not request:
            return
        if os.fork() == 0:
            requests.close()
            _run(json.loads(request), socket.socket(fileno=files[0]), files[1:])
        for file in files:
            os.close(file)


def _run(request: dict[str, Any], link: socket.socket, files: list[int]) -> None:
    """In a process that waits for the command, and in the command itself, which does not return."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    command = os.fork()
    if command == 0:
        link.close()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environment"])
        tempfile.tempdir = None
        time.tzset()
        sys.argv = ["satchel", *request["arguments"]]
        sys.modules["__main__"].__package__ = None  # by which usage lines would say `python -m tests.satchel`
        from satchel.cli import main

        sys.exit(main())
    for file in files:
        os.close(file)
    link.send(str(command).encode())
    _, status = os.waitpid(command, 0)
    with suppress(OSError):  # nobody asks how it ended
        link.send(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
