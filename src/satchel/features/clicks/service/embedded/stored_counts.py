"""Counts and latest times as they are stored, kept in memory by the one writer that changes them."""

from satchel.features.clicks.records import LAST, count_key
from satchel.features.clicks.service.counts import Place, Tally
from satchel.stores.ports.bulk import Step
from satchel.stores.ports.table import Item
from satchel.tables import COUNTS

# About 500 bytes each. An empty cache costs time and nothing else.
MOST_KEPT = 20_000


class StoredCounts:
    """Adds to counts without reading them each time. It belongs to the writer's thread.

    Clear it when a step has failed, and when anybody else writes counts.
    """

    def __init__(self) -> None:
        self._counts: dict[Place, Item] = {}
        self._last: dict[str, Item] = {}

    def clear(self) -> None:
        self._counts.clear()
        self._last.clear()

    def add(self, step: Step, counted: Tally) -> dict[Place, Item]:
        """Add what was counted; the counts that it has changed, as they are now."""
        if len(self._counts) > MOST_KEPT or len(self._last) > MOST_KEPT:
            self.clear()
        grown: dict[Place, Item] = {}
        for place, growth in counted.growth.items():
            grown[place] = count = self._counts.get(place) or self._read(step, place)
            for name, number in growth.items():
                count[name] = count.get(name, 0) + number
        later = [row for scope, at in counted.last.items() if (row := self._later(step, scope, at)) is not None]
        step.put_all(COUNTS, [*grown.values(), *later])
        return grown

    def _read(self, step: Step, place: Place) -> Item:
        key = count_key(*place)
        self._counts[place] = count = step.get(COUNTS, key) or dict(key)
        return count

    def _later(self, step: Step, scope: str, at: str) -> Item | None:
        """The row with the latest time of a scope; None if the stored one is as late."""
        last = self._last.get(scope)
        if last is None:
            key = LAST.key(scope=scope)
            self._last[scope] = last = step.get(COUNTS, key) or {**key, "lastAt": ""}
        if last["lastAt"] >= at:
            return None
        last["lastAt"] = at
        return last
