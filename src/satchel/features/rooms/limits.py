"""How often people may try room codes, knock at a room and write into its chat."""

from datetime import timedelta

from satchel.features.rooms.model import Person
from satchel.kernel.errors import TooMany
from satchel.stores.patterns.throttle import GUESSING_WINDOW, Limit, NetworkThrottle
from satchel.stores.ports.ephemeral import Ephemeral

# Nobody finds a room by guessing its code. After so many wrong codes from a network, or from all, guests who have
# nothing but a right code knock, and the owner admits them.
WRONG_CODES_PER_NETWORK = Limit("room-code", 30, GUESSING_WINDOW, per="network", about="room codes that do not exist")
WRONG_CODES_OVERALL = Limit("room-codes", 600, GUESSING_WINDOW, per="server", about="room codes that do not exist")
# No class mistypes so often. Here, right codes of guests are refused as well.
MANY_WRONG_CODES = Limit("room-code", 300, GUESSING_WINDOW, per="network", about="room codes that do not exist")
WRONG_CODES_PER_ACCOUNT = Limit(
    "room-code-account", 60, GUESSING_WINDOW, per="account", about="room codes that do not exist"
)
KNOCKS_PER_ROOM = Limit("knock", 100, GUESSING_WINDOW, per="room", about="knocks")
# Faster than anybody types. A program that floods a room would push out of it what others have said.
MESSAGES_PER_PERSON = Limit("chat", 60, timedelta(seconds=10), per="person", about="chat messages")
# Of guests there may be hundreds. What is remembered of each message for a while must not fill the memory.
MESSAGES_PER_OWNER = Limit("chat-owner", 300, timedelta(seconds=10), per="owner of rooms", about="chat messages")
LIMITS = (
    *(WRONG_CODES_PER_NETWORK, WRONG_CODES_OVERALL, MANY_WRONG_CODES, WRONG_CODES_PER_ACCOUNT),
    *(KNOCKS_PER_ROOM, MESSAGES_PER_PERSON, MESSAGES_PER_OWNER),
)


class CodeThrottle:
    """Codes that no room has. Somebody with an account is counted by their account, a guest by their network.

    Both are counted for their network, so that a guesser does not start anew with each guest or account.
    """

    def __init__(self, ephemeral: Ephemeral) -> None:
        self._per_network = NetworkThrottle(ephemeral, WRONG_CODES_PER_NETWORK)
        self._many = NetworkThrottle(ephemeral, MANY_WRONG_CODES)
        self._overall = WRONG_CODES_OVERALL.on(ephemeral)
        self._per_account = WRONG_CODES_PER_ACCOUNT.on(ephemeral)

    async def count(self, person: Person, address: str) -> None:
        """Count a wrong code; raises `TooMany` when it is one too many."""
        await self._per_network.add(address)
        await self._overall.add("all")
        if person.kind == "member":
            await self._per_account.count(person.person_id)
        else:
            await self._many.check(address)

    async def must_knock(self, person: Person, address: str) -> bool:
        """Whether somebody with a right code knocks. `TooMany` if they, or guests from there, have guessed too much."""
        if person.kind == "member":
            await self._per_account.check(person.person_id)
            return False
        await self._many.check(address)
        try:
            await self._per_network.check(address)
            await self._overall.check("all")
        except TooMany:
            return True
        return False


class RoomLimits:
    """The throttles of rooms on one store."""

    def __init__(self, ephemeral: Ephemeral) -> None:
        self.codes = CodeThrottle(ephemeral)
        self.knocks = KNOCKS_PER_ROOM.on(ephemeral)
        self.messages = MESSAGES_PER_PERSON.on(ephemeral)
        self.messages_of_owner = MESSAGES_PER_OWNER.on(ephemeral)
