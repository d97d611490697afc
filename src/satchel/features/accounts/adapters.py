"""Finds people for other slices. A suspended person is not found, as if they had no account."""

from dataclasses import dataclass
from typing import Literal

from satchel.features.accounts.model import UserId, normalise_email
from satchel.features.accounts.records import IDENTITY, USER
from satchel.features.accounts.service.context import Accounts
from satchel.features.accounts.service.people import MAX_USER_ID_CHARACTERS


@dataclass(frozen=True, slots=True)
class FoundPerson:
    """What others may know of a person with an account."""

    person_id: str
    name: str
    kind: Literal["member", "guest"] = "member"


@dataclass(frozen=True, slots=True)
class PeopleFinder:
    """Finds people by e-mail address and by id."""

    accounts: Accounts

    async def by_email(self, email: str) -> FoundPerson | None:
        identity = await IDENTITY.get(self.accounts.tables, email=normalise_email(email))
        return None if identity is None else await self.by_id(identity.user_id)

    async def by_id(self, user_id: str) -> FoundPerson | None:
        known = len(user_id) <= MAX_USER_ID_CHARACTERS
        user = await USER.get(self.accounts.tables, user_id=UserId(user_id)) if known else None
        return None if user is None or user.suspended_at else FoundPerson(user.user_id, user.name)
