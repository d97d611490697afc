"""Passwords as argon2id hashes, computed off the event loop with bounded concurrency."""

import asyncio
import os
import secrets
from base64 import b64encode
from collections.abc import Callable
from typing import ClassVar, ParamSpec, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from satchel.kernel.errors import Unavailable

# OWASP's recommendation: 19 MiB, 2 passes. About 40 ms, and little enough memory for the smallest server.
STANDARD = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
_MOST_WAITING = 64

P = ParamSpec("P")
T = TypeVar("T")


class Passwords:
    """Makes and checks hashes. A check takes the same time with and without an account."""

    # Tests hash by the hundred and choose a cheaper one.
    hasher: ClassVar[PasswordHasher] = STANDARD

    def __init__(self) -> None:
        self._running = asyncio.Semaphore(max(1, (os.cpu_count() or 2) // 2))
        self._waiting = 0
        # Verified when there is no account, so that the answer takes as long as a wrong password.
        self._nobody = _hash_of_no_password(self.hasher)

    async def hash(self, password: str) -> str:
        return await self._alone(self.hasher.hash, password)

    async def matches(self, stored: str | None, password: str) -> bool:
        right = await self._alone(_verify, self.hasher, stored or self._nobody, password)
        return right and stored is not None

    def is_outdated(self, stored: str) -> bool:
        return self.hasher.check_needs_rehash(stored)

    async def _alone(self, work: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        if self._waiting >= _MOST_WAITING:
            raise Unavailable("Too many people are signing in at once. Try again in a few seconds.")
        self._waiting += 1
        try:
            async with self._running:
                return await asyncio.to_thread(work, *arguments, **options)
        finally:
            self._waiting -= 1


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
