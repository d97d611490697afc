"""Connects the two sides of each stream, on this server or between this one and another."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from satchel.edge.http.problems import ShuttingDown
from satchel.features.drop.model import RequestId
from satchel.features.drop.records import DETAILS, READY, request_channel
from satchel.features.drop.relay.cross_server import Between
from satchel.features.drop.relay.refusals import StreamOver
from satchel.features.drop.relay.relay_ends import Outlet, ReceiverLeft
from satchel.features.drop.relay.relay_stream import Segment, Stream, StreamTimeouts
from satchel.kernel.clock import Clock
from satchel.kernel.errors import Gone, SatchelError, Unavailable
from satchel.stores.ports.ephemeral import Delete, Ephemeral, Exists, Message, Put

if TYPE_CHECKING:
    from prometheus_client import Metric

# How long a dead server still counts as having the receiver.
READY_FOR = timedelta(seconds=45)
_RENEWED_EVERY_SECONDS = 15.0
_LAST_MOMENTS_SECONDS = 0.5
# How long an ended stream is remembered, so that late callers learn that it has ended.
_REMEMBERED_SECONDS = 60.0

Errand = Callable[[], Coroutine[Any, Any, None]]


class Relay:
    """The streams of this server; a collector in prometheus-client's sense.

    `shared` says that other servers use the same ephemeral store, so that the other side may be at one of them.
    """

    def __init__(
        self,
        ephemeral: Ephemeral,
        clock: Clock,
        *,
        server_id: str,
        shared: bool,
        timeouts: StreamTimeouts | None = None,
    ) -> None:
        self._ephemeral = ephemeral
        self._server_id = server_id
        self._timeouts = timeouts or StreamTimeouts()
        self._between = None
        if shared:
            self._between = Between(ephemeral, clock, server_id, timedelta(seconds=self._timeouts.seconds))
        self._streams: dict[RequestId, Stream] = {}
        self._open = 0
        self._relayed_bytes = 0
        self._stopping = False

    def stop(self) -> None:
        """End every stream, since the server stops. Clients retry."""
        self._stopping = True
        for stream in self._streams.values():
            stream.end(_stopping())

    def collect(self) -> Iterator["Metric"]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        yield GaugeMetricFamily(
            "satchel_drop_streams", "Open streams whose receiver is connected to this server.", value=self._open
        )
        yield CounterMetricFamily(
            "satchel_drop_relayed_bytes", "Bytes relayed to receivers.", value=self._relayed_bytes
        )

    async def send(self, request_id: RequestId, total: int | None, segment: Segment) -> None:
        """Wait until the receiver, on whichever server, has all of a segment. Raises if that fails."""
        async with self._joined(request_id, total) as stream:
            if stream.has_receiver:
                await stream.give(segment)
                return
            async with self._told_of_the_end(request_id, stream):
                if self._between is None or not await self._hand_over(self._between, request_id, segment, stream):
                    await stream.give(segment)

    async def receive(self, request_id: RequestId, total: int | None, outlet: Outlet) -> None:
        """Pass a stream to its receiver until its end. Raises a `SatchelError`, or `ReceiverLeft`, on a break."""
        async with self._joined(request_id, total) as stream:
            stream.enter()
            self._open += 1
            try:
                async with self._attended(request_id, stream):
                    try:
                        await self._until_over(stream, outlet)
                    finally:
                        stream.leave()
            finally:
                self._open -= 1
                stream.leave()

    @asynccontextmanager
    async def _joined(self, request_id: RequestId, total: int | None) -> AsyncGenerator[Stream]:
        """The stream of a request, kept while anybody uses it, and for a while after its end."""
        if self._stopping:
            raise _stopping()
        stream = self._streams.get(request_id)
        if stream is None:
            stream = self._streams[request_id] = Stream(total, self._timeouts)
        stream.check_open()
        stream.users += 1
        try:
            yield stream
        finally:
            stream.users -= 1
            if not stream.users:
                seconds = _REMEMBERED_SECONDS if stream.over.is_set() else 0
                asyncio.get_running_loop().call_later(seconds, self._forget, request_id, stream)

    def _forget(self, request_id: RequestId, stream: Stream) -> None:
        if not stream.users and self._streams.get(request_id) is stream:
            del self._streams[request_id]

    async def _hand_over(self, between: Between, request_id: RequestId, segment: Segment, stream: Stream) -> bool:
        handing = asyncio.create_task(between.hand_over(request_id, segment))
        ending = asyncio.create_task(stream.over.wait())
        try:
            await asyncio.wait((handing, ending), return_when=asyncio.FIRST_COMPLETED)
            # A receiver who has everything may end the request before the other server has told us so.
            await asyncio.wait([handing], timeout=0 if self._stopping else _LAST_MOMENTS_SECONDS)
            if self._stopping or not handing.done():
                stream.check_open()
            return await handing
        except Gone as error:
            stream.end(error)
            raise
        finally:
            handing.cancel()
            ending.cancel()
            await asyncio.gather(handing, ending, return_exceptions=True)

    async def _until_over(self, stream: Stream, outlet: Outlet) -> None:
        taking = asyncio.create_task(stream.take(outlet, self._count))
        leaving = asyncio.create_task(outlet.left())
        ending = asyncio.create_task(stream.over.wait())
        everything = (taking, leaving, ending)
        try:
            await asyncio.wait(everything, return_when=asyncio.FIRST_COMPLETED)
            # A receiver who has everything may disconnect before we have noticed the end.
            await asyncio.wait([taking], timeout=_LAST_MOMENTS_SECONDS)
            if taking.done():
                taking.result()
            elif leaving.done():
                raise ReceiverLeft
            else:
                stream.check_open()
        finally:
            for task in everything:
                task.cancel()
            await asyncio.gather(*everything, return_exceptions=True)

    def _count(self, size_bytes: int) -> None:
        self._relayed_bytes += size_bytes

    @asynccontextmanager
    async def _attended(self, request_id: RequestId, stream: Stream) -> AsyncGenerator[None]:
        """During the block the receiver counts as connected, other servers are heard, and the request's end ends it."""
        ready = READY(request_id=request_id)
        async with self._told_of_the_end(request_id, stream):
            errands: list[Errand] = [partial(self._renew, ready)]
            if self._between is not None:
                errands.append(partial(self._adopt_offers, self._between, request_id, stream))
            try:
                async with _alongside(stream, *errands):
                    yield
            finally:
                with suppress(Unavailable):
                    await self._ephemeral.run(Delete(ready))

    @asynccontextmanager
    async def _told_of_the_end(self, request_id: RequestId, stream: Stream) -> AsyncGenerator[None]:
        async with (
            self._ephemeral.subscribe(request_channel(request_id)) as messages,
            _alongside(stream, partial(self._hear_of_the_end, messages, stream)),
        ):
            # It may have ended before we listened.
            if not await self._ephemeral.run(Exists(DETAILS(request_id=request_id))):
                raise _ended()
            yield

    async def _renew(self, ready: str) -> None:
        while True:
            await self._ephemeral.run(Put(ready, self._server_id.encode(), ttl=READY_FOR))
            await asyncio.sleep(_RENEWED_EVERY_SECONDS)

    async def _hear_of_the_end(self, messages: AsyncIterator[Message], stream: Stream) -> None:
        async for _ in messages:
            stream.end(_ended())

    async def _adopt_offers(self, between: Between, request_id: RequestId, stream: Stream) -> None:
        adopted: set[asyncio.Task[None]] = set()
        try:
            async for offer in between.offers(request_id):
                task = asyncio.create_task(between.adopt(request_id, offer, stream))
                adopted.add(task)
                task.add_done_callback(adopted.discard)
        finally:
            # The stream has ended: each of them has still to tell its server how.
            await asyncio.gather(*adopted, return_exceptions=True)


@asynccontextmanager
async def _alongside(stream: Stream, *errands: Errand) -> AsyncGenerator[None]:
    tasks = [asyncio.create_task(_or_end(errand, stream)) for errand in errands]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _or_end(errand: Errand, stream: Stream) -> None:
    """End the stream if the store fails: without the store it would not hear of its own end."""
    try:
        await errand()
    except SatchelError as error:
        stream.end(Unavailable(error.detail))


def _ended() -> StreamOver:
    return StreamOver("The request has ended. Ask for the file again.")


def _stopping() -> ShuttingDown:
    return ShuttingDown("The server is being stopped. Try again in a moment.")
