"""Ends of streams that are no connections: what is sent is given, what arrives is kept."""

import asyncio
from collections.abc import AsyncIterator, Sequence

from satchel.features.drop.model import RequestId
from satchel.features.drop.records import DETAILS
from satchel.features.drop.relay.relay import Relay
from satchel.features.drop.relay.relay_ends import Inlet, ReceiverLeft
from satchel.features.drop.relay.relay_stream import Segment, StreamTimeouts
from satchel.kernel.clock import system_clock
from satchel.kernel.errors import SatchelError
from satchel.stores.ports.ephemeral import Ephemeral, HashPut

REQUEST = RequestId("0" * 32)
LONG_TIMEOUTS = StreamTimeouts()
SHORT_TIMEOUTS = StreamTimeouts(seconds=0.3, gap_seconds=0.05)


class Given:
    """An inlet with these pieces, of known length unless said otherwise; it may break before its end."""

    def __init__(self, *pieces: bytes, measured: bool = True, breaks_with: SatchelError | None = None) -> None:
        self._pieces = pieces
        self._breaks_with = breaks_with
        self.length = sum(map(len, pieces)) if measured else None
        # How much of it was taken.
        self.read = 0
        self.may_go_on = asyncio.Event()
        self.may_go_on.set()

    async def pieces(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            await self.may_go_on.wait()
            self.read += len(piece)
            yield piece
        if self._breaks_with is not None:
            raise self._breaks_with


class Kept:
    """An outlet that keeps what it is sent."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.total: int | None = -1
        self.is_finished = False
        self.may_go_on = asyncio.Event()
        self.may_go_on.set()
        self.has_left = asyncio.Event()

    @property
    def content(self) -> bytes:
        return b"".join(self.pieces)

    async def begin(self, total: int | None) -> None:
        self.total = total

    async def write(self, piece: bytes) -> None:
        await self.may_go_on.wait()
        if self.has_left.is_set():
            raise ReceiverLeft
        self.pieces.append(piece)

    async def pour(self, inlet: Inlet) -> int:
        count = 0
        async for piece in inlet.pieces():
            await self.write(piece)
            count += len(piece)
        return count

    async def finish(self) -> None:
        self.is_finished = True

    async def left(self) -> None:
        await self.has_left.wait()


class Both:
    """The relay at the owner's server and that at the receiver's, which may be one."""

    def __init__(self, ephemeral: Ephemeral, *, apart: bool, timeouts: StreamTimeouts = LONG_TIMEOUTS) -> None:
        self.ephemeral = ephemeral
        self.owners = self._relay("one", shared=apart, timeouts=timeouts)
        self.receivers = self._relay("two", shared=True, timeouts=timeouts) if apart else self.owners

    def _relay(self, name: str, *, shared: bool, timeouts: StreamTimeouts) -> Relay:
        return Relay(self.ephemeral, system_clock, server_id=name, shared=shared, timeouts=timeouts)

    async def acknowledged(self) -> None:
        """There is a request, as everything that flows presumes."""
        await self.ephemeral.run(HashPut(DETAILS(request_id=REQUEST), {"session_id": b"x"}))

    def send(
        self, inlet: Inlet, offset: int | None = 0, *, last: bool = False, total: int | None = None
    ) -> asyncio.Task[None]:
        return asyncio.create_task(self.owners.send(REQUEST, total, Segment(inlet, offset, last)))

    def receive(self, outlet: Kept, total: int | None = None) -> asyncio.Task[None]:
        return asyncio.create_task(self.receivers.receive(REQUEST, total, outlet))


async def settled(*tasks: asyncio.Task[None]) -> Sequence[BaseException | None]:
    return await asyncio.gather(*tasks, return_exceptions=True)
