"""How often somebody may send clicks."""

from datetime import timedelta

from satchel.stores.patterns.throttle import Limit, refusal
from satchel.stores.ports.ephemeral import Ephemeral

# Each call may bring a list of clicks. No person calls more often than this, and no program that sends lists.
CLICK_CALLS_PER_PERSON = Limit("clicks", 600, timedelta(minutes=1), per="person", about="calls that send clicks")
LIMITS = (CLICK_CALLS_PER_PERSON,)


class ClickLimits:
    """The throttle of calls that bring clicks."""

    def __init__(self, ephemeral: Ephemeral) -> None:
        self._calls = CLICK_CALLS_PER_PERSON.on(ephemeral)

    async def count(self, subject: str) -> None:
        """Count a call; raises `TooMany` when it is one too many."""
        too_many = f"You have sent clicks {CLICK_CALLS_PER_PERSON.times} times in a minute. Send several in one list."
        with refusal(too_many, limit="clicks"):
            await self._calls.count(subject)
