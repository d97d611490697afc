"""Removes a member who leaves, is removed or expires, with their files and requests. The last one ends the session."""

from satchel.features.drop.events import (
    DoorChanged,
    FilesWithdrawn,
    MemberLeft,
    RequestEnded,
    SessionClosed,
)
from satchel.features.drop.model import Closing, FileId, MemberId, SessionId, is_id
from satchel.features.drop.records import (
    FILE,
    FILES,
    MEMBER,
    MEMBERS,
    RECEIPTS,
    SEEN,
    SESSION,
    SessionRow,
    decode_member,
)
from satchel.features.drop.service.context import Caller, Drop, in_parts, is_open, member_ids_of, missing, tell_members
from satchel.features.drop.service.open_requests import end_stream, forget_requests, requests_for, requests_of
from satchel.features.drop.service.session_expiry import keys_of_session
from satchel.features.drop.service.state_budget import close_account, strike
from satchel.kernel.errors import Forbidden, NotFound
from satchel.live import LiveEvent, session_channel, tell
from satchel.stores.ports.ephemeral import (
    Delete,
    HashAll,
    HashDelete,
    HashGet,
    HashPut,
    Publish,
    SetAll,
    SetRemove,
)


async def leave(drop: Drop, caller: Caller, member_id: MemberId) -> None:
    """Leave or, as host, remove a member."""
    if member_id == caller.member_id:
        await remove_member(drop, caller.session, member_id, "left")
        return
    if not caller.is_host:
        raise Forbidden("Only the host of the session can remove others.")
    members = MEMBERS(session_id=caller.session_id)
    if not is_id(member_id) or await drop.ephemeral.run(HashGet(members, member_id)) is None:
        raise NotFound("This member is not in the session.")
    await remove_member(drop, caller.session, member_id, "removed")


async def remove_member(drop: Drop, session: SessionRow, member_id: MemberId, why: Closing) -> None:
    """Remove the member first, so that their concurrent changes undo themselves."""
    session_id = session.session_id
    row = SESSION(session_id=session_id)
    door, host, was_in, *_ = await drop.ephemeral.together(
        HashGet(row, "door_id"),
        HashGet(row, "host_id"),
        HashDelete(MEMBERS(session_id=session_id), member_id),
        HashDelete(SEEN(session_id=session_id), member_id),
        Delete(MEMBER(member_id=member_id)),
        Delete(RECEIPTS(member_id=member_id)),
        *tell([member_id], SessionClosed(reason=why)),
        Publish(session_channel(member_id), b"ended"),
    )
    if not was_in:
        raise missing()
    left = await drop.ephemeral.run(HashAll(MEMBERS(session_id=session_id)))
    if not left:
        await wipe(drop, session, gone=member_id)
        return
    await strike(drop, session_id, [member_id], "member")
    owned = await _owned_files(drop, session_id, member_id)
    withdrawn = await withdraw(drop, session_id, owned) if owned else []
    made = await requests_of(drop, [member_id])
    await forget_requests(drop, made)
    events: list[LiveEvent] = [*withdrawn, *(RequestEnded(request_id=row.request_id) for row in made)]
    if door == member_id.encode():
        await change_session(drop, session_id, door_id=b"")
        events.append(DoorChanged(door_id=None))
    host_id = await _choose_host(drop, session_id) if host == member_id.encode() else (host or b"").decode()
    await tell_members(drop, session_id, *events, MemberLeft(member_id=member_id, host_id=host_id))


async def withdraw(drop: Drop, session_id: SessionId, file_ids: list[FileId]) -> list[LiveEvent]:
    """Withdraw files, and end the requests for them. Returns the events for the members."""
    files = FILES(session_id=session_id)
    await in_parts(
        drop,
        [
            command
            for file_id in file_ids
            for command in (SetRemove(files, file_id), Delete(FILE(session_id=session_id, file_id=file_id)))
        ],
    )
    await strike(drop, session_id, file_ids, "file")
    wanted = [row for file_id in file_ids for row in await requests_for(drop, session_id, file_id)]
    await forget_requests(drop, wanted)
    ended = [RequestEnded(request_id=row.request_id) for row in wanted]
    return [FilesWithdrawn(file_ids=[*file_ids]), *ended]


async def wipe(drop: Drop, session: SessionRow, *, gone: MemberId | None = None) -> None:
    """Delete every key of a session, its own first: later changes find it missing."""
    session_id = session.session_id
    await drop.ephemeral.together(Delete(SESSION(session_id=session_id)), close_account(session_id))
    keys = await keys_of_session(drop, session, gone)
    flowing = await requests_of(drop, await member_ids_of(drop, session_id))
    await in_parts(drop, [*(Delete(key) for key in keys), *map(end_stream, flowing)])


async def change_session(drop: Drop, session_id: SessionId, **fields: bytes) -> None:
    key = SESSION(session_id=session_id)
    found, _ = await drop.ephemeral.together(is_open(session_id), HashPut(key, fields))
    if found is None:
        await drop.ephemeral.run(Delete(key))
        raise missing()


async def _owned_files(drop: Drop, session_id: SessionId, member_id: MemberId) -> list[FileId]:
    file_ids = [FileId(each) for each in sorted(await drop.ephemeral.run(SetAll(FILES(session_id=session_id))))]
    keys = [FILE(session_id=session_id, file_id=file_id) for file_id in file_ids]
    owners = await in_parts(drop, [HashGet(key, "owner.id") for key in keys])
    return [each for each, owner in zip(file_ids, owners, strict=True) if owner == member_id.encode()]


async def _choose_host(drop: Drop, session_id: SessionId) -> MemberId:
    """Choose a new host: the member who has been here longest, preferably a connected one.

    A leaving member reads the host in the step in which they go. So a new host who leaves before this step is found
    missing here, and one who leaves afterwards chooses the next.
    """
    members = MEMBERS(session_id=session_id)
    while left := await drop.ephemeral.run(HashAll(members)):
        joined = {member_id: decode_member(row).joined_at for member_id, row in left.items()}
        here = await drop.attending.present(joined)
        chosen = min(joined, key=lambda each: (not here[each], joined[each], each))
        await change_session(drop, session_id, host_id=chosen.encode())
        if await drop.ephemeral.run(HashGet(members, chosen)) is not None:
            return MemberId(chosen)
    raise missing()
