"""Sign-up: open, by invitation, or closed. The first person on an empty server administers it."""

from dataclasses import dataclass

from satchel.features.accounts.model import (
    OWNER_SCOPE,
    Email,
    EmailTaken,
    InvitationInvalid,
    Purpose,
    SignUpClosed,
    SignUpMode,
    UserId,
    check_name,
    check_password,
    normalise_email,
)
from satchel.features.accounts.records import (
    IDENTITY,
    INVITATION,
    PERSON,
    SCOPE,
    SERVER,
    USER,
    IdentityRow,
    InvitationRow,
    PersonRow,
    ScopeRow,
    ServerRow,
    UserRow,
)
from satchel.features.accounts.service.context import Accounts, token_hash
from satchel.features.accounts.service.scopes import administrator_scope, still_administers
from satchel.features.accounts.service.sessions import SignedIn, open_session
from satchel.features.accounts.service.set_up_code import (
    check_set_up_code,
    is_set_up_code,
    needs_set_up_code,
    set_up_code,
)
from satchel.kernel.clock import from_iso, iso
from satchel.kernel.errors import Conflict
from satchel.kernel.ids import new_id
from satchel.stores.ports.expressions import add, assign, attr
from satchel.stores.ports.table import TransactionCancelled, Write


async def sign_up(
    accounts: Accounts,
    *,
    email: str,
    name: str,
    password: str,
    invitation: str | None,
    purpose: Purpose,
    device: str,
    address: str,
    is_here: bool = False,
) -> SignedIn:
    """`is_here` is whether the caller sits at the machine of this server."""
    await accounts.limits.sign_ups.count(address)
    checked_email = normalise_email(email)
    checked_name = check_name(name)
    check_password(password, checked_email)
    server = await SERVER.get(accounts.tables)
    if server is None and needs_set_up_code(accounts, is_here=is_here):
        check_set_up_code(accounts, invitation)
    used = None if server is None and is_set_up_code(accounts, invitation) else invitation
    invited = await _admit(accounts, server, checked_email, used)
    user = UserRow(
        user_id=UserId(new_id(accounts.clock)),
        email=checked_email,
        password=await accounts.passwords.hash(password, address),
        name=checked_name,
        created_at=iso(accounts.clock()),
    )
    await _store(accounts, user, server, invited)
    return await open_session(accounts, user, purpose=purpose, device=device)


@dataclass(frozen=True, slots=True)
class SignUpRules:
    """Who may sign up now. An empty server accepts its first person whatever the setting, by its code or from here."""

    mode: SignUpMode
    empty: bool
    needs_code: bool


async def sign_up_rules(accounts: Accounts, *, is_here: bool) -> SignUpRules:
    server = await SERVER.get(accounts.tables)
    needs_code = server is None and needs_set_up_code(accounts, is_here=is_here)
    return SignUpRules(_mode(accounts, server), empty=server is None, needs_code=needs_code)


async def first_account_line(accounts: Accounts, address: str) -> str | None:
    """What an empty server prints when it starts. The link works until somebody has an account."""
    if await SERVER.get(accounts.tables) is not None:
        return None
    return f"Create the first account at {address}/sign-up#invitation={set_up_code(accounts)}"


def _mode(accounts: Accounts, server: ServerRow | None) -> SignUpMode:
    return "open" if server is None else server.sign_up or accounts.default_sign_up


async def _admit(
    accounts: Accounts, server: ServerRow | None, email: Email, invitation: str | None
) -> InvitationRow | None:
    """The invitation to use up, or None if none is needed. Raises if this person may not sign up."""
    if invitation:
        row = await INVITATION.get(accounts.tables, token_hash=token_hash(invitation))
        if row is None or row.email not in ("", email) or from_iso(row.absolute_expiry) <= accounts.clock():
            raise InvitationInvalid("This invitation no longer works, or is for another address. Ask for a new one.")
        if not await still_administers(accounts, row.invited_by):
            raise InvitationInvalid(
                "The person who invited you is no longer an administrator. Ask an administrator for a new invitation."
            )
        return row
    mode = _mode(accounts, server)
    if mode == "invitation":
        raise SignUpClosed("You need an invitation to sign up here. Ask the administrator of this server.")
    if mode == "closed":
        raise SignUpClosed("This server accepts no new accounts.")
    return None


async def _store(accounts: Accounts, user: UserRow, server: ServerRow | None, invited: InvitationRow | None) -> None:
    now = accounts.clock()
    new = attr("PK").absent()
    identity = IdentityRow(email=user.email, user_id=user.user_id, name=user.name)
    owns = ScopeRow(
        granted_to=user.email,
        type=OWNER_SCOPE,
        resource_owner=user.user_id,
        resource_id="",
        granted_at=iso(now),
    )
    writes: list[Write] = [
        IDENTITY.put(identity, when=new),
        USER.put(user, when=new),
        PERSON.put(PersonRow(user_id=user.user_id)),
        SCOPE.put(owns),
    ]
    counted = add("administrators", frozenset({user.user_id}))
    if server is None:
        writes.append(SERVER.update([assign("firstUser", user.user_id), counted], when=new))
    elif invited is not None and invited.administrator:
        writes.append(SERVER.update([counted], when=attr("PK").exists()))
    if server is None or (invited is not None and invited.administrator):
        writes.append(SCOPE.put(administrator_scope(user.email, now)))
    if invited is not None:
        writes.append(INVITATION.delete(when=attr("PK").exists(), token_hash=invited.token_hash))
    try:
        await accounts.tables.transact(writes)
    except TransactionCancelled as cancelled:
        if cancelled.reasons[0] is not None:
            raise EmailTaken("This address already has an account. Sign in instead.") from cancelled
        raise Conflict("Somebody else signed up at the same time. Try again.") from cancelled
