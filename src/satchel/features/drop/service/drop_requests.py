"""Requests for files: ask, acknowledge, decline, report progress, end; and who may send and receive the bytes."""

from dataclasses import dataclass
from typing import Any

from satchel.features.drop.events import (
    RequestDeclined,
    RequestDone,
    Requested,
    RequestEnded,
    RequestProgressed,
)
from satchel.features.drop.model import (
    KEPT,
    MAX_RECEIPTS,
    MAX_REQUESTS_OF_ONE,
    Declining,
    FileId,
    FileUnknown,
    MemberId,
    OwnFile,
    RequestId,
    RequestUnknown,
    RequestView,
    SessionId,
    TooManyRequestsOpen,
    is_id,
)
from satchel.features.drop.records import (
    ACKNOWLEDGED,
    DETAILS,
    FILE,
    LAST_CHUNK,
    MEMBERS,
    PARTIES,
    RECEIPTS,
    RECEIVING,
    REQUEST,
    REQUESTED,
    REQUESTERS,
    SENDING,
    AcknowledgementRow,
    RequestRow,
    acknowledgement_fields,
    read_request,
    request_fields,
)
from satchel.features.drop.service.context import Caller, Drop, missing, still_there, tell_members
from satchel.features.drop.service.member_token import recognise
from satchel.features.drop.service.open_requests import find_requests, forget_requests, pointed_at
from satchel.features.drop.service.session_show import show_requests
from satchel.features.drop.service.state_budget import enter
from satchel.kernel.errors import Conflict
from satchel.live import LiveEvent
from satchel.stores.ports.ephemeral import (
    Command,
    Delete,
    Expire,
    Get,
    HashAll,
    HashGet,
    HashPut,
    ListPush,
    ListTrim,
    Put,
    SetAdd,
    SetHas,
    SetSize,
)


@dataclass(frozen=True, slots=True)
class Flow:
    """A stream that one member may send and another receive. `bytes` is its size, None if the owner does not know."""

    session_id: SessionId
    request_id: RequestId
    bytes: int | None


async def sender_of(drop: Drop, session_id: SessionId, request_id: RequestId, token: str) -> Flow:
    """The stream of a request, only for the owner of its file, once they have acknowledged it."""
    caller = await recognise(drop, session_id, token)
    row = await _find(drop, caller, request_id)
    return _flow(row, allowed=row.owner_id == caller.member_id)


async def receiver_of(drop: Drop, session_id: SessionId, request_id: RequestId, token: str) -> Flow:
    """The stream of a request, only for the member who made it, once it is acknowledged."""
    caller = await recognise(drop, session_id, token)
    row = await _find(drop, caller, request_id)
    return _flow(row, allowed=row.receiver_id == caller.member_id)


async def ask(
    drop: Drop, caller: Caller, file_id: FileId, request_id: RequestId, *, public_key: str, sealed: str
) -> RequestView:
    """Request a file. It ends an earlier request of the same member for it. Idempotent for the same request id."""
    owner_id = await _owner_of(drop, caller, file_id)
    row = RequestRow(
        request_id=request_id,
        session_id=caller.session_id,
        file_id=file_id,
        receiver_id=caller.member_id,
        owner_id=owner_id,
        public_key=public_key,
        sealed=sealed,
    )
    known = await find_requests(drop, [request_id])
    if known:
        return await _asked_before(drop, row, known[0])
    await enter(drop, caller.session_id, "request", {request_id: sealed})
    earlier = await _put_in(drop, caller, row)
    await forget_requests(drop, earlier)
    ended = [RequestEnded(request_id=each.request_id) for each in earlier]
    (view,) = await show_requests(drop, [row])
    await tell_members(drop, caller.session_id, *ended, Requested(request=view))
    return view


