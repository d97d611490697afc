"""How often people may guess passwords, sign up, come as guests and try reset tokens."""

from satchel.stores.patterns.throttle import GUESSING_WINDOW, Limit, NetworkThrottle, pair
from satchel.stores.ports.ephemeral import Ephemeral

# An office signs in, or a class comes in as guests, behind one address. Somebody who guesses needs far more attempts.
SIGN_INS_PER_NETWORK = Limit("address", 60, GUESSING_WINDOW, per="network", about="sign-ins and changes of a password")
SIGN_INS_PER_ACCOUNT = Limit("account", 100, GUESSING_WINDOW, per="account", about="sign-ins, from all networks")
SIGN_INS_PER_PAIR = Limit("pair", 10, GUESSING_WINDOW, per="account and network", about="sign-ins that failed")
SIGN_UPS_PER_NETWORK = Limit("sign-up", 60, GUESSING_WINDOW, per="network", about="sign-ups")
GUESTS_PER_NETWORK = Limit("guest", 300, GUESSING_WINDOW, per="network", about="guests who come in")
RESETS_PER_NETWORK = Limit("password-reset", 60, GUESSING_WINDOW, per="network", about="reset tokens tried")
LIMITS = (
    *(SIGN_INS_PER_NETWORK, SIGN_INS_PER_ACCOUNT, SIGN_INS_PER_PAIR),
    *(SIGN_UPS_PER_NETWORK, GUESTS_PER_NETWORK, RESETS_PER_NETWORK),
)


class SignInThrottle:
    """Tight for one account from one network, so that a stranger elsewhere cannot lock its owner out; wider for all."""

    def __init__(self, ephemeral: Ephemeral) -> None:
        self._per_network = NetworkThrottle(ephemeral, SIGN_INS_PER_NETWORK)
        self._per_account = SIGN_INS_PER_ACCOUNT.on(ephemeral)
        self._per_pair = SIGN_INS_PER_PAIR.on(ephemeral)

    async def count(self, account: str, address: str) -> None:
        """Count a guess; raises `TooMany` when it is one too many."""
        await self._per_network.count(address)
        await self._per_pair.count(pair(account, address))
        await self._per_account.count(account)

    async def forgive(self, account: str, address: str) -> None:
        """Forget the guesses from there, as after a right one."""
        await self._per_pair.forgive(pair(account, address))


class AccountLimits:
    """The throttles of accounts on one store."""

    def __init__(self, ephemeral: Ephemeral) -> None:
        self.sign_ins = SignInThrottle(ephemeral)
        self.sign_ups = NetworkThrottle(ephemeral, SIGN_UPS_PER_NETWORK)
        self.guests = NetworkThrottle(ephemeral, GUESTS_PER_NETWORK)
        self.password_resets = NetworkThrottle(ephemeral, RESETS_PER_NETWORK)
