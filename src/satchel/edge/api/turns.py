"""Turns of those who ask for long answers without pages: many at once would take more memory than there is.

A person's requests are answered one after the other, and those of few people at once. What is made goes to the
connection, whose bytes are counted, before the next one is begun.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from satchel.edge.http.callers import Caller, Member
from satchel.stores.patterns.throttle import network_of

LISTS_AT_ONCE = 2
# What the longest list takes while it is made, with the rows that it is made of.
LIST_BYTES = 8 * 1024 * 1024


class Turns:
    """Lets a few go on at once, of each member or network one."""

    def __init__(self, at_once: int = LISTS_AT_ONCE) -> None:
        self._free = asyncio.Semaphore(at_once)
        # Of those who wait or are served: a lock that nobody holds is forgotten.
        self._own = WeakValueDictionary[str, asyncio.Lock]()

    @asynccontextmanager
    async def of(self, caller: Caller, address: str) -> AsyncGenerator[None]:
        """Anybody can be any number of guests, so those without an account take turns by where they come from."""
        share = caller.user_id if isinstance(caller, Member) else network_of(address)
        own = self._own.get(share) or asyncio.Lock()
        self._own[share] = own
        async with own, self._free:
            yield
