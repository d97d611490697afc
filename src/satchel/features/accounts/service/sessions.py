"""Sessions: sign in, refresh, list and end.

A refresh token is a claim signed by the server: whose session it is for and how often that session was refreshed. Only
the newest one works; its hash is the record in the table. Presenting an older one means that somebody else has it, too,
and ends the session. For a few seconds the one before the newest still answers with the newest, which is the same
signed claim again: a browser with two tabs, or a client whose answer was lost, is not a thief.
"""

from dataclasses import dataclass
from datetime import timedelta

import msgspec

from satchel.features.accounts.limits import MAX_SESSIONS
from satchel.features.accounts.model import (
    AccountSuspended,
    Email,
    Purpose,
    SessionEnded,
    SessionId,
    UserId,
    WrongCredentials,
    normalise_email,
)
from satchel.features.accounts.needs import Issued
from satchel.features.accounts.records import (
    REFRESH,
    REFRESH_SORT,
    SESSION,
    USER,
    RefreshRow,
    SessionRow,
    UserRow,
)
from satchel.features.accounts.service import known_devices
from satchel.features.accounts.service.context import SESSION_LIFETIME, Accounts, token_hash
from satchel.features.accounts.service.scopes import is_administrator
from satchel.kernel.clock import from_iso, iso
from satchel.kernel.errors import NotFound
from satchel.kernel.ids import new_id
from satchel.kernel.signature import BadSignature
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.ports.expressions import Condition, assign, attr
from satchel.stores.ports.table import Range, TransactionCancelled, Write

GRACE = timedelta(seconds=30)
MAX_DEVICE_CHARACTERS = 200
MAX_SESSION_ID_CHARACTERS = 64
_PURPOSE = "refresh"


class _Claim(msgspec.Struct, frozen=True, array_like=True):
    email: Email
    session_id: SessionId
    generation: int


@dataclass(frozen=True, slots=True)
class SignedIn:
    """What a client needs to act as a person."""

    session: SessionRow
    access: Issued
    refresh_token: str


async def sign_in(
    accounts: Accounts, email: str, password: str, *, purpose: Purpose, device: str, known: str | None, address: str
) -> SignedIn:
    """Sign in. An unknown address and a wrong password get the same answer, after the same time.

    `known` is the proof of a device that has signed in to this account before.
    """
    wanted = normalise_email(email)
    device_id = known_devices.read(accounts, known, wanted)
    await accounts.limits.sign_ins.count(wanted, address, device_id)
    user = await _user_by_email(accounts, wanted)
    if not await accounts.passwords.matches(user.password if user else None, password, address) or user is None:
        raise WrongCredentials("E-mail address or password is wrong. Check both and try again.")
    await accounts.limits.sign_ins.forgive(wanted, address, device_id)
    if user.suspended_at:
        raise AccountSuspended("This account is suspended. Ask your administrator.")
    if accounts.passwords.is_outdated(user.password):
        user = await _rehash(accounts, user, password, address)
    return await open_session(accounts, user, purpose=purpose, device=device)


async def open_session(accounts: Accounts, user: UserRow, *, purpose: Purpose, device: str) -> SignedIn:
    """Open a session after the password was checked. Fails if it was changed or the person suspended since.

    Of too many sessions, those that were used the longest ago are ended.
    """
    now = accounts.clock()
    session = SessionRow(
        session_id=SessionId(new_id(accounts.clock)),
        email=user.email,
        user_id=user.user_id,
        purpose=purpose,
        device=device[:MAX_DEVICE_CHARACTERS],
        created_at=iso(now),
        last_used_at=iso(now),
        expires_at=iso(now + SESSION_LIFETIME.total_seconds()),
        generation=0,
    )
    await _store(accounts, user, session)
    others = [each for each in await list_sessions(accounts, user.email) if each.session_id != session.session_id]
    for superfluous in others[MAX_SESSIONS - 1 :]:
        await _end(accounts, superfluous)
    return await _signed_in(accounts, session)


@optimistic_update()
async def _store(accounts: Accounts, user: UserRow, session: SessionRow) -> None:
    unchanged = (attr("password") == user.password) & attr("suspendedAt").absent()
    writes = [SESSION.put(session), REFRESH.put(_refresh_row(accounts, session)), _used(session, when=unchanged)]
    try:
        await accounts.tables.transact(writes)
    except TransactionCancelled as cancelled:
        if "condition" in cancelled.reasons:
            raise WrongCredentials("The account was changed while you signed in. Sign in again.") from cancelled
        raise


def _used(session: SessionRow, *, when: Condition) -> Write:
    """What says in the person's own row when they were last here."""
    return USER.update([assign("lastUsedAt", session.last_used_at)], when=when, user_id=session.user_id)


async def refresh(accounts: Accounts, refresh_token: str) -> SignedIn:
    claim = _open_claim(accounts, refresh_token)
    session, is_rotated = await _rotate(accounts, claim)
    if is_rotated:
        return await _signed_in(accounts, session)
    return await _answer_old_token(accounts, session, claim)


def _session_ended() -> SessionEnded:
    return SessionEnded("This session has ended. Sign in again.")


@optimistic_update(gives_up=_session_ended)
async def _rotate(accounts: Accounts, claim: _Claim) -> tuple[SessionRow, bool]:
    """The session, and whether its token was replaced: only if the claim is of the newest one.

    If another tab is first, the claim is an old one by the time of the next attempt.
    """
    session = await SESSION.get(accounts.tables, email=claim.email, session_id=claim.session_id)
    now = accounts.clock()
    if session is None or from_iso(session.expires_at) <= now:
        raise _session_ended()
    if await _is_suspended(accounts, session.user_id):
        # Suspending ends all sessions. This one is left from a suspension that crashed.
        await _end(accounts, session)
        raise _session_ended()
    if claim.generation != session.generation:
        return session, False
    renewed = msgspec.structs.replace(session, generation=session.generation + 1, last_used_at=iso(now))
    await accounts.tables.transact(_rotation(accounts, session, renewed))
    return renewed, True


