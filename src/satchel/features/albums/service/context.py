"""What every use case of albums needs, assembled once by the wiring."""

import asyncio
from dataclasses import dataclass, field

from satchel.features.albums.limits import AlbumLimits
from satchel.features.albums.model import OwnerId
from satchel.features.albums.needs import Grants, Links, People
from satchel.features.albums.service.library_state import Library
from satchel.kernel.clock import Clock, iso
from satchel.kernel.events import Events
from satchel.outbox import Outbox
from satchel.stores.ports.bulk import BulkWrites
from satchel.stores.ports.ephemeral import Ephemeral
from satchel.stores.ports.table import MAX_TRANSACTION_ITEMS, Tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Albums:
    """Stores, clock, other slices, rate limits, events, outbox, the quota, and the libraries that were read last."""

    tables: Tables
    bulk: BulkWrites | None
    ephemeral: Ephemeral
    clock: Clock
    grants: Grants
    people: People
    links: Links
    limits: AlbumLimits
    events: Events
    outbox: Outbox
    # How many bytes the photos of a person may take. None: no limit.
    quota_bytes: int | None = None
    # Tiles of the map of where photos were taken, and who made it. No tiles: there is no map.
    map_tiles: str = ""
    map_attribution: str = ""
    # How many writes fit into a transaction.
    most_writes: int = MAX_TRANSACTION_ITEMS
    libraries: dict[OwnerId, Library] = field(default_factory=dict[OwnerId, Library])
    # Who counts the files of a library from before. Only they are in here, so there are few.
    censuses: dict[OwnerId, asyncio.Lock] = field(default_factory=dict[OwnerId, asyncio.Lock])

    def now(self) -> str:
        return iso(self.clock())
