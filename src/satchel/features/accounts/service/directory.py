"""Lists all people with what an administrator needs to know, and adds up what they store."""

from collections.abc import Sequence
from dataclasses import dataclass

from satchel.features.accounts.records import PERSON, USER, PersonRow, UserRow
from satchel.features.accounts.service.context import Accounts
from satchel.features.accounts.service.scopes import are_administrators


@dataclass(frozen=True, slots=True)
class Listed:
    """A person as administrators see them. `last_used_at` is empty without a session."""

    user: UserRow
    administrator: bool
    last_used_at: str
    used_bytes: int


@dataclass(frozen=True, slots=True)
class Kept:
    """What all people store, and how many people there are."""

    used_bytes: int
    files: int
    people: int


async def list_people(accounts: Accounts, limit: int, cursor: str | None) -> tuple[list[Listed], str | None]:
    """People in the order of sign-up. One query and a few batches per page, whatever its size."""
    page = await PERSON.list(accounts.tables, limit=limit, cursor=cursor)
    return await _described(accounts, page.records), page.cursor


async def describe_person(accounts: Accounts, user: UserRow) -> Listed:
    row = await PERSON.get(accounts.tables, user_id=user.user_id) or PersonRow(user_id=user.user_id)
    (listed,) = await _described(accounts, [row])
    return listed


async def sum_up(accounts: Accounts) -> Kept:
    used_bytes = files = people = 0
    cursor: str | None = None
    while True:
        page = await PERSON.list(accounts.tables, limit=1000, cursor=cursor, may_lag=True)
        for usage in await accounts.storage.usage_of([row.user_id for row in page.records]):
            used_bytes += usage.used_bytes
            files += usage.files
        people += len(page.records)
        cursor = page.cursor
        if cursor is None:
            return Kept(used_bytes, files, people)


async def _described(accounts: Accounts, rows: Sequence[PersonRow]) -> list[Listed]:
    items = await accounts.tables.get_many(USER.table, [USER.key(user_id=row.user_id) for row in rows])
    found = [(row, USER.read(item)) for row, item in zip(rows, items, strict=True) if item is not None]
    administrators = await are_administrators(accounts, [user.email for _, user in found])
    usages = await accounts.storage.usage_of([row.user_id for row, _ in found])
    return [
        Listed(user, administrator, max(user.last_used_at, row.last_used_at), usage.used_bytes)
        for (row, user), administrator, usage in zip(found, administrators, usages, strict=True)
    ]
