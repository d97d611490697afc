"""A bound on how often something may be tried, shared by every server that shares the ephemeral store."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import IPv6Address, ip_address

from satchel.kernel.errors import TooMany
from satchel.stores.ports.ephemeral import Delete, Ephemeral, Expire, Get, Increment, TimeToLive
from satchel.stores.schema import EphemeralKey

ATTEMPTS = EphemeralKey(
    "throttle:{name}:{subject}", "value", owner="throttle", about="Attempts of one subject within the current window"
)
EPHEMERAL_KEYS = (ATTEMPTS,)

GUESSING_WINDOW = timedelta(minutes=15)


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
        key = self._key(subject)
        attempts, _, left = await self._ephemeral.together(
            Increment(key), Expire(key, self._window, only_if_unset=True), TimeToLive(key)
        )
        if attempts > self._limit:
            raise self._refusal(left)

    async def check(self, subject: str) -> None:
        """Raises `TooMany` when one more attempt would be too many, and counts none."""
        key = self._key(subject)
        attempts, left = await self._ephemeral.together(Get(key), TimeToLive(key))
        if int(attempts or 0) >= self._limit:
            raise self._refusal(left)

    async def forgive(self, subject: str) -> None:
        """Forget all attempts, as after one that succeeded."""
        await self._ephemeral.run(Delete(self._key(subject)))

    def _key(self, subject: str) -> str:
        return ATTEMPTS(name=self._name, subject=subject)

    def _refusal(self, left: timedelta | None) -> TooMany:
        seconds = max(1, -(-(left or self._window) // timedelta(seconds=1)))
        return TooMany(f"Too many attempts. Try again in {spoken(seconds)}.", retry_after=seconds)


class NetworkThrottle:
    """A throttle whose subject is the network that an address belongs to."""

    def __init__(self, ephemeral: Ephemeral, limit: Limit) -> None:
        self._throttle = limit.on(ephemeral)

    async def count(self, address: str) -> None:
        """Count an attempt; raises `TooMany` when it is one too many."""
        await self._throttle.count(network_of(address))


@contextmanager
def refusal(what: str, *, limit: str) -> Generator[None]:
    """Let a `TooMany` say in its own words which limit was reached."""
    try:
        yield
    except TooMany as refused:
        seconds = refused.retry_after
        raise TooMany(f"{what} Try again in {spoken(seconds)}.", retry_after=seconds, limit=limit) from None


def pair(subject: str, address: str) -> str:
    """The subject of a throttle for one thing tried from one network."""
    return f"{network_of(address)} {subject}"


def network_of(address: str) -> str:
    """The subject to throttle for an address: an IPv4 address itself, the /64 that one IPv6 household has."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return "unknown"
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(IPv6Address(int(parsed) >> 64 << 64)) + "/64"


def spoken(seconds: int) -> str:
    if seconds < 120:
        return f"{seconds} second{'s' if seconds != 1 else ''}"
    return f"{-(-seconds // 60)} minutes"
