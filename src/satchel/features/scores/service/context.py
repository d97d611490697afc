"""What every use case of scores needs, assembled once by the wiring."""

import asyncio
from dataclasses import dataclass, field

from satchel.features.scores.layout import LayoutCache
from satchel.features.scores.limits import ScoreLimits
from satchel.features.scores.needs import Grants, People
from satchel.kernel.clock import Clock
from satchel.kernel.events import Events
from satchel.media.pictures import Pictures
from satchel.media.score_pages import ScorePages
from satchel.stores.ports.ephemeral import Ephemeral
from satchel.stores.ports.objects import Objects
from satchel.stores.ports.table import MAX_TRANSACTION_ITEMS, Tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Stores, clock, other slices, pictures, events, and how much an owner may have; 0 is no limit."""

    tables: Tables
    objects: Objects
    ephemeral: Ephemeral
    clock: Clock
    grants: Grants
    people: People
    pictures: Pictures
    events: Events
    limits: ScoreLimits
    pages: ScorePages
    most_scores: int
    most_bytes: int
    layouts: LayoutCache = field(default_factory=LayoutCache)
    # What is being engraved, by the key of the object that it becomes.
    engraving: dict[str, "asyncio.Future[bytes]"] = field(default_factory=dict[str, "asyncio.Future[bytes]"])
    # How many writes fit into a transaction.
    most_writes: int = MAX_TRANSACTION_ITEMS

    def now(self) -> int:
        """Milliseconds, as all times of scores are stored."""
        return int(self.clock() * 1000)
