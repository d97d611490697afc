"""Counts: how clicks are folded into them by scope and period, and how the stored sums are read.

There is one fold, whoever runs it: the server beside each click, a worker behind the stream, or a rebuild from the
clicks themselves. It consists of sums and sets, so the order of clicks does not matter.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import TypeAlias

from satchel.features.clicks.model import GUEST, KINDS, QUARTER
from satchel.features.clicks.records import (
    ALL,
    COUNT,
    LAST,
    ONE_SLOT,
    SITE,
    SLOTS,
    TOTAL_CLICKS,
    UNIQUE_USERS,
    ClickRow,
)
from satchel.kernel.counted import Kind
from satchel.stores.ports.expressions import add
from satchel.stores.ports.table import Delete, Item, Key, Range, Tables, Update
from satchel.stores.ports.whole_stores import ScansTables
from satchel.tables import COUNTS

# How long after its end somebody may still be counted in a period: clicks may come late, and a worker may be held up.
MARKED_FOR = timedelta(days=4)
OWNER_SCOPE = "OWNER:"
COUNTER = "counter:"
DAY = "DAY:"
# Between a thing and what is used within it. No id has it.
WITHIN = "/"

# Sorts after every slot.
_AFTER_SLOTS = "~"
# Few enough that a store on this machine answers at once.
_PAGE = 100

# A scope and a period.
Place: TypeAlias = tuple[str, str]
# What clicks have in common that count alike: their minute, kind, target, owner and thing, and whether only a guest
# says so.
Sort: TypeAlias = tuple[str, Kind, str | None, str | None, str | None, bool]


def scopes_of(click: ClickRow) -> Sequence[str]:
    """The scopes whose figures a click belongs to: none if a guest says so and nothing of a member was used.

    Anybody can be any number of guests, so what they say about themselves is no figure of the site.
    """
    return _scopes(click.target, click.owner, click.thing, _is_only_said(click))


@lru_cache(maxsize=4096)
def _scopes(target: str | None, owner: str | None, thing: str | None, is_only_said: bool) -> Sequence[str]:
    scopes = [] if is_only_said else [SITE]
    if target is not None:
        scopes.append(link_scope(target))
    if owner is not None:
        scopes.append(owner_scope(owner))
        if thing is not None:
            scopes += [thing_scope(owner, each) for each in thing.split(WITHIN)]
    return tuple(scopes)


def _is_only_said(click: ClickRow) -> bool:
    return click.owner is None and click.target is None and click.user_id.startswith(GUEST)


def owner_scope(owner: str) -> str:
    return f"{OWNER_SCOPE}{owner}"


def link_scope(link_id: str) -> str:
    return f"LINK:{link_id}"


def counter_target(counter_id: str) -> str:
    """What the clicks of a counter have as their target. The id of a link has no colon."""
    return f"{COUNTER}{counter_id}"


def counter_scope(counter_id: str) -> str:
    return link_scope(counter_target(counter_id))


def thing_scope(owner: str, thing: str) -> str:
    """The scope names the owner, so that nobody else can ask for its figures."""
    return f"THING:{owner}:{thing}"


@lru_cache(maxsize=1024)
def periods_of(created: str) -> tuple[str, str, str]:
    """The day, the month and all time, to which a click of this time belongs."""
    return f"{DAY}{created[:10]}", f"MONTH:{created[:7]}", ALL


@dataclass(slots=True)
class Alike:
    """The sum of clicks that are of one `Sort`."""

    total: int = 0
    seen: set[str] = field(default_factory=set[str])
    last: str = ""

    def add(self, other: "Alike") -> None:
        self.total += other.total
        self.seen |= other.seen
        self.last = max(self.last, other.last)


def sorts_of(clicks: Iterable[ClickRow]) -> dict[Sort, Alike]:
    """Clicks added up, as far as their scopes, their kind and their minute are the same."""
    sorts: dict[Sort, Alike] = {}
    for click in clicks:
        sort = click.created[:16], click.kind, click.target, click.owner, click.thing, _is_only_said(click)
        alike = sorts.get(sort)
        if alike is None:
            alike = sorts[sort] = Alike()
        alike.total += click.count
        alike.seen.add(click.user_id)
        if click.created > alike.last:
            alike.last = click.created
    return sorts


def seen_on(sorts: Mapping[Sort, Alike]) -> dict[Place, set[str]]:
    """The people of each scope on each day, such as "DAY:2025-10-02"."""
    seen: dict[Place, set[str]] = {}
    for (minute, _, target, owner, thing, is_only_said), alike in sorts.items():
        day = periods_of(minute)[0]
        for scope in _scopes(target, owner, thing, is_only_said):
            seen.setdefault((scope, day), set()).update(alike.seen)
    return seen


@dataclass(slots=True)
class Tally:
    """The fold of some clicks, by scope and period.

    `growth` is what counts grow by, without people. `seen` has the people of each day, such as "DAY:2025-10-02"; only
    markers know how many of them are new to it, to its month and to all time. `last` is each scope's latest time.
    """

    growth: dict[Place, dict[str, int]] = field(default_factory=dict[Place, dict[str, int]])
    seen: dict[Place, set[str]] = field(default_factory=dict[Place, set[str]])
    last: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, clicks: Iterable[ClickRow]) -> None:
        self.add_sorts(sorts_of(clicks))

    def add_sorts(self, sorts: Mapping[Sort, Alike]) -> None:
        for (scope, minute, kind), alike in _by_scope(sorts).items():
            day, month, all_time = periods_of(minute)
            for period in (day, month, all_time, quarter_period(minute)):
                growth = self.growth.get((scope, period))
                if growth is None:
                    self.growth[scope, period] = {TOTAL_CLICKS: alike.total, kind: alike.total}
                else:
                    growth[TOTAL_CLICKS] += alike.total
                    growth[kind] = growth.get(kind, 0) + alike.total
            self.seen.setdefault((scope, day), set()).update(alike.seen)
            if alike.last > self.last.get(scope, ""):
                self.last[scope] = alike.last

    def people(self) -> dict[Place, set[str]]:
        """Those who were seen in each day, each month and all time."""
        people: dict[Place, set[str]] = {}
        for (scope, day), seen in self.seen.items():
            for period in periods_of(day.removeprefix(DAY)):
                people.setdefault((scope, period), set()).update(seen)
        return people


def _by_scope(sorts: Mapping[Sort, Alike]) -> dict[tuple[str, str, Kind], Alike]:
    """The sums by scope, minute and kind."""
    scoped: dict[tuple[str, str, Kind], Alike] = {}
    for (minute, kind, target, owner, thing, is_only_said), some in sorts.items():
        for scope in _scopes(target, owner, thing, is_only_said):
            scoped.setdefault((scope, minute, kind), Alike()).add(some)
    return scoped


def tally(clicks: Iterable[ClickRow]) -> Tally:
    counted = Tally()
    counted.add(clicks)
    return counted


@lru_cache(maxsize=1024)
def quarter_period(time: str) -> str:
    """The quarter of an hour of a time such as "2025-10-02T10:37". Its count has no people."""
    return f"{QUARTER}{time[:14]}{int(time[14:16]) // 15 * 15:02}"


@lru_cache(maxsize=1024)
def marker_expiry(period: str) -> int | None:
    """When the markers of a period expire, in seconds since 1970; None if never."""
    kind, _, name = period.partition(":")
    if kind == ALL:
        return None
    year, month, *day = map(int, name.split("-"))
    if day:
        end = datetime(year, month, day[0], tzinfo=UTC) + timedelta(days=1)
    else:
        end = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
    return int((end + MARKED_FOR).timestamp())


def is_marked_first(marker: Item | None, period: str) -> bool:
    """Whether somebody's marker of all time says that they were counted in this day or month, too."""
    return marker is not None and "firstDay" in marker and period in periods_of(marker["firstDay"])


