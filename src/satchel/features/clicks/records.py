"""What is stored of clicks: each click and the site's statistics, and beside them counts and markers.

Clicks and statistics have the formats of the seed. Counts are what statistics are read from. Markers say who has been
counted where.
"""

from datetime import timedelta
from functools import lru_cache

import msgspec

from satchel.features.clicks.model import NewClick
from satchel.kernel.clock import from_iso
from satchel.kernel.counted import Device, Kind
from satchel.stores.ports.table import Item
from satchel.stores.schema import EphemeralKey, Record, Shape, attribute
from satchel.tables import CLICKS, COUNTS

OWNER = "clicks"
DATE_INDEX = "DateIndex"
CLICK_PREFIX = "CLICK#"
TOTAL_CLICKS, UNIQUE_USERS = "totalClicks", "uniqueUsers"
SITE, ALL = "SITE", "ALL"
# Where one writer folds, each count is one row. Several workers spread it over these slots, so as not to collide.
ONE_SLOT = "00"
SLOTS = tuple(f"{slot:02}" for slot in range(16))


class ClickRow(Record, frozen=True, kw_only=True, gc=False):
    """One click. `recordSort` is read by position: the time has 24 characters, and a user id may contain a `#`."""

    user_id: str = attribute("userId")
    created: str = attribute("createDateTime")
    count: int = attribute("clickCount")
    date_key: str = attribute("dateKey")
    record_sort: str = attribute("recordSort")
    kind: Kind = "press"
    target: str | None = None
    thing: str | None = None
    owner: str | None = None
    label: str | None = None
    # Of openings, and of views of other pages: the host of the page before, and the class of the device.
    referrer: str | None = None
    device: Device | None = None
    expires_at: int | None = attribute("expiresAt", default=None)


class DayRow(Record, frozen=True, kw_only=True):
    """The clicks and different people of a UTC day."""

    day: str = attribute("createDateTime")
    total_clicks: int = attribute(TOTAL_CLICKS)
    unique_users: int = attribute(UNIQUE_USERS)


class MonthRow(Record, frozen=True, kw_only=True):
    """The clicks and different people of a UTC month. Who came on several days is one person."""

    month: str = attribute("createDateTime")
    total_clicks: int = attribute(TOTAL_CLICKS)
    unique_users: int = attribute(UNIQUE_USERS)


class TotalRow(Record, frozen=True, kw_only=True):
    """The clicks of all time. The row is there before the first click."""

    total_clicks: int = attribute(TOTAL_CLICKS)


class CountRow(Record, frozen=True, kw_only=True):
    """One slot of the count of a scope's period. The count is the sum of its slots.

    Scope, period and slot stand in the key alone. The clicks of each kind stand under its name (`open`). Quarters of an
    hour, from which the days of every zone are read, count no people.
    """

    scope: str
    period: str
    slot: str
    total_clicks: int = attribute(TOTAL_CLICKS, default=0)
    unique_users: int = attribute(UNIQUE_USERS, default=0)


class MarkerRow(Record, frozen=True, kw_only=True):
    """That somebody has been counted in a period of a scope. All three stand in the key alone.

    A marker of all time can name a day: they were counted on that day and in its month, too.
    """

    user_id: str
    period: str
    scope: str
    first_day: str | None = attribute("firstDay", default=None)
    expires_at: int | None = attribute("expiresAt", default=None)


class IdempotencyRow(Record, frozen=True, kw_only=True):
    """An idempotency key, and the click that came with it. User and key stand in the key alone."""

    user_id: str
    key: str
    created: str = attribute("createDateTime")
    fingerprint: bytes
    expires_at: int = attribute("expiresAt")


class GrowthRow(Record, frozen=True, kw_only=True):
    """What counts and latest times have grown by in a step that did not write their rows.

    `number` is which of these steps it was, since the rows were written. It stands in the key alone.
    """

    number: str
    growth: bytes


class LastRow(Record, frozen=True, kw_only=True):
    """When a scope was last clicked; only ever grows. The scope stands in the key alone."""

    scope: str
    last_at: str = attribute("lastAt")


class VisitorsSecretRow(Record, frozen=True, kw_only=True):
    """The secret by which visitors of a month are told apart. Once it has expired, nobody can find out who was who."""

    month: str
    secret: bytes
    expires_at: int = attribute("expiresAt")


