"""How often somebody may send clicks."""

from datetime import timedelta

from satchel.stores.patterns.throttle import Limit, NetworkThrottle, refusal
from satchel.stores.ports.ephemeral import Ephemeral

# Each call may bring a list of clicks. No person calls more often than this, and no program that sends lists.
CLICK_CALLS_PER_PERSON = Limit("clicks", 600, timedelta(minutes=1), per="person", about="calls that send clicks")
# Nobody knows who a guest is, so their clicks are counted by where they come from.
GUEST_CLICKS_PER_NETWORK = Limit("guest-clicks", 500, timedelta(days=1), per="network", about="clicks of guests")
LIMITS = (CLICK_CALLS_PER_PERSON, GUEST_CLICKS_PER_NETWORK)


class ClickLimits:
    """The throttle of calls that bring clicks."""

    def __init__(self, ephemeral: Ephemeral) -> None:
        self._calls = CLICK_CALLS_PER_PERSON.on(ephemeral)
        self._of_guests = NetworkThrottle(ephemeral, GUEST_CLICKS_PER_NETWORK)

    async def count(self, subject: str) -> None:
        """Count a call; raises `TooMany` when it is one too many."""
        too_many = f"You have sent clicks {CLICK_CALLS_PER_PERSON.times} times in a minute. Send several in one list."
        with refusal(too_many, limit="clicks"):
            await self._calls.count(subject)

    async def count_guest(self, address: str, number: int) -> None:
        """Count clicks of a guest; raises `TooMany` when there are too many from their network today."""
        too_many = f"Guests of your network have sent {GUEST_CLICKS_PER_NETWORK.times} clicks today."
        with refusal(too_many, limit="guest-clicks"):
            await self._of_guests.count(address, number)
