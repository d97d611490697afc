"""Tell those who share things that their figures have grown, while they look, but not more often than they can see."""

import asyncio
from collections.abc import Mapping

from satchel.live import LiveEvent, tell
from satchel.stores.ports.ephemeral import Ephemeral

# Four times a second is as live as a figure can look.
TOLD_EVERY_SECONDS = 0.25


class StatsChanged(LiveEvent, tag="stats.changed", frozen=True, kw_only=True):
    """How often what you have shared was clicked, of all time and on this UTC day, as it is now."""

    total: int
    today: int
    day: str


class Teller:
    """Tells each owner at once, and while they rest from that keeps only the newest figures for them."""

    def __init__(self, ephemeral: Ephemeral) -> None:
        self._ephemeral = ephemeral
        self._resting: dict[str, asyncio.TimerHandle] = {}
        self._newest: dict[str, StatsChanged] = {}
        self._telling: set[asyncio.Task[None]] = set()

    def note(self, figures: Mapping[str, StatsChanged]) -> None:
        """What owners are to hear, by their ids."""
        self._newest.update(figures)
        if rested := [owner for owner in figures if owner not in self._resting]:
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

    async def _publish(self, events: Mapping[str, StatsChanged]) -> None:
        await self._ephemeral.together(
            *(message for owner, event in events.items() for message in tell([owner], event))
        )