async def acknowledge(drop: Drop, caller: Caller, request_id: RequestId, answer: AcknowledgementRow) -> None:
    row = await _find_served(drop, caller, request_id)
    if row.acknowledged is not None:
        if row.acknowledged.public_key == answer.public_key:
            return
        raise Conflict("Another window of yours has acknowledged this request. Wait for the next one.")
    asked = ACKNOWLEDGED(session_id=row.session_id, file_id=row.file_id, member_id=row.receiver_id)
    await enter(drop, row.session_id, "answer", {request_id: answer.sealed})
    await _change(
        drop,
        row,
        HashPut(DETAILS(request_id=request_id), acknowledgement_fields(answer)),
        Put(asked, request_id.encode(), ttl=KEPT),
    )
    views = await show_requests(drop, await find_requests(drop, [request_id]))
    await tell_members(drop, caller.session_id, *(Requested(request=view) for view in views))


async def decline(drop: Drop, caller: Caller, request_id: RequestId, reason: Declining) -> None:
    row = await _find_served(drop, caller, request_id)
    await _end(drop, row, RequestDeclined(request_id=request_id, reason=reason))


async def tell_progress(drop: Drop, caller: Caller, request_id: RequestId, chunks: int) -> None:
    row = await _find_made(drop, caller, request_id)
    await _change(drop, row, Put(LAST_CHUNK(request_id=request_id), str(chunks).encode(), ttl=KEPT))
    await tell_members(drop, caller.session_id, RequestProgressed(request_id=request_id, chunks=chunks))


async def finish(drop: Drop, caller: Caller, request_id: RequestId, receipt: str) -> None:
    """Finish a request. The receipt is kept for an owner who is away."""
    row = await _find_made(drop, caller, request_id)
    receipts = RECEIPTS(member_id=row.owner_id)
    # All in one step, so that a reader of the session finds either the request or the receipt.
    was_open, owner, *_ = await drop.ephemeral.together(
        Delete(DETAILS(request_id=request_id)),
        HashGet(MEMBERS(session_id=row.session_id), row.owner_id),
        ListPush(receipts, f"{request_id}@{receipt}".encode()),
        ListTrim(receipts, 0, MAX_RECEIPTS - 1),
        Expire(receipts, KEPT),
    )
    if owner is None:
        await drop.ephemeral.run(Delete(receipts))
    await _tell_end(drop, row, RequestDone(request_id=request_id, receipt=receipt), was_open=was_open)


async def end_request(drop: Drop, caller: Caller, request_id: RequestId) -> None:
    row = await _find(drop, caller, request_id)
    await _end(drop, row, RequestEnded(request_id=request_id))


async def _put_in(drop: Drop, caller: Caller, row: RequestRow) -> list[RequestRow]:
    """Store a request, unless session, member or file are gone. Returns the request that it replaces, if any."""
    asked = {"session_id": row.session_id, "file_id": row.file_id, "member_id": row.receiver_id}
    file = FILE(session_id=row.session_id, file_id=row.file_id)
    found, member, owner, pointer, size, *_ = await drop.ephemeral.together(
        *still_there(caller),
        HashGet(file, "owner.id"),
        Get(REQUEST(**asked)),
        SetSize(RECEIVING(member_id=row.receiver_id)),
        *_writing(row),
    )
    earlier = await find_requests(drop, [pointed_at(pointer)]) if pointer else []
    is_too_many = size >= MAX_REQUESTS_OF_ONE and not earlier
    if found is not None and member is not None and owner is not None and not is_too_many:
        return earlier
    # A concurrent deletion of the session, the member or the file may have seen the one or the other.
    await forget_requests(drop, [row, *earlier])
    if found is None or member is None:
        raise missing()
    if owner is None:
        raise _not_offered()
    raise TooManyRequestsOpen(
        f"You are waiting for {MAX_REQUESTS_OF_ONE} files, which is the limit. Wait until some have arrived."
    )


