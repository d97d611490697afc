"""Member tokens: a member authenticates only by the token that it got when it joined."""

import hashlib
import hmac

from satchel.features.drop.model import MemberId, SessionId, is_id
from satchel.features.drop.records import MEMBERS, SEEN, SESSION, decode_member, read_session
from satchel.features.drop.service.context import Caller, Drop, missing
from satchel.features.drop.service.session_expiry import has_lapsed, is_due, make_last
from satchel.features.drop.service.session_leave import change_session, remove_member
from satchel.kernel.errors import NotFound
from satchel.kernel.ids import new_secret
from satchel.stores.ports.ephemeral import HashAll, HashDelete, HashGet, HashPut


def new_token(member_id: MemberId) -> str:
    """A new token. It contains the member id, so that no lookup is needed."""
    return f"{member_id}.{new_secret()}"


def token_digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


async def member_of(drop: Drop, session_id: SessionId, token: str) -> MemberId:
    """The member with this token. For anybody else the session does not exist."""
    return (await recognise(drop, session_id, token)).member_id


async def recognise(drop: Drop, session_id: SessionId, token: str) -> Caller:
    """The same with their session. Every call extends the life of the session."""
    member_id = MemberId(token.partition(".")[0])
    if not is_id(session_id) or not is_id(member_id):
        raise missing()
    fields, raw, seen = await drop.ephemeral.together(
        HashAll(SESSION(session_id=session_id)),
        HashGet(MEMBERS(session_id=session_id), member_id),
        HashGet(SEEN(session_id=session_id), member_id),
    )
    session = read_session(session_id, fields)
    if session is None or raw is None or seen is None or has_lapsed(drop, seen.decode()):
        raise missing()
    row = decode_member(raw)
    if not hmac.compare_digest(token_digest(token), row.token_sha256):
        raise missing()
    caller = Caller(session, member_id, row)
    if is_due(drop, seen.decode()):
        await _note_sign(drop, caller)
    if is_due(drop, session.renewed_at):
        await _renew(drop, caller)
        return await recognise(drop, session_id, token)
    return caller


async def _note_sign(drop: Drop, caller: Caller) -> None:
    seen, member_id = SEEN(session_id=caller.session_id), caller.member_id
    row, _ = await drop.ephemeral.together(
        HashGet(MEMBERS(session_id=caller.session_id), member_id), HashPut(seen, {member_id: drop.now().encode()})
    )
    if row is None:
        await drop.ephemeral.run(HashDelete(seen, member_id))
        raise missing()


async def _renew(drop: Drop, caller: Caller) -> None:
    """Remove members who have been silent for too long, and extend the expiry of the rest."""
    session = caller.session
    await change_session(drop, session.session_id, renewed_at=drop.now().encode())
    seen = await drop.ephemeral.run(HashAll(SEEN(session_id=session.session_id)))
    for member_id, seen_at in seen.items():
        if member_id != caller.member_id and has_lapsed(drop, seen_at.decode()):
            try:
                await remove_member(drop, session, MemberId(member_id), "left")
            except NotFound:
                # Another server was faster.
                continue
    await make_last(drop, session)
