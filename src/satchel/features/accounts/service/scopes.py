"""Grants: let other people use what you own, revoke that, and list who may do what."""

from collections.abc import Sequence
from typing import Protocol

from satchel.features.accounts.model import (
    ADMINISTRATOR_SCOPE,
    SERVER_OWNER,
    Email,
    UserId,
    check_grantable,
    is_readable,
    normalise_email,
)
from satchel.features.accounts.records import BLOCK, IDENTITY, SCOPE, USER, ScopeRow
from satchel.features.accounts.service.context import Accounts
from satchel.kernel.clock import iso
from satchel.kernel.grant_refused import GrantRefused
from satchel.kernel.unfit import TextUnfit
from satchel.stores.ports.table import StartsWith, Tables
from satchel.stores.schema import RecordPage

MAX_RESOURCE_CHARACTERS = 200


class HasTables(Protocol):
    """Whatever stands on tables."""

    @property
    def tables(self) -> Tables: ...


async def grant_scope(
    accounts: Accounts, owner: UserId, *, to: str, scope_type: str, resource_id: str, resource_name: str
) -> ScopeRow:
    """Grant an address the use of a thing of `owner`, with or without an account yet. Idempotent."""
    if not 1 <= len(resource_id) <= MAX_RESOURCE_CHARACTERS or len(resource_name) > MAX_RESOURCE_CHARACTERS:
        raise TextUnfit(f"Use a resource id of 1 to {MAX_RESOURCE_CHARACTERS} characters.", field="resource_id")
    if not is_readable(resource_name):
        raise TextUnfit("Use a name of ordinary characters.", field="resource_name")
    await accounts.limits.grants.count(owner)
    scope = ScopeRow(
        granted_to=normalise_email(to),
        type=check_grantable(scope_type),
        resource_owner=owner,
        resource_id=resource_id,
        resource_name=resource_name,
        granted_at=iso(accounts.clock()),
    )
    await accounts.tables.put(SCOPE.table, SCOPE.item(scope))
    return scope


async def revoke_scope(accounts: Accounts, owner: UserId, *, to: str, scope_type: str, resource_id: str) -> None:
    """Revoke a grant of `owner`. One that never existed looks the same."""
    key = SCOPE.key(
        granted_to=normalise_email(to),
        type=check_grantable(scope_type),
        resource_owner=owner,
        resource_id=resource_id,
    )
    await accounts.tables.delete(SCOPE.table, key)


async def refuse_scope(accounts: Accounts, email: Email, *, owner: str, scope_type: str, resource_id: str) -> None:
    """Give up what somebody else has granted. One that never was looks the same."""
    key = SCOPE.key(granted_to=email, type=check_grantable(scope_type), resource_owner=owner, resource_id=resource_id)
    if await accounts.tables.get(SCOPE.table, key) is None:
        return
    # The grant goes last: interrupted, this can be done again.
    refused = GrantRefused(owner=owner, email=email, scope_type=scope_type, resource_id=resource_id)
    await accounts.events.publish(refused)
    await accounts.tables.delete(SCOPE.table, key)


async def list_my_scopes(accounts: Accounts, email: Email, limit: int, cursor: str | None) -> RecordPage[ScopeRow]:
    """A page may be short: what people share whom one has blocked is left out."""
    page = await SCOPE.list(accounts.tables, granted_to=email, limit=limit, cursor=cursor)
    return RecordPage(await without_blocked(accounts, email, page.records), page.cursor)


async def without_blocked(accounts: HasTables, email: Email, grants: list[ScopeRow]) -> list[ScopeRow]:
    """Without what somebody has granted whom the person with this address has blocked."""
    identity = await IDENTITY.get(accounts.tables, email=email) if grants else None
    if identity is None:
        return grants
    owners = sorted({row.resource_owner for row in grants})
    keys = [BLOCK.key(user_id=identity.user_id, blocked_id=owner) for owner in owners]
    rows = await accounts.tables.get_many(BLOCK.table, keys)
    blocked = {owner for owner, row in zip(owners, rows, strict=True) if row is not None}
    return [row for row in grants if row.resource_owner not in blocked]


async def list_granted_scopes(
    accounts: Accounts, owner: UserId, limit: int, cursor: str | None
) -> RecordPage[ScopeRow]:
    """All grants of `owner`."""
    return await SCOPE.list_by(
        accounts.tables, "ReverseGrantIndex", owner, StartsWith("SCOPE#"), limit=limit, cursor=cursor
    )


async def is_administrator(accounts: Accounts, email: Email) -> bool:
    return await accounts.tables.get(SCOPE.table, administrator_key(email)) is not None


async def still_administers(accounts: Accounts, user_id: UserId) -> bool:
    """Whether the person is still an administrator, so that what they issued as one is valid."""
    user = await USER.get(accounts.tables, user_id=user_id)
    return user is not None and not user.suspended_at and await is_administrator(accounts, user.email)


async def are_administrators(accounts: Accounts, emails: Sequence[Email]) -> list[bool]:
    keys = [administrator_key(email) for email in emails]
    return [item is not None for item in await accounts.tables.get_many(SCOPE.table, keys)]


def administrator_key(email: Email) -> dict[str, str]:
    kind, right = ADMINISTRATOR_SCOPE
    return SCOPE.key(granted_to=email, type=kind, resource_owner=SERVER_OWNER, resource_id=right)


def administrator_scope(email: Email, now: float) -> ScopeRow:
    kind, right = ADMINISTRATOR_SCOPE
    return ScopeRow(granted_to=email, type=kind, resource_owner=SERVER_OWNER, resource_id=right, granted_at=iso(now))
