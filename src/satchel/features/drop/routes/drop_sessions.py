"""Sessions: open, find by name, join, read, leave, close."""

from typing import Any, cast

from starlette.requests import Request
from starlette.responses import StreamingResponse

from satchel.edge.api.addresses import Addresses
from satchel.edge.api.endpoints import Router
from satchel.features.drop.model import (
    AdmissionRefused,
    MemberId,
    SessionExists,
    SessionFull,
    SessionId,
    SessionLocked,
    SessionUnknown,
    SessionView,
    StateFull,
    TooManySessions,
)
from satchel.features.drop.routes.views import (
    NameView,
    NewMember,
    NewSession,
    SessionJoined,
    SessionOpened,
    bytes_of,
    caller_of,
    count_call,
    network,
)
from satchel.features.drop.service import session_join, session_leave, session_open, session_show
from satchel.features.drop.service.context import Drop
from satchel.kernel.errors import Conflict, Forbidden, TooMany


def routes(drop: Drop, addresses: Addresses) -> Router:
    router = Router("drop")

    @router.post("/drop/sessions", status=201, raises=(SessionExists, TooManySessions, StateFull, Conflict, TooMany))
    async def open_drop_session(body: NewSession, request: Request) -> SessionOpened:
        """Open a session and be its host. No account is needed.

        All ids are 16 random bytes, drawn by the client.
        """
        await count_call(drop, request)
        opened = await session_open.open_session(
            drop,
            SessionId(body.session_id),
            code=bytes_of(body.admission).hex(),
            member_id=MemberId(body.member_id),
            sealed=body.sealed,
            network=network(request),
        )
        return SessionOpened(
            session_id=body.session_id,
            name=opened.name,
            token=opened.token,
            link_base=addresses.of(f"/drop/{opened.name}", request),
        )

    @router.get("/drop/names/{name}", raises=(SessionUnknown, TooMany))
    async def find_drop_session(name: str, request: Request) -> NameView:
        """Find a session by its name. The name alone does not let anybody join."""
        await count_call(drop, request)
        return NameView(session_id=await session_open.find_by_name(drop, name, network(request)))

    @router.post(
        "/drop/sessions/{session_id}/members",
        status=201,
        raises=(SessionUnknown, AdmissionRefused, SessionLocked, SessionFull, StateFull, Conflict, TooMany),
    )
    async def join_drop_session(session_id: str, body: NewMember, request: Request) -> SessionJoined:
        """Join a session with the admission, which is derived from its secret."""
        await count_call(drop, request)
        joined = await session_join.join(
            drop,
            SessionId(session_id),
            admission=bytes_of(body.admission),
            member_id=MemberId(body.member_id),
            sealed=body.sealed,
            network=network(request),
        )
        return SessionJoined(session_id=session_id, name=joined.name, token=joined.token)

    @router.get("/drop/sessions/{session_id}", raises=(SessionUnknown, TooMany))
    async def read_drop_session(session_id: str, request: Request) -> SessionView:
        """Read a session that you are in: its members, files and requests."""
        written = session_show.write_session(drop, await caller_of(drop, session_id, request))
        headers = {"cache-control": "no-store"}
        # It is a `SessionView`, written piece by piece.
        return cast("Any", StreamingResponse(written, media_type="application/json", headers=headers))

    @router.delete("/drop/sessions/{session_id}", raises=(SessionUnknown, Forbidden, TooMany))
    async def close_drop_session(session_id: str, request: Request) -> None:
        """Close a session as its host. Everything of it is deleted."""
        await session_open.close_session(drop, await caller_of(drop, session_id, request), network(request))

    @router.delete("/drop/sessions/{session_id}/members/{member_id}", raises=(SessionUnknown, Forbidden, TooMany))
    async def leave_drop_session(session_id: str, member_id: str, request: Request) -> None:
        """Leave a session or, as its host, remove a member.

        The files of a member go with them, and the session ends with the last member. If the host leaves, the member
        who has been there longest becomes host. Unless the session is locked, whoever knows the secret can join again.
        """
        caller = await caller_of(drop, session_id, request)
        await session_leave.leave(drop, caller, MemberId(member_id))

    return router
