"""Do what has to be done again and again, and remember how the last round went, so that it can be seen to be done."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

import msgspec

from satchel.kernel.clock import Clock, from_iso, iso
from satchel.kernel.errors import SatchelError
from satchel.stores.ports.ephemeral import Ephemeral, Get, Put
from satchel.stores.schema import EphemeralKey

# Servers that share a store share this too: whichever swept last is what one sees.
LAST_SWEEP = EphemeralKey(
    "housekeeping:last", "value", owner="chores", about="How the last round of all chores went", durable=True
)
EPHEMERAL_KEYS = (LAST_SWEEP,)
# A server that was off for longer than this is not told from one whose clock is wrong.
LARGEST_LEAP = timedelta(days=1)
# Within this time a clock is set right, if anything sets it.
DOUBTED_FOR = timedelta(hours=1)

_log = logging.getLogger("satchel")


@dataclass(frozen=True, slots=True)
class Chore:
    """Something to be done in every round, which answers how many things it took away."""

    name: str
    do: Callable[[], Awaitable[int]]


class ChoreDone(msgspec.Struct, frozen=True, kw_only=True):
    """How one chore went."""

    name: str
    removed: int
    failed: bool


class Sweep(msgspec.Struct, frozen=True, kw_only=True):
    """One round of all chores."""

    started_at: str
    ended_at: str
    chores: list[ChoreDone]


class Housekeeper:
    """Does the chores one after another; one that fails does not keep the others from being done.

    A clock that is far ahead at the start may be wrong, and what it took for expired would be gone for good. So nothing
    is done until it has stayed so for a while by `uptime`, which no setting of the clock changes.
    """

    def __init__(self, ephemeral: Ephemeral, clock: Clock, every: timedelta, *, uptime: Clock = time.monotonic) -> None:
        self._ephemeral = ephemeral
        self._clock = clock
        self._uptime = uptime
        self._doubted_until: float | None = None
        self.every = every

    async def last(self) -> Sweep | None:
        kept = await self._ephemeral.run(Get(LAST_SWEEP()))
        return None if kept is None else msgspec.json.decode(kept, type=Sweep)

    async def sweep(self, chores: Sequence[Chore]) -> Sweep:
        started_at = iso(self._clock())
        if await self._is_clock_doubtful():
            _log.warning("housekeeping was put off: the clock is far ahead of the last round. Is it right?")
            put_off = [ChoreDone(name=chore.name, removed=0, failed=True) for chore in chores]
            return Sweep(started_at=started_at, ended_at=started_at, chores=put_off)
        done = [await _do(chore) for chore in chores]
        sweep = Sweep(started_at=started_at, ended_at=iso(self._clock()), chores=done)
        await self._ephemeral.run(Put(LAST_SWEEP(), msgspec.json.encode(sweep)))
        return sweep

    async def _is_clock_doubtful(self) -> bool:
        now = self._uptime()
        if self._doubted_until is None:
            self._doubted_until = now + DOUBTED_FOR.total_seconds()
        if now < self._doubted_until and not await self._has_leapt():
            self._doubted_until = now
        return now < self._doubted_until

    async def _has_leapt(self) -> bool:
        last = await self.last()
        return last is not None and self._clock() - from_iso(last.ended_at) > LARGEST_LEAP.total_seconds()

    async def keep_house(self, chores: Sequence[Chore]) -> None:
        """Until cancelled."""
        await repeat(lambda: self.sweep(chores), self.every)


async def repeat(do: Callable[[], Awaitable[object]], every: timedelta) -> None:
    """Until cancelled, however often it fails."""
    while True:
        try:
            await do()
        except Exception as error:  # noqa: BLE001 -- whatever went wrong, it is tried again
            _log.warning("housekeeping was put off: %s", error, exc_info=_unknown(error))
        await asyncio.sleep(every.total_seconds())


async def _do(chore: Chore) -> ChoreDone:
    try:
        return ChoreDone(name=chore.name, removed=await chore.do(), failed=False)
    except Exception as error:  # noqa: BLE001 -- one that fails must not keep the others from being done
        _log.warning("housekeeping was put off: %s: %s", chore.name, error, exc_info=_unknown(error))
        return ChoreDone(name=chore.name, removed=0, failed=True)


def _unknown(error: Exception) -> Exception | None:
    """Where an error says itself what is wrong, a traceback only hides it."""
    return None if isinstance(error, SatchelError) else error
