"""What accounts offer to other slices: people, and grants of what these own.

A suspended person is not found, as if they had no account.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from satchel.features.accounts.model import Email, UserId, check_grantable, normalise_email
from satchel.features.accounts.records import BLOCK, CONTACT, IDENTITY, PERSON, SCOPE, USER, ContactRow, ScopeRow
from satchel.features.accounts.service.people import MAX_USER_ID_CHARACTERS
from satchel.features.accounts.service.scopes import HasTables, without_blocked
from satchel.kernel.clock import Clock, iso
from satchel.kernel.searched import Finding, Findings, Seeker, Words
from satchel.stores.ports.table import StartsWith, Tables, Write

_PAGE = 1000
# "takes-some": from somebody whom the receiver does not know yet.
Manner = Literal["takes", "takes-some", "asks", "hides"]


@dataclass(frozen=True, slots=True)
class FoundPerson:
    """What others may know of a person with an account."""

    person_id: str
    name: str
    kind: Literal["member", "guest"] = "member"


@dataclass(frozen=True, slots=True)
class PeopleFinder:
    """Finds people by e-mail address and by id. It needs nothing of accounts but their tables."""

    accounts: HasTables

    async def id_of(self, email: str) -> str | None:
        identity = await IDENTITY.get(self.accounts.tables, email=normalise_email(email))
        return None if identity is None else identity.user_id

    async def by_email(self, email: str) -> FoundPerson | None:
        user_id = await self.id_of(email)
        return None if user_id is None else await self.by_id(user_id)

    async def by_id(self, user_id: str) -> FoundPerson | None:
        known = len(user_id) <= MAX_USER_ID_CHARACTERS
        user = await USER.get(self.accounts.tables, user_id=UserId(user_id)) if known else None
        return None if user is None or user.suspended_at else FoundPerson(user.user_id, user.name)


@dataclass(frozen=True, slots=True)
class Contacts:
    """From whom people take things. It needs nothing of accounts but their tables."""

    accounts: HasTables

    async def manner(self, receiver_id: str, sender_id: str) -> Manner:
        """Whether something from this sender comes to the receiver at once, as an offer, or not at all."""
        tables, pair = self.accounts.tables, (UserId(receiver_id), UserId(sender_id))
        receiver, contact, blocked = await tables.get_many(
            USER.table,
            [
                USER.key(user_id=pair[0]),
                CONTACT.key(user_id=pair[0], other_id=pair[1]),
                BLOCK.key(user_id=pair[0], blocked_id=pair[1]),
            ],
        )
        if blocked is not None:
            return "hides"
        standing = None if contact is None else CONTACT.read(contact).standing
        choice = "nobody" if receiver is None else USER.read(receiver).receiving
        if standing == "asks" or choice == "nobody":
            return "asks"
        if standing == "known":
            return "takes"
        return "asks" if choice == "known" else "takes-some"

    async def noting(self, person_id: str, other_id: str, *, known: bool) -> list[Write]:
        """The write after which they know each other; or, after a decline, the other has to ask. None if it is so."""
        row = ContactRow(user_id=UserId(person_id), other_id=UserId(other_id), standing="known" if known else "asks")
        before = await CONTACT.get(self.accounts.tables, user_id=row.user_id, other_id=row.other_id)
        return [] if before == row else [CONTACT.put(row)]

    async def note(self, person_id: str, other_id: str, *, known: bool) -> None:
        if writes := await self.noting(person_id, other_id, known=known):
            await self.accounts.tables.transact(writes)


@dataclass(frozen=True, slots=True)
class ScopeGrants:
    """Grants as writes for a transaction of the slice whose things are granted."""

    tables: Tables
    clock: Clock

    def address(self, written: str) -> str:
        return normalise_email(written)

    def put(self, owner: str, email: str, scope_type: str, resource_id: str, resource_name: str) -> Write:
        scope = ScopeRow(
            granted_to=Email(email),
            type=check_grantable(scope_type),
            resource_owner=owner,
            resource_id=resource_id,
            resource_name=resource_name,
            granted_at=iso(self.clock()),
        )
        return SCOPE.put(scope)

    def delete(self, owner: str, email: str, scope_type: str, resource_id: str) -> Write:
        return SCOPE.delete(granted_to=email, type=scope_type, resource_owner=owner, resource_id=resource_id)

    async def has(self, owner: str, email: str, scope_types: Sequence[str], resource_id: str) -> bool:
        keys = [
            SCOPE.key(granted_to=email, type=each, resource_owner=owner, resource_id=resource_id)
            for each in scope_types
        ]
        return any(item is not None for item in await self.tables.get_many(SCOPE.table, keys))

    async def of_person(self, email: str, prefix: str) -> list[ScopeRow]:
        """Without what somebody shares whom they have blocked."""
        return await without_blocked(self, Email(email), await self.all_of_person(email, prefix))

    async def all_of_person(self, email: str, prefix: str) -> list[ScopeRow]:
        partition = SCOPE.keys["PK"].render({"granted_to": email})
        return await self._all(partition, f"SCOPE#{prefix}", None)

    async def of_thing(self, owner: str, scope_types: Sequence[str], resource_id: str) -> list[ScopeRow]:
        found: list[ScopeRow] = []
        for scope_type in scope_types:
            fields = {"type": scope_type, "resource_owner": owner, "resource_id": resource_id}
            found += await self._all(owner, SCOPE.keys["SK"].render(fields), "ReverseGrantIndex")
        return found

    async def of_owner(self, owner: str, prefix: str) -> list[ScopeRow]:
        return await self._all(owner, f"SCOPE#{prefix}", "ReverseGrantIndex")

    async def _all(self, partition: str, beginning: str, index: str | None) -> list[ScopeRow]:
        found: list[ScopeRow] = []
        cursor: str | None = None
        while True:
            page = await self.tables.query(
                SCOPE.table, partition, StartsWith(beginning), index=index, limit=_PAGE, cursor=cursor
            )
            found += map(SCOPE.read, page.items)
            if (cursor := page.cursor) is None:
                return found


@dataclass(frozen=True, slots=True)
class PeopleSearch:
    """Finds people by name and address, for administrators. Others cannot see who has an account."""

    accounts: HasTables

    async def find(self, seeker: Seeker, words: Words, limit: int) -> Findings:
        if not seeker.is_administrator:
            return Findings([])
        tables = self.accounts.tables
        page = await PERSON.list(tables, limit=_PAGE, may_lag=True)
        keys = [USER.key(user_id=each.user_id) for each in page.records]
        items = await tables.get_many(USER.table, keys, may_lag=True)
        users = [USER.read(item) for item in items if item is not None]
        found = [
            Finding(kind="person", id=user.user_id, name=user.name, detail=user.email)
            for user in users
            if words.are_in(user.name, user.email)
        ]
        return Findings(found[:limit], partial=page.cursor is not None and len(found) < limit)
