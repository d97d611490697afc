"""The door: the member who shows a code, the messages between guests and the door, and the lock."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

from satchel.edge.api.endpoints import Router
from satchel.features.drop.model import (
    CodeDead,
    CodeWrong,
    DoorBusy,
    DoorClosed,
    KnockId,
    KnockUnanswered,
    SessionId,
    SessionLocked,
    SessionUnknown,
    VersionsDiffer,
)
from satchel.features.drop.routes.views import (
    DoorVerdict,
    GuestTag,
    NewKnock,
    Share,
    ShareView,
    VerdictView,
    caller_of,
    count_call,
    network,
)
from satchel.features.drop.service import drop_door, session_knock, session_lock
from satchel.features.drop.service.context import Drop
from satchel.kernel.errors import Conflict, Forbidden, TooMany
from satchel.kernel.unfit import CombinationUnfit

T = TypeVar("T")

_REFUSED = (
    *(SessionUnknown, SessionLocked, DoorClosed, DoorBusy, CodeWrong, CodeDead, VersionsDiffer),
    *(KnockUnanswered, TooMany),
)


def routes(drop: Drop) -> Router:
    router = Router("drop")

    @router.put("/drop/sessions/{session_id}/door", status=204, raises=(SessionUnknown, Conflict, TooMany))
    async def become_drop_door(session_id: str, request: Request) -> None:
        """Become the door, if no connected member is, or as host."""
        await drop_door.become_door(drop, await caller_of(drop, session_id, request))

    @router.delete("/drop/sessions/{session_id}/door", raises=(SessionUnknown, TooMany))
    async def give_up_drop_door(session_id: str, request: Request) -> None:
        """Stop being the door. Nobody can join by a code then."""
        await drop_door.give_up_door(drop, await caller_of(drop, session_id, request))

    @router.put("/drop/sessions/{session_id}/lock", status=204, raises=(SessionUnknown, Forbidden, TooMany))
    async def lock_drop_session(session_id: str, request: Request) -> None:
        """Let nobody else join, as host: neither with the link nor with the code. Who is in the session stays."""
        await session_lock.set_lock(drop, await caller_of(drop, session_id, request), is_locked=True)

    @router.delete("/drop/sessions/{session_id}/lock", raises=(SessionUnknown, Forbidden, TooMany))
    async def unlock_drop_session(session_id: str, request: Request) -> None:
        """Let people join again, as host."""
        await session_lock.set_lock(drop, await caller_of(drop, session_id, request), is_locked=False)

    @router.post("/drop/sessions/{session_id}/knocks", raises=_REFUSED)
    async def knock_at_drop_door(session_id: str, body: NewKnock, request: Request) -> ShareView:
        """Knock with the spoken code. The door answers within 30 seconds."""
        await count_call(drop, request)
        knock = session_knock.knock(
            drop,
            SessionId(session_id),
            KnockId(body.knock_id),
            suite=body.suite,
            share=body.share,
            network=network(request),
        )
        return ShareView(share=(await _while_there(request, knock)).share)

    @router.post("/drop/sessions/{session_id}/knocks/{knock_id}/tag", raises=_REFUSED)
    async def prove_drop_code(session_id: str, knock_id: str, body: GuestTag, request: Request) -> VerdictView:
        """Prove to the door that you know the code. The answer has the encrypted secret and takes up to 30 seconds."""
        await count_call(drop, request)
        proof = session_knock.present_tag(
            drop, SessionId(session_id), KnockId(knock_id), tag=body.tag, network=network(request)
        )
        verdict = await _while_there(request, proof)
        return VerdictView(tag=verdict.tag, sealed=verdict.sealed)

    @router.post(
        "/drop/sessions/{session_id}/knocks/{knock_id}/share", status=204, raises=(SessionUnknown, Forbidden, TooMany)
    )
    async def answer_drop_knock(session_id: str, knock_id: str, body: Share, request: Request) -> None:
        """Answer a knock, as the door."""
        caller = await caller_of(drop, session_id, request)
        await session_knock.answer_knock(drop, caller, KnockId(knock_id), session_knock.Shared(body.share))

    @router.post(
        "/drop/sessions/{session_id}/knocks/{knock_id}/verdict", status=204, raises=(SessionUnknown, Forbidden, TooMany)
    )
    async def judge_drop_knock(session_id: str, knock_id: str, body: DoorVerdict, request: Request) -> None:
        """Admit or refuse a guest, as the door."""
        caller = await caller_of(drop, session_id, request)
        await session_knock.answer_knock(drop, caller, KnockId(knock_id), _verdict(body))

    return router


def _verdict(body: DoorVerdict) -> session_knock.Verdict | session_knock.Refused:
    match body:
        case DoorVerdict(tag=str() as tag, sealed=str() as sealed, refused=None):
            return session_knock.Verdict(tag, sealed)
        case DoorVerdict(tag=None, sealed=None, refused=refused) if refused is not None:
            return session_knock.Refused(refused)
        case _:
            raise CombinationUnfit("Send either `tag` and `sealed`, or `refused`.", field="refused")


async def _while_there(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Wait for as long as the client is connected."""
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_left(request))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