class LocalPeopleRow(Record, frozen=True, kw_only=True):
    """How many different people there were on a day of a zone; valid while the day has exactly this many clicks.

    Without `people` there were too many clicks to count them: `read_in_vain` is how many were read.
    """

    scope: str
    zone: str
    day: str
    clicks: int
    people: int | None = None
    read_in_vain: int = attribute("readInVain", default=0)


class DayDigestRow(Record, frozen=True, kw_only=True):
    """What the clicks of a day of a zone come to besides sums, for ranges with too many clicks to read at once.

    It holds for the clicks before `reached`; empty if for the whole day, as long as that has exactly `clicks` clicks.
    `people` is a sketch from which nobody can be read back. `others` came from hosts that are not listed.
    """

    scope: str
    zone: str
    day: str
    clicks: int
    reached: str = ""
    people: bytes = b""
    hosts: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    others: int = 0
    devices: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    expires_at: int = attribute("expiresAt", default=0)


class CompleteSinceRow(Record, frozen=True, kw_only=True):
    """From when on no click was deleted by its age. Only ever grows.

    Before `cleared` all clicks are gone, also those that were stored while clicks were kept for longer.
    """

    since: str
    cleared: str = ""


class ErasedFromRow(Record, frozen=True, kw_only=True):
    """A day that misses clicks of an erased person, so that a rebuild would give too little."""

    day: str


class _ClickShape(Shape[ClickRow]):
    """Clicks have the seed's keys unescaped: no user id begins as the ids of statistics do."""

    def key(self, **fields: str) -> dict[str, str]:
        return {"userId": fields["user_id"], "createDateTime": fields["created"]}

    def item(self, record: ClickRow) -> Item:
        return msgspec.to_builtins(record)


CLICK = _ClickShape(
    ClickRow,
    CLICKS,
    {"userId": "{user_id}", "createDateTime": "{created}"},
    owner=OWNER,
    about="A click; of a day through DateIndex (`DATE#` day, `CLICK#` time `#` user)",
)
DAY_STAT = Shape(
    DayRow,
    CLICKS,
    {"userId": "STAT#DAILY", "createDateTime": "{day}", "dateKey": "DATE#{day}", "recordSort": "STAT#DAILY"},
    owner=OWNER,
    about="Clicks and different people of a day",
)
MONTH_STAT = Shape(
    MonthRow,
    CLICKS,
    {"userId": "STAT#MONTHLY", "createDateTime": "{month}", "dateKey": "MONTH#{month}", "recordSort": "STAT#MONTHLY"},
    owner=OWNER,
    about="Clicks and different people of a month",
)
TOTAL_STAT = Shape(
    TotalRow,
    CLICKS,
    {"userId": "STAT#TOTAL", "createDateTime": "METADATA", "dateKey": "STAT#TOTAL", "recordSort": "METADATA"},
    owner=OWNER,
    about="Clicks of all time",
)
COUNT = Shape(
    CountRow,
    COUNTS,
    {"PK": "COUNT#{scope}", "SK": "{period}#{slot}"},
    owner=OWNER,
    about="Counts of `SITE`, `OWNER:…`, `LINK:…` or `THING:…` in `QUARTER:…`, `DAY:…`, `MONTH:…`, `ALL`",
)
MARKER = Shape(
    MarkerRow,
    COUNTS,
    {"PK": "UNIQ#{user_id}", "SK": "{period}#{scope}"},
    owner=OWNER,
    about="Who has been counted where; expires some days after its period",
)
IDEMPOTENCY = Shape(
    IdempotencyRow,
    COUNTS,
    {"PK": "IDEM#{user_id}", "SK": "{key}"},
    owner=OWNER,
    about="Idempotency keys of clicks, for as long as the same click could be accepted again",
)
GROWTH = Shape(
    GrowthRow,
    COUNTS,
    {"PK": "GROWTH", "SK": "{number}"},
    owner=OWNER,
    about="What counts have grown by since their rows were written; only where one writer folds",
    repeats_key_fields=False,
)
LAST = Shape(LastRow, COUNTS, {"PK": "LAST#{scope}", "SK": "-"}, owner=OWNER, about="When something was last clicked")
VISITORS_SECRET = Shape(
    VisitorsSecretRow,
    COUNTS,
    {"PK": "SECRET#VISITORS", "SK": "{month}"},
    owner=OWNER,
    about="The secret that tells visitors of a month apart; expires soon after it",
)
LOCAL_PEOPLE = Shape(
    LocalPeopleRow,
    COUNTS,
    {"PK": "LOCAL#{scope}#{zone}", "SK": "{day}"},
    owner=OWNER,
    about="Different people of a day in a zone other than UTC",
)
DAY_DIGEST = Shape(
    DayDigestRow,
    COUNTS,
    {"PK": "DIGEST#{scope}", "SK": "DAY#{zone}#{day}"},
    owner=OWNER,
    about="A sketch of the people of a day of a zone, with where they came from and what with",
)
COMPLETE_SINCE = Shape(
    CompleteSinceRow, COUNTS, {"PK": "RAW", "SK": "SINCE"}, owner=OWNER, about="From when on all clicks are there"
)
ERASED_FROM = Shape(
    ErasedFromRow, COUNTS, {"PK": "RAW#ERASED", "SK": "{day}"}, owner=OWNER, about="Days that miss an erased person"
)
SITE_WATCHERS = EphemeralKey(
    "stats-watchers", "hash", owner=OWNER, about="Administrator's id → until when they hear of the whole site's figures"
)
EPHEMERAL_KEYS = (SITE_WATCHERS,)
SHAPES = (
    CLICK,
    DAY_STAT,
    MONTH_STAT,
    TOTAL_STAT,
    COUNT,
    MARKER,
    IDEMPOTENCY,
    GROWTH,
    LAST,
    VISITORS_SECRET,
    LOCAL_PEOPLE,
    DAY_DIGEST,
    COMPLETE_SINCE,
    ERASED_FROM,
)


