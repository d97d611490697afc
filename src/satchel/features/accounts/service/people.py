"""Finds a person, and changes their name and password."""

from satchel.features.accounts.model import (
    Person,
    SessionId,
    UserId,
    WrongCredentials,
    check_name,
    check_password,
)
from satchel.features.accounts.records import IDENTITY, SESSION, USER, UserRow
from satchel.features.accounts.service.context import Accounts
from satchel.features.accounts.service.scopes import is_administrator
from satchel.features.accounts.service.sessions import SignedIn, end_all_sessions, open_session
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


async def check_own_password(
    accounts: Accounts, user_id: UserId, password: str, *, session_id: SessionId, address: str, field: str = "password"
) -> UserRow:
    """Ask for the password again, of somebody who is signed in."""
    user = await find_user(accounts, user_id)
    # By session: what strangers guess elsewhere keeps nobody from this.
    await accounts.limits.password_changes.count(session_id)
    if not await accounts.passwords.matches(user.password, password, address):
        raise WrongCredentials("The password is wrong. Try again.", field=field)
    await accounts.limits.password_changes.forgive(session_id)
    return user


async def change_password(
    accounts: Accounts, user_id: UserId, current: str, new: str, *, keep: SessionId, address: str
) -> SignedIn:
    """Change the password. It ends all sessions, which may use a stolen password or token; one begins anew."""
    user = await check_own_password(accounts, user_id, current, session_id=keep, address=address, field="current")
    hashed = await accounts.passwords.hash(check_password(new, user.email), address)
    # The old hash is the condition: of two concurrent changes, only one can succeed.
    update = USER.update([assign("password", hashed)], when=attr("password") == user.password, user_id=user_id)
    changed = USER.read(await accounts.tables.update(update.table, update.key, update.actions, when=update.when))
    old = await SESSION.get(accounts.tables, email=user.email, session_id=keep)
    purpose, device = (old.purpose, old.device) if old else ("cli", "")
    # Opened before the others end: interrupted, the person is still signed in.
    signed_in = await open_session(accounts, changed, purpose=purpose, device=device)
    await end_all_sessions(accounts, user.email, except_for=signed_in.session.session_id)
    return signed_in
