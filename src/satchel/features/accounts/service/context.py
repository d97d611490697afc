"""What every use case of accounts needs, assembled once by the wiring."""

import asyncio
import hashlib
import hmac
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from satchel.features.accounts.limits import AccountLimits
from satchel.features.accounts.model import SignUpMode
from satchel.features.accounts.needs import AccessTokens, Housekeeping, Storage
from satchel.features.accounts.service.passwords import Passwords
from satchel.kernel.clock import Clock, iso
from satchel.kernel.departure import Holdings
from satchel.kernel.events import Events
from satchel.kernel.signature import Signer
from satchel.stores.ports.table import Range, Tables
from satchel.tables import CATALOG

SESSION_LIFETIME = timedelta(days=90)
INVITATION_LIFETIME = timedelta(days=14)
RESET_LIFETIME = timedelta(hours=24)
TOKEN_HASH_CHARACTERS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounts:
    """Stores, clock, and rate limits."""

    tables: Tables
    clock: Clock
    signer: Signer
    access: AccessTokens
    passwords: Passwords
    limits: AccountLimits
    storage: Storage
    housekeeping: Housekeeping
    default_sign_up: SignUpMode
    events: Events
    # Whether people reach this server at a public address, through a proxy.
    is_public: bool = False
    # What slices hold of people. Those that open later add theirs.
    holdings: Sequence[Holdings] = ()
    # Deletions that go on after their request was answered.
    deletions: set["asyncio.Task[bool]"] = field(default_factory=set["asyncio.Task[bool]"])


async def sweep_expired(accounts: Accounts, sort: str) -> int:
    """Delete the expired records of one kind of token. Returns how many."""
    page = await accounts.tables.query(CATALOG, sort, Range(high=iso(accounts.clock())), index="RefreshTokenExpiration")
    await accounts.tables.write_many(CATALOG, delete=[CATALOG.key_of(item) for item in page.items])
    return len(page.items)


def repeatable_token(accounts: Accounts, purpose: str, *given: str) -> str:
    """A token that a retry gets again, though it is not stored: nobody makes it without the secret of this server."""
    made = hmac.digest(accounts.signer.derive(f"repeatable-{purpose}"), "\n".join(given).encode(), hashlib.sha256)
    return urlsafe_b64encode(made).rstrip(b"=").decode()


def token_hash(token: str) -> str:
    """The hash that a key has instead of a token: useless to anybody who reads the table."""
    return hashlib.sha256(token.encode()).hexdigest()
