"""Finds a person, and changes their name and password."""

from satchel.features.accounts.model import (
    Person,
    SessionId,
    UserId,
    WrongCredentials,
    check_name,
    check_password,
)
from satchel.features.accounts.records import IDENTITY, USER, UserRow
from satchel.features.accounts.service.context import Accounts
from satchel.features.accounts.service.scopes import is_administrator
from satchel.features.accounts.service.sessions import end_all_sessions
from satchel.kernel.errors import NotFound
from satchel.stores.ports.expressions import assign, attr

MAX_USER_ID_CHARACTERS = 64


async def find_user(accounts: Accounts, user_id: UserId) -> UserRow:
    known = len(user_id) <= MAX_USER_ID_CHARACTERS
    user = await USER.get(accounts.tables, user_id=user_id) if known else None
    if user is None:
        raise NotFound("This account does not exist.")
    return user


async def describe(accounts: Accounts, user: UserRow) -> Person:
    return Person(user.user_id, user.email, user.name, await is_administrator(accounts, user.email))


async def rename(accounts: Accounts, user_id: UserId, name: str) -> Person:
    name = check_name(name)
    user = await find_user(accounts, user_id)
    await accounts.tables.transact(
        [
            USER.update([assign("userName", name)], when=attr("PK").exists(), user_id=user_id),
            IDENTITY.update([assign("Name", name)], when=attr("PK").exists(), email=user.email),
        ]
    )
    return await describe(accounts, await find_user(accounts, user_id))


async def change_password(
    accounts: Accounts, user_id: UserId, current: str, new: str, *, keep: SessionId, address: str
) -> None:
    """Change the password. It ends all other sessions, which may use a stolen password."""
    user = await find_user(accounts, user_id)
    # By session: what strangers guess elsewhere keeps nobody from changing their password.
    await accounts.limits.password_changes.count(keep)
    if not await accounts.passwords.matches(user.password, current, address):
        raise WrongCredentials("The current password is wrong. Try again.", field="current")
    await accounts.limits.password_changes.forgive(keep)
    hashed = await accounts.passwords.hash(check_password(new, user.email), address)
    # The old hash is the condition: of two concurrent changes, only one can succeed.
    update = USER.update([assign("password", hashed)], when=attr("password") == user.password, user_id=user_id)
    await accounts.tables.update(update.table, update.key, update.actions, when=update.when)
    await end_all_sessions(accounts, user.email, except_for=keep)
