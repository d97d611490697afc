"""What is stored of counters for web pages."""

from satchel.features.clicks.records import OWNER
from satchel.stores.schema import Record, Shape, attribute
from satchel.tables import COUNTS


class CounterRow(Record, frozen=True, kw_only=True):
    """A counter for pages of its owner: their origins, and how many clicks it takes a day."""

    counter_id: str = attribute("counterId")
    owner_id: str = attribute("ownerId")
    name: str = attribute("counterName")
    origins: list[str]
    daily_limit: int = attribute("dailyLimit")
    created_at: str = attribute("createdAt")


class CounterPointerRow(Record, frozen=True, kw_only=True):
    """Points a person to a counter. Both stand in the key alone; ids sort by time."""

    owner_id: str
    counter_id: str


COUNTER = Shape(
    CounterRow,
    COUNTS,
    {"PK": "COUNTER#{counter_id}", "SK": "-"},
    owner=OWNER,
    about="A counter for web pages; its clicks have the target `counter:` and its id",
)
COUNTER_POINTER = Shape(
    CounterPointerRow,
    COUNTS,
    {"PK": "COUNTERS#{owner_id}", "SK": "COUNTER#{counter_id}"},
    owner=OWNER,
    about="The counters of a person",
)
PAGE_COUNTER_SHAPES = (COUNTER, COUNTER_POINTER)
