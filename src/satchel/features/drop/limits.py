"""How much one network may do in drop sessions; every refusal says which limit was reached."""

from contextlib import AbstractContextManager
from datetime import timedelta

from satchel.features.drop.records import ATTEMPTS, CALLS
from satchel.kernel.errors import TooMany
from satchel.stores.patterns.throttle import GUESSING_WINDOW, Limit, refusal
from satchel.stores.ports.ephemeral import Ephemeral, Expire, Get, HashIncrement, Increment, TimeToLive

# A class that comes into a drop session at once makes a few calls each; bytes and progress are not counted.
CALLS_PER_SECOND = Limit("calls", 200, timedelta(seconds=1), per="network", about="calls to drop sessions")
# Only attempts that failed count, and those that are still at the door.
FAILURES_PER_SESSION = Limit(
    "access.attempts", 30, GUESSING_WINDOW, per="session and network", about="failed attempts to join a drop session"
)
WRONG_NAMES_PER_NETWORK = Limit(
    "drop-name", 60, GUESSING_WINDOW, per="network", about="names of drop sessions that do not exist"
)
LIMITS = (CALLS_PER_SECOND, FAILURES_PER_SESSION, WRONG_NAMES_PER_NETWORK)
SESSIONS_PER_NETWORK = 60


class DropLimits:
    """The throttles of drop sessions; the seed names the keys of two of them."""

    def __init__(self, ephemeral: Ephemeral) -> None:
        self._ephemeral = ephemeral
        self._names = WRONG_NAMES_PER_NETWORK.on(ephemeral)

    async def count_call(self, network: str) -> None:
        calls, _ = await self._ephemeral.together(
            HashIncrement(CALLS(), network), Expire(CALLS(), CALLS_PER_SECOND.window, only_if_unset=True)
        )
        if calls > CALLS_PER_SECOND.times:
            raise TooMany(
                f"Too many calls from your network (limit {CALLS_PER_SECOND.times} a second). Try again in a second.",
                retry_after=1,
                limit=CALLS_PER_SECOND.name,
            )

    async def check_attempts(self, session_id: str, network: str) -> None:
        """Raises `TooMany` when so many attempts failed that even right ones are refused."""
        key = ATTEMPTS(session_id=session_id, network=network)
        attempts, left = await self._ephemeral.together(Get(key), TimeToLive(key))
        if int(attempts or 0) >= FAILURES_PER_SESSION.times:
            seconds = max(1, -(-(left or FAILURES_PER_SESSION.window) // timedelta(seconds=1)))
            raise TooMany(
                f"Too many failed attempts from your network (limit {FAILURES_PER_SESSION.times}). "
                f"Try again in {-(-seconds // 60)} minutes.",
                retry_after=seconds,
                limit=FAILURES_PER_SESSION.name,
            )

    async def count_attempt(self, session_id: str, network: str) -> None:
        await self._add_attempts(session_id, network, 1)

    async def forgive_attempt(self, session_id: str, network: str) -> None:
        await self._add_attempts(session_id, network, -1)

    async def check_names(self, network: str) -> None:
        """Raises `TooMany` when so many names were wrong that even right ones are refused."""
        with _refusal_of_names():
            await self._names.check(network)

    async def count_name(self, network: str) -> None:
        with _refusal_of_names():
            await self._names.count(network)

    async def _add_attempts(self, session_id: str, network: str, number: int) -> None:
        key = ATTEMPTS(session_id=session_id, network=network)
        window = FAILURES_PER_SESSION.window
        await self._ephemeral.together(Increment(key, number), Expire(key, window, only_if_unset=True))


def _refusal_of_names() -> AbstractContextManager[None]:
    return refusal(
        f"Too many wrong session names from your network (limit {WRONG_NAMES_PER_NETWORK.times}).", limit="names"
    )
