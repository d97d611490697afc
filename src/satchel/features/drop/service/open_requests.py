"""Finds open requests, and deletes them completely when they have ended."""

from collections.abc import Iterable, Sequence
from typing import Any

from satchel.features.drop.model import FileId, MemberId, RequestId, SessionId
from satchel.features.drop.records import (
    ACKNOWLEDGED,
    CHUNKS,
    DETAILS,
    LAST_CHUNK,
    PARTIES,
    READY,
    RECEIVING,
    REQUEST,
    REQUESTED,
    REQUESTERS,
    SENDING,
    RequestRow,
    read_request,
    request_channel,
)
from satchel.features.drop.service.context import Drop, in_parts
from satchel.features.drop.service.state_budget import strike
from satchel.kernel.side_by_side import side_by_side
from satchel.stores.ports.ephemeral import Command, Delete, Get, HashAll, Publish, SetAll, SetRemove, SetSize


async def find_requests(drop: Drop, request_ids: Iterable[RequestId]) -> list[RequestRow]:
    wanted = list(request_ids)
    found = await in_parts(drop, [HashAll(DETAILS(request_id=each)) for each in wanted])
    rows = [read_request(request_id, fields) for request_id, fields in zip(wanted, found, strict=True)]
    return [row for row in rows if row is not None]


async def requests_of(drop: Drop, member_ids: Iterable[MemberId]) -> list[RequestRow]:
    """The requests that these members have made."""
    return await find_requests(drop, await request_ids_of(drop, member_ids))


async def request_ids_of(drop: Drop, member_ids: Iterable[MemberId]) -> list[RequestId]:
    made = await in_parts(drop, [SetAll(RECEIVING(member_id=each)) for each in member_ids])
    return [RequestId(each) for one in made for each in sorted(one)]


async def requests_for(drop: Drop, session_id: SessionId, file_id: FileId) -> list[RequestRow]:
    """The requests for a file, by anybody."""
    askers = await drop.ephemeral.run(SetAll(REQUESTERS(session_id=session_id, file_id=file_id)))
    keys = [REQUEST(session_id=session_id, file_id=file_id, member_id=each) for each in askers]
    pointers = await in_parts(drop, [Get(key) for key in keys])
    return await find_requests(drop, [pointed_at(each) for each in pointers if each])


def pointed_at(pointer: bytes) -> RequestId:
    """The request that `file.req:…` says is open."""
    return RequestId(pointer.partition(b"@")[0].decode())


async def forget_requests(drop: Drop, rows: Sequence[RequestRow]) -> None:
    """Delete everything that is stored of these requests, and end their streams."""
    await in_parts(drop, [command for row in rows for command in _forgetting(row)])
    # A receiver waits for this while a disk is busy with what it has received.
    await side_by_side(_strike_all(drop, rows), _forget_that_they_were_asked(drop, rows))


async def _strike_all(drop: Drop, rows: Sequence[RequestRow]) -> None:
    for session_id in {row.session_id for row in rows}:
        ids = [row.request_id for row in rows if row.session_id == session_id]
        await strike(drop, session_id, ids, "request", "answer")


async def _forget_that_they_were_asked(drop: Drop, rows: Sequence[RequestRow]) -> None:
    for row in rows:
        await _forget_that_it_was_asked(drop, row)


def keys_of_request(row: RequestRow) -> list[str]:
    """All keys that are this request's alone."""
    asked = {"session_id": row.session_id, "file_id": row.file_id, "member_id": row.receiver_id}
    details = (DETAILS, PARTIES, READY, CHUNKS, LAST_CHUNK)
    return [*(key(request_id=row.request_id) for key in details), REQUEST(**asked), ACKNOWLEDGED(**asked)]


def end_stream(row: RequestRow) -> Command[None]:
    return Publish(request_channel(row.request_id), b"ended")


def _forgetting(row: RequestRow) -> list[Command[Any]]:
    request_id = row.request_id
    return [
        *(Delete(key(request_id=request_id)) for key in (DETAILS, PARTIES, READY, CHUNKS, LAST_CHUNK)),
        SetRemove(SENDING(member_id=row.owner_id), request_id),
        SetRemove(RECEIVING(member_id=row.receiver_id), request_id),
        end_stream(row),
    ]


async def _forget_that_it_was_asked(drop: Drop, row: RequestRow) -> None:
    """Unless the same member has asked for the same file again since."""
    asked = {"session_id": row.session_id, "file_id": row.file_id, "member_id": row.receiver_id}
    pointer = await drop.ephemeral.run(Get(REQUEST(**asked)))
    if pointer is None:
        # It was just deleted. A late acknowledgement may have missed that.
        await drop.ephemeral.run(Delete(ACKNOWLEDGED(**asked)))
        return
    if pointed_at(pointer) != row.request_id:
        return
    askers = REQUESTERS(session_id=row.session_id, file_id=row.file_id)
    *_, left = await drop.ephemeral.together(
        Delete(REQUEST(**asked)), Delete(ACKNOWLEDGED(**asked)), SetRemove(askers, row.receiver_id), SetSize(askers)
    )
    if not left:
        await drop.ephemeral.run(SetRemove(REQUESTED(session_id=row.session_id), row.file_id))
