"""What every use case of transfers needs, assembled once by the wiring."""

from dataclasses import dataclass
from datetime import timedelta

from satchel.features.transfers.needs import Contacts, People, Rooms, Shelf
from satchel.kernel.clock import Clock, iso
from satchel.media.pictures import Pictures
from satchel.outbox import Outbox
from satchel.stores.patterns.throttle import Throttle
from satchel.stores.ports.ephemeral import Ephemeral
from satchel.stores.ports.objects import Objects
from satchel.stores.ports.table import MAX_TRANSACTION_ITEMS, Tables

# Much longer than it takes to copy or delete as many files as one transfer can have.
FINISHED_WITHIN = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfers:
    """Stores, clock, pictures, outbox, other slices, and rate limits."""

    tables: Tables
    objects: Objects
    ephemeral: Ephemeral
    clock: Clock
    pictures: Pictures
    people: People
    shelf: Shelf
    rooms: Rooms
    outbox: Outbox
    contacts: Contacts
    unknown_receivers: Throttle
    offers: Throttle
    offers_to_one: Throttle
    from_strangers: Throttle
    bytes_from_strangers: Throttle
    # How many writes a transaction of the table store takes.
    most_writes: int = MAX_TRANSACTION_ITEMS

    def now(self) -> str:
        return iso(self.clock())
