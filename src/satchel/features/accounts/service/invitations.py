"""Invite people, see and withdraw invitations, and decide who may sign up; for administrators only."""

from dataclasses import dataclass

from satchel.features.accounts.model import SignUpMode, UserId, normalise_email
from satchel.features.accounts.records import INVITATION, INVITE_SORT, SERVER, InvitationRow
from satchel.features.accounts.service.context import (
    INVITATION_LIFETIME,
    TOKEN_HASH_CHARACTERS,
    Accounts,
    sweep_expired,
    token_hash,
)
from satchel.kernel.clock import iso
from satchel.kernel.errors import Invalid
from satchel.kernel.ids import new_secret
from satchel.stores.ports.expressions import assign, attr
from satchel.stores.ports.table import Range

MAX_NOTE_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class Invited:
    """An invitation with its token, which is shown once and not stored."""

    token: str
    row: InvitationRow


async def invite(accounts: Accounts, by: UserId, *, email: str | None, note: str, administrator: bool) -> Invited:
    if len(note) > MAX_NOTE_CHARACTERS:
        raise Invalid(f"Use a note of up to {MAX_NOTE_CHARACTERS} characters.", field="note")
    token = new_secret()
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
    await accounts.tables.put(INVITATION.table, INVITATION.item(row))
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
