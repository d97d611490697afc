"""Callers that wait for a pushed value. The longest-waiting one gets it."""

import asyncio
from collections import deque

from satchel.kernel.errors import SatchelError


class Waiters:
    """The callers in `wait_pop`: one queue per key, the longest-waiting first. An empty queue is deleted."""

    def __init__(self) -> None:
        self._lines: dict[str, deque[asyncio.Future[bytes]]] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._lines

    def count(self, key: str) -> int:
        return len(self._lines.get(key, ()))

    def join(self, key: str) -> asyncio.Future[bytes]:
        waiter: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._lines.setdefault(key, deque()).append(waiter)
        return waiter

    def leave(self, key: str, waiter: asyncio.Future[bytes]) -> None:
        """Remove a waiter. Safe to call for one that has been served."""
        line = self._lines.get(key)
        if line is not None and waiter in line:
            line.remove(waiter)
            self._close_if_empty(key, line)

    def serve(self, key: str, value: bytes) -> bool:
        """Give the value to the longest-waiting caller. False if nobody waits."""
        line = self._lines.get(key)
        if line is None:
            return False
        line.popleft().set_result(value)
        self._close_if_empty(key, line)
        return True

    def fail(self, key: str, error: SatchelError) -> None:
        for waiter in self._lines.pop(key, ()):
            waiter.set_exception(type(error)(error.detail))

    def fail_all(self, error: SatchelError) -> None:
        for key in list(self._lines):
            self.fail(key, error)

    def _close_if_empty(self, key: str, line: deque[asyncio.Future[bytes]]) -> None:
        if not line:
            del self._lines[key]
