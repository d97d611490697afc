"""The only source of the current time, so that tests can move it."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

# Seconds since 1970. A function, not an object: every caller needs exactly this.
Clock = Callable[[], float]

system_clock: Clock = time.time


class ManualClock:
    """A clock that moves only when told to. It is called like any other."""

    def __init__(self, start: float = 1_900_000_000.0) -> None:
        self.now = start

    def __call__(self) -> float:
        return self.now

    def advance(self, by: timedelta | float) -> None:
        self.now += by.total_seconds() if isinstance(by, timedelta) else by


def iso(moment: float) -> str:
    """The stored form of a time: UTC, milliseconds, `Z`. As text it sorts by time."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def from_iso(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
