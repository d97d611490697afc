"""Fold clicks from the change stream of their table, where many servers store clicks and none sees all of them.

One transaction does all that some changes mean: it adds to counts, marks people who are new to a period, and moves the
consumer's position (`stores/consumer.py`). Each shard adds to a slot of its own, so that shards do not wait for each
other. If two shards count the same person at once, the marker refuses one of them, which then reads again.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from satchel.features.clicks.model import MAX_COUNT, MAX_ID_CHARACTERS, check_id, milliseconds_of, stamp
from satchel.features.clicks.records import (
    ALL,
    CLICK,
    CLICK_PREFIX,
    COUNT,
    LAST,
    SITE,
    SLOTS,
    UNIQUE_USERS,
    ClickRow,
    first_marker_item,
    marker_item,
)
from satchel.features.clicks.service.counts import (
    OWNER_SCOPE,
    Place,
    is_marked_first,
    marker_expiry,
    periods_of,
    quarter_period,
    scopes_of,
    tally,
)
from satchel.features.clicks.stream_records import (
    DOUBTFUL,
    LEASED,
    POISON,
    UNPUBLISHED,
    DoubtfulRow,
    PoisonRow,
    UnpublishedRow,
)
from satchel.kernel.clock import Clock, from_iso, iso
from satchel.kernel.errors import Invalid, Unavailable
from satchel.kernel.unfit import TextUnfit
from satchel.stores.consumer import Effect
from satchel.stores.patterns.lease import LeaseRow
from satchel.stores.ports.expressions import add, attr
from satchel.stores.ports.table import (
    MAX_TRANSACTION_ITEMS,
    Change,
    ConditionFailed,
    Item,
    Key,
    Put,
    Tables,
    Update,
    Write,
)
from satchel.tables import COUNTS

CONSUMER = "clicks"
# With more changes, the update of one row could become longer than DynamoDB allows.
MOST_CHANGES = 200
# How many markers are read at once.
_MOST_MARKERS = 100
_POISON_KEPT_FOR = timedelta(days=90)
_MOST_CACHED = 10_000
# As long as a stream could deliver what was claimed, and a little.
_CLAIMS_MATTER_FOR = timedelta(hours=25)
_CLAIMS = "claims"

_log = logging.getLogger("satchel.clicks")


class _Mark(NamedTuple):
    """Somebody in a period of a scope."""

    user_id: str
    scope: str
    period: str

    @property
    def key(self) -> Key:
        return marker_item(self.user_id, self.period, self.scope, None)

    def marker(self, firsts: Mapping[tuple[str, str], str]) -> Item | None:
        """What is stored for it, or None if the person's marker of all time says the same.

        `firsts` has the first day of those who are new to a scope.
        """
        first = firsts.get((self.user_id, self.scope))
        if first is None or self.period not in periods_of(first):
            return marker_item(self.user_id, self.period, self.scope, marker_expiry(self.period))
        return first_marker_item(self.user_id, self.scope, first) if self.period == ALL else None


@dataclass(frozen=True, slots=True)
class _Counted:
    """What a change means: a click as it is now and as it was, or nothing, or poison."""

    new: ClickRow | None = None
    old: ClickRow | None = None
    poison: PoisonRow | None = None

    @property
    def places(self) -> set[Place]:
        rows = [row for row in (self.new, self.old) if row is not None]
        return {(scope, period) for row in rows for scope in scopes_of(row) for period in periods_of(row.created)}

    @property
    def quarters(self) -> set[Place]:
        rows = [row for row in (self.new, self.old) if row is not None]
        return {(scope, quarter_period(row.created[:16])) for row in rows for scope in scopes_of(row)}

    @property
    def marks(self) -> set[_Mark]:
        if self.new is None:
            return set()
        return {_Mark(self.new.user_id, *place) for place in _Counted(self.new).places}


@dataclass(slots=True)
class Folded:
    """What has been folded since somebody last asked, and of whom, once it is stored.

    `seconds_behind` is the age of the newest click in the last fold. What is `coming` may not be stored yet, and may
    never be: whoever is told of it too early is not told again.
    """

    owners: set[str] = field(default_factory=set[str])
    has_grown: bool = False
    seconds_behind: float = 0.0
    coming: set[str] = field(default_factory=set[str])
    is_growing: bool = False

    def settle(self) -> None:
        """What was coming is stored, or comes again."""
        self.owners |= self.coming
        self.has_grown |= self.is_growing
        self.coming, self.is_growing = set(), False


class Fold:
    """Turns changes of the clicks' stream into writes, as the `Handle` of a consumer.

    `most_writes` is how many writes a transaction of the store can have. The consumer needs one of them.
    """

    def __init__(self, tables: Tables, clock: Clock, *, most_writes: int = MAX_TRANSACTION_ITEMS) -> None:
        self._tables = tables
        self._clock = clock
        self._most_writes = most_writes - 1
        self._last: dict[str, str] = {}
        self.folded = Folded()

    async def __call__(self, shard: str, changes: Sequence[Change], *, beside: int = 0) -> Effect:
        """Fold as many changes as fit into a transaction; `beside` is how many more writes each change needs."""
        counted = [self._read(shard, change) for change in changes[:MOST_CHANGES]]
        window = _within_one_read(counted)
        new = await self._unmarked(window)
        firsts = _first_days(window, new)
        markers = {mark: item for mark in new if (item := mark.marker(firsts)) is not None}
        covered = window[: self._fitting(window, markers.keys(), beside)]
        marks = new & {mark for each in covered for mark in each.marks}
        # Before the fold: the time only ever grows, so it does no harm if the fold is cancelled and repeated.
        await self._note_last(each.new for each in covered if each.new is not None)
        written = marks & markers.keys()
        writes: list[Write] = [Put(COUNTS, markers[mark], when=attr("PK").absent()) for mark in written]
        writes += _growth(covered, marks, slot_of(shard))
        writes += _notes(covered, slot_of(shard), changes[len(covered) - 1].position)
        writes += [POISON.put(each.poison) for each in covered if each.poison is not None]
        doubtful = {day for each in covered for day in self._doubtful(each)}
        reached = changes[len(covered) - 1].position
        writes += [DOUBTFUL.put(DoubtfulRow(day=day, stamp=reached)) for day in sorted(doubtful)]
        return Effect(writes, len(covered))

    def _read(self, shard: str, change: Change) -> _Counted:
        # Clicks that are deleted, by their age or with a person, stay counted.
        if change.new is None or not str(change.new.get("recordSort", "")).startswith(CLICK_PREFIX):
            return _Counted()
        try:
            return _Counted(_click(change.new), None if change.old is None else _click(change.old))
        except (msgspec.ValidationError, Invalid) as error:
            _log.warning("a click makes no sense and was set aside", extra={"part": shard, "position": change.position})
            now = self._clock()
            poison = PoisonRow(
                shard=shard,
                position=change.position,
                reason=str(error),
                item=msgspec.json.encode(change.new, enc_hook=str).decode(),
                set_aside_at=iso(now),
                expires_at=int(now + _POISON_KEPT_FOR.total_seconds()),
            )
            return _Counted(poison=poison)

    async def _unmarked(self, window: Sequence[_Counted]) -> set[_Mark]:
        """The people who have not been counted in their period. Once its markers have expired, that is not known."""
        marks = [mark for mark in {mark for each in window for mark in each.marks} if not self._is_over(mark.period)]
        found = dict(zip(marks, await self._tables.get_many(COUNTS, [mark.key for mark in marks]), strict=True))
        # Every click has a mark of all time, so each marker that can name a day is among those found.
        return {
            mark
            for mark, item in found.items()
            if item is None and not is_marked_first(found[mark._replace(period=ALL)], mark.period)
        }

    def _is_over(self, period: str) -> bool:
        expires_at = marker_expiry(period)
        return expires_at is not None and expires_at <= self._clock()

    def _doubtful(self, counted: _Counted) -> set[str]:
        """The days of clicks that came so late that only a recount can tell how many people there were."""
        return {row.created[:10] for row in _rows(counted) if any(map(self._is_over, periods_of(row.created)))}

    def _fitting(self, window: Sequence[_Counted], markers: AbstractSet[_Mark], beside: int) -> int:
        """How many changes, from the first on, fit into a transaction; at least one."""
        rows: set[object] = set()
        for number, each in enumerate(window):
            rows |= each.places | each.quarters | (each.marks & markers) | {row.created[:10] for row in _rows(each)}
            rows |= {each.poison} if each.poison else set()
            rows |= {(DOUBTFUL, day) for day in self._doubtful(each)}
            if number and len(rows) + beside * (number + 1) > self._most_writes:
                return number
        return len(window)

    async def _note_last(self, clicks: Iterable[ClickRow]) -> None:
        latest = tally(clicks).last
        if len(self._last) > _MOST_CACHED:
            self._last.clear()
        later = {scope: at for scope, at in latest.items() if at > self._last.get(scope, "")}
        await note_last(self._tables, later)
        self._last |= later
        self.folded.coming |= {scope.removeprefix(OWNER_SCOPE) for scope in latest if scope.startswith(OWNER_SCOPE)}
        if newest := latest.get(SITE):
            self.folded.is_growing = True
            self.folded.seconds_behind = max(0.0, self._clock() - from_iso(newest))


async def note_last(tables: Tables, latest: Mapping[str, str]) -> None:
    """Note when scopes were last clicked, unless a later time is known. It can be repeated at any time."""

    async def note(scope: str, at: str) -> None:
        with suppress(ConditionFailed):
            grows = attr("PK").absent() | (attr("lastAt") < at)
            await tables.put(COUNTS, {**LAST.key(scope=scope), "lastAt": at}, when=grows)

    await asyncio.gather(*(note(scope, at) for scope, at in latest.items()))


def slot_of(shard: str) -> str:
    """The slot that a shard adds to."""
    return SLOTS[blake2b(shard.encode(), digest_size=1).digest()[0] % len(SLOTS)]


def growth_of(new: Iterable[ClickRow], old: Iterable[ClickRow]) -> dict[Place, dict[str, int]]:
    """What counts grow by when `old` clicks become `new` ones, without people."""
    growth = tally(new).growth
    for place, less in tally(old).growth.items():
        row = growth.setdefault(place, {})
        for name, number in less.items():
            row[name] = row.get(name, 0) - number
    return growth


def clicks_in(changes: Iterable[Change]) -> tuple[list[ClickRow], list[ClickRow]]:
    """The clicks after and before these changes, without items that are no valid clicks."""
    new: list[ClickRow] = []
    old: list[ClickRow] = []
    for change in changes:
        if change.new is not None and str(change.new.get("recordSort", "")).startswith(CLICK_PREFIX):
            with suppress(msgspec.ValidationError, Invalid):
                before = [] if change.old is None else [_click(change.old)]
                new.append(_click(change.new))
                old += before
    return new, old


def is_valid(click: ClickRow) -> bool:
    """Whether it can be counted. Other programs write into the table, too, and do not check what a server checks."""
    try:
        check_id(click.user_id)
        is_sorted_by = stamp(milliseconds_of(click.created))
    except Invalid:
        return False
    names = (click.owner, click.target, click.thing)
    fits = all(name is None or 0 < len(name) <= MAX_ID_CHARACTERS for name in names)
    return fits and 0 < click.count <= MAX_COUNT and is_sorted_by == click.created


def _click(item: Item) -> ClickRow:
    click = CLICK.read(item)
    if not is_valid(click):
        raise TextUnfit("A field of this click is not as clicks are.")
    return click


def _rows(counted: _Counted) -> list[ClickRow]:
    return [row for row in (counted.new, counted.old) if row is not None]


def _within_one_read(counted: Sequence[_Counted]) -> Sequence[_Counted]:
    """The first of them, and as many more as one read of markers can cover."""
    marks: set[_Mark] = set()
    for number, each in enumerate(counted):
        marks |= each.marks
        if number and len(marks) > _MOST_MARKERS:
            return counted[:number]
    return counted


def _first_days(window: Sequence[_Counted], new: AbstractSet[_Mark]) -> dict[tuple[str, str], str]:
    """The day of the first click of each person who is new to a scope, unless the markers of that day have expired."""
    firsts: dict[tuple[str, str], str | None] = {}
    for click in (each.new for each in window if each.new is not None):
        day, _, all_time = periods_of(click.created)
        for scope in scopes_of(click):
            if _Mark(click.user_id, scope, all_time) in new and (click.user_id, scope) not in firsts:
                counts = _Mark(click.user_id, scope, day) in new
                firsts[click.user_id, scope] = click.created[:10] if counts else None
    return {name: day for name, day in firsts.items() if day is not None}


def _growth(covered: Sequence[_Counted], marks: Iterable[_Mark], slot: str) -> list[Update]:
    growth = growth_of(
        [each.new for each in covered if each.new is not None], [each.old for each in covered if each.old is not None]
    )
    for mark in marks:
        row = growth[mark.scope, mark.period]
        row[UNIQUE_USERS] = row.get(UNIQUE_USERS, 0) + 1
    return [
        COUNT.update(
            [add(name, number) for name, number in row.items() if number], scope=scope, period=period, slot=slot
        )
        for (scope, period), row in growth.items()
        if any(row.values())
    ]


def _notes(covered: Sequence[_Counted], slot: str, reached: str) -> list[Put]:
    days = {row.created[:10] for each in covered for row in _rows(each) if scopes_of(row)}
    return [UNPUBLISHED.put(UnpublishedRow(day=day, slot=slot, stamp=reached)) for day in days]


async def note_claims(tables: Tables, clock: Clock) -> None:
    """Note that clicks are folded without positions, so that no worker with positions folds them again."""
    until = int((clock() + _CLAIMS_MATTER_FOR.total_seconds()) * 1000)
    await tables.put(COUNTS, LEASED.item(LeaseRow(name=_CLAIMS, holder=_CLAIMS, until=until)))


async def check_positions(tables: Tables, clock: Clock) -> None:
    """Refuse to follow the stream by positions where clicks were folded without them."""
    noted = await LEASED.get(tables, name=_CLAIMS)
    if noted is not None and noted.until > clock() * 1000:
        raise Unavailable(
            "A Lambda function counts clicks without knowing their shard. "
            "Give its event source mapping a tumbling window, and try again a day later."
        )