def _writing(row: RequestRow) -> list[Command[Any]]:
    request_id, session_id = row.request_id, row.session_id
    pointer = f"{request_id}@{row.public_key}".encode()
    sets = {
        PARTIES(request_id=request_id): (row.receiver_id, row.owner_id),
        SENDING(member_id=row.owner_id): (request_id,),
        RECEIVING(member_id=row.receiver_id): (request_id,),
        REQUESTED(session_id=session_id): (row.file_id,),
        REQUESTERS(session_id=session_id, file_id=row.file_id): (row.receiver_id,),
    }
    return [
        Put(REQUEST(session_id=session_id, file_id=row.file_id, member_id=row.receiver_id), pointer, ttl=KEPT),
        HashPut(DETAILS(request_id=request_id), request_fields(row)),
        Expire(DETAILS(request_id=request_id), KEPT),
        *(SetAdd(key, member) for key, members in sets.items() for member in members),
        *(Expire(key, KEPT) for key in sets),
    ]


async def _asked_before(drop: Drop, row: RequestRow, known: RequestRow) -> RequestView:
    is_same = (known.session_id, known.receiver_id, known.file_id, known.public_key) == (
        *(row.session_id, row.receiver_id, row.file_id, row.public_key),
    )
    if not is_same:
        raise Conflict("A request with this id already exists. Draw another id.")
    return (await show_requests(drop, [known]))[0]


async def _owner_of(drop: Drop, caller: Caller, file_id: FileId) -> MemberId:
    owner = await drop.ephemeral.run(HashGet(FILE(session_id=caller.session_id, file_id=file_id), "owner.id"))
    if owner is None:
        raise _not_offered()
    if owner == caller.member_id.encode():
        raise OwnFile("This is your own file.")
    return MemberId(owner.decode())


async def _change(drop: Drop, row: RequestRow, *commands: Command[Any]) -> None:
    """Change a request, unless it ended just before."""
    asked_for, *_ = await drop.ephemeral.together(HashGet(DETAILS(request_id=row.request_id), "filename"), *commands)
    if asked_for is None:
        await forget_requests(drop, [row])
        raise _over()


async def _end(drop: Drop, row: RequestRow, event: LiveEvent) -> None:
    was_open = await drop.ephemeral.run(Delete(DETAILS(request_id=row.request_id)))
    await _tell_end(drop, row, event, was_open=was_open)


async def _tell_end(drop: Drop, row: RequestRow, event: LiveEvent, *, was_open: bool) -> None:
    """Of several concurrent callers that end a request, the one that found it open publishes the event."""
    if not was_open:
        raise _over()
    await forget_requests(drop, [row])
    await tell_members(drop, row.session_id, event)


async def _find(drop: Drop, caller: Caller, request_id: RequestId) -> RequestRow:
    """A request of this session, only for its receiver and its owner."""
    if not is_id(request_id):
        raise _over()
    fields, is_party = await drop.ephemeral.together(
        HashAll(DETAILS(request_id=request_id)), SetHas(PARTIES(request_id=request_id), caller.member_id)
    )
    row = read_request(request_id, fields)
    if row is None or not is_party or row.session_id != caller.session_id:
        raise _over()
    return row


async def _find_served(drop: Drop, caller: Caller, request_id: RequestId) -> RequestRow:
    row = await _find(drop, caller, request_id)
    if row.owner_id != caller.member_id:
        raise _over()
    return row


async def _find_made(drop: Drop, caller: Caller, request_id: RequestId) -> RequestRow:
    row = await _find(drop, caller, request_id)
    if row.receiver_id != caller.member_id:
        raise _over()
    return row


def _flow(row: RequestRow, *, allowed: bool) -> Flow:
    if not allowed or row.acknowledged is None:
        raise _over()
    return Flow(row.session_id, row.request_id, row.acknowledged.bytes)


def _not_offered() -> FileUnknown:
    return FileUnknown("This file is no longer offered. Reload the session.")


def _over() -> RequestUnknown:
    return RequestUnknown("This request does not exist, or has ended. Ask for the file again.")