def _rotation(accounts: Accounts, session: SessionRow, renewed: SessionRow) -> list[Write]:
    unchanged = attr("Generation") == session.generation
    spent = token_hash(_sign_claim(accounts, session))
    return [
        SESSION.put(renewed, when=unchanged),
        REFRESH.delete(when=attr("PK").exists(), token_hash=spent),
        REFRESH.put(_refresh_row(accounts, renewed)),
        _used(renewed, when=attr("PK").exists()),
    ]


async def _answer_old_token(accounts: Accounts, session: SessionRow, claim: _Claim) -> SignedIn:
    just_rotated = accounts.clock() - from_iso(session.last_used_at) <= GRACE.total_seconds()
    if claim.generation == session.generation - 1 and just_rotated:
        return await _signed_in(accounts, session)
    await _end(accounts, session)
    raise SessionEnded("This refresh token was used twice, so the session was ended. Sign in again.")


async def list_sessions(accounts: Accounts, email: Email) -> list[SessionRow]:
    """The sessions that have not ended, last used first."""
    now = accounts.clock()
    found: list[SessionRow] = []
    cursor: str | None = None
    while True:
        page = await SESSION.list(accounts.tables, email=email, limit=1000, cursor=cursor)
        found += [session for session in page.records if from_iso(session.expires_at) > now]
        cursor = page.cursor
        if cursor is None:
            return sorted(found, key=lambda session: session.last_used_at, reverse=True)


async def end_session(accounts: Accounts, email: Email, session_id: SessionId) -> None:
    """End a session of this person. One that has ended, and somebody else's, are both not found."""
    is_possible = len(session_id) <= MAX_SESSION_ID_CHARACTERS
    session = await SESSION.get(accounts.tables, email=email, session_id=session_id) if is_possible else None
    if session is None:
        raise NotFound("You have no such session. It may have ended already.")
    await _end(accounts, session)


async def end_all_sessions(accounts: Accounts, email: Email, *, except_for: SessionId | None = None) -> None:
    for session in await list_sessions(accounts, email):
        if session.session_id != except_for:
            await _end(accounts, session)


async def sweep_expired_sessions(accounts: Accounts) -> int:
    """Delete expired sessions. Returns how many. Idempotent, also on several servers at once."""
    page = await accounts.tables.query(
        REFRESH.table,
        REFRESH_SORT,
        Range(high=iso(accounts.clock())),
        index="RefreshTokenExpiration",
    )
    rows = await accounts.tables.get_many(REFRESH.table, [REFRESH.table.key_of(item) for item in page.items])
    expired = [REFRESH.read(item) for item in rows if item is not None]
    for row in expired:
        await accounts.tables.transact(
            [
                REFRESH.delete(token_hash=row.token_hash),
                SESSION.delete(email=row.email, session_id=row.session_id),
            ]
        )
    return len(expired)


async def _end(accounts: Accounts, session: SessionRow) -> None:
    # Revoked first: after a crash in between, the access token is dead and the session can be ended again.
    await accounts.access.revoke(session.session_id)
    await accounts.tables.transact(
        [
            SESSION.delete(email=session.email, session_id=session.session_id),
            REFRESH.delete(token_hash=token_hash(_sign_claim(accounts, session))),
        ]
    )


async def _rehash(accounts: Accounts, user: UserRow, password: str, address: str) -> UserRow:
    """Hash the same password with today's parameters."""
    renewed = await accounts.passwords.hash(password, address)
    update = USER.update([assign("password", renewed)], when=attr("password") == user.password, user_id=user.user_id)
    return USER.read(await accounts.tables.update(update.table, update.key, update.actions, when=update.when))


async def _user_by_email(accounts: Accounts, email: Email) -> UserRow | None:
    """Find the id by the index, then read the record itself: an index may lag behind a new password."""
    page = await accounts.tables.query(USER.table, email, index="ByEmail", limit=1)
    if not page.items:
        return None
    item = await accounts.tables.get(USER.table, USER.table.key_of(page.items[0]))
    return None if item is None else USER.read(item)


async def _is_suspended(accounts: Accounts, user_id: UserId) -> bool:
    user = await USER.get(accounts.tables, user_id=user_id)
    return user is None or bool(user.suspended_at)


async def _signed_in(accounts: Accounts, session: SessionRow) -> SignedIn:
    access = accounts.access.issue_member(
        user_id=session.user_id,
        email=session.email,
        session_id=session.session_id,
        admin=await is_administrator(accounts, session.email),
    )
    return SignedIn(session, access, _sign_claim(accounts, session))


def _sign_claim(accounts: Accounts, session: SessionRow) -> str:
    claim = _Claim(session.email, session.session_id, session.generation)
    return accounts.signer.sign(_PURPOSE, msgspec.msgpack.encode(claim))


def _open_claim(accounts: Accounts, refresh_token: str) -> _Claim:
    try:
        return msgspec.msgpack.decode(accounts.signer.open(_PURPOSE, refresh_token), type=_Claim)
    except BadSignature as error:
        raise SessionEnded("This refresh token is not from this server. Sign in again.") from error


def _refresh_row(accounts: Accounts, session: SessionRow) -> RefreshRow:
    return RefreshRow(
        token_hash=token_hash(_sign_claim(accounts, session)),
        email=session.email,
        session_id=session.session_id,
        purpose=session.purpose,
        absolute_expiry=session.expires_at,
    )
