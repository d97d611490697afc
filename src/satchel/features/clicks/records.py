"""What is stored of clicks: each click and the three kinds of statistics in the formats of the seed, and beside them
what statistics are folded from: counts, and marks of who has been counted in them.
"""

from datetime import timedelta
from functools import lru_cache

import msgspec

from satchel.features.clicks.model import NewClick
from satchel.kernel.clock import from_iso
from satchel.kernel.counted import Kind
from satchel.stores.ports.table import Item
from satchel.stores.schema import EphemeralKey, Record, Shape, attribute
from satchel.tables import CLICKS, COUNTS

OWNER = "clicks"
DATE_INDEX = "DateIndex"
CLICK_PREFIX = "CLICK#"
TOTAL_CLICKS, UNIQUE_USERS = "totalClicks", "uniqueUsers"
SITE, ALL = "SITE", "ALL"
# Where one writer folds there is one row of each count; several workers share the writing among such slots.
ONE_SLOT = "00"
SLOTS = tuple(f"{slot:02}" for slot in range(16))


class ClickRow(Record, frozen=True, kw_only=True, gc=False):
    """One click. `recordSort` is cut by position: the time has 24 characters, and a user id may have a `#`."""

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
    expires_at: int | None = attribute("expiresAt", default=None)


class DayRow(Record, frozen=True, kw_only=True):
    """What a UTC day comes to."""

    day: str = attribute("createDateTime")
    total_clicks: int = attribute(TOTAL_CLICKS)
    unique_users: int = attribute(UNIQUE_USERS)


class MonthRow(Record, frozen=True, kw_only=True):
    """What a UTC month comes to: people of several days are one person here."""

    month: str = attribute("createDateTime")
    total_clicks: int = attribute(TOTAL_CLICKS)
    unique_users: int = attribute(UNIQUE_USERS)


class TotalRow(Record, frozen=True, kw_only=True):
    """What all time comes to; there from the start."""

    total_clicks: int = attribute(TOTAL_CLICKS)


class CountRow(Record, frozen=True, kw_only=True):
    """What a scope's period comes to, added up over the slots. Scope, period and slot stand in the key alone.

    Beside these, the sum of each kind under its name (`open`). Quarters of an hour, from which the day of every zone
    follows, tell nobody apart.
    """

    scope: str
    period: str
    slot: str
    total_clicks: int = attribute(TOTAL_CLICKS, default=0)
    unique_users: int = attribute(UNIQUE_USERS, default=0)


class MarkerRow(Record, frozen=True, kw_only=True):
    """That somebody has been counted in a period of a scope. All three stand in the key alone."""

    user_id: str
    period: str
    scope: str
    expires_at: int | None = attribute("expiresAt", default=None)


class SentRow(Record, frozen=True, kw_only=True):
    """A click that came with a key, under which it is known when it comes again. Both stand in the key alone."""

    user_id: str
    key: str
    created: str = attribute("createDateTime")
    fingerprint: bytes
    expires_at: int = attribute("expiresAt")


class LastRow(Record, frozen=True, kw_only=True):
    """When something was last clicked; only ever grows. The scope stands in the key alone."""

    scope: str
    last_at: str = attribute("lastAt")


class VisitorsSecretRow(Record, frozen=True, kw_only=True):
    """What visitors of a month are told apart by; it goes soon after it, and nobody can tell any more who was who."""

    month: str
    secret: bytes
    expires_at: int = attribute("expiresAt")


class LocalPeopleRow(Record, frozen=True, kw_only=True):
    """How many different people there were on a day of a zone, as long as it has had no more clicks than these.

    Without `people`, so many clicks were read in vain.
    """

    scope: str
    zone: str
    day: str
    clicks: int
    people: int | None = None
    read_in_vain: int = attribute("readInVain", default=0)


class CompleteSinceRow(Record, frozen=True, kw_only=True):
    """From when on clicks are kept; before, some have gone by their age. Only ever grows.

    Before `cleared` they are all gone, also those that were stored while clicks were to be kept for longer.
    """

    since: str
    cleared: str = ""


class ErasedFromRow(Record, frozen=True, kw_only=True):
    """A day from which clicks of somebody who was erased are missing, so that no recount would come out right."""

    day: str


class UnpublishedRow(Record, frozen=True, kw_only=True):
    """That a day of the site has grown since its statistics were published."""

    day: str
    slot: str
    # Another one with each change, so that a note is only taken away by whoever has seen the change.
    stamp: str


