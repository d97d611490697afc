"""The speed of a stream, measured from where it was resumed."""

import time
from dataclasses import dataclass, field

from satchel.cli.engine.terminal.sizes import shown_bytes, shown_seconds


@dataclass(slots=True)
class Pace:
    """The speed of one stream since its beginning, and when it was last shown."""

    from_bytes: int = 0
    begun_at: float = field(default_factory=time.monotonic)
    shown_at: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begun_at

    def speed(self, written_bytes: int) -> int:
        return int((written_bytes - self.from_bytes) / max(self.seconds, 0.001))

    def summed_up(self, size: int) -> str:
        """A text to follow a size. It is empty for a stream that took only a moment."""
        seconds = self.seconds
        return f" in {shown_seconds(seconds)}, {shown_bytes(self.speed(size))}/s" if size and seconds >= 1 else ""
