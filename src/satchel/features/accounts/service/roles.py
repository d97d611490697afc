"""Promotes, demotes and suspends people. The last administrator always stays."""

from dataclasses import dataclass

from satchel.features.accounts.model import LastAdministrator, OwnSuspension, UserId
from satchel.features.accounts.records import SCOPE, SERVER, USER, UserRow
from satchel.features.accounts.service.context import Accounts
from satchel.features.accounts.service.people import find_user
from satchel.features.accounts.service.scopes import administrator_key, administrator_scope, is_administrator
from satchel.features.accounts.service.sessions import end_all_sessions
from satchel.kernel.clock import iso
from satchel.kernel.errors import Conflict
from satchel.kernel.suspended import PersonSuspended
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.ports.expressions import Condition, add, assign, attr, discard, remove
from satchel.stores.ports.table import Check, Delete, TransactionCancelled, Write


@dataclass(frozen=True, slots=True)
class Standing:
    """What a person may do on this server."""

    administrator: bool
    suspended: bool

    @property
    def administers(self) -> bool:
        return self.administrator and not self.suspended


async def change_standing(
    accounts: Accounts, by: UserId, user_id: UserId, *, administrator: bool | None, suspended: bool | None
) -> UserRow:
    """Change a role; None leaves it as it is. Who loses a right is signed out everywhere, so it holds at once."""
    if suspended and user_id == by:
        raise OwnSuspension("You cannot suspend yourself. Ask another administrator.")
    user, was, will = await _change(accounts, user_id, administrator, suspended)
    # Also when nothing changed: an earlier call may have crashed before this step.
    if will.suspended or (was.administrator and not will.administrator):
        await end_all_sessions(accounts, user.email)
    if will.suspended:
        await accounts.events.publish(PersonSuspended(user_id=user_id))
    return await find_user(accounts, user_id)


def _changed_elsewhere() -> Conflict:
    return Conflict("Somebody else is changing this account. Try again.")


@optimistic_update(gives_up=_changed_elsewhere)
async def _change(
    accounts: Accounts, user_id: UserId, administrator: bool | None, suspended: bool | None
) -> tuple[UserRow, Standing, Standing]:
    """The person as they were, what they were allowed to do, and what they are now."""
    user = await find_user(accounts, user_id)
    was = Standing(await is_administrator(accounts, user.email), bool(user.suspended_at))
    will = Standing(
        was.administrator if administrator is None else administrator,
        was.suspended if suspended is None else suspended,
    )
    if will != was:
        await _write(accounts, user, was, will)
    return user, was, will


async def _write(accounts: Accounts, user: UserRow, was: Standing, will: Standing) -> None:
    writes = [_suspension(accounts, user, was, will), _right(accounts, user, was, will)]
    if was.administers != will.administers:
        writes.append(count_administrator(user.user_id, administers=will.administers))
    try:
        await accounts.tables.transact(writes)
    except TransactionCancelled as cancelled:
        if cancelled.reasons == (None, None, "condition"):
            raise LastAdministrator(
                "The server needs at least one administrator. Make somebody else an administrator first."
            ) from cancelled
        raise


def _suspension(accounts: Accounts, user: UserRow, was: Standing, will: Standing) -> Write:
    mark = attr("suspendedAt")
    unchanged = attr("PK").exists() & (mark.exists() if was.suspended else mark.absent())
    if was.suspended == will.suspended:
        return Check(USER.table, USER.key(user_id=user.user_id), unchanged)
    action = assign("suspendedAt", iso(accounts.clock())) if will.suspended else remove("suspendedAt")
    return USER.update([action], when=unchanged, user_id=user.user_id)


def _right(accounts: Accounts, user: UserRow, was: Standing, will: Standing) -> Write:
    key = administrator_key(user.email)
    unchanged: Condition = attr("PK").exists() if was.administrator else attr("PK").absent()
    if was.administrator == will.administrator:
        return Check(SCOPE.table, key, unchanged)
    if will.administrator:
        return SCOPE.put(administrator_scope(user.email, accounts.clock()), when=unchanged)
    return Delete(SCOPE.table, key, unchanged)


def count_administrator(user_id: UserId, *, administers: bool) -> Write:
    """Update the one set of administrators: of two people who demote each other, the second is refused."""
    person, all_of_them = frozenset({user_id}), attr("administrators")
    if administers:
        return SERVER.update([add("administrators", person)], when=attr("PK").exists())
    others_stay = all_of_them.contains(user_id) & (all_of_them != person)
    return SERVER.update([discard("administrators", person)], when=others_stay)
