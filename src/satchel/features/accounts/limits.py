"""How often people may guess passwords, sign up, come as guests and try reset tokens."""

from datetime import timedelta

from satchel.stores.patterns.throttle import GUESSING_WINDOW, GuessThrottle, Limit, NetworkThrottle
from satchel.stores.ports.ephemeral import Ephemeral

# An office signs in, or a class comes in as guests, behind one address. Somebody who guesses needs far more attempts.
SIGN_INS_PER_NETWORK = Limit("address", 60, GUESSING_WINDOW, per="network", about="sign-ins that failed")
SIGN_INS_PER_PAIR = Limit("pair", 10, GUESSING_WINDOW, per="account and network", about="sign-ins that failed")
# Above this, a network has three attempts at the account instead of ten. Nobody can lock its owner out.
SIGN_INS_PER_ACCOUNT = Limit("account", 100, GUESSING_WINDOW, per="account", about="sign-ins that failed")
SIGN_INS_PER_DEVICE = Limit(
    "device", 10, GUESSING_WINDOW, per="device that has signed in before", about="sign-ins that failed"
)
PASSWORD_CHANGES = Limit(
    "password-change", 10, GUESSING_WINDOW, per="session", about="changes with a wrong current password"
)
SIGN_UPS_PER_NETWORK = Limit("sign-up", 60, GUESSING_WINDOW, per="network", about="sign-ups")
GUESTS_PER_NETWORK = Limit("guest", 300, GUESSING_WINDOW, per="network", about="guests who come in")
RESETS_PER_NETWORK = Limit("password-reset", 60, GUESSING_WINDOW, per="network", about="reset tokens tried")
GRANTS_PER_GIVER = Limit("grant", 300, timedelta(days=1), per="giver", about="grants to e-mail addresses")
# Of an account. Whoever signs in once more ends the session that was used the longest ago. A program that signs in anew
# with each of its runs fills the list no further.
MAX_SESSIONS = 100
LIMITS = (
    *(SIGN_INS_PER_NETWORK, SIGN_INS_PER_ACCOUNT, SIGN_INS_PER_PAIR, SIGN_INS_PER_DEVICE, PASSWORD_CHANGES),
    *(SIGN_UPS_PER_NETWORK, GUESTS_PER_NETWORK, RESETS_PER_NETWORK, GRANTS_PER_GIVER),
)


class SignInThrottle:
    """Failed sign-ins: of one account, and of all accounts from one network.

    A device that has signed in to the account before is counted by itself, so that whatever others guess, from
    wherever, does not keep it out.
    """

    def __init__(self, ephemeral: Ephemeral) -> None:
        self._per_network = NetworkThrottle(ephemeral, SIGN_INS_PER_NETWORK)
        self._guesses = GuessThrottle(ephemeral, SIGN_INS_PER_PAIR, SIGN_INS_PER_ACCOUNT)
        self._per_device = SIGN_INS_PER_DEVICE.on(ephemeral)

    async def count(self, account: str, address: str, device_id: str | None) -> None:
        """Count a guess; raises `TooMany` when it is one too many."""
        if device_id is not None:
            await self._per_device.count(device_id)
            return
        await self._per_network.count(address)
        await self._guesses.count(account, address)

    async def forgive(self, account: str, address: str, device_id: str | None) -> None:
        """Take back the guess, which was right, and forget the wrong ones from there."""
        if device_id is not None:
            await self._per_device.forgive(device_id)
            return
        await self._per_network.add(address, -1)
        await self._guesses.forgive(account, address)

    async def forget(self, account: str, address: str) -> None:
        """Forget the wrong guesses from there, as after a new password."""
        await self._guesses.forget(account, address)


class AccountLimits:
    """The throttles of accounts on one store."""

    def __init__(self, ephemeral: Ephemeral) -> None:
        self.sign_ins = SignInThrottle(ephemeral)
        self.password_changes = PASSWORD_CHANGES.on(ephemeral)
        self.sign_ups = NetworkThrottle(ephemeral, SIGN_UPS_PER_NETWORK)
        self.guests = NetworkThrottle(ephemeral, GUESTS_PER_NETWORK)
        self.grants = GRANTS_PER_GIVER.on(ephemeral)
        self.password_resets = NetworkThrottle(ephemeral, RESETS_PER_NETWORK)
