"""How often people may try what could be guessed or flooded: every such limit of this server on one page."""

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta

from satchel.edge.api.throttle import Throttle, network_of, spoken
from satchel.features.drop.records import ATTEMPTS, CALLS
from satchel.kernel.errors import TooMany
from satchel.stores.ports.ephemeral import Ephemeral, Expire, Get, HashIncrement, Increment, TimeToLive

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
# Each call may bring a list of clicks: more of them than this is no person, and no program that sends lists.
CLICK_CALLS_PER_PERSON = 600
CLICKING_WINDOW = timedelta(minutes=1)
# Nobody guesses a link's token; whoever tries is stopped all the same, and a mistyped address is not.
UNKNOWN_LINKS_PER_NETWORK = 30
# One network cannot guess the password of a link, nor lock everybody else out, and all together hardly get on.
WRONG_PASSWORDS_PER_LINK_AND_NETWORK = 10
WRONG_PASSWORDS_PER_LINK = 100
# Somebody who sends by e-mail could find out who has an account here.
RECEIVERS_TRIED_PER_SENDER = 60
# A class that comes into a drop session at once makes a few calls each; bytes and progress are not counted.
DROP_CALLS_PER_SECOND = 200
DROP_SESSIONS_PER_NETWORK = 60
# Only those count who do not get in, or are still at the door.
DROP_FAILURES_PER_SESSION = 30
WRONG_DROP_NAMES_PER_NETWORK = 60


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


class LinkGuesses:
    """Tokens that no link has, from one network; wrong passwords of a link, from one network and from all."""

    def __init__(self, ephemeral: Ephemeral) -> None:
        def throttle(name: str, limit: int) -> Throttle:
            return Throttle(ephemeral, name, limit, GUESSING_WINDOW)

        self._tokens = throttle("link", UNKNOWN_LINKS_PER_NETWORK)
        self._per_pair = throttle("link-pair", WRONG_PASSWORDS_PER_LINK_AND_NETWORK)
        self._per_link = throttle("link-password", WRONG_PASSWORDS_PER_LINK)

    async def count_token(self, address: str) -> None:
        await self._tokens.count(network_of(address))

    async def check_password(self, token: str, address: str) -> None:
        await self._per_pair.check(_pair(token, address))
        await self._per_link.check(token)

    async def count_password(self, token: str, address: str) -> None:
        await self._per_pair.count(_pair(token, address))
        await self._per_link.count(token)


class ClickCalls:
    """Calls that bring clicks, of one person."""

    def __init__(self, ephemeral: Ephemeral) -> None:
        self._calls = Throttle(ephemeral, "clicks", CLICK_CALLS_PER_PERSON, CLICKING_WINDOW)

    async def count(self, subject: str) -> None:
        with _saying(
            f"You have sent clicks {CLICK_CALLS_PER_PERSON} times within a minute, which is as often as one may. "
            "Send several in one list.",
            limit="clicks",
        ):
            await self._calls.count(subject)


class DropLimits:
    """What one network may do in drop sessions; every refusal says which limit it was."""

    def __init__(self, ephemeral: Ephemeral) -> None:
        self._ephemeral = ephemeral
        self._names = Throttle(ephemeral, "drop-name", WRONG_DROP_NAMES_PER_NETWORK, GUESSING_WINDOW)

    async def count_call(self, network: str) -> None:
        calls, _ = await self._ephemeral.together(
            HashIncrement(CALLS(), network), Expire(CALLS(), timedelta(seconds=1), only_if_unset=True)
        )
        if calls > DROP_CALLS_PER_SECOND:
            raise TooMany(
                f"Your network has made {DROP_CALLS_PER_SECOND} calls within a second, which is as many as it may. "
                "Try again in a second.",
                retry_after=1,
                limit="calls",
            )

    async def check_attempts(self, session_id: str, network: str) -> None:
        key = ATTEMPTS(session_id=session_id, network=network)
        attempts, left = await self._ephemeral.together(Get(key), TimeToLive(key))
        if int(attempts or 0) >= DROP_FAILURES_PER_SESSION:
            seconds = max(1, -(-(left or GUESSING_WINDOW) // timedelta(seconds=1)))
            raise TooMany(
                f"{DROP_FAILURES_PER_SESSION} attempts to get into this session have failed in your network, which is "
                f"as many as may. Try again in {-(-seconds // 60)} minutes.",
                retry_after=seconds,
                limit="access.attempts",
            )

    async def count_attempt(self, session_id: str, network: str) -> None:
        await self._add_attempts(session_id, network, 1)

    async def forgive_attempt(self, session_id: str, network: str) -> None:
        await self._add_attempts(session_id, network, -1)

    async def check_names(self, network: str) -> None:
        with _about_names():
            await self._names.check(network)

    async def count_name(self, network: str) -> None:
        with _about_names():
            await self._names.count(network)

    async def _add_attempts(self, session_id: str, network: str, number: int) -> None:
        key = ATTEMPTS(session_id=session_id, network=network)
        await self._ephemeral.together(Increment(key, number), Expire(key, GUESSING_WINDOW, only_if_unset=True))


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
        self.links = LinkGuesses(ephemeral)
        self.clicks = ClickCalls(ephemeral)
        self.drop = DropLimits(ephemeral)


@contextmanager
def _saying(what: str, *, limit: str) -> Generator[None]:
    """Let a refusal say which limit it was."""
    try:
        yield
    except TooMany as refusal:
        seconds = refusal.retry_after
        raise TooMany(f"{what} Try again in {spoken(seconds)}.", retry_after=seconds, limit=limit) from None


def _about_names() -> AbstractContextManager[None]:
    return _saying(
        f"{WRONG_DROP_NAMES_PER_NETWORK} names of sessions were wrong in your network, which is as many as may.",
        limit="names",
    )


def _pair(account: str, address: str) -> str:
    return f"{network_of(address)} {account}"
