"""What every use case of links needs, assembled once by the wiring."""

from collections.abc import Mapping
from dataclasses import dataclass

from satchel.features.links.limits import LinkLimits
from satchel.features.links.needs import Figures, Inbox, Passwords, People, Visitors
from satchel.kernel.clock import Clock, iso
from satchel.kernel.events import Events
from satchel.kernel.linked import ThingKind, Things
from satchel.kernel.signature import Signer
from satchel.media.pictures import Pictures
from satchel.outbox import Outbox
from satchel.stores.ports.ephemeral import Ephemeral
from satchel.stores.ports.expressions import attr
from satchel.stores.ports.objects import Objects
from satchel.stores.ports.table import Tables

STANDING = attr("PK").exists() & attr("revokedAt").absent()


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """Stores, clock, pictures, link targets by kind, events, outbox, and other slices."""

    tables: Tables
    objects: Objects
    ephemeral: Ephemeral
    clock: Clock
    pictures: Pictures
    signer: Signer
    things: Mapping[ThingKind, Things]
    inboxes: Mapping[ThingKind, Inbox]
    people: People
    passwords: Passwords
    figures: Figures
    visitors: Visitors
    limits: LinkLimits
    events: Events
    outbox: Outbox

    def now(self) -> str:
        return iso(self.clock())
