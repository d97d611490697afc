"""Live events of statistics: owners hear that their figures have grown, a few times a second at most."""

import asyncio
import logging
from collections.abc import Mapping
from datetime import timedelta

import msgspec

from satchel.features.clicks.records import SITE, SITE_WATCHERS
from satchel.kernel.clock import Clock
from satchel.kernel.errors import Unavailable
from satchel.live import LiveEvent, tell
from satchel.stores.ports.ephemeral import Ephemeral, Expire, HashAll, HashPut

# Four times a second is as live as a figure can look.
NOTIFIED_EVERY_SECONDS = 0.25
# Longer than a page that shows the whole site waits between two requests.
WATCHED_FOR = timedelta(seconds=90)

_log = logging.getLogger("satchel.clicks")
_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(float).decode


class StatsChanged(LiveEvent, tag="stats.changed", frozen=True, kw_only=True):
    """How often what you have shared was clicked, of all time and on this UTC day."""

    total: int
    today: int
    day: str


class SiteStatsChanged(LiveEvent, tag="stats.site-changed", frozen=True, kw_only=True):
    """Something was clicked, whoever shares it. Administrators then read the figures of the whole site."""


class SiteWatchers:
    """Administrators who look at the whole site: whoever reads its figures hears of new ones for a while.

    Somebody who is no administrator any more is refused when they read again, and soon hears nothing more.
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


class OwnerNotifier:
    """Sends figures to each owner at once, then pauses, and keeps only the newest figures until the pause is over.

    The site is one more owner. Its events go to those who watch it.
    """

    def __init__(self, ephemeral: Ephemeral, clock: Clock) -> None:
        self._ephemeral = ephemeral
        self._watchers = SiteWatchers(ephemeral, clock)
        self._pauses: dict[str, asyncio.TimerHandle] = {}
        self._newest: dict[str, LiveEvent] = {}
        self._sending: set[asyncio.Task[None]] = set()

    def notify(self, figures: Mapping[str, StatsChanged]) -> None:
        """Something has grown; `figures` are those of owners, by their ids."""
        news = {**figures, SITE: SiteStatsChanged()}
        self._newest.update(news)
        if ready := [owner for owner in news if owner not in self._pauses]:
            self._send(ready)

    async def close(self) -> None:
        """Send nothing more; owners read the figures when they come back."""
        for timer in self._pauses.values():
            timer.cancel()
        self._newest.clear()
        await asyncio.gather(*self._sending)

    def _send(self, owners: list[str]) -> None:
        loop = asyncio.get_running_loop()
        events = {owner: self._newest.pop(owner) for owner in owners}
        for owner in owners:
            self._pauses[owner] = loop.call_later(NOTIFIED_EVERY_SECONDS, self._end_pause, owner)
        task = loop.create_task(self._publish(events))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    def _end_pause(self, owner: str) -> None:
        del self._pauses[owner]
        if owner in self._newest:
            self._send([owner])

    async def _publish(self, events: Mapping[str, LiveEvent]) -> None:
        try:
            watchers = await self._watchers.present() if SITE in events else []
            messages = [
                message
                for owner, event in events.items()
                for message in tell(watchers if owner == SITE else [owner], event)
            ]
            if messages:
                await self._ephemeral.together(*messages)
        except Unavailable as error:
            # Whoever looks is told to read again when the store is back.
            _log.warning("people were not told that figures grow: %s", error.detail)


LIVE_EVENTS = (StatsChanged, SiteStatsChanged)
