"""Say when nothing has come from a server for five seconds, while something waits for it."""

import fcntl
import socket
import sys
import termios
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from typing import cast

from satchel.cli.engine.terminal.output import note

SILENT_SECONDS = 5.0
SILENT = "Nothing has come from the server for 5 s. It or the connection may have stopped. Waiting for more."
_LOOKS_EVERY_SECONDS = 0.5


class SilenceWatch:
    """Of all that waits for one server, in any thread. `say` is told once for each silence."""

    def __init__(self, say: Callable[[str], None] = note) -> None:
        self.say = say
        self._counting = threading.Lock()
        self._waiting: list[HTTPConnection | None] = []
        self._unsent_bytes = 0
        self._heard_at = 0.0
        self._is_said = False
        self._is_looking = False

    @contextmanager
    def waiting(self, sending: HTTPConnection | None = None) -> Generator[None]:
        """Around what blocks until the server does something. What is still on its way to it is no silence."""
        with self._counting:
            if not self._waiting:
                self.heard()
            self._waiting.append(sending)
            if not self._is_looking:
                self._is_looking = True
                threading.Thread(target=self._look, daemon=True).start()
        try:
            yield
        finally:
            with self._counting:
                self._waiting.remove(sending)
            self.heard()

    @contextmanager
    def told_by(self, say: Callable[[str], None]) -> Generator[None]:
        """In the block something else may write to the terminal."""
        before, self.say = self.say, say
        try:
            yield
        finally:
            self.say = before

    def heard(self) -> None:
        """The server has taken or given something."""
        self._heard_at, self._is_said = time.monotonic(), False

    def _look(self) -> None:
        """Until nothing waits any more."""
        while True:
            time.sleep(_LOOKS_EVERY_SECONDS)
            with self._counting:
                if not self._waiting:
                    self._is_looking = False
                    return
                unsent = sum(unsent_bytes(_socket_of(each)) for each in self._waiting)
            if unsent != self._unsent_bytes:
                self._unsent_bytes = unsent
                self.heard()
            if time.monotonic() - self._heard_at >= SILENT_SECONDS and not self._is_said:
                self._is_said = True
                self.say(SILENT)


def _socket_of(connection: HTTPConnection | None) -> socket.socket | None:
    return None if connection is None else cast("socket.socket | None", connection.sock)


def unsent_bytes(sock: socket.socket | None) -> int:
    """How much the system has taken of a request that the server has not, where the system tells."""
    if sock is not None:
        with suppress(OSError, ValueError):
            return int.from_bytes(fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, bytes(4)), sys.byteorder)
    return 0
