"""How often visitors may try link tokens and link passwords, and how often their visits count."""

from datetime import timedelta

from satchel.kernel.clock import Clock
from satchel.kernel.errors import TooMany
from satchel.kernel.signature import Signer
from satchel.stores.patterns.guess_lane import GuessLane
from satchel.stores.patterns.throttle import (
    GUESSING_WINDOW,
    GuessThrottle,
    Limit,
    NetworkThrottle,
    Throttle,
    networks_of,
)
from satchel.stores.ports.ephemeral import Ephemeral

# Nobody guesses a token of 128 bits. Whoever tries is stopped all the same; a mistyped address is not.
UNKNOWN_LINKS_PER_NETWORK = Limit("link", 30, GUESSING_WINDOW, per="network", about="links that do not exist")
# Of a word, which can be guessed, right ones are refused as well; of whoever is signed in, by their own guesses alone.
UNKNOWN_LINKS_PER_ACCOUNT = Limit("link-account", 60, GUESSING_WINDOW, per="account", about="links that do not exist")
# One network can neither guess the password of a link nor lock everybody else out. Above the limit of a link, each
# network has three attempts instead of ten. Then there is a lane for those beside a guesser.
WRONG_PASSWORDS_PER_PAIR = Limit("link-pair", 10, GUESSING_WINDOW, per="link and network", about="wrong passwords")
WRONG_PASSWORDS_PER_LINK = Limit("link-password", 100, GUESSING_WINDOW, per="link", about="wrong passwords")
# More than a school of thousands opens one link. Beyond it a visitor still gets everything, and is counted no more.
VISITS_PER_PAIR = Limit(
    "link-visits", 2000, timedelta(days=1), per="link and network", about="openings, views and previews that count"
)
# A folder of photos is a download for each photo and pupil.
DOWNLOADS_PER_PAIR = Limit(
    "link-downloads", 5000, timedelta(days=1), per="link and network", about="downloads that count"
)
LIMITS = (
    *(UNKNOWN_LINKS_PER_NETWORK, UNKNOWN_LINKS_PER_ACCOUNT, WRONG_PASSWORDS_PER_PAIR, WRONG_PASSWORDS_PER_LINK),
    *(VISITS_PER_PAIR, DOWNLOADS_PER_PAIR),
)


class LinkLimits:
    """Tokens that no link has, from one network; wrong passwords of a link, from one network and from all."""

    def __init__(self, ephemeral: Ephemeral, signer: Signer, clock: Clock) -> None:
        self._tokens = NetworkThrottle(ephemeral, UNKNOWN_LINKS_PER_NETWORK)
        self._tokens_of_account = UNKNOWN_LINKS_PER_ACCOUNT.on(ephemeral)
        guesses = GuessThrottle(ephemeral, WRONG_PASSWORDS_PER_PAIR, WRONG_PASSWORDS_PER_LINK)
        self.passwords = GuessLane(guesses=guesses, ephemeral=ephemeral, signer=signer, clock=clock)
        self._visits = VISITS_PER_PAIR.on(ephemeral)
        self._downloads = DOWNLOADS_PER_PAIR.on(ephemeral)

    async def may_count(self, link_id: str, address: str) -> bool:
        """Whether one more visit from there counts. Whoever opens a link again and again falsifies its figures."""
        return await _is_within(self._visits, link_id, address)

    async def may_count_download(self, link_id: str, address: str) -> bool:
        """Whether one more download by somebody there counts. The download limit of the link counts all of them."""
        return await _is_within(self._downloads, link_id, address)

    async def check_token(self, address: str, member_id: str | None) -> None:
        """Before a word that could be guessed is looked up."""
        if member_id is None:
            await self._tokens.check(address)
        else:
            await self._tokens_of_account.check(member_id)

    async def count_token(self, address: str, member_id: str | None) -> None:
        """Count for the network in any case, so that a guesser does not start anew with each account."""
        if member_id is None:
            await self._tokens.count(address)
        else:
            await self._tokens.add(address)
            await self._tokens_of_account.count(member_id)


async def _is_within(throttle: Throttle, link_id: str, address: str) -> bool:
    try:
        await throttle.count_shares([(f"{network} {link_id}", share) for network, share in networks_of(address)])
    except TooMany:
        return False
    return True
