"""Tell those who share things that their figures have grown, while they look, but not more often than they can see."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta

import msgspec

from satchel.features.clicks.records import SITE, SITE_WATCHERS
from satchel.kernel.clock import Clock
from satchel.live import LiveEvent, tell
from satchel.stores.ports.ephemeral import Ephemeral, Expire, HashAll, HashPut

# Four times a second is as live as a figure can look.
TOLD_EVERY_SECONDS = 0.25
# Longer than a page that shows the whole site leaves between two looks at it.
WATCHED_FOR = timedelta(seconds=90)

_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(float).decode


class StatsChanged(LiveEvent, tag="stats.changed", frozen=True, kw_only=True):
    """How often what you have shared was clicked, of all time and on this UTC day, as it is now."""

    total: int
    today: int
    day: str


class SiteStatsChanged(LiveEvent, tag="stats.site-changed", frozen=True, kw_only=True):
    """Something was clicked, whoever shares it: for administrators, who read what that comes to."""


class SiteWatchers:
    """Administrators who look at the whole site: whoever has read its figures hears of new ones for a while.

    Whoever is no administrator any more is refused when they read again, and soon hears nothing more.
    """

    def __init__(self, ephemeral: Ephemeral, clock: Clock) -> None:
        self._ephemeral = ephemeral
        self._clock = clock

    async def add(self, person_id: str) -> None:
        until = self._clock() + WATCHED_FOR.total_seconds()
        await self._ephemeral.together(
            HashPut(SITE_WATCHERS(), {person_id: _pack(until)}), Expire(SITE_WATCHERS(), WATCHED_FOR)
        )

    async def present(self) -> list[str]:
        now = self._clock()
        watchers = await self._ephemeral.run(HashAll(SITE_WATCHERS()))
        return [person_id for person_id, until in watchers.items() if _unpack(until) > now]


class Teller:
    """Tells each owner at once, and while they rest from that keeps only the newest figures for them.

    The site is one more owner, in whose place those are told who watch it.
    """

    def __init__(self, ephemeral: Ephemeral, clock: Clock) -> None:
        self._ephemeral = ephemeral
        self._watchers = SiteWatchers(ephemeral, clock)
        self._resting: dict[str, asyncio.TimerHandle] = {}
        self._newest: dict[str, LiveEvent] = {}
        self._telling: set[asyncio.Task[None]] = set()

    def note(self, figures: Mapping[str, StatsChanged]) -> None:
        """Something has grown; and what owners are to hear of it, by their ids."""
        news = {**figures, SITE: SiteStatsChanged()}
        self._newest.update(news)
        if rested := [owner for owner in news if owner not in self._resting]:
            self._tell(rested)

    async def close(self) -> None:
        """Whoever was to be told later reads it when they come back."""
        for timer in self._resting.values():
            timer.cancel()
        self._newest.clear()
        await asyncio.gather(*self._telling)

    def _tell(self, owners: list[str]) -> None:
        loop = asyncio.get_running_loop()
        events = {owner: self._newest.pop(owner) for owner in owners}
        for owner in owners:
            self._resting[owner] = loop.call_later(TOLD_EVERY_SECONDS, self._rested, owner)
        task = loop.create_task(self._publish(events))
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    def _rested(self, owner: str) -> None:
        del self._resting[owner]
        if owner in self._newest:
            self._tell([owner])

    async def _publish(self, events: Mapping[str, LiveEvent]) -> None:
        watchers = await self._watchers.present() if SITE in events else []
        messages = [
            message
            for owner, event in events.items()
            for message in tell(watchers if owner == SITE else [owner], event)
        ]
        if messages:
            await self._ephemeral.together(*messages)


LIVE_EVENTS = (StatsChanged, SiteStatsChanged)