def click_row(
    user_id: str,
    created: str,
    *,
    count: int = 1,
    kind: Kind = "press",
    target: str | None = None,
    thing: str | None = None,
    owner: str | None = None,
    label: str | None = None,
    referrer: str | None = None,
    device: Device | None = None,
    expires_at: int | None = None,
) -> ClickRow:
    """A click with the attributes that follow from its user and its time."""
    return ClickRow(
        user_id=user_id,
        created=created,
        count=count,
        date_key=f"DATE#{created[:10]}",
        record_sort=f"{CLICK_PREFIX}{created}#{user_id}",
        kind=kind,
        target=target,
        thing=thing,
        owner=owner,
        label=label,
        referrer=referrer,
        device=device,
        expires_at=expires_at,
    )


def row_of(click: NewClick, created: str, kept_for: timedelta | None) -> ClickRow:
    """What a click is stored as."""
    return click_row(
        click.user_id,
        created,
        count=click.count,
        kind=click.kind,
        target=click.target,
        thing=click.thing,
        owner=click.owner,
        label=click.label,
        referrer=click.referrer,
        device=click.device,
        expires_at=None if kept_for is None else int(from_iso(created) + kept_for.total_seconds()),
    )


def stat_item(period: str, total_clicks: int, unique_users: int) -> Item:
    """The site's row of statistics for a period, `DAY:…`, `MONTH:…` or `ALL`."""
    kind, _, name = period.partition(":")
    if kind == "DAY":
        return DAY_STAT.item(DayRow(day=name, total_clicks=total_clicks, unique_users=unique_users))
    if kind == "MONTH":
        return MONTH_STAT.item(MonthRow(month=name, total_clicks=total_clicks, unique_users=unique_users))
    return TOTAL_STAT.item(TotalRow(total_clicks=total_clicks))


@lru_cache(maxsize=4096)
def count_key(scope: str, period: str, slot: str = ONE_SLOT) -> dict[str, str]:
    return COUNT.key(scope=scope, period=period, slot=slot)


def marker_item(user_id: str, period: str, scope: str, expires_at: int | None) -> Item:
    item: Item = {"PK": _marker_partition(user_id), "SK": _marker_sort(period, scope)}
    if expires_at is not None:
        item["expiresAt"] = expires_at
    return item


def first_marker_item(user_id: str, scope: str, day: str) -> Item:
    """The marker of all time of somebody who was counted for the first time; `day` is such as "2025-10-02"."""
    return {"PK": _marker_partition(user_id), "SK": _marker_sort(ALL, scope), "firstDay": day}


@lru_cache(maxsize=4096)
def _marker_partition(user_id: str) -> str:
    return MARKER.keys["PK"].render({"user_id": user_id})


@lru_cache(maxsize=4096)
def _marker_sort(period: str, scope: str) -> str:
    return MARKER.keys["SK"].render({"period": period, "scope": scope})
