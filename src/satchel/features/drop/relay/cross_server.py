"""Passes a segment from one server to the receiver at another, through lists of the shared store.

The server with the receiver decides. Others offer their segments in one list, and get answers in lists of their own:
when to send, how many more chunks they may send, and how it ended. So there are never more chunks in flight than were
granted, the order is the receiver's, and nobody polls.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator
from datetime import timedelta

import msgspec

from satchel.features.drop.model import RequestId
from satchel.features.drop.records import ANSWERS, CHUNKS, OFFERS, READY
from satchel.features.drop.relay.refusals import OtherSideMissing, ReceiverGone, SegmentOutOfPlace, StreamOver
from satchel.features.drop.relay.relay_ends import PIECE_BYTES, Inlet
from satchel.features.drop.relay.relay_stream import Segment, Stream, receiver_missing
from satchel.kernel.clock import Clock
from satchel.kernel.errors import SatchelError
from satchel.stores.ports.ephemeral import Ephemeral, Exists, Expire, ListPush

WINDOW_CHUNKS = 16
# Granted again in portions, which costs a quarter of the messages.
_PORTION_CHUNKS = 4
# What nobody reads any more, since its server died, expires.
_KEPT = timedelta(minutes=5)
# No stream is so long, and an offer can have no larger number.
_FARTHEST = 2**63 - 1

_GO, _HERE, _DONE, _GRANTED = b"GO", b"HERE", b"DONE", b"+"
_FIN, _BROKEN = b"FIN", b"BROKEN"
_REFUSALS = {kind.slug: kind for kind in (OtherSideMissing, ReceiverGone, SegmentOutOfPlace, StreamOver)}


class NobodyThere(ReceiverGone):
    """No server has the receiver, or that server has died."""


class Offer(msgspec.Struct, frozen=True, array_like=True):
    """A segment at another server."""

    id: str
    server_id: str
    offset: int | None
    length: int | None
    last: bool
    # After this moment its sender is gone, unless it has been answered.
    until: float


class _Refused(msgspec.Struct, frozen=True, array_like=True):
    slug: str
    detail: str


_encode = msgspec.msgpack.Encoder().encode
_decode_offer = msgspec.msgpack.Decoder(Offer).decode
_decode_refusal = msgspec.msgpack.Decoder(_Refused).decode


class Between:
    """The messages between servers about segments."""

    def __init__(self, ephemeral: Ephemeral, clock: Clock, server_id: str, timeout: timedelta) -> None:
        self._ephemeral = ephemeral
        self._clock = clock
        self._server_id = server_id
        self._timeout = timeout

    async def hand_over(self, request_id: RequestId, segment: Segment) -> bool:
        """Pass a segment to the server with the receiver. False, with no effect, if that is this server."""
        inlet = segment.inlet
        until = self._clock() + self._timeout.total_seconds()
        offset = None if segment.offset is None else max(-1, min(segment.offset, _FARTHEST))
        offer = Offer(secrets.token_hex(16), self._server_id, offset, inlet.length, segment.last, until)
        await self._push(OFFERS(request_id=request_id), _encode(offer))
        try:
            if await self._answer(request_id, offer.id) == _HERE:
                return False
        except NobodyThere:
            raise receiver_missing() from None
        await self._send(request_id, offer.id, inlet)
        return True

    async def offers(self, request_id: RequestId) -> AsyncIterator[Offer]:
        """The offers of other servers as they come, without end. Offers of this server are told that it is here."""
        while True:
            said = await self._ephemeral.wait_pop(OFFERS(request_id=request_id), self._timeout)
            if said is None:
                continue
            offer = _decode_offer(said)
            if offer.server_id == self._server_id:
                await self._push(ANSWERS(offer_id=offer.id), _HERE)
            elif offer.until > self._clock():
                yield offer

    async def adopt(self, request_id: RequestId, offer: Offer, stream: Stream) -> None:
        """Insert a segment of another server into the stream, and tell that server how it ended."""
        segment = Segment(_Fetched(self._ephemeral, request_id, offer, self._timeout), offer.offset, offer.last)
        try:
            await stream.give(segment)
            verdict = _DONE
        except SatchelError as error:
            verdict = _encode(_Refused(error.slug, error.detail))
        await self._push(ANSWERS(offer_id=offer.id), verdict)

    async def _send(self, request_id: RequestId, offer_id: str, inlet: Inlet) -> None:
        """Send as much as is granted until the other server has everything. Raises its refusal."""
        grants = _Grants()
        hearing = asyncio.create_task(self._hear(request_id, offer_id, grants))
        pushing = asyncio.create_task(self._push_all(request_id, inlet, grants))
        try:
            await asyncio.wait((hearing, pushing), return_when=asyncio.FIRST_COMPLETED)
            if not pushing.done() or pushing.exception() is None:
                await hearing
            await pushing
        finally:
            hearing.cancel()
            pushing.cancel()
            await asyncio.gather(hearing, pushing, return_exceptions=True)

    async def _hear(self, request_id: RequestId, offer_id: str, grants: "_Grants") -> None:
        while (answer := await self._answer(request_id, offer_id)) != _DONE:
            grants.add(answer.count(_GRANTED))

    async def _push_all(self, request_id: RequestId, inlet: Inlet, grants: "_Grants") -> None:
        chunks, number, ended = CHUNKS(request_id=request_id), 0, _BROKEN
        try:
            async for piece in inlet.pieces():
                for start in range(0, len(piece), PIECE_BYTES):
                    await grants.use()
                    await self._push(chunks, b"%d@@%b" % (number, piece[start : start + PIECE_BYTES]))
                    number += 1
            ended = _FIN
        finally:
            await self._push(chunks, ended)

    async def _answer(self, request_id: RequestId, offer_id: str) -> bytes:
        """The next message of the receiver's server. Waits for a slow receiver while that server is alive."""
        while True:
            answer = await self._ephemeral.wait_pop(ANSWERS(offer_id=offer_id), self._timeout)
            if answer is not None:
                return _check(answer)
            if not await self._ephemeral.run(Exists(READY(request_id=request_id))):
                raise NobodyThere("The receiver disconnected. If they still want the file, they will ask again.")

    async def _push(self, key: str, value: bytes) -> None:
        await self._ephemeral.together(ListPush(key, value), Expire(key, _KEPT))


