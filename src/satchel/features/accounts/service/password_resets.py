"""Password resets: a person who forgot their password chooses a new one with a token from an administrator."""

from dataclasses import dataclass

from satchel.features.accounts.model import PasswordResetInvalid, UserId, check_password
from satchel.features.accounts.records import RESET, RESET_SORT, USER, ResetRow
from satchel.features.accounts.service.context import (
    RESET_LIFETIME,
    Accounts,
    repeatable_token,
    sweep_expired,
    token_hash,
)
from satchel.features.accounts.service.people import find_user
from satchel.features.accounts.service.scopes import still_administers
from satchel.features.accounts.service.sessions import end_all_sessions
from satchel.kernel.clock import from_iso, iso
from satchel.kernel.ids import new_secret
from satchel.stores.ports.expressions import assign, attr
from satchel.stores.ports.table import TransactionCancelled


@dataclass(frozen=True, slots=True)
class Leave:
    """A reset token, which is shown once and not stored, and when it expires."""

    token: str
    expires_at: str


async def allow_password_reset(
    accounts: Accounts, by: UserId, user_id: UserId, idempotency_key: str | None = None
) -> Leave:
    """With a key that came before it is the same token, until the password has changed."""
    user = await find_user(accounts, user_id)
    given = (by, user_id, user.password, idempotency_key or "")
    token = new_secret() if idempotency_key is None else repeatable_token(accounts, "reset", *given)
    leave = Leave(token, iso(accounts.clock() + RESET_LIFETIME.total_seconds()))
    row = ResetRow(
        token_hash=token_hash(leave.token),
        user_id=user.user_id,
        replaces=token_hash(user.password),
        given_by=by,
        absolute_expiry=leave.expires_at,
    )
    await accounts.tables.put(RESET.table, RESET.item(row))
    return leave


async def reset_password(accounts: Accounts, token: str, password: str, *, address: str) -> None:
    """Set the new password. It ends all sessions and resets the guess limit of this address."""
    await accounts.limits.password_resets.count(address)
    invalid = PasswordResetInvalid("This reset link was used or has expired. Ask your administrator for a new one.")
    row = await RESET.get(accounts.tables, token_hash=token_hash(token))
    user = await USER.get(accounts.tables, user_id=row.user_id) if row else None
    if row is None or user is None or from_iso(row.absolute_expiry) <= accounts.clock():
        raise invalid
    if not await still_administers(accounts, row.given_by):
        raise invalid
    # A changed password voids every reset of the one before it, whoever changed it.
    if row.replaces != token_hash(user.password):
        raise invalid
    hashed = await accounts.passwords.hash(check_password(password, user.email), address)
    change = USER.update([assign("password", hashed)], when=attr("password") == user.password, user_id=user.user_id)
    try:
        await accounts.tables.transact([RESET.delete(when=attr("PK").exists(), token_hash=row.token_hash), change])
    except TransactionCancelled as cancelled:
        raise invalid from cancelled
    await end_all_sessions(accounts, user.email)
    await accounts.limits.sign_ins.forget(user.email, address)


async def sweep_expired_resets(accounts: Accounts) -> int:
    return await sweep_expired(accounts, RESET_SORT)
