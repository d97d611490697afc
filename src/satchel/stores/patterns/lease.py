"""A lock that ends by itself: one of several servers or workers does something, and another takes over if it dies.

A lease alone proves nothing: its holder may sleep for longer than it lasts and go on. So whatever must not happen twice
needs a condition of its own: `TableLease.fence` is such a condition, and a version of a row is another.
"""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from satchel.kernel.clock import Clock
from satchel.kernel.errors import SatchelError, Unavailable
from satchel.stores.patterns.backoff import Backoff, Retries, Sleep
from satchel.stores.ports.ephemeral import Command, Delete, Ephemeral, Expire, Get, Put
from satchel.stores.ports.expressions import attr
from satchel.stores.ports.table import Check, ConditionFailed, Tables
from satchel.stores.schema import Record, Shape

_TURN_LASTS = timedelta(seconds=10)
_TURN_RENEWED_EVERY = timedelta(seconds=3)
# Longer than the turn of a server that died, and less long than clients wait for an answer.
_TURN_WAITS = Backoff(attempts=100, first_seconds=0.05, longest_seconds=0.5, within_seconds=20)


def new_holder() -> bytes:
    return secrets.token_bytes(16)


@dataclass(frozen=True, slots=True)
class EphemeralLease:
    """A lease at a key of the ephemeral store, which holds who has it."""

    ephemeral: Ephemeral
    key: str
    lasts: timedelta
    holder: bytes = field(default_factory=new_holder)

    async def take(self, *beside: Command[Any]) -> bool:
        """Whether it is ours from now on; not if somebody has it, be it ourselves. The commands `beside` run anyway."""
        put = Put(self.key, self.holder, ttl=self.lasts, only_if_absent=True)
        taken, *_ = await self.ephemeral.together(put, *beside)
        return taken

    async def renew(self, *beside: Command[Any]) -> tuple[Any, ...]:
        """Whether it is still ours, and what the commands `beside` answer, all in one step; it lasts anew."""
        held, _, *answers = await self.ephemeral.together(Get(self.key), Expire(self.key, self.lasts), *beside)
        return held == self.holder, *answers

    async def release(self) -> None:
        """Let others have it, if it is still ours. If the store does not answer, the lease runs out by itself."""
        with suppress(Unavailable):
            if await self.ephemeral.run(Get(self.key)) == self.holder:
                await self.ephemeral.run(Delete(self.key))


@asynccontextmanager
async def turn(ephemeral: Ephemeral, key: str, busy: str) -> AsyncGenerator[None]:
    """One request at a time does what this key is for; the others wait, and after a while are told that it is busy."""
    lease = EphemeralLease(ephemeral, key, _TURN_LASTS)
    retries = Retries(_TURN_WAITS)
    while not await lease.take():
        await retries.pause_or_raise(Unavailable(busy))
    try:
        async with renewed(lease.renew, _TURN_RENEWED_EVERY):
            yield
    finally:
        await asyncio.shield(lease.release())


class LeaseRow(Record, frozen=True, kw_only=True):
    """Who does something that only one should do at a time, and until when: milliseconds since 1970."""

    name: str
    holder: str
    until: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLease:
    """A lease in a table, which its holder may take again before it ends."""

    tables: Tables
    clock: Clock
    shape: Shape[LeaseRow]
    name: str
    holder: str
    lasts: timedelta

    async def take(self) -> bool:
        """Whether it is ours for a while from now on."""
        now = int(self.clock() * 1000)
        row = LeaseRow(name=self.name, holder=self.holder, until=now + int(self.lasts.total_seconds() * 1000))
        free = attr("PK").absent() | (attr("holder") == self.holder) | (attr("until") <= now)
        try:
            await self.tables.put(self.shape.table, self.shape.item(row), when=free)
        except ConditionFailed:
            return False
        return True

    def fence(self) -> Check:
        """Lets a transaction happen only if nobody has taken over since, however long ago we asked."""
        return Check(self.shape.table, self.shape.key(name=self.name), attr("holder") == self.holder)

    async def release(self) -> None:
        """Let others have it, if it is still ours."""
        mine = self.shape.delete(when=attr("holder") == self.holder, name=self.name)
        with suppress(ConditionFailed):
            await self.tables.delete(mine.table, mine.key, when=mine.when)


@asynccontextmanager
async def renewed(
    renew: Callable[[], Awaitable[object]],
    every: timedelta,
    *,
    despite: type[SatchelError] = Unavailable,
    sleep: Sleep = asyncio.sleep,
) -> AsyncGenerator[None]:
    """Renew something again and again as long as the block lasts; a renewal that fails is followed by the next."""

    async def go_on() -> None:
        while True:
            await sleep(every.total_seconds())
            with suppress(despite):
                await renew()

    renewing = asyncio.create_task(go_on())
    try:
        yield
    finally:
        renewing.cancel()
        await asyncio.gather(renewing, return_exceptions=True)
