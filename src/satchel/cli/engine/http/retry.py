"""When to repeat a request that failed, how long to wait before it, and when to give up: one rule for every verb."""

import threading
import time
from collections.abc import Callable

from satchel.cli.engine.http.failures import Refused, Unreachable

# A server that restarts is back within seconds; a laptop that was carried to another room, within a minute.
GIVE_UP_SECONDS = 90.0
LONGEST_PAUSE_SECONDS = 10.0
_FIRST_PAUSE_SECONDS = 0.25
# Another request, a restart or too much work is in the way, and will not be in a moment.
_TRANSIENT_STATUSES = {409, 423, 429, 460, 500, 502, 503, 504}
CONNECTION_LOST = "The connection is lost. Trying again until the server is back."


class Stopped(Exception):
    """The command is about to end, so nothing more is begun."""


def is_transient(error: Refused | Unreachable) -> bool:
    """Whether the same request may well succeed later."""
    return isinstance(error, Unreachable) or error.status in _TRANSIENT_STATUSES


class Backoff:
    """How long to wait before the next attempt: twice as long after every failure, up to ten seconds."""

    def __init__(self, first_seconds: float = _FIRST_PAUSE_SECONDS) -> None:
        self._first_seconds = first_seconds
        self.seconds = first_seconds

    def reset(self) -> None:
        """Something succeeded."""
        self.seconds = self._first_seconds

    def next_seconds(self) -> float:
        """The pause after this failure; the one after the next is longer."""
        pause, self.seconds = self.seconds, min(2 * self.seconds, LONGEST_PAUSE_SECONDS)
        return pause


class Retry:
    """The retries of one upload, download or request: ends when nothing has succeeded for too long."""

    def __init__(self, stop: threading.Event, say: Callable[[str], None]) -> None:
        self._stop = stop
        self._say = say
        self._backoff = Backoff()
        self._failing_since: float | None = None

    def progressed(self) -> None:
        """Something succeeded, so the next failure is the first again."""
        self._failing_since = None
        self._backoff.reset()

    def wait_after(self, error: Refused | Unreachable) -> None:
        """Wait until the next attempt; raises the error if it is permanent, or has lasted too long."""
        now = time.monotonic()
        since = self._failing_since = self._failing_since or now
        if not is_transient(error) or now - since > GIVE_UP_SECONDS:
            raise error
        if isinstance(error, Unreachable):
            self._say(CONNECTION_LOST)
        asked_seconds = error.after_seconds if isinstance(error, Refused) else 0
        if self._stop.wait(max(self._backoff.next_seconds(), asked_seconds)):
            raise Stopped
