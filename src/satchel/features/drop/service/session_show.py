"""A session as its members see it: members, files and requests."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Any

import msgspec

from satchel.features.drop.model import (
    AcknowledgementView,
    FileId,
    FileView,
    MemberId,
    MemberView,
    ReceiptView,
    RequestView,
    SessionId,
)
from satchel.features.drop.records import (
    FILE,
    FILES,
    LAST_CHUNK,
    MEMBERS,
    READY,
    RECEIPTS,
    MemberRow,
    RequestRow,
    decode_member,
)
from satchel.features.drop.service.context import Caller, Drop, in_parts
from satchel.features.drop.service.open_requests import find_requests, request_ids_of
from satchel.stores.ports.ephemeral import Command, Exists, Get, HashAll, ListRange, SetAll

# How many things are read and written at a time.
_PIECE = 16
_encode = msgspec.json.Encoder().encode


async def write_session(drop: Drop, caller: Caller) -> AsyncGenerator[bytes]:
    """A `SessionView` as JSON, piece by piece. A caller who does not read holds up one piece, and not the whole."""
    session = caller.session
    session_id = session.session_id
    members, file_ids = await drop.ephemeral.together(
        HashAll(MEMBERS(session_id=session_id)), SetAll(FILES(session_id=session_id))
    )
    rows = {MemberId(member_id): decode_member(row) for member_id, row in members.items()}
    head = {"session_id": session_id, "name": session.name, "host_id": session.host_id, "door_id": session.door_id}
    yield _encode({**head, "is_locked": bool(session.locked_at), "created_at": session.created_at})[:-1]
    yield b',"members":' + _encode(await show_members(drop, rows))
    yield b',"files":['
    wanted = sorted(map(FileId, file_ids))
    is_first = True
    for start in range(0, len(wanted), _PIECE):
        files = await _show_files(drop, session_id, wanted[start : start + _PIECE])
        if shown := _joined([file for file in files if file.owner_id in rows], is_first=is_first):
            is_first = False
            yield shown
    yield b'],"requests":['
    ids = await request_ids_of(drop, rows)
    is_first = True
    for start in range(0, len(ids), _PIECE):
        requests = await show_requests(drop, await find_requests(drop, ids[start : start + _PIECE]))
        if shown := _joined([each for each in requests if each.owner_id in rows], is_first=is_first):
            is_first = False
            yield shown
    # Read after the requests: a request that ends in between is in both rather than in neither.
    yield b'],"receipts":' + _encode(await _show_receipts(drop, caller.member_id)) + b"}"


def _joined(views: Sequence[object], *, is_first: bool) -> bytes:
    pieces = b",".join(map(_encode, views))
    return pieces if is_first or not pieces else b"," + pieces


async def show_members(drop: Drop, rows: dict[MemberId, MemberRow]) -> list[MemberView]:
    """The members in the order of joining."""
    devices = await drop.attending.present(rows)
    views = [
        MemberView(member_id=each, sealed=row.sealed, here=bool(devices[each]), joined_at=row.joined_at)
        for each, row in rows.items()
    ]
    return sorted(views, key=lambda view: (view.joined_at, view.member_id))


async def show_requests(drop: Drop, rows: Sequence[RequestRow]) -> list[RequestView]:
    commands: list[Command[Any]] = []
    for row in rows:
        commands += [Get(LAST_CHUNK(request_id=row.request_id)), Exists(READY(request_id=row.request_id))]
    found = await in_parts(drop, commands)
    return [
        _request_view(row, chunks=int(chunks or 0), is_flowing=is_flowing)
        for row, chunks, is_flowing in zip(rows, found[::2], found[1::2], strict=True)
    ]


async def _show_receipts(drop: Drop, owner_id: MemberId) -> list[ReceiptView]:
    kept = await drop.ephemeral.run(ListRange(RECEIPTS(member_id=owner_id)))
    pairs = [each.decode().split("@") for each in kept]
    return [ReceiptView(request_id=request_id, receipt=receipt) for request_id, receipt in pairs]


async def _show_files(drop: Drop, session_id: SessionId, file_ids: Iterable[FileId]) -> list[FileView]:
    wanted = sorted(file_ids)
    found: list[dict[str, bytes]] = await in_parts(
        drop, [HashAll(FILE(session_id=session_id, file_id=each)) for each in wanted]
    )
    return [
        FileView(file_id=file_id, owner_id=fields["owner.id"].decode(), sealed=fields["name"].decode())
        for file_id, fields in zip(wanted, found, strict=True)
        if fields
    ]


def _request_view(row: RequestRow, *, chunks: int, is_flowing: bool) -> RequestView:
    said = row.acknowledged
    return RequestView(
        request_id=row.request_id,
        file_id=row.file_id,
        receiver_id=row.receiver_id,
        owner_id=row.owner_id,
        public_key=row.public_key,
        sealed=row.sealed,
        acknowledged=said
        and AcknowledgementView(public_key=said.public_key, sealed=said.sealed, chunks=said.chunks, bytes=said.bytes),
        chunks=chunks,
        is_flowing=is_flowing,
    )
