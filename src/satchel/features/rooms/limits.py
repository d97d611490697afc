"""How often people may try room codes, knock at a room and write into its chat."""

from datetime import timedelta

from satchel.stores.patterns.throttle import GUESSING_WINDOW, Limit, network_of
from satchel.stores.ports.ephemeral import Ephemeral

# One network cannot find a room by guessing its code, and all networks together hardly find one in a day.
WRONG_CODES_PER_NETWORK = Limit("room-code", 30, GUESSING_WINDOW, per="network", about="room codes that do not exist")
WRONG_CODES_OVERALL = Limit("room-codes", 600, GUESSING_WINDOW, per="server", about="room codes that do not exist")
KNOCKS_PER_ROOM = Limit("knock", 100, GUESSING_WINDOW, per="room", about="knocks")
# Faster than anybody types. A program that floods a room would push out of it what others have said.
MESSAGES_PER_PERSON = Limit("chat", 60, timedelta(seconds=10), per="person", about="chat messages")
LIMITS = (WRONG_CODES_PER_NETWORK, WRONG_CODES_OVERALL, KNOCKS_PER_ROOM, MESSAGES_PER_PERSON)


class CodeThrottle:
    """Codes that no room has: from one network, and from all."""

    def __init__(self, ephemeral: Ephemeral) -> None:
        self._per_network = WRONG_CODES_PER_NETWORK.on(ephemeral)
        self._overall = WRONG_CODES_OVERALL.on(ephemeral)

    async def count(self, address: str) -> None:
        """Count a wrong code; raises `TooMany` when it is one too many."""
        await self._per_network.count(network_of(address))
        await self._overall.count("all")

    async def check(self, address: str) -> None:
        """Raises `TooMany` when there were too many wrong codes; counts none."""
        await self._per_network.check(network_of(address))
        await self._overall.check("all")


class RoomLimits:
    """The throttles of rooms on one store."""

    def __init__(self, ephemeral: Ephemeral) -> None:
        self.codes = CodeThrottle(ephemeral)
        self.knocks = KNOCKS_PER_ROOM.on(ephemeral)
        self.messages = MESSAGES_PER_PERSON.on(ephemeral)
