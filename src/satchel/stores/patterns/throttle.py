"""A bound on how often something may be tried, shared by every server that shares the ephemeral store."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import Any

from satchel.kernel.errors import TooMany
from satchel.stores.ports.ephemeral import Command, Delete, Ephemeral, Expire, Get, Increment, TimeToLive
from satchel.stores.schema import EphemeralKey

ATTEMPTS = EphemeralKey(
    "throttle:{name}:{subject}",
    "value",
    owner="throttle",
    about="Attempts of one subject within the current window",
    essential=True,
)
EPHEMERAL_KEYS = (ATTEMPTS,)

GUESSING_WINDOW = timedelta(minutes=15)

# A subject, and how many times a limit it has.
Share = tuple[str, int]
_IPV6_SHARES = ((64, 1), (56, 4), (48, 16))


@dataclass(frozen=True, slots=True)
class Limit:
    """A declared throttle: at most `times` within `window` for each subject of this kind (`per`)."""

    name: str
    times: int
    window: timedelta
    per: str
    about: str

    def on(self, ephemeral: Ephemeral) -> "Throttle":
        return Throttle(ephemeral, self.name, self.times, self.window)


class Throttle:
    """At most `limit` attempts of one subject per `window`, counted from its first attempt.

    A fixed window lets through twice the limit around its edge at worst; it costs one counter per subject and
    cannot be pushed along by trying on.
    """

    def __init__(self, ephemeral: Ephemeral, name: str, limit: int, window: timedelta) -> None:
        self._ephemeral = ephemeral
        self._name = name
        self._limit = limit
        self._window = window

    async def count(self, subject: str) -> None:
        """Count an attempt; raises `TooMany` when it is one too many."""
        await self.count_shares(((subject, 1),))

    async def check(self, subject: str) -> None:
        """Raises `TooMany` when one more attempt would be too many, and counts none."""
        await self.check_shares(((subject, 1),))

    async def forgive(self, subject: str) -> None:
        """Forget all attempts, as after one that succeeded."""
        await self._ephemeral.run(Delete(self._key(subject)))

    async def add(self, subject: str, number: int = 1) -> int:
        """Count attempts, or take some back, and refuse none. Returns how many there are."""
        key = self._key(subject)
        attempts, _ = await self._ephemeral.together(
            Increment(key, number), Expire(key, self._window, only_if_unset=True)
        )
        return attempts

    async def count_shares(self, shares: Sequence[Share], limit: int | None = None, number: int = 1) -> None:
        """Count an attempt, or several, for each subject. Each may have the limit as many times as its share says."""
        steps: list[Command[Any]] = []
        for subject, _ in shares:
            key = self._key(subject)
            steps += [Increment(key, number), Expire(key, self._window, only_if_unset=True), TimeToLive(key)]
        answers = await self._ephemeral.together(*steps)
        for (_, share), attempts, left in zip(shares, answers[::3], answers[2::3], strict=True):
            if attempts > (limit or self._limit) * share:
                raise self._refusal(left)

    async def check_shares(self, shares: Sequence[Share], limit: int | None = None) -> None:
        """Raises `TooMany` when one more attempt of any subject would be too many, and counts none."""
        keys = [self._key(subject) for subject, _ in shares]
        answers = await self._ephemeral.together(*map(Get, keys), *map(TimeToLive, keys))
        for (_, share), attempts, left in zip(shares, answers[: len(keys)], answers[len(keys) :], strict=True):
            if int(attempts or 0) >= (limit or self._limit) * share:
                raise self._refusal(left)

    def _key(self, subject: str) -> str:
        return ATTEMPTS(name=self._name, subject=subject)

    def _refusal(self, left: timedelta | None) -> TooMany:
        seconds = max(1, -(-(left or self._window) // timedelta(seconds=1)))
        return TooMany(f"Too many attempts. Try again in {spoken(seconds)}.", retry_after=seconds)


class NetworkThrottle:
    """A throttle whose subjects are the networks that an address belongs to."""

    def __init__(self, ephemeral: Ephemeral, limit: Limit) -> None:
        self._throttle = limit.on(ephemeral)

    async def count(self, address: str, number: int = 1) -> None:
        """Count an attempt, or several; raises `TooMany` when that is too many."""
        await self._throttle.count_shares(networks_of(address), number=number)

    async def check(self, address: str) -> None:
        """Raises `TooMany` when one more attempt would be too many, and counts none."""
        await self._throttle.check_shares(networks_of(address))

    async def add(self, address: str, number: int = 1) -> None:
        """Count attempts, or take some back, and refuse none."""
        for network, _ in networks_of(address):
            await self._throttle.add(network, number)


class GuessThrottle:
    """Wrong guesses at the secret of one thing, such as the password of an account.

    A network has a number of guesses. When all networks together have made many, each has only a few, and never none:
    whoever knows the secret gets in from a network that has not guessed, however many others do.
    """

    FEW = 3

    def __init__(self, ephemeral: Ephemeral, per_pair: Limit, overall: Limit) -> None:
        self._pairs = per_pair.on(ephemeral)
        self._overall = overall.on(ephemeral)
        self._many = overall.times

    async def count(self, thing: str, address: str) -> None:
        """Count a guess; raises `TooMany` when it is one too many from there."""
        total = await self._overall.add(thing)
        await self._pairs.count_shares(_pairs(thing, address), self.FEW if total > self._many else None)

    async def check(self, thing: str, address: str) -> None:
        """Raises `TooMany` when one more guess from there would be too many; counts none."""
        total = await self._overall.add(thing, 0)
        await self._pairs.check_shares(_pairs(thing, address), self.FEW if total >= self._many else None)

    async def share_of(self, thing: str, address: str) -> str:
        """Whose share guesses from there are: that of their widest network, or of all when all have made many."""
        total = await self._overall.add(thing, 0)
        return thing if total >= self._many else f"{thing} {networks_of(address)[-1][0]}"

    async def forgive(self, thing: str, address: str) -> None:
        """Take back the last guess, which was right, and forget the wrong ones from there."""
        await self._overall.add(thing, -1)
        for subject, _ in _pairs(thing, address)[1:]:
            await self._pairs.add(subject, -1)
        await self.forget(thing, address)

    async def forget(self, thing: str, address: str) -> None:
        """Forget the guesses from the narrowest network of an address."""
        await self._pairs.forgive(_pairs(thing, address)[0][0])


@contextmanager
def refusal(what: str, *, limit: str) -> Generator[None]:
    """Let a `TooMany` say in its own words which limit was reached."""
    try:
        yield
    except TooMany as refused:
        seconds = refused.retry_after
        raise TooMany(f"{what} Try again in {spoken(seconds)}.", retry_after=seconds, limit=limit) from None


def _pairs(thing: str, address: str) -> tuple[Share, ...]:
    return tuple((f"{network} {thing}", share) for network, share in networks_of(address))


def network_of(address: str) -> str:
    """The subject to throttle for an address: an IPv4 address itself, the /64 that one IPv6 household has."""
    return networks_of(address)[0][0]


@lru_cache(maxsize=8192)  # asked of thousands of connections in one turn, when somebody has opened them
def networks_of(address: str) -> tuple[Share, ...]:
    """The networks of an address, the narrowest first, and how many times a limit each has.

    Who has a /56 has 256 networks of /64. They have a limit four times together, not 256 times.
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return (("unknown", 1),)
    if not isinstance(parsed, IPv6Address):
        return ((str(parsed), 1),)
    if parsed.ipv4_mapped is not None:
        return ((str(parsed.ipv4_mapped), 1),)
    return tuple(
        (f"{IPv6Address(int(parsed) >> 128 - bits << 128 - bits)}/{bits}", share) for bits, share in _IPV6_SHARES
    )


def spoken(seconds: int) -> str:
    if seconds < 120:
        return f"{seconds} second{'s' if seconds != 1 else ''}"
    return f"{-(-seconds // 60)} minutes"