class LeaseRow(Record, frozen=True, kw_only=True):
    """Who does something that only one should do at a time, and until when: milliseconds since 1970."""

    name: str
    holder: str
    until: int


class PoisonRow(Record, frozen=True, kw_only=True):
    """A click in the stream that makes no sense; set aside, so that it does not stop those after it."""

    shard: str
    position: str
    reason: str
    item: str
    set_aside_at: str = attribute("setAsideAt")
    expires_at: int = attribute("expiresAt")


class DoubtfulRow(Record, frozen=True, kw_only=True):
    """A day of which clicks in the stream were lost, so that it has to be counted again."""

    day: str


class ClaimRow(Record, frozen=True, kw_only=True):
    """That an event was folded, where events come without the name of their part of the stream."""

    event_id: str
    expires_at: int = attribute("expiresAt")


class _ClickShape(Shape[ClickRow]):
    """Clicks have the seed's keys as they are: no id begins as those of statistics do, so nothing is escaped."""

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
    about="Who has been counted where; goes some days after its period",
)
SENT = Shape(
    SentRow,
    COUNTS,
    {"PK": "IDEM#{user_id}", "SK": "{key}"},
    owner=OWNER,
    about="Clicks that came with a key, for as long as they could come again",
)
LAST = Shape(LastRow, COUNTS, {"PK": "LAST#{scope}", "SK": "-"}, owner=OWNER, about="When something was last clicked")
VISITORS_SECRET = Shape(
    VisitorsSecretRow,
    COUNTS,
    {"PK": "SECRET#VISITORS", "SK": "{month}"},
    owner=OWNER,
    about="What tells visitors of a month apart; goes soon after it",
)
LOCAL_PEOPLE = Shape(
    LocalPeopleRow,
    COUNTS,
    {"PK": "LOCAL#{scope}#{zone}", "SK": "{day}"},
    owner=OWNER,
    about="Different people of a day in a zone other than UTC",
)
COMPLETE_SINCE = Shape(
    CompleteSinceRow, COUNTS, {"PK": "RAW", "SK": "SINCE"}, owner=OWNER, about="From when on clicks are kept"
)
ERASED_FROM = Shape(
    ErasedFromRow, COUNTS, {"PK": "RAW#ERASED", "SK": "{day}"}, owner=OWNER, about="Days that miss clicks of the erased"
)
UNPUBLISHED = Shape(
    UnpublishedRow,
    COUNTS,
    {"PK": "DIRTY", "SK": "{day}#{slot}"},
    owner=OWNER,
    about="Days whose statistics have to be published; only where a worker folds",
)
LEASED = Shape(LeaseRow, COUNTS, {"PK": "LEASE", "SK": "{name}"}, owner=OWNER, about="Who publishes statistics")
POISON = Shape(
    PoisonRow,
    COUNTS,
    {"PK": "POISON", "SK": "{shard}#{position}"},
    owner=OWNER,
    about="Clicks in the stream that make no sense",
)
DOUBTFUL = Shape(
    DoubtfulRow, COUNTS, {"PK": "DOUBTFUL", "SK": "{day}"}, owner=OWNER, about="Days that have to be counted again"
)
CLAIM = Shape(
    ClaimRow, COUNTS, {"PK": "CLAIM#{event_id}", "SK": "-"}, owner=OWNER, about="Events that Lambda has folded"
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
    SENT,
    LAST,
    VISITORS_SECRET,
    LOCAL_PEOPLE,
    COMPLETE_SINCE,
    ERASED_FROM,
    UNPUBLISHED,
    LEASED,
    POISON,
    DOUBTFUL,
    CLAIM,
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
    expires_at: int | None = None,
) -> ClickRow:
    """A click with what follows from its user and its time."""
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
        expires_at=None if kept_for is None else int(from_iso(created) + kept_for.total_seconds()),
    )


def stat_item(period: str, total_clicks: int, unique_users: int) -> Item:
    """The seed's row for a period of the whole site, `DAY:…`, `MONTH:…` or `ALL`."""
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


@lru_cache(maxsize=4096)
def _marker_partition(user_id: str) -> str:
    return MARKER.keys["PK"].render({"user_id": user_id})


@lru_cache(maxsize=4096)
def _marker_sort(period: str, scope: str) -> str:
    return MARKER.keys["SK"].render({"period": period, "scope": scope})
