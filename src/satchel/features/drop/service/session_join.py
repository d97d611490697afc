"""Joins a session by its admission, of which the server stores only a hash."""

import hashlib
import hmac

from satchel.features.drop.events import MemberChanged
from satchel.features.drop.model import (
    MAX_MEMBERS,
    AdmissionRefused,
    MemberId,
    SessionFull,
    SessionId,
    StateFull,
    is_id,
)
from satchel.features.drop.records import MEMBER, MEMBERS, SEEN, SESSION, MemberRow, SessionRow, read_session
from satchel.features.drop.service.context import Drop, is_open, missing, tell_members
from satchel.features.drop.service.member_token import new_token, token_digest
from satchel.features.drop.service.session_lock import locked
from satchel.features.drop.service.session_open import Opened, claim_member, member_writes
from satchel.features.drop.service.session_show import show_members
from satchel.features.drop.service.state_budget import enter, strike
from satchel.stores.ports.ephemeral import Delete, HashAll, HashDelete, HashGet


async def join(
    drop: Drop, session_id: SessionId, *, admission: bytes, member_id: MemberId, sealed: str, network: str
) -> Opened:
    session = await find_session(drop, session_id)
    await drop.limits.check_attempts(session_id, network)
    if not hmac.compare_digest(hashlib.sha256(admission).hexdigest(), session.code):
        await drop.limits.count_attempt(session_id, network)
        raise AdmissionRefused("This link does not open the session. Use the complete link, or ask for the code.")
    if session.locked_at:
        raise locked()
    await claim_member(drop, session_id, member_id)
    try:
        await enter(drop, session_id, "member", {member_id: sealed})
    except StateFull:
        await drop.ephemeral.run(Delete(MEMBER(member_id=member_id)))
        raise
    token = new_token(member_id)
    row = MemberRow(token_sha256=token_digest(token), sealed=sealed, joined_at=drop.now())
    seen = SEEN(session_id=session_id)
    found, locked_at, *_, everybody = await drop.ephemeral.together(
        is_open(session_id),
        HashGet(SESSION(session_id=session_id), "locked_at"),
        *member_writes(session_id, member_id, row),
        HashAll(seen),
    )
    if found is None or locked_at or len(everybody) > MAX_MEMBERS:
        await drop.ephemeral.together(
            HashDelete(MEMBERS(session_id=session_id), member_id),
            HashDelete(seen, member_id),
            Delete(MEMBER(member_id=member_id)),
        )
        await strike(drop, session_id, [member_id], "member")
        if found is None:
            raise missing()
        if locked_at:
            raise locked()
        raise SessionFull(f"This session is full ({MAX_MEMBERS} members). Try again later.")
    (view,) = await show_members(drop, {member_id: row})
    await tell_members(drop, session_id, MemberChanged(member=view))
    return Opened(session.name, token)


async def find_session(drop: Drop, session_id: SessionId) -> SessionRow:
    """A session, for a caller who is not in it yet."""
    fields = await drop.ephemeral.run(HashAll(SESSION(session_id=session_id))) if is_id(session_id) else {}
    session = read_session(session_id, fields)
    if session is None:
        raise missing()
    return session
