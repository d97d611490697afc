"""Passwords as argon2id hashes, computed off the event loop with bounded concurrency."""

import os
import secrets
from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from satchel.features.accounts.service.hash_queue import HashQueue
from satchel.stores.patterns.throttle import networks_of

if TYPE_CHECKING:
    from argon2 import PasswordHasher


@dataclass(frozen=True, slots=True)
class Cost:
    """What a hash costs whoever makes or guesses it."""

    passes: int
    kibibytes: int
    lanes: int = 1


# OWASP's recommendation. About 40 ms, and little enough memory for the smallest server.
STANDARD = Cost(passes=2, kibibytes=19 * 1024)
MOST_WAITING = 64
# Each takes the memory above. One checks 25 passwords a second.
AT_ONCE = 1


class Passwords:
    """Makes and checks hashes. A check takes the same time with and without an account."""

    # Tests hash by the hundred and choose a cheaper one.
    cost: ClassVar[Cost] = STANDARD

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._queue = HashQueue(max(1, min(at_once, (os.cpu_count() or 2) // 2)), MOST_WAITING)
        # Verified when there is no account, so that the answer takes as long as a wrong password.
        self._nobody = _hash_of_no_password(self.cost)

    async def hash(self, password: str, address: str) -> str:
        """`address` is that of whoever asks: networks take turns."""
        return await self._queue.run(_share(address), _hash, self.cost, password)

    async def matches(self, stored: str | None, password: str, address: str) -> bool:
        right = await self._queue.run(_share(address), _verify, self.cost, stored or self._nobody, password)
        return right and stored is not None

    def is_outdated(self, stored: str) -> bool:
        return _hasher(self.cost).check_needs_rehash(stored)


def _share(address: str) -> str:
    """Who has many networks of IPv6 has one line."""
    return networks_of(address)[-1][0]


def _hash_of_no_password(cost: Cost) -> str:
    """A hash that costs as much to verify as any other and that nothing matches."""
    salt, digest = (b64encode(secrets.token_bytes(size)).rstrip(b"=").decode() for size in (16, 32))
    return f"$argon2id$v=19$m={cost.kibibytes},t={cost.passes},p={cost.lanes}${salt}${digest}"


@cache
def _hasher(cost: Cost) -> "PasswordHasher":
    from argon2 import PasswordHasher  # with the first password: a start does without

    return PasswordHasher(time_cost=cost.passes, memory_cost=cost.kibibytes, parallelism=cost.lanes)


def _hash(cost: Cost, password: str) -> str:
    return _hasher(cost).hash(password)


def _verify(cost: Cost, stored: str, password: str) -> bool:
    from argon2.exceptions import InvalidHashError, VerificationError

    try:
        return _hasher(cost).verify(stored, password)
    except (VerificationError, InvalidHashError):
        return False
