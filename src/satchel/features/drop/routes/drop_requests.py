"""Requests for files: ask, acknowledge or decline, report progress, end."""

from starlette.requests import Request

from satchel.edge.api.endpoints import Router
from satchel.features.drop.model import (
    FileId,
    FileUnknown,
    OwnFile,
    RequestId,
    RequestUnknown,
    RequestView,
    SessionUnknown,
    StateFull,
    TooManyRequestsOpen,
)
from satchel.features.drop.records import AcknowledgementRow
from satchel.features.drop.routes.views import Acknowledgement, Decline, Done, NewRequest, Progress, caller_of
from satchel.features.drop.service import drop_requests
from satchel.features.drop.service.context import Drop
from satchel.kernel.errors import Conflict, TooMany

_REFUSED = (SessionUnknown, RequestUnknown, TooMany)


def routes(drop: Drop) -> Router:
    router = Router("drop")

    @router.post(
        "/drop/sessions/{session_id}/requests",
        status=201,
        raises=(SessionUnknown, FileUnknown, OwnFile, TooManyRequestsOpen, StateFull, Conflict, TooMany),
    )
    async def request_drop_file(session_id: str, body: NewRequest, request: Request) -> RequestView:
        """Request a file from its owner. It replaces an earlier request of yours for the same file."""
        return await drop_requests.ask(
            drop,
            await caller_of(drop, session_id, request),
            FileId(body.file_id),
            RequestId(body.request_id),
            public_key=body.public_key,
            sealed=body.sealed,
        )

    @router.post(
        "/drop/sessions/{session_id}/requests/{request_id}/acknowledge",
        status=204,
        raises=(*_REFUSED, StateFull, Conflict),
    )
    async def acknowledge_drop_request(
        session_id: str, request_id: str, body: Acknowledgement, request: Request
    ) -> None:
        """Acknowledge a request for your file."""
        answer = AcknowledgementRow(
            public_key=body.public_key, sealed=body.sealed, chunks=body.chunks, bytes=body.bytes
        )
        caller = await caller_of(drop, session_id, request)
        await drop_requests.acknowledge(drop, caller, RequestId(request_id), answer)

    @router.post("/drop/sessions/{session_id}/requests/{request_id}/decline", status=204, raises=_REFUSED)
    async def decline_drop_request(session_id: str, request_id: str, body: Decline, request: Request) -> None:
        """Decline a request for your file."""
        caller = await caller_of(drop, session_id, request)
        await drop_requests.decline(drop, caller, RequestId(request_id), body.reason)

    @router.post("/drop/sessions/{session_id}/requests/{request_id}/progress", status=204, raises=_REFUSED)
    async def tell_drop_progress(session_id: str, request_id: str, body: Progress, request: Request) -> None:
        """Report how many chunks you have written."""
        caller = await caller_of(drop, session_id, request, counted=False)
        await drop_requests.tell_progress(drop, caller, RequestId(request_id), body.chunks)

    @router.post("/drop/sessions/{session_id}/requests/{request_id}/done", status=204, raises=_REFUSED)
    async def finish_drop_request(session_id: str, request_id: str, body: Done, request: Request) -> None:
        """Confirm that you have received everything."""
        caller = await caller_of(drop, session_id, request)
        await drop_requests.finish(drop, caller, RequestId(request_id), body.receipt)

    @router.delete("/drop/sessions/{session_id}/requests/{request_id}", raises=_REFUSED)
    async def end_drop_request(session_id: str, request_id: str, request: Request) -> None:
        """Cancel a request that you have made, or that you were asked to serve."""
        await drop_requests.end_request(drop, await caller_of(drop, session_id, request), RequestId(request_id))

    return router
