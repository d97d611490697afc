"""How often people may try what could be guessed or flooded: every such limit of this server on one page."""

from datetime import timedelta

from satchel.edge.throttle import Throttle, network_of
from satchel.stores.ports.ephemeral import Ephemeral

GUESSING_WINDOW = timedelta(minutes=15)
ATTEMPTS_PER_ACCOUNT_AND_ADDRESS = 10
ATTEMPTS_PER_ACCOUNT = 100
# An office signs in, or a class comes in as guests, behind one address; somebody who guesses needs far more.
ATTEMPTS_PER_ADDRESS = 60
SIGN_UPS_PER_ADDRESS = 60
GUESTS_PER_ADDRESS = 300
PASSWORD_RESETS_PER_ADDRESS = 60
# Letters that no room has: one address cannot find a room, and all together hardly one in a day.
WRONG_CODES_PER_ADDRESS = 30
WRONG_CODES_OVERALL = 600
KNOCKS_PER_ROOM = 100
# Faster than anybody types; a program that floods a room would push out of it what others have said.
MESSAGES_PER_PERSON = 60
TALKING_WINDOW = timedelta(seconds=10)
# Somebody who sends by e-mail could find out who has an account here.
RECEIVERS_TRIED_PER_SENDER = 60


class PerAddress:
    """A limit by the network that an address belongs to."""

    def __init__(self, throttle: Throttle) -> None:
        self._throttle = throttle

    async def count(self, address: str) -> None:
        await self._throttle.count(network_of(address))


class SignInGuesses:
    """Tight for one account from one network, so that a stranger elsewhere cannot lock its owner out; wider for all."""

    def __init__(self, ephemeral: Ephemeral) -> None:
        self._per_address = PerAddress(Throttle(ephemeral, "address", ATTEMPTS_PER_ADDRESS, GUESSING_WINDOW))
        self._per_account = Throttle(ephemeral, "account", ATTEMPTS_PER_ACCOUNT, GUESSING_WINDOW)
        self._per_pair = Throttle(ephemeral, "pair", ATTEMPTS_PER_ACCOUNT_AND_ADDRESS, GUESSING_WINDOW)

    async def count(self, account: str, address: str) -> None:
        await self._per_address.count(address)
        await self._per_pair.count(_pair(account, address))
        await self._per_account.count(account)

    async def forgive(self, account: str, address: str) -> None:
        await self._per_pair.forgive(_pair(account, address))


class CodeGuesses:
    """Letters that no room has: from one network, and from all."""

    def __init__(self, ephemeral: Ephemeral) -> None:
        self._per_address = Throttle(ephemeral, "room-code", WRONG_CODES_PER_ADDRESS, GUESSING_WINDOW)
        self._overall = Throttle(ephemeral, "room-codes", WRONG_CODES_OVERALL, GUESSING_WINDOW)

    async def count(self, address: str) -> None:
        await self._per_address.count(network_of(address))
        await self._overall.count("all")

    async def check(self, address: str) -> None:
        await self._per_address.check(network_of(address))
        await self._overall.check("all")


class Throttles:
    """All of them, counted in one store."""

    def __init__(self, ephemeral: Ephemeral) -> None:
        def per_address(name: str, limit: int) -> PerAddress:
            return PerAddress(Throttle(ephemeral, name, limit, GUESSING_WINDOW))

        self.sign_ins = SignInGuesses(ephemeral)
        self.sign_ups = per_address("sign-up", SIGN_UPS_PER_ADDRESS)
        self.guest_entries = per_address("guest", GUESTS_PER_ADDRESS)
        self.password_resets = per_address("password-reset", PASSWORD_RESETS_PER_ADDRESS)
        self.room_codes = CodeGuesses(ephemeral)
        self.knocks = Throttle(ephemeral, "knock", KNOCKS_PER_ROOM, GUESSING_WINDOW)
        self.messages = Throttle(ephemeral, "chat", MESSAGES_PER_PERSON, TALKING_WINDOW)
        self.receivers = Throttle(ephemeral, "receiver", RECEIVERS_TRIED_PER_SENDER, GUESSING_WINDOW)


def _pair(account: str, address: str) -> str:
    return f"{network_of(address)} {account}"
