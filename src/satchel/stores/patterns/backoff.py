"""How long to wait before a retry, and when to give up: exponential backoff with jitter.

Jitter spreads those who failed together, so that they do not meet again. The longest pause doubles from retry to
retry, so the load falls even if everybody keeps trying.
"""

import asyncio
import math
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

Sleep: TypeAlias = Callable[[float], Awaitable[object]]
# A number from 0 up to 1, drawn for each pause.
Draw: TypeAlias = Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """The rule: `attempts` in all, the first `immediate` retries without a pause, then pauses that double.

    A pause is drawn between `longest * (1 - jitter)` and `longest`. No retry begins later than `within_seconds`.
    """

    attempts: int
    first_seconds: float
    longest_seconds: float
    immediate: int = 0
    jitter: float = 1.0
    within_seconds: float = math.inf

    def pause_seconds(self, retry: int, drawn: float) -> float:
        """The pause before this retry, counted from 1."""
        if retry <= self.immediate:
            return 0.0
        doubled = self.first_seconds * 2.0 ** min(retry - self.immediate - 1, 64)
        return min(self.longest_seconds, doubled) * (1 - self.jitter * drawn)


class Retries:
    """One run of a rule: count the attempts of one operation and wait between them."""

    def __init__(self, backoff: Backoff, *, sleep: Sleep = asyncio.sleep, draw: Draw = random.random) -> None:
        self._backoff = backoff
        self._sleep = sleep
        self._draw = draw
        self._retries = 0
        self._deadline = asyncio.get_running_loop().time() + backoff.within_seconds

    async def pause(self) -> bool:
        """Wait, then answer True: try again. Answer False at once when the bound is reached."""
        if self._retries + 1 >= self._backoff.attempts or asyncio.get_running_loop().time() >= self._deadline:
            return False
        self._retries += 1
        seconds = self._backoff.pause_seconds(self._retries, self._draw())
        if seconds > 0:
            await self._sleep(seconds)
        return True

    async def pause_or_raise(self, error: Exception) -> None:
        if not await self.pause():
            raise error
