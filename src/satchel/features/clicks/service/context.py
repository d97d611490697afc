"""What every use case of clicks works with, put together once by the wiring."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from satchel.features.clicks.events import SiteWatchers
from satchel.features.clicks.model import NewClick, Recorded
from satchel.features.clicks.needs import Limit, Targets
from satchel.kernel.clock import Clock
from satchel.stores.ports.bulk import BulkWrites
from satchel.stores.ports.table import Tables


class Recorder(Protocol):
    """Stores clicks durably and sees to it that they are folded; there is one for each kind of store."""

    async def record(self, new: Sequence[NewClick], times: Sequence[int]) -> list[Recorded]:
        """All of them or, if one is refused, none; `times` are milliseconds since 1970."""
        ...

    def forget_known(self) -> None:
        """Whom it remembers as counted may not be so any more: call this in the step that takes markers away."""
        ...

    async def close(self) -> None: ...


class ClickLog(Protocol):
    """The stored clicks and for how long they are kept: all that counting them again needs, server or not."""

    @property
    def tables(self) -> Tables: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def kept_for(self) -> timedelta | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Clicks:
    """Stores, time, who records clicks, how often they may be sent, who watches, and for how long they are kept.

    `bulk` is there exactly if the store has one writer, who then folds clicks in the step that stores them. `kept_for`
    is None for good.
    """

    tables: Tables
    bulk: BulkWrites | None
    clock: Clock
    recorder: Recorder
    targets: Targets
    calls: Limit
    watchers: SiteWatchers
    kept_for: timedelta | None
