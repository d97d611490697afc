"""The daily limit of bytes per network, if the administrator has set one."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

from satchel.features.drop.records import PASSED
from satchel.features.drop.relay.refusals import DropLimit
from satchel.features.drop.relay.relay_ends import Inlet
from satchel.kernel.clock import Clock, iso
from satchel.stores.ports.ephemeral import Ephemeral, Expire, Increment

_DAY = timedelta(days=1)
# A stream of unknown length is counted ahead, in portions of this size.
_PORTION_BYTES = 4 * 1024 * 1024


class Allowance:
    """Counts what one network sends, per day of UTC. Without a limit nothing is counted."""

    def __init__(self, ephemeral: Ephemeral, clock: Clock, limit_bytes: int | None) -> None:
        self._ephemeral = ephemeral
        self._clock = clock
        self._limit_bytes = limit_bytes

    def metered(self, network: str, inlet: Inlet) -> Inlet:
        """An inlet of unknown length that raises `DropLimit` when the limit is reached."""
        return inlet if self._limit_bytes is None else _Metered(self, network, inlet)

    async def use(self, network: str, size_bytes: int) -> None:
        """Count bytes before they pass. Raises `DropLimit`, and counts none, above the limit.

        A negative number returns what did not pass.
        """
        if self._limit_bytes is None:
            return
        now = datetime.fromtimestamp(self._clock(), UTC)
        key = PASSED(network=network, day=now.strftime("%Y-%m-%d"))
        used, _ = await self._ephemeral.together(Increment(key, size_bytes), Expire(key, 2 * _DAY))
        if used <= self._limit_bytes or size_bytes <= 0:
            return
        await self._ephemeral.run(Increment(key, -size_bytes))
        midnight = datetime(now.year, now.month, now.day, tzinfo=UTC) + _DAY
        raise DropLimit(
            f"Your network has reached its limit of {self._limit_bytes} bytes a day. Try again after midnight (UTC).",
            retry_after=max(1, round((midnight - now).total_seconds())),
            limit_bytes=self._limit_bytes,
            over_at=iso(midnight.timestamp()),
        )


class _Metered:
    length = None

    def __init__(self, allowance: Allowance, network: str, inlet: Inlet) -> None:
        self._allowance = allowance
        self._network = network
        self._inlet = inlet

    async def pieces(self) -> AsyncIterator[bytes]:
        counted_bytes = 0
        async for piece in self._inlet.pieces():
            while counted_bytes < len(piece):
                await self._allowance.use(self._network, _PORTION_BYTES)
                counted_bytes += _PORTION_BYTES
            counted_bytes -= len(piece)
            yield piece
