"""What every use case of clicks works with, put together once by the wiring; and the interface of a recorder."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from satchel.features.clicks.events import SiteWatchers
from satchel.features.clicks.model import NewClick, Period, Recorded
from satchel.features.clicks.needs import Limit, PageLimit, Targets, VisitorIds
from satchel.features.clicks.records import ClickRow
from satchel.features.clicks.service.counts import Sum
from satchel.kernel.clock import Clock
from satchel.stores.ports.table import Delete, Key, Tables


class ClickLog(Protocol):
    """The stored clicks and for how long they are kept; `kept_for` is None if for good. Workers have it, too."""

    @property
    def tables(self) -> Tables: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def kept_for(self) -> timedelta | None: ...


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What the whole site's figures of a period were, and what they are now."""

    before: Sum
    after: Sum


class Recorder(Protocol):
    """Everything about counting that depends on the store.

    A store with one writer stores and folds clicks in one step (`embedded/`). Where many servers share tables, clicks
    are stored, and workers fold them from the change stream (`streamed/`). `click_record.recorder_for` chooses.
    """

    @property
    def slots(self) -> Sequence[str]:
        """The rows that each count is spread over. Their sum is the count."""
        ...

    async def record(
        self, new: Sequence[NewClick], times: Sequence[int], settles: Sequence[Delete] = ()
    ) -> list[Recorded]:
        """Store clicks durably: all of them or, if one is refused, none. `times` are milliseconds since 1970.

        `settles` are rows that say that these clicks have to be counted. They are deleted then, not before.
        """
        ...

    async def finish_lists(self) -> int:
        """Store the accepted lists that a crash cut off; how many."""
        ...

    async def rebuild(self, period: Period) -> Rebuilt:
        """Count a period again from its clicks.

        Raises `PeriodGone` if some of its clicks are gone, `Conflict` if clicks come in too fast, `Unavailable` if the
        stream cannot be followed.
        """
        ...

    async def take_back(self, clicks: Sequence[ClickRow], complete: float) -> int:
        """Delete clicks of readers who have no others elsewhere, with what they added to any figure; how many.

        `complete` is the moment since when all clicks are stored. Repeating it takes nothing twice.
        """
        ...

    async def delete_markers(self, keys: Sequence[Key]) -> None:
        """Delete who has been counted where, from the table and from every cache of it."""
        ...

    async def close(self) -> None:
        """Finish what was accepted."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Clicks:
    """Stores, time, who records clicks, their limits, who watches, and for how long clicks are kept."""

    tables: Tables
    clock: Clock
    recorder: Recorder
    targets: Targets
    calls: Limit
    page_limits: PageLimit
    visitors: VisitorIds
    watchers: SiteWatchers
    kept_for: timedelta | None
    # The counter that presses of `/quitItToday` from other pages count for; empty for none.
    quit_counter: str = ""
