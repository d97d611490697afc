"""One stream: segments arrive in any order, and one receiver gets them in the right order.

It lives on the server of the receiver, whose task drives it. A segment is not read before the ones before it, so a
stream holds only what is in flight between two sockets.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from satchel.features.drop.relay.refusals import OtherSideMissing, ReceiverGone, SegmentOutOfPlace, StreamOver
from satchel.features.drop.relay.relay_ends import Inlet, Outlet, ReceiverLeft
from satchel.kernel.errors import SatchelError

MAX_WAITING = 16


@dataclass(frozen=True, slots=True)
class StreamTimeouts:
    """Timeouts: how long a side waits for the other, and a segment for those before it, which may come another way."""

    seconds: float = 60
    gap_seconds: float = 2


@dataclass(slots=True, eq=False)
class Segment:
    """A part of a stream. Without an offset it continues at the current position."""

    inlet: Inlet
    offset: int | None
    last: bool
    # Done when the receiver has all of it, or with the error that prevents that.
    taken: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def end_from(self, start: int) -> int | None:
        return None if self.inlet.length is None else start + self.inlet.length

    def accept(self) -> None:
        if not self.taken.done():
            self.taken.set_result(None)

    def refuse(self, why: SatchelError) -> None:
        """Fail the segment, unless it is done already."""
        if not self.taken.done():
            self.taken.set_exception(why)


class Stream:
    """The stream of one request. `total` is its number of bytes, if known."""

    def __init__(self, total: int | None, timeouts: StreamTimeouts) -> None:
        self._total = total
        self._timeouts = timeouts
        self._position = 0
        self._line: dict[int, Segment] = {}
        self._current: Segment | None = None
        self._arrival = asyncio.Event()
        self._why_over: SatchelError | None = None
        self._has_begun = False
        self.over = asyncio.Event()
        self.has_receiver = False
        # How many callers use it in any way.
        self.users = 0

    async def give(self, segment: Segment) -> None:
        """Wait until the receiver has all of a segment. Raises if that fails."""
        start = self._admit(segment)
        loop = asyncio.get_running_loop()
        timers = [
            loop.call_later(self._timeouts.seconds, self._check_receiver, segment),
            loop.call_later(self._timeouts.gap_seconds, self._check_place, segment, start),
        ]
        try:
            await segment.taken
        finally:
            for timer in timers:
                timer.cancel()
            if self._line.get(start) is segment:
                del self._line[start]
            elif self._current is segment:
                # Its request was cancelled while its bytes were in flight.
                self.end(StreamOver("The sender gave up. Ask for the file again."))

    async def take(self, outlet: Outlet, count: Callable[[int], None]) -> None:
        """Pass everything to the outlet, up to the last segment. `count` is called with the bytes that have passed."""
        segment = None
        while segment is None or not segment.last:
            segment = self._current = await self._next()
            try:
                await self._pass_on(segment, outlet, count)
                segment.accept()
            except SatchelError as error:
                segment.refuse(error)
                over = StreamOver("The sender disconnected. Ask for the file again.")
                self.end(over)
                raise over from error
            finally:
                self._current = None
                segment.refuse(self._why_over or receiver_gone())
        self.end(StreamOver("The whole stream has been received."))

    def enter(self) -> None:
        """Become the receiver. There can be only one."""
        if self.has_receiver:
            raise StreamOver("This stream is already being received. Ask for the file again.")
        self.has_receiver = True

    def leave(self) -> None:
        """Stop being the receiver. A sender that has begun loses what it sent."""
        self.has_receiver = False
        if self._has_begun or self._line:
            self.end(receiver_gone())

    def end(self, why: SatchelError) -> None:
        """End the stream, and tell all who wait why.

        The sender whose bytes are in flight is told once nothing of them is read any more.
        """
        self._why_over = why = self._why_over or why
        self.over.set()
        for segment in self._line.values():
            segment.refuse(why)
        self._line.clear()

    def check_open(self) -> None:
        if self._why_over is not None:
            raise type(self._why_over)(self._why_over.detail)

    def _admit(self, segment: Segment) -> int:
        self.check_open()
        next_start = self._current.end_from(self._position) if self._current else self._position
        start = next_start if segment.offset is None else segment.offset
        end = None if start is None else segment.end_from(start)
        if start is None or start < (next_start or self._position):
            raise self._out_of_place()
        if self._total is not None and end is not None and (end > self._total or (segment.last and end < self._total)):
            raise SegmentOutOfPlace(f"The stream was announced with {self._total} bytes.", position=self._position)
        if start in self._line:
            # A client that retries cannot tell about its old connection, which may be dead silently.
            self._line.pop(start).refuse(self._out_of_place())
        if len(self._line) >= MAX_WAITING:
            raise self._out_of_place()
        self._line[start] = segment
        self._arrival.set()
        return start

    def _check_receiver(self, segment: Segment) -> None:
        if not self.has_receiver:
            segment.refuse(receiver_missing())

    def _check_place(self, segment: Segment, start: int) -> None:
        """Refuse a segment that does not fit the stream."""
        reached: int | None = self._current.end_from(self._position) if self._current else self._position
        while reached is not None and reached != start and (before := self._line.get(reached)) is not None:
            reached = before.end_from(reached)
        if reached is not None and reached != start and self._line.get(start) is segment:
            segment.refuse(self._out_of_place())

    def _out_of_place(self) -> SegmentOutOfPlace:
        position = self._position
        return SegmentOutOfPlace(
            f"{position} bytes of the stream have been sent. Continue from there.", position=position
        )

    async def _next(self) -> Segment:
        try:
            async with asyncio.timeout(self._timeouts.seconds):
                while self._position not in self._line:
                    self._arrival.clear()
                    await self._arrival.wait()
        except TimeoutError:
            raise OtherSideMissing("The sender did not connect. Ask for the file again.") from None
        return self._line.pop(self._position)

    async def _pass_on(self, segment: Segment, outlet: Outlet, count: Callable[[int], None]) -> None:
        if not self._has_begun:
            self._has_begun = True
            await outlet.begin(self._total)
        if segment.inlet.length is not None:
            passed = await outlet.pour(segment.inlet)
            self._position += passed
            count(passed)
        else:
            async for piece in segment.inlet.pieces():
                self._position += len(piece)
                if self._total is not None and self._position > self._total:
                    raise self._wrong_length()
                await outlet.write(piece)
                count(len(piece))
        if segment.last:
            if self._total not in (None, self._position):
                raise self._wrong_length()
            await self._finish(outlet)

    async def _finish(self, outlet: Outlet) -> None:
        try:
            await outlet.finish()
        except ReceiverLeft:
            # With as many bytes as were announced, the stream ends without a last segment.
            if self._total is None:
                raise

    def _wrong_length(self) -> SegmentOutOfPlace:
        return SegmentOutOfPlace(f"The stream was announced with {self._total} bytes.", position=self._position)


def receiver_gone() -> ReceiverGone:
    return ReceiverGone("The receiver disconnected. If they still want the file, they will ask again.")


def receiver_missing() -> OtherSideMissing:
    return OtherSideMissing("The receiver did not connect. Wait until they ask again.")
