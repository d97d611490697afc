"""Somebody who runs `satchel send --json` in a terminal of their own."""

import os
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.cli.terminal import Person
from tests.cli.watcher import Watcher
from tests.fork_server import SATCHEL


@dataclass
class Sender(Watcher):
    """A running `satchel send`; `opened` is what it said first."""

    opened: Any = None

    def is_piped(self, content: bytes) -> None:
        assert self.process.stdin is not None
        while content:
            content = content[os.write(self.process.stdin.fileno(), content) :]

    def has_no_more_to_come(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def ends(self) -> tuple[int, Any]:
        """Its exit code, and what it said last."""
        last = self.sees("ended")
        return self.process.wait(30), last

    def is_interrupted(self) -> tuple[int, Any]:
        self.process.send_signal(signal.SIGINT)
        return self.ends()


@contextmanager
def sending(person: Person, server: str, *arguments: str) -> Generator[Sender]:
    process = subprocess.Popen(
        [str(SATCHEL), "send", *arguments, "--json"],
        env=person.environment(SATCHEL_SERVER=server),
        cwd=person.home,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    sender = Sender(process)
    try:
        sender.opened = sender.sees("opened")
        yield sender
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()
