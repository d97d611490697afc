"""How often somebody may send clicks."""

from datetime import timedelta

from satchel.features.clicks.model import MAX_DAILY_LIMIT
from satchel.stores.patterns.throttle import Limit, NetworkThrottle, Throttle, networks_of, refusal
from satchel.stores.ports.ephemeral import Ephemeral

# Each call may bring a list of clicks. No person calls more often than this, and no program that sends lists.
CLICK_CALLS_PER_PERSON = Limit("clicks", 600, timedelta(minutes=1), per="person", about="calls that send clicks")
# Nobody knows who a guest is, so their clicks are counted by where they come from.
GUEST_CLICKS_PER_NETWORK = Limit("guest-clicks", 500, timedelta(days=1), per="network", about="clicks of guests")
# A class or an office shares an address. A program that forges clicks sends far more than these.
PAGE_CLICKS_PER_NETWORK = Limit(
    "page-clicks", 120, timedelta(minutes=1), per="network", about="clicks on pages of other sites"
)
# Each counter has a daily limit of its own, up to this one.
PAGE_CLICKS_PER_COUNTER = Limit(
    "counter-day", MAX_DAILY_LIMIT, timedelta(days=1), per="counter", about="clicks that a counter takes"
)
LIMITS = (CLICK_CALLS_PER_PERSON, GUEST_CLICKS_PER_NETWORK, PAGE_CLICKS_PER_NETWORK, PAGE_CLICKS_PER_COUNTER)
# Once three quarters of a counter's day are taken, a network that has had a quarter gets no more of it.
_FREE_FOR_ALL, _OF_A_NETWORK = 3 / 4, 1 / 4


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


class PageLimits:
    """The throttles of what pages of other sites send, by its sender and by the counter."""

    def __init__(self, ephemeral: Ephemeral) -> None:
        self._senders = NetworkThrottle(ephemeral, PAGE_CLICKS_PER_NETWORK)
        self._counters = PAGE_CLICKS_PER_COUNTER.on(ephemeral)
        self._pairs = Throttle(ephemeral, "counter-network", MAX_DAILY_LIMIT, PAGE_CLICKS_PER_COUNTER.window)

    async def count_sender(self, address: str) -> None:
        """Count a call; raises `TooMany` when it is one too many."""
        with refusal("Your network has sent too many clicks.", limit="page-clicks"):
            await self._senders.count(address)

    async def count_counter(self, counter_id: str, address: str, most: int) -> None:
        """Count a click; raises `TooMany` when the counter has had `most` within a day.

        One network alone cannot take all of them, or the readers of the page would not be counted.
        """
        pairs = [(f"{network} {counter_id}", 1) for network, _ in networks_of(address)]
        with refusal("This counter has reached its daily limit.", limit="counter-day"):
            if await self._counters.add(counter_id, 0) >= most * _FREE_FOR_ALL:
                await self._pairs.check_shares(pairs, limit=max(1, int(most * _OF_A_NETWORK)))
            await self._counters.count_shares(((counter_id, 1),), limit=most)
            await self._pairs.count_shares(pairs)
