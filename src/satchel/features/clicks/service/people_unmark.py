"""Which people are no longer counted in which periods, once clicks of theirs were taken back: plain rules."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from satchel.features.clicks.model import VISITOR, stamp
from satchel.features.clicks.records import ALL, ClickRow, marker_item
from satchel.features.clicks.service.counts import is_marked_first, marker_expiry, periods_of, scopes_of
from satchel.stores.ports.table import Item, Range

_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Unmarked:
    """The periods in which somebody is counted no more, and what becomes of their markers."""

    lost: list[str] = field(default_factory=list[str])
    deleted: list[Item] = field(default_factory=list[Item])
    stored: list[Item] = field(default_factory=list[Item])


def unmark(user_id: str, scope: str, emptied: AbstractSet[str], markers: Mapping[str, Item | None]) -> Unmarked:
    """`emptied` are the periods without a click of theirs; `markers` has those of these periods and of all time."""
    outcome, first = Unmarked(), markers[ALL]
    for period in emptied:
        if markers[period] is not None:
            outcome.deleted.append(marker_item(user_id, period, scope, None))
        if markers[period] is not None or is_marked_first(first, period):
            outcome.lost.append(period)
    if first is None or "firstDay" not in first or ALL in emptied:
        return outcome
    # The marker of all time stays. What it said of its day and month, other markers have to say from now on.
    day, month, _ = periods_of(first["firstDay"])
    if day in emptied or month in emptied:
        outcome.stored.append({name: value for name, value in first.items() if name != "firstDay"})
        left = [period for period in (day, month) if period not in emptied]
        outcome.stored.extend(marker_item(user_id, period, scope, marker_expiry(period)) for period in left)
    return outcome


def touched(user_id: str, clicks: Iterable[ClickRow], complete: float) -> tuple[set[str], set[str]]:
    """The scopes and periods of these clicks of somebody, without periods of which clicks may have expired.

    `complete` is the moment since when all clicks are there. Visitors are known by their ids for one month only.
    """
    rows = [click for click in clicks if click.user_id == user_id]
    scopes = {scope for row in rows for scope in scopes_of(row)}
    named = {period for row in rows for period in periods_of(row.created)[:2]}
    whole = {period for period in named if begin_of(period).timestamp() >= complete}
    if not complete or (user_id.startswith(VISITOR) and whole == named):
        whole.add(ALL)
    return scopes, whole


def times_of(period: str) -> Range:
    """Between which times the clicks of a period lie."""
    if period == ALL:
        return Range(low="0")
    begins = begin_of(period)
    # Every month ends within these days, at the first of the next one.
    ends = begins + timedelta(days=1) if period.startswith("DAY:") else (begins + timedelta(days=31)).replace(day=1)
    return Range(_stamp(begins), _stamp(ends - _MILLISECOND))


def begin_of(period: str) -> datetime:
    kind, _, name = period.partition(":")
    return datetime.fromisoformat(name if kind == "DAY" else f"{name}-01").replace(tzinfo=UTC)


def _stamp(moment: datetime) -> str:
    return stamp(int(moment.timestamp() * 1000))
