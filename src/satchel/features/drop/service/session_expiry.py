"""The expiry of a session: every call of a member extends all of its keys by a day."""

from satchel.features.drop.model import KEPT, NOTED_EVERY, FileId, MemberId
from satchel.features.drop.records import (
    CHUNKS,
    FILE,
    FILES,
    KNOCK,
    MEMBER,
    MEMBERS,
    NAME,
    READY,
    RECEIPTS,
    RECEIVING,
    REQUESTED,
    REQUESTERS,
    SEEN,
    SENDING,
    SESSION,
    SIZES,
    SessionRow,
)
from satchel.features.drop.service.context import Drop, in_parts, member_ids_of
from satchel.features.drop.service.open_requests import keys_of_request, requests_of
from satchel.kernel.clock import from_iso
from satchel.stores.ports.ephemeral import Expire, SetAll

# A receiver counts as connected only while its server renews this key.
_WITH_OWN_TIMES = tuple(key.pattern.partition("{")[0] for key in (KNOCK, READY, CHUNKS))


def is_due(drop: Drop, noted_at: str) -> bool:
    """Whether the expiry has to be extended again."""
    return drop.clock() - from_iso(noted_at) >= NOTED_EVERY.total_seconds()


def has_lapsed(drop: Drop, seen_at: str) -> bool:
    """Whether a member last seen then has expired."""
    return drop.clock() - from_iso(seen_at) > KEPT.total_seconds()


async def keys_of_session(drop: Drop, session: SessionRow, gone: MemberId | None = None) -> list[str]:
    """Every key of a session. `gone` is a member who has just left it."""
    session_id = session.session_id
    member_ids = [*await member_ids_of(drop, session_id), *([gone] if gone else [])]
    files, requested = await drop.ephemeral.together(
        SetAll(FILES(session_id=session_id)), SetAll(REQUESTED(session_id=session_id))
    )
    requests = await requests_of(drop, member_ids)
    return [
        SESSION(session_id=session_id),
        NAME(name=session.name),
        *(key(session_id=session_id) for key in (MEMBERS, SEEN, FILES, REQUESTED, KNOCK, SIZES)),
        *(key(member_id=member_id) for member_id in member_ids for key in (MEMBER, SENDING, RECEIVING, RECEIPTS)),
        *(FILE(session_id=session_id, file_id=FileId(each)) for each in files),
        *(REQUESTERS(session_id=session_id, file_id=FileId(each)) for each in requested),
        *(key for row in requests for key in keys_of_request(row)),
    ]


async def make_last(drop: Drop, session: SessionRow) -> None:
    """Extend the expiry of every key of a session, except knocks and streams, which have their own."""
    keys = await keys_of_session(drop, session)
    await in_parts(drop, [Expire(key, KEPT) for key in keys if not key.startswith(_WITH_OWN_TIMES)])
