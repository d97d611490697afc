"""Deletes an account, with all that every slice holds of the person, in steps that survive a crash anywhere.

One transaction takes away what the person signs in with, and writes a row that says what is to be done. From then on
nobody knows them. Then each slice deletes what it holds, and last the address becomes free. The row is a lease, too: it
says from when on another server may go on. It stays for a day without the address, and all is looked through once more,
since a request that had begun before may have brought something.
"""

import asyncio
import logging
from dataclasses import dataclass
from datetime import timedelta

from msgspec.structs import replace

from satchel.features.accounts.model import Email, LastAdministrator, SessionId, UserId
from satchel.features.accounts.records import (
    BLOCK,
    CONTACT,
    DEPARTURE,
    DEPARTURE_SORT,
    IDENTITY,
    PERSON,
    SCOPE,
    SERVER,
    SESSION,
    USER,
    DepartureRow,
    UserRow,
)
from satchel.features.accounts.service.context import Accounts
from satchel.features.accounts.service.people import check_own_password, find_user
from satchel.features.accounts.service.roles import count_administrator
from satchel.features.accounts.service.scopes import administrator_key, is_administrator
from satchel.features.accounts.service.sessions import end_all_sessions, list_sessions
from satchel.kernel.clock import iso
from satchel.kernel.departure import Leaver, Tally
from satchel.kernel.errors import Conflict, SatchelError
from satchel.stores.patterns.lease import renewed
from satchel.stores.patterns.optimistic_update import NEW, optimistic_update
from satchel.stores.patterns.partition_delete import delete_records
from satchel.stores.ports.expressions import assign, attr, remove
from satchel.stores.ports.table import Check, ConditionFailed, Delete, Range, StartsWith, TransactionCancelled, Write

# How long one server has before another goes on. It is renewed.
_HELD_FOR = timedelta(minutes=5)
_RENEWED_EVERY = timedelta(minutes=1)
# No request, and no access token, is older than this.
_LOOK_AGAIN_AFTER = timedelta(days=1)
# How long a request waits until all is gone. What takes longer goes on without it.
_WAITED_FOR = timedelta(seconds=10)

_log = logging.getLogger("satchel.accounts")


@dataclass(frozen=True, slots=True)
class Preview:
    """Who would go, what would go with them, and whether the server can do without them."""

    user: UserRow
    tally: Tally
    is_last_administrator: bool


async def preview(accounts: Accounts, user_id: UserId) -> Preview:
    user = await find_user(accounts, user_id)
    leaver = Leaver(user_id, user.email)
    tally = Tally(sessions=len(await list_sessions(accounts, user.email)))
    for holdings in accounts.holdings:
        tally += await holdings.count(leaver)
    server = await SERVER.get(accounts.tables)
    is_last = server is not None and server.administrators == frozenset({user_id})
    return Preview(user, tally, is_last)


async def delete_account(
    accounts: Accounts, user_id: UserId, *, by: UserId, session_id: SessionId, password: str, address: str
) -> bool:
    """Delete an account, one's own or as an administrator. Whether all of it is gone already."""
    await check_own_password(accounts, by, password, session_id=session_id, address=address)
    row = await _sign_off(accounts, user_id)
    finishing = asyncio.create_task(_try_to_finish(accounts, row))
    accounts.deletions.add(finishing)
    finishing.add_done_callback(accounts.deletions.discard)
    await asyncio.wait({finishing}, timeout=_WAITED_FOR.total_seconds())
    return finishing.done() and not finishing.cancelled() and finishing.result()


async def sweep_deleted_accounts(accounts: Accounts) -> int:
    """Go on where a server has stopped, and look again through those that are gone. Returns how many."""
    page = await accounts.tables.query(
        DEPARTURE.table, DEPARTURE_SORT, Range(high=iso(accounts.clock())), index="RefreshTokenExpiration"
    )
    items = await accounts.tables.get_many(DEPARTURE.table, [DEPARTURE.table.key_of(item) for item in page.items])
    rows = [DEPARTURE.read(item) for item in items if item is not None]
    return sum([await _try_to_finish(accounts, row) for row in rows])


async def stop_deletions(accounts: Accounts) -> None:
    """The server is about to stop. Another, or this one when it starts anew, goes on."""
    for each in accounts.deletions:
        each.cancel()
    await asyncio.gather(*accounts.deletions, return_exceptions=True)


def _changed_elsewhere() -> Conflict:
    return Conflict("This account is being changed elsewhere. Try again.")


