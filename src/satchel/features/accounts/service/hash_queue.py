"""A queue for work that takes a whole core, such as hashing: those who wait take turns by network."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from satchel.kernel.errors import Unavailable

P = ParamSpec("P")
T = TypeVar("T")


class HashQueue:
    """Runs a few at once, off the event loop. Each share, such as a network, has a line, and the lines take turns.

    Whoever fills the queue waits for themselves: others are next after one piece of work of each line. When the queue
    is full, the last in the longest line is refused.
    """

    def __init__(self, at_once: int, most_waiting: int) -> None:
        self._free = at_once
        self._most_waiting = most_waiting
        # Whose turn it is comes first.
        self._lines: dict[str, deque[asyncio.Future[None]]] = {}

    async def run(self, share: str, work: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        await self._turn(share)
        try:
            return await asyncio.to_thread(work, *arguments, **options)
        finally:
            self._next()

    async def _turn(self, share: str) -> None:
        if self._free:
            self._free -= 1
            return
        if sum(map(len, self._lines.values())) >= self._most_waiting:
            self._refuse_one(share)
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lines.setdefault(share, deque()).append(waiting)
        try:
            await waiting
        except asyncio.CancelledError:
            if waiting.cancelled():
                self._leave(share, waiting)
            else:
                self._next()
            raise

    def _refuse_one(self, share: str) -> None:
        """Make room for a newcomer, or raise if their own line is the longest."""
        refusal = Unavailable("Too many passwords are being checked at once. Try again in a few seconds.")
        longest = max(self._lines, key=lambda each: len(self._lines[each]))
        if len(self._lines[longest]) <= len(self._lines.get(share, ())) + 1:
            raise refusal
        last = self._lines[longest].pop()
        if not last.done():
            last.set_exception(refusal)

    def _next(self) -> None:
        while self._lines:
            share = next(iter(self._lines))
            line = self._lines.pop(share)
            waiting = line.popleft()
            if line:
                self._lines[share] = line
            if not waiting.done():
                waiting.set_result(None)
                return
        self._free += 1

    def _leave(self, share: str, waiting: asyncio.Future[None]) -> None:
        line = self._lines.get(share)
        if line is not None and waiting in line:
            line.remove(waiting)
            if not line:
                del self._lines[share]
