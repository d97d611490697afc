"""Invite people, see and withdraw invitations, and decide who may sign up; for administrators only."""

from dataclasses import dataclass

from satchel.features.accounts.model import SignUpMode, UserId, normalise_email
from satchel.features.accounts.records import INVITATION, INVITE_SORT, SERVER, InvitationRow
from satchel.features.accounts.service.context import (
    INVITATION_LIFETIME,
    TOKEN_HASH_CHARACTERS,
    Accounts,
    repeatable_token,
    sweep_expired,
    token_hash,
)
from satchel.kernel.clock import iso
from satchel.kernel.ids import new_secret
from satchel.kernel.unfit import TextUnfit
from satchel.stores.patterns.idempotency_key import key_reused
from satchel.stores.patterns.optimistic_update import NEW
from satchel.stores.ports.expressions import assign, attr
from satchel.stores.ports.table import ConditionFailed, Range

MAX_NOTE_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class Invited:
    """An invitation with its token, which is shown once and not stored."""

    token: str
    row: InvitationRow


async def invite(
    accounts: Accounts,
    by: UserId,
    *,
    email: str | None,
    note: str,
    administrator: bool,
    idempotency_key: str | None = None,
) -> Invited:
    """Invite somebody. With a key that came before it is the same invitation: its token follows from the key."""
    if len(note) > MAX_NOTE_CHARACTERS:
        raise TextUnfit(f"Use a note of up to {MAX_NOTE_CHARACTERS} characters.", field="note")
    token = new_secret() if idempotency_key is None else repeatable_token(accounts, "invitation", by, idempotency_key)
    now = accounts.clock()
    row = InvitationRow(
        token_hash=token_hash(token),
        email=normalise_email(email) if email else "",
        note=note,
        invited_by=by,
        administrator=administrator,
        created_at=iso(now),
        absolute_expiry=iso(now + INVITATION_LIFETIME.total_seconds()),
    )
    try:
        await accounts.tables.put(INVITATION.table, INVITATION.item(row), when=NEW)
    except ConditionFailed:
        earlier = await INVITATION.get(accounts.tables, token_hash=row.token_hash) or row
        if (earlier.email, earlier.note, earlier.administrator) != (row.email, row.note, row.administrator):
            raise key_reused() from None
        return Invited(token, earlier)
    return Invited(token, row)


async def list_invitations(
    accounts: Accounts, limit: int, cursor: str | None
) -> tuple[list[InvitationRow], str | None]:
    """The invitations that can still be used, the earliest expiry first."""
    page = await accounts.tables.query(
        INVITATION.table,
        INVITE_SORT,
        Range(low=iso(accounts.clock()), low_inclusive=False),
        index="RefreshTokenExpiration",
        limit=limit,
        cursor=cursor,
    )
    items = await accounts.tables.get_many(INVITATION.table, [INVITATION.table.key_of(item) for item in page.items])
    return [INVITATION.read(item) for item in items if item is not None], page.cursor


async def withdraw_invitation(accounts: Accounts, invitation_id: str) -> None:
    if len(invitation_id) != TOKEN_HASH_CHARACTERS:
        return
    await accounts.tables.delete(INVITATION.table, INVITATION.key(token_hash=invitation_id))


async def set_sign_up_mode(accounts: Accounts, mode: SignUpMode) -> None:
    update = SERVER.update([assign("signUp", mode)], when=attr("PK").exists())
    await accounts.tables.update(update.table, update.key, update.actions, when=update.when)


async def sweep_expired_invitations(accounts: Accounts) -> int:
    return await sweep_expired(accounts, INVITE_SORT)
