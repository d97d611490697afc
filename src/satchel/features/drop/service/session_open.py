"""Opens a session with a speakable name, finds it by that name, and closes it."""

import re
from dataclasses import dataclass
from typing import Any

from satchel.features.drop.events import SessionClosed
from satchel.features.drop.model import (
    KEPT,
    MemberId,
    SessionExists,
    SessionId,
    SessionName,
    SessionUnknown,
    TooManySessions,
)
from satchel.features.drop.records import CREATED, MEMBER, MEMBERS, NAME, SEEN, SESSION, MemberRow, encode_member
from satchel.features.drop.service.context import Caller, Drop, in_parts, is_open, member_ids_of
from satchel.features.drop.service.member_token import new_token, token_digest
from satchel.features.drop.service.session_leave import wipe
from satchel.features.drop.service.state_budget import open_account
from satchel.features.drop.session_names import draw_name
from satchel.kernel.errors import Conflict, Forbidden, Unavailable
from satchel.live import session_channel, tell
from satchel.stores.ports.ephemeral import (
    Command,
    Expire,
    Get,
    HashPut,
    Publish,
    Put,
    SetAdd,
    SetAll,
    SetRemove,
)

# Attempts among sixteen million names: all would fail only if most names were in use.
_DRAWS = 100
# Nothing else may be looked up as a name: the store has ids beside names.
_NAME = re.compile(r"[a-z]{1,20}-[a-z]{1,20}-[0-9]{2,3}")


@dataclass(frozen=True, slots=True)
class Opened:
    """An open session, and the token of its host."""

    name: SessionName
    token: str


async def open_session(
    drop: Drop, session_id: SessionId, *, code: str, member_id: MemberId, sealed: str, network: str
) -> Opened:
    """Open a session. `code` is the SHA-256 of the admission in hexadecimal digits. The caller is its host."""
    await _have_room_for(drop, session_id, network)
    if await drop.ephemeral.run(is_open(session_id)):
        raise SessionExists("A session with this id is already open. Draw another id.")
    await open_account(drop, session_id, network, member_id, sealed)
    await claim_member(drop, session_id, member_id)
    name = await _take_name(drop, session_id)
    token, now = new_token(member_id), drop.now()
    row = MemberRow(token_sha256=token_digest(token), sealed=sealed, joined_at=now)
    created, session = CREATED(network=network), SESSION(session_id=session_id)
    fields = {"name": name, "code": code, "host_id": member_id, "created_at": now, "renewed_at": now}
    await drop.ephemeral.together(
        HashPut(session, {field: value.encode() for field, value in fields.items()}),
        Expire(session, KEPT),
        *member_writes(session_id, member_id, row),
        SetAdd(created, session_id),
        Expire(created, KEPT),
    )
    return Opened(name, token)


async def find_by_name(drop: Drop, written: str, network: str) -> SessionId:
    """Only wrong names count. After too many, right ones are refused as well, so that guessing finds nothing."""
    name = written.strip().lower()
    found = await drop.ephemeral.run(Get(NAME(name=name))) if _NAME.fullmatch(name) else None
    session_id = SessionId((found or b"").decode())
    if not session_id or not await drop.ephemeral.run(is_open(session_id)):
        await drop.limits.count_name(network)
        raise SessionUnknown("No session has this name. Check the code, or ask for a new one.")
    await drop.limits.check_names(network)
    return session_id


async def close_session(drop: Drop, caller: Caller, network: str) -> None:
    if not caller.is_host:
        raise Forbidden("Only the host of the session can close it. You can leave it.")
    session_id = caller.session_id
    member_ids = await member_ids_of(drop, session_id)
    await wipe(drop, caller.session)
    await drop.ephemeral.run(SetRemove(CREATED(network=network), session_id))
    ended = [Publish(session_channel(each), b"ended") for each in member_ids]
    await in_parts(drop, [*tell(member_ids, SessionClosed(reason="closed")), *ended])


async def claim_member(drop: Drop, session_id: SessionId, member_id: MemberId) -> None:
    """Claim a member id. In two sessions, it would get the events of both."""
    is_free = await drop.ephemeral.run(
        Put(MEMBER(member_id=member_id), session_id.encode(), ttl=KEPT, only_if_absent=True)
    )
    if not is_free:
        raise Conflict("A member with this id is already in a session. Draw another id.")


def member_writes(session_id: SessionId, member_id: MemberId, row: MemberRow) -> list[Command[Any]]:
    members, seen = MEMBERS(session_id=session_id), SEEN(session_id=session_id)
    return [
        HashPut(members, {member_id: encode_member(row)}),
        HashPut(seen, {member_id: row.joined_at.encode()}),
        Expire(members, KEPT),
        Expire(seen, KEPT),
    ]


async def _have_room_for(drop: Drop, session_id: SessionId, network: str) -> None:
    """Refuse a session above the limit of its network. Ended ones do not count."""
    created = CREATED(network=network)
    known = sorted(await drop.ephemeral.run(SetAll(created)) - {session_id})
    if len(known) < drop.max_sessions_of_a_network:
        return
    found = await in_parts(drop, [is_open(each) for each in known])
    over = [each for each, code in zip(known, found, strict=True) if code is None]
    await in_parts(drop, [SetRemove(created, each) for each in over])
    if len(known) - len(over) >= drop.max_sessions_of_a_network:
        raise TooManySessions(
            f"Your network has {drop.max_sessions_of_a_network} sessions open, which is the limit. "
            "Close one, or wait until one ends.",
            limit=drop.max_sessions_of_a_network,
        )


async def _take_name(drop: Drop, session_id: SessionId) -> SessionName:
    for _ in range(_DRAWS):
        name = draw_name()
        if await drop.ephemeral.run(Put(NAME(name=name), session_id.encode(), ttl=KEPT, only_if_absent=True)):
            return name
    raise Unavailable("No name is free for a session. Try again.")