@dataclass(slots=True)
class Sum:
    """The count of one period of a scope; `named` has the clicks of each kind."""

    clicks: int = 0
    people: int = 0
    named: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, row: Item) -> None:
        for name, number in row.items():
            if name == TOTAL_CLICKS:
                self.clicks += number
            elif name == UNIQUE_USERS:
                self.people += number
            elif name not in COUNT.keys:
                self.named[name] = self.named.get(name, 0) + number

    def kind(self, kind: Kind) -> int:
        return self.named.get(kind, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """A count as people are shown it; `people` is None where it is not known."""

    clicks: int
    people: int | None
    kinds: Mapping[Kind, int]


def figures(clicks: int, people: int | None, by_kind: Mapping[str, int]) -> Figures:
    return Figures(clicks=clicks, people=people, kinds={kind: by_kind.get(kind, 0) for kind in KINDS})


async def read_sums(tables: Tables, scope: str, first: str, last: str, *, may_lag: bool = False) -> dict[str, Sum]:
    """The sums of a scope by period, from the first period (`DAY:2025-10-02`) to the last of the same kind."""
    partition = COUNT.keys["PK"].render({"scope": scope})
    between = Range(f"{first}#", f"{last}#{_AFTER_SLOTS}")
    sums: dict[str, Sum] = {}
    cursor = None
    while True:
        page = await tables.query(COUNT.table, partition, between, limit=_PAGE, cursor=cursor, may_lag=may_lag)
        for row in page.items:
            sums.setdefault(row["SK"].rpartition("#")[0], Sum()).add(row)
        if (cursor := page.cursor) is None:
            return sums


async def read_sum(tables: Tables, scope: str, period: str = ALL, *, may_lag: bool = False) -> Sum:
    return (await read_sums(tables, scope, period, period, may_lag=may_lag)).get(period, Sum())


async def read_last(tables: Tables, scopes: Sequence[str], *, may_lag: bool = False) -> dict[str, str]:
    """When each scope was last clicked, without those that never were."""
    rows = await tables.get_many(LAST.table, [LAST.key(scope=scope) for scope in scopes], may_lag=may_lag)
    return {scope: row["lastAt"] for scope, row in zip(scopes, rows, strict=True) if row is not None}


async def read_totals(tables: Tables, scopes: Sequence[str], slots: Sequence[str]) -> dict[str, Sum]:
    """The sums of all time of many scopes at once, to look at, without scopes that have none."""
    keys = [COUNT.key(scope=scope, period=ALL, slot=slot) for scope in scopes for slot in slots]
    rows = iter(await tables.get_many(COUNT.table, keys, may_lag=True))
    sums: dict[str, Sum] = {}
    for scope in scopes:
        for row in islice(rows, len(slots)):
            if row is not None:
                sums.setdefault(scope, Sum()).add(row)
    return sums


def added_up(sums: Iterable[Sum]) -> Sum:
    """Clicks in all and by kind, without people, who cannot be added up."""
    added = Sum()
    for one in sums:
        added.clicks += one.clicks
        for kind, number in one.named.items():
            added.named[kind] = added.named.get(kind, 0) + number
    return added


async def join_slots(tables: Tables) -> None:
    """Make each count one row, when tables that servers shared become those of one server.

    What is done can be done again: a slot is added and deleted in one step.
    """
    assert isinstance(tables, ScansTables)
    after: Key | None = None
    while True:
        page = await tables.scan(COUNTS, after, limit=500)
        for item in page.items:
            if item["PK"].startswith(COUNT.keys["PK"].render_prefix({})):
                await _join(tables, item)
        if (after := page.after) is None:
            return


async def _join(tables: Tables, item: Item) -> None:
    period, _, slot = item["SK"].rpartition("#")
    if slot == ONE_SLOT or slot not in SLOTS:
        return
    adding = [add(name, value) for name, value in item.items() if name not in COUNTS.key_names]
    whole = {"PK": item["PK"], "SK": f"{period}#{ONE_SLOT}"}
    await tables.transact([Delete(COUNTS, COUNTS.key_of(item)), Update(COUNTS, whole, adding)])
