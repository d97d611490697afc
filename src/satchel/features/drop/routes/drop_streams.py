"""The bytes of a stream over HTTP: in by the sender's requests, out by the receiver's, or both by websocket."""

from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from satchel.edge.api.endpoints import Query, Router
from satchel.edge.http.problems import MethodNotAllowed, TooSlow
from satchel.edge.http.request_context import client_of
from satchel.features.drop.model import RequestId, RequestUnknown, SessionId, SessionUnknown
from satchel.features.drop.relay.allowance import Allowance
from satchel.features.drop.relay.refusals import (
    DropLimit,
    OtherSideMissing,
    ReceiverGone,
    SegmentOutOfPlace,
    StreamOver,
)
from satchel.features.drop.relay.relay import Relay
from satchel.features.drop.relay.relay_ends import ReceiverLeft
from satchel.features.drop.relay.relay_stream import Segment
from satchel.features.drop.routes.stream_ends import AnswerOutlet, BodyInlet, SocketInlet, SocketOutlet
from satchel.features.drop.routes.views import SUBPROTOCOL, token_of
from satchel.features.drop.service.context import Drop
from satchel.features.drop.service.drop_requests import Flow, receiver_of, sender_of
from satchel.kernel.errors import NotFound, SatchelError
from satchel.stores.patterns.throttle import network_of

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

_BYTES = "application/octet-stream"
_PATH = "/drop/sessions/{session_id}/requests/{request_id}"
_UNKNOWN = (SessionUnknown, RequestUnknown)
_FINISHED = 1000
# A websocket that is refused is closed with this and the status that a request would have got, for the reason's slug.
_REFUSED = 4000


class Place(Query, frozen=True, kw_only=True):
    """Whether nothing follows this segment."""

    last: bool = False


def routes(drop: Drop, relay: Relay) -> Router:
    router = Router("drop")
    sending = Sending(relay, Allowance(drop.ephemeral, drop.clock, drop.daily_limit_bytes))

    @router.put(
        f"{_PATH}/bytes/{{offset}}",
        consumes=_BYTES,
        raises=(*_UNKNOWN, SegmentOutOfPlace, OtherSideMissing, ReceiverGone, StreamOver, TooSlow, DropLimit),
    )
    async def send_drop_bytes(session_id: str, request_id: str, offset: int, query: Place, request: Request) -> None:
        """Send the next bytes of a stream, from `offset` on; `last` with the last of them.

        The answer comes once the receiver has been sent all of it. Segments are read in order.
        """
        flow = await sender_of(drop, SessionId(session_id), RequestId(request_id), token_of(request.scope))
        await sending.send(request.scope, flow, Segment(BodyInlet(request), offset, query.last))

    @router.get(f"{_PATH}/bytes", produces=_BYTES, raises=(*_UNKNOWN, OtherSideMissing, StreamOver))
    async def take_drop_bytes(session_id: str, request_id: str, request: Request) -> Response:
        """Receive the bytes of a stream while the owner sends them. An answer that ends too early was interrupted."""
        if request.method != "GET":
            raise MethodNotAllowed(["GET", "OPTIONS"])
        flow = await receiver_of(drop, SessionId(session_id), RequestId(request_id), token_of(request.scope))
        return _Flowing(relay, flow)

    router.websocket(f"{_PATH}/socket", StreamSockets(drop, relay, sending))
    return router


class Sending:
    """What every way to send has in common: bytes are counted, if there is a limit."""

    def __init__(self, relay: Relay, allowance: Allowance) -> None:
        self._relay = relay
        self._allowance = allowance

    async def send(self, scope: "Scope", flow: Flow, segment: Segment) -> None:
        network, length = network_of(client_of(scope).address), segment.inlet.length
        if length is None:
            segment.inlet = self._allowance.metered(network, segment.inlet)
        else:
            await self._allowance.use(network, length)
        try:
            await self._relay.send(flow.request_id, flow.bytes, segment)
        except (SegmentOutOfPlace, OtherSideMissing):
            await self._allowance.use(network, -(length or 0))
            raise


class _Flowing(Response):
    """The receiver's end, as an answer."""

    def __init__(self, relay: Relay, flow: Flow) -> None:
        super().__init__()
        self._relay = relay
        self._flow = flow

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        outlet = AnswerOutlet(scope, receive, send)
        try:
            await self._relay.receive(self._flow.request_id, self._flow.bytes, outlet)
        except ReceiverLeft:
            raise ClientDisconnect from None
        except SatchelError:
            if not outlet.has_begun:
                raise
            await outlet.break_off()
            raise ClientDisconnect from None


class StreamSockets:
    """Websockets at either end of a stream, for clients whose proxy blocks streamed requests."""

    def __init__(self, drop: Drop, relay: Relay, sending: Sending) -> None:
        self._drop = drop
        self._relay = relay
        self._sending = sending

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        await receive()
        flow, is_sender = await self._admit(scope)
        is_offered = SUBPROTOCOL in (scope.get("subprotocols") or ())
        await send({"type": "websocket.accept", "subprotocol": SUBPROTOCOL if is_offered else None})
        code, reason = _FINISHED, ""
        try:
            if is_sender:
                await self._sending.send(scope, flow, Segment(SocketInlet(receive), None, last=True))
            else:
                await self._relay.receive(flow.request_id, flow.bytes, SocketOutlet(receive, send))
        except ReceiverLeft:
            return
        except SatchelError as error:
            code, reason = _REFUSED + error.status, error.slug
        with suppress(OSError):
            await send({"type": "websocket.close", "code": code, "reason": reason})

    async def _admit(self, scope: "Scope") -> tuple[Flow, bool]:
        """The stream, and whether the caller is its sender."""
        path, token = scope["path_params"], token_of(scope)
        session_id, request_id = SessionId(path["session_id"]), RequestId(path["request_id"])
        try:
            return await sender_of(self._drop, session_id, request_id, token), True
        except NotFound:
            return await receiver_of(self._drop, session_id, request_id, token), False
