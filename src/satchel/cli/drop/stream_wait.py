"""What a stream waits for, such as the other side or a disk. Another thread sees when it stands still."""

import socket
import time
from types import TracebackType
from typing import Self

from satchel.cli.engine.http.silence import SILENT_SECONDS, unsent_bytes


class Wait:
    """The waits of one stream for one thing, as `with` blocks, one at a time."""

    def __init__(self) -> None:
        self._is_on = False
        self._heard_at = 0.0
        self._sock: socket.socket | None = None
        self._unsent_bytes = 0

    def on(self, sock: socket.socket) -> Self:
        """Something is being sent here. While the system gets rid of it, that is no silence."""
        self._sock = sock
        return self

    def heard(self) -> None:
        """There is a sign of life, in any thread."""
        self._heard_at = time.monotonic()

    def begin(self) -> None:
        self.heard()
        self._is_on = True

    def end(self) -> None:
        self._is_on, self._sock = False, None

    @property
    def is_silent(self) -> bool:
        """Whether nothing has moved for five seconds, if somebody looks every second."""
        if not self._is_on:
            return False
        unsent = unsent_bytes(self._sock)
        if unsent != self._unsent_bytes:
            self._unsent_bytes = unsent
            self.heard()
        return time.monotonic() - self._heard_at >= SILENT_SECONDS

    def __enter__(self) -> None:
        self.begin()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()