@optimistic_update(gives_up=_changed_elsewhere)
async def _sign_off(accounts: Accounts, user_id: UserId) -> DepartureRow:
    """From here on the person is unknown, and their address taken until all else is gone."""
    user = await find_user(accounts, user_id)
    administers = await is_administrator(accounts, user.email)
    row = DepartureRow(user_id=user_id, email=user.email, due=_held_until(accounts))
    standing = attr("suspendedAt").exists() if user.suspended_at else attr("suspendedAt").absent()
    key = administrator_key(user.email)
    writes: list[Write] = [
        DEPARTURE.put(row, when=NEW),
        USER.delete(when=attr("PK").exists() & standing, user_id=user_id),
        PERSON.delete(user_id=user_id),
        Delete(SCOPE.table, key, attr("PK").exists()) if administers else Check(SCOPE.table, key, NEW),
    ]
    if administers and not user.suspended_at:
        writes.append(count_administrator(user_id, administers=False))
    try:
        await accounts.tables.transact(writes)
    except TransactionCancelled as cancelled:
        if cancelled.reasons == (None, None, None, None, "condition"):
            raise LastAdministrator(
                "The server needs at least one administrator. Make somebody else an administrator first."
            ) from cancelled
        raise
    return row


async def _try_to_finish(accounts: Accounts, row: DepartureRow) -> bool:
    """Whether it is done. If not, a later round does it, and one that fails keeps no other from being done."""
    try:
        return await _finish(accounts, row)
    except SatchelError as error:
        _log.warning("account %s is not deleted yet: %s", row.user_id, error.detail)
        return False


async def _finish(accounts: Accounts, row: DepartureRow) -> bool:
    """Delete what there is of a person who has signed off. False if another server does."""
    held = [row]

    async def hold() -> None:
        held[0] = await _hold(accounts, held[0], _held_until(accounts))

    try:
        await hold()
        async with renewed(hold, _RENEWED_EVERY):
            await _delete_all(accounts, Leaver(row.user_id, row.email))
        await _conclude(accounts, held[0])
    except ConditionFailed:
        return False
    _log.info("account %s is deleted", row.user_id)
    return True


async def _hold(accounts: Accounts, row: DepartureRow, until: str) -> DepartureRow:
    held = DEPARTURE.update(
        [assign("AbsoluteExpiryTime", until)], when=attr("AbsoluteExpiryTime") == row.due, user_id=row.user_id
    )
    await accounts.tables.update(held.table, held.key, held.actions, when=held.when)
    return replace(row, due=until)


async def _delete_all(accounts: Accounts, leaver: Leaver) -> None:
    email = Email(leaver.email)
    if email:
        await end_all_sessions(accounts, email)
    for holdings in accounts.holdings:
        await holdings.delete(leaver)
    if email:
        # What others have granted to the address must not wait there for whoever has it next.
        await delete_records(accounts.tables, SCOPE, granted_to=email)
        await delete_records(accounts.tables, SESSION, email=email)
    await _delete_given(accounts, leaver.user_id)
    for shape in (BLOCK, CONTACT):
        await delete_records(accounts.tables, shape, user_id=leaver.user_id)


async def _delete_given(accounts: Accounts, owner: str) -> None:
    """What the person has granted to others."""
    cursor: str | None = None
    while True:
        page = await accounts.tables.query(
            SCOPE.table, owner, StartsWith("SCOPE#"), index="ReverseGrantIndex", limit=500, cursor=cursor
        )
        await accounts.tables.write_many(SCOPE.table, delete=[SCOPE.table.key_of(item) for item in page.items])
        if (cursor := page.cursor) is None:
            return


async def _conclude(accounts: Accounts, row: DepartureRow) -> None:
    """Free the address and look again later; or forget the person, if that was the second time."""
    still_held = attr("AbsoluteExpiryTime") == row.due
    if not row.email:
        gone = DEPARTURE.delete(when=still_held, user_id=row.user_id)
        await accounts.tables.delete(gone.table, gone.key, when=gone.when)
        return
    again = iso(accounts.clock() + _LOOK_AGAIN_AFTER.total_seconds())
    later = DEPARTURE.update(
        [remove("Email"), assign("AbsoluteExpiryTime", again)], when=still_held, user_id=row.user_id
    )
    identity = IDENTITY.delete(when=attr("UserId") == row.user_id, email=row.email)
    try:
        await accounts.tables.transact([later, identity])
    except TransactionCancelled as cancelled:
        raise ConditionFailed("Another server has concluded this.") from cancelled


def _held_until(accounts: Accounts) -> str:
    return iso(accounts.clock() + _HELD_FOR.total_seconds())
