"""From whom a person takes things: from anybody, at once only from people they know, or after being asked; and blocks.

Somebody is known who was sent something, or from whom something was accepted. After a decline they have to ask. Who is
blocked is not told: what they send looks like an offer that nobody answers.
"""

from dataclasses import dataclass

from satchel.features.accounts.model import Receiving, UserId
from satchel.features.accounts.records import BLOCK, CONTACT, USER, BlockRow, ContactRow
from satchel.features.accounts.service.context import Accounts
from satchel.features.accounts.service.people import MAX_USER_ID_CHARACTERS, find_user
from satchel.kernel.clock import iso
from satchel.kernel.errors import NotFound, TooMany
from satchel.kernel.unfit import ChoiceUnfit
from satchel.stores.ports.expressions import assign, attr

MAX_BLOCKED = 1000


@dataclass(frozen=True, slots=True)
class Blocked:
    """Somebody who is blocked, by the name that they have now."""

    person_id: UserId
    name: str
    blocked_at: str


async def choose_receiving(accounts: Accounts, user_id: UserId, choice: Receiving) -> None:
    update = USER.update([assign("receiving", choice)], when=attr("PK").exists(), user_id=user_id)
    await accounts.tables.update(update.table, update.key, update.actions, when=update.when)


async def list_blocked(accounts: Accounts, user_id: UserId) -> list[Blocked]:
    """Without those who have no account any more."""
    page = await BLOCK.list(accounts.tables, user_id=user_id, limit=MAX_BLOCKED)
    items = await accounts.tables.get_many(USER.table, [USER.key(user_id=row.blocked_id) for row in page.records])
    users = [None if item is None else USER.read(item) for item in items]
    return [
        Blocked(user.user_id, user.name, row.blocked_at)
        for row, user in zip(page.records, users, strict=True)
        if user is not None
    ]


async def block(accounts: Accounts, user_id: UserId, blocked_id: UserId) -> None:
    """Idempotent."""
    if blocked_id == user_id:
        raise ChoiceUnfit("You cannot block yourself.", field="person_id")
    await find_user(accounts, blocked_id)
    page = await BLOCK.list(accounts.tables, user_id=user_id, limit=MAX_BLOCKED)
    if len(page.records) >= MAX_BLOCKED:
        raise TooMany(f"You have blocked {MAX_BLOCKED} people. Unblock somebody first.", retry_after=3600)
    row = BlockRow(user_id=user_id, blocked_id=blocked_id, blocked_at=iso(accounts.clock()))
    await accounts.tables.put(BLOCK.table, BLOCK.item(row))
    # Unblocked some day, they have to ask.
    asks = ContactRow(user_id=user_id, other_id=blocked_id, standing="asks")
    await accounts.tables.put(CONTACT.table, CONTACT.item(asks))


async def unblock(accounts: Accounts, user_id: UserId, blocked_id: UserId) -> None:
    known = len(blocked_id) <= MAX_USER_ID_CHARACTERS
    if not known or await BLOCK.get(accounts.tables, user_id=user_id, blocked_id=blocked_id) is None:
        raise NotFound("You have not blocked this person.")
    await accounts.tables.delete(BLOCK.table, BLOCK.key(user_id=user_id, blocked_id=blocked_id))
