"""Passwords as argon2id hashes, computed off the event loop with bounded concurrency."""

import os
import secrets
from base64 import b64encode
from typing import ClassVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from satchel.features.accounts.service.hash_queue import HashQueue
from satchel.stores.patterns.throttle import networks_of

# OWASP's recommendation: 19 MiB, 2 passes. About 40 ms, and little enough memory for the smallest server.
STANDARD = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
MOST_WAITING = 64
# Each takes the memory above. One checks 25 passwords a second.
AT_ONCE = 1


class Passwords:
    """Makes and checks hashes. A check takes the same time with and without an account."""

    # Tests hash by the hundred and choose a cheaper one.
    hasher: ClassVar[PasswordHasher] = STANDARD

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._queue = HashQueue(max(1, min(at_once, (os.cpu_count() or 2) // 2)), MOST_WAITING)
        # Verified when there is no account, so that the answer takes as long as a wrong password.
        self._nobody = _hash_of_no_password(self.hasher)

    async def hash(self, password: str, address: str) -> str:
        """`address` is that of whoever asks: networks take turns."""
        return await self._queue.run(_share(address), self.hasher.hash, password)

    async def matches(self, stored: str | None, password: str, address: str) -> bool:
        right = await self._queue.run(_share(address), _verify, self.hasher, stored or self._nobody, password)
        return right and stored is not None

    def is_outdated(self, stored: str) -> bool:
        return self.hasher.check_needs_rehash(stored)


def _share(address: str) -> str:
    """Who has many networks of IPv6 has one line."""
    return networks_of(address)[-1][0]


def _hash_of_no_password(hasher: PasswordHasher) -> str:
    """A hash that costs as much to verify as any other and that nothing matches."""
    salt, digest = (b64encode(secrets.token_bytes(size)).rstrip(b"=").decode() for size in (16, 32))
    costs = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return f"$argon2id$v=19${costs}${salt}${digest}"


def _verify(hasher: PasswordHasher, stored: str, password: str) -> bool:
    try:
        return hasher.verify(stored, password)
    except (VerificationError, InvalidHashError):
        return False