class _Grants:
    """How many chunks may still be sent."""

    def __init__(self) -> None:
        self._left = WINDOW_CHUNKS
        self._more = asyncio.Event()

    def add(self, number: int) -> None:
        self._left += number
        self._more.set()

    async def use(self) -> None:
        while not self._left:
            self._more.clear()
            await self._more.wait()
        self._left -= 1


class _Fetched:
    """A segment as it comes from another server."""

    def __init__(self, ephemeral: Ephemeral, request_id: RequestId, offer: Offer, timeout: timedelta) -> None:
        self.length = offer.length
        self._ephemeral = ephemeral
        self._chunks = CHUNKS(request_id=request_id)
        self._answers = ANSWERS(offer_id=offer.id)
        self._timeout = timeout

    async def pieces(self) -> AsyncIterator[bytes]:
        await self._say(_GO)
        taken = 0
        while (said := await self._ephemeral.wait_pop(self._chunks, self._timeout)) != _FIN:
            number, _, piece = (said or b"").partition(b"@@")
            if number != b"%d" % taken:
                raise StreamOver("The sender disconnected. Ask for the file again.")
            yield piece
            taken += 1
            if taken % _PORTION_CHUNKS == 0:
                await self._say(_GRANTED * _PORTION_CHUNKS)

    async def _say(self, answer: bytes) -> None:
        await self._ephemeral.together(ListPush(self._answers, answer), Expire(self._answers, _KEPT))


def _check(answer: bytes) -> bytes:
    """Raise the refusal in an answer."""
    if answer in (_GO, _HERE, _DONE) or answer.startswith(_GRANTED):
        return answer
    refused = _decode_refusal(answer)
    raise _REFUSALS.get(refused.slug, ReceiverGone)(refused.detail)
