"""What every use case of the shelf needs, assembled once by the wiring."""

from dataclasses import dataclass, field
from datetime import timedelta

from satchel.features.shelf.needs import Links
from satchel.kernel.clock import Clock
from satchel.kernel.events import Events
from satchel.media.pictures import Pictures
from satchel.stores.ports.ephemeral import Ephemeral
from satchel.stores.ports.objects import Objects
from satchel.stores.ports.table import MAX_TRANSACTION_ITEMS, Tables

MAX_ID_CHARACTERS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """The stores, the clock, the pictures, the links, the quota of each person (None: no limit), and the events.

    `versions_kept` is for how long what was replaced is kept. `most_writes` is how many writes a transaction of the
    store can have.
    """

    tables: Tables
    objects: Objects
    ephemeral: Ephemeral
    clock: Clock
    pictures: Pictures
    links: Links
    quota_bytes: int | None = None
    versions_kept: timedelta = timedelta(days=30)
    most_writes: int = MAX_TRANSACTION_ITEMS
    events: Events = field(default_factory=Events)
