"""What every use case of the shelf works with, put together once by the wiring."""

from dataclasses import dataclass, field

from satchel.kernel.clock import Clock
from satchel.kernel.events import Events
from satchel.stores.ports.ephemeral import Ephemeral
from satchel.stores.ports.objects import Objects
from satchel.stores.ports.table import Tables

MAX_ID_CHARACTERS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """The stores, time, how much each person may keep (None: no limit), and where facts are stated."""

    tables: Tables
    objects: Objects
    ephemeral: Ephemeral
    clock: Clock
    quota_bytes: int | None = None
    events: Events = field(default_factory=Events)
