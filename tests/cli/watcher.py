"""Somebody who watches a room in a terminal of their own, and tells what they saw."""

import json
import queue
import signal
import subprocess
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.cli.terminal import Person


@dataclass
class Watcher:
    """A running `satchel room watch --json`."""

    process: "subprocess.Popen[str]"
    seen: list[Any] = field(default_factory=list[Any])
    _lines: "queue.SimpleQueue[str]" = field(default_factory=lambda: queue.SimpleQueue())

    def __post_init__(self) -> None:
        threading.Thread(target=self._read, daemon=True).start()

    def sees(self, kind: str, so_that: Callable[[Any], bool] = lambda _: True) -> Any:
        """The next thing of this kind; fails if it does not come."""
        while True:
            line = self._lines.get(timeout=60)
            assert line, (kind, self.seen, self.process.stderr and self.process.stderr.read())
            self.seen.append(json.loads(line))
            if self.seen[-1]["type"] == kind and so_that(self.seen[-1]):
                return self.seen[-1]

    def interrupt(self) -> tuple[int, str]:
        """What Ctrl-C makes of it: the exit code, and what was complained of."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(30)
        return code, self.process.stderr.read() if self.process.stderr else ""

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put("")


@contextmanager
def watching(person: Person, *arguments: str) -> Generator[Watcher]:
    process = person.start("room", "watch", *arguments, "--json")
    try:
        yield Watcher(process)
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
