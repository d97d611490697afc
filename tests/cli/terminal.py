"""A person at a terminal: runs the real `satchel`, with a home of their own, and sees what it prints."""

import os
import pty
import select
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, TypeAlias

import msgspec

from tests.fork_server import SATCHEL, fork_satchel
from tests.services import python_environment

# Of the server that people share, so that a test can make the tokens which that server would have made.
SECRET = "a secret that only the tests of the command know"


@dataclass(frozen=True)
class Ran:
    """How a command ended, and what it wrote where."""

    code: int
    out: str
    err: str = ""

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.out)


AtOnce: TypeAlias = Callable[..., Ran]


@dataclass(frozen=True)
class Person:
    """Somebody with a home folder; settings and credentials of others do not reach in."""

    home: Path

    @property
    def credentials(self) -> Path:
        return self.home / ".config" / "satchel" / "credentials.json"

    @property
    def kept(self) -> Any:
        return msgspec.json.decode(self.credentials.read_bytes())

    def environment(self, **extra: str) -> dict[str, str]:
        kept = {name: value for name, value in python_environment().items() if name != "XDG_CONFIG_HOME"}
        return {**kept, "HOME": str(self.home), "TERM": "xterm", **extra}

    def start(self, *arguments: str, **extra: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [str(SATCHEL), *arguments],
            env=self.environment(**extra),
            cwd=self.home,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, *arguments: str, typed: str = "", **extra: str) -> Ran:
        """Run a command with files as its input and output, as a script does."""
        with TemporaryFile() as standard_input, TemporaryFile() as out, TemporaryFile() as err:
            standard_input.write(typed.encode())
            standard_input.seek(0)
            command = fork_satchel(
                arguments,
                environment=self.environment(**extra),
                folder=self.home,
                files=(standard_input.fileno(), out.fileno(), err.fileno()),
            )
            try:
                code = command.wait(120)
            finally:
                command.kill()
            return Ran(code, _text(out), _text(err))

    def run_in_terminal(
        self, *arguments: str, answers: Sequence[tuple[str, str | Callable[[], None]]] = (), **extra: str
    ) -> Ran:
        """Run a command in a terminal; once it has written a question, type the answer to it, or do something."""
        terminal, inside = pty.openpty()
        process = subprocess.Popen(
            # A session of its own, of which this is the terminal: so that Ctrl-C reaches the command.
            ["setsid", "--ctty", "--wait", str(SATCHEL), *arguments],
            env=self.environment(**{"COLUMNS": "80", **extra}),
            cwd=self.home,
            stdin=inside,
            stdout=inside,
            stderr=inside,
        )
        os.close(inside)
        seen, waiting = b"", list(answers)
        with suppress(OSError):  # how Linux says that the other side has closed a terminal
            while select.select([terminal], [], [], 60)[0]:
                seen += os.read(terminal, 65536)
                if waiting and waiting[0][0].encode() in seen:
                    answer = waiting.pop(0)[1]
                    if isinstance(answer, str):
                        os.write(terminal, answer.encode())
                    else:
                        answer()
        os.close(terminal)
        return Ran(process.wait(10), seen.decode().replace("\r\n", "\n"))


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


def explains(ran: Ran, code: int, *words: str) -> bool:
    """Whether the command ended with this code and one sentence of explanation that has these words."""
    assert ran.code == code, ran
    assert ran.out == "", ran
    assert len(ran.err.strip().splitlines()) == 1, ran.err
    assert ran.err.startswith("Error: "), ran.err
    assert all(word in ran.err for word in words), ran.err
    return True
