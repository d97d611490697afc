"""What is stored where workers fold the stream of clicks: what has to be done again, published or set aside."""

from satchel.features.clicks.records import OWNER
from satchel.stores.patterns.lease import LeaseRow
from satchel.stores.schema import Record, Shape, attribute
from satchel.tables import COUNTS


class UnpublishedRow(Record, frozen=True, kw_only=True):
    """That a day of the site has grown since its statistics were published."""

    day: str
    slot: str
    # Differs with each change, so that a note is deleted only by a worker that has seen the change.
    stamp: str


class PoisonRow(Record, frozen=True, kw_only=True):
    """An invalid click in the stream, set aside so that it does not stop those after it."""

    shard: str
    position: str
    reason: str
    item: str
    set_aside_at: str = attribute("setAsideAt")
    expires_at: int = attribute("expiresAt")


class DoubtfulRow(Record, frozen=True, kw_only=True):
    """A day that has to be counted again: the stream lost clicks of it, or clicks came when its markers had expired.

    `stamp` differs with each reason, so that a note is deleted only by a worker that has seen the last one.
    """

    day: str
    stamp: str = ""


class ClaimRow(Record, frozen=True, kw_only=True):
    """That an event was folded, where events come without the name of their shard."""

    event_id: str
    expires_at: int = attribute("expiresAt")


class ListRow(Record, frozen=True, kw_only=True):
    """A list of clicks that is too long for one transaction. It is accepted, and after `due` somebody else stores it.

    `parts` is how many rows have its clicks.
    """

    list_id: str
    parts: int
    due: str


class ListPartRow(Record, frozen=True, kw_only=True):
    """Some clicks of a list that is being stored."""

    list_id: str
    part: str
    clicks: bytes
    expires_at: int = attribute("expiresAt")


UNPUBLISHED = Shape(
    UnpublishedRow,
    COUNTS,
    {"PK": "DIRTY", "SK": "{day}#{slot}"},
    owner=OWNER,
    about="Days whose statistics have to be published; only where workers fold",
)
LEASED = Shape(LeaseRow, COUNTS, {"PK": "LEASE", "SK": "{name}"}, owner=OWNER, about="Leases of workers")
POISON = Shape(
    PoisonRow,
    COUNTS,
    {"PK": "POISON", "SK": "{shard}#{position}"},
    owner=OWNER,
    about="Invalid clicks in the stream",
)
DOUBTFUL = Shape(
    DoubtfulRow, COUNTS, {"PK": "DOUBTFUL", "SK": "{day}"}, owner=OWNER, about="Days that have to be counted again"
)
CLAIM = Shape(
    ClaimRow, COUNTS, {"PK": "CLAIM#{event_id}", "SK": "-"}, owner=OWNER, about="Events that Lambda has folded"
)
LIST = Shape(
    ListRow, COUNTS, {"PK": "LISTS", "SK": "{list_id}"}, owner=OWNER, about="Lists of clicks that are being stored"
)
LIST_PART = Shape(
    ListPartRow, COUNTS, {"PK": "LIST#{list_id}", "SK": "PART#{part}"}, owner=OWNER, about="The clicks of such a list"
)
STREAM_SHAPES = (UNPUBLISHED, LEASED, POISON, DOUBTFUL, CLAIM, LIST, LIST_PART)
