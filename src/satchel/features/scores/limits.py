"""How often people may share scores, have music laid out anew, and hear it without an account."""

from datetime import timedelta

from satchel.stores.patterns.throttle import Limit, NetworkThrottle
from satchel.stores.ports.ephemeral import Ephemeral

_HOUR = timedelta(hours=1)
# Who shares by e-mail learns whether the address has an account.
SHARES_PER_PERSON = Limit("score-share", 200, _HOUR, per="person", about="people that scores are shared with")
# Each takes a core for seconds.
LAYOUTS_PER_PERSON = Limit("score-layout", 300, _HOUR, per="person", about="scores laid out or transposed")
LAYOUTS_PER_NETWORK = Limit(
    "score-layout-network", 60, _HOUR, per="network", about="scores laid out or transposed without an account"
)
# Each takes some milliseconds. An orchestra has one network.
PLAYBACKS_PER_NETWORK = Limit(
    "score-playback", 600, _HOUR, per="network", about="scores read for a player without an account"
)
LIMITS = (SHARES_PER_PERSON, LAYOUTS_PER_PERSON, LAYOUTS_PER_NETWORK, PLAYBACKS_PER_NETWORK)


class ScoreLimits:
    """The limits of scores on the store that all servers share."""

    def __init__(self, ephemeral: Ephemeral) -> None:
        self.shares = SHARES_PER_PERSON.on(ephemeral)
        self._layouts_of_people = LAYOUTS_PER_PERSON.on(ephemeral)
        self._layouts_of_networks = NetworkThrottle(ephemeral, LAYOUTS_PER_NETWORK)
        self._playbacks = NetworkThrottle(ephemeral, PLAYBACKS_PER_NETWORK)

    async def count_layout(self, user_id: str, address: str) -> None:
        """One that is made. Who has no account shares with their network."""
        if user_id:
            await self._layouts_of_people.count(user_id)
        else:
            await self._layouts_of_networks.count(address)

    async def count_playback(self, user_id: str, address: str) -> None:
        if not user_id:
            await self._playbacks.count(address)
