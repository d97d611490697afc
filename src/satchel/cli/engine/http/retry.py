"""When to repeat a request that failed, how long to wait before it, and when to give up: one rule for every verb."""

import threading
import time
from collections.abc import Callable

from satchel.cli.engine.http.failures import Refused, Unreachable

# A server that restarts is back within seconds; a laptop that was carried to another room, within a minute.
GIVE_UP_SECONDS = 90.0
_LONGEST_PAUSE_SECONDS = 10.0
_FIRST_PAUSE_SECONDS = 0.25
# Another request, a restart or too much work is in the way, and will not be in a moment.
_PASSING_STATUSES = {409, 423, 429, 460, 500, 502, 503, 504}


class Stopped(Exception):
    """The command is about to end, so that nothing more is begun."""


def is_passing(error: Refused | Unreachable) -> bool:
    """Whether the same request may well succeed later."""
    return isinstance(error, Unreachable) or error.status in _PASSING_STATUSES


class Patience:
    """One transfer's: waits longer after every failure, and gives up when nothing has moved for too long."""

    def __init__(self, stop: threading.Event, say: Callable[[str], None]) -> None:
        self._stop = stop
        self._say = say
        self.moved()

    def moved(self) -> None:
        self._failing_since: float | None = None
        self._pause_seconds = _FIRST_PAUSE_SECONDS

    def wait_after(self, error: Refused | Unreachable) -> None:
        """Wait until it is worth trying again; raises the error when it no longer is, or never was."""
        now = time.monotonic()
        since = self._failing_since = self._failing_since or now
        if not is_passing(error) or now - since > GIVE_UP_SECONDS:
            raise error
        if isinstance(error, Unreachable):
            self._say("The connection is lost. Trying again until the server is back.")
        if self._stop.wait(max(self._pause_seconds, error.after_seconds if isinstance(error, Refused) else 0)):
            raise Stopped
        self._pause_seconds = min(2 * self._pause_seconds, _LONGEST_PAUSE_SECONDS)
