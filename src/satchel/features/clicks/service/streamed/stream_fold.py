"""Fold clicks that come through a stream, where many servers store them and none of them could count alone.

What changes turn into is one transaction: counts grow, people who are new to a period are marked, and whoever follows
the stream moves on (`stores/consumer.py`). Each part of the stream adds to slots of its own, so that parts do not wait
for each other. Two parts that count the same person meet at the marker: one is refused, and looks again.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from satchel.features.clicks.model import MAX_COUNT, MAX_ID_CHARACTERS, check_id, milliseconds_of, stamp
from satchel.features.clicks.records import (
    CLICK,
    CLICK_PREFIX,
    COUNT,
    LAST,
    POISON,
    SITE,
    SLOTS,
    UNIQUE_USERS,
    UNPUBLISHED,
    ClickRow,
    PoisonRow,
    UnpublishedRow,
    marker_item,
)
from satchel.features.clicks.service.folding import (
    OWNER_SCOPE,
    Place,
    marker_expiry,
    periods_of,
    quarter_period,
    scopes_of,
    tally,
)
from satchel.kernel.clock import Clock, from_iso, iso
from satchel.kernel.errors import Invalid
from satchel.stores.consumer import Effect
from satchel.stores.ports.expressions import add, attr
from satchel.stores.ports.table import (
    MAX_TRANSACTION_ITEMS,
    Change,
    ConditionFailed,
    Item,
    Put,
    Tables,
    Update,
    Write,
)
from satchel.tables import COUNTS

CONSUMER = "clicks"
# So many can grow one row of a day in as many places, and DynamoDB reads no longer sentence than that.
MOST_CHANGES = 200
# What one question can be asked of.
_MOST_MARKERS = 100
_SET_ASIDE_FOR = timedelta(days=90)
_MOST_REMEMBERED = 10_000

_log = logging.getLogger("satchel.clicks")


class _Mark(NamedTuple):
    """Somebody in a period of a scope."""

    user_id: str
    scope: str
    period: str

    @property
    def item(self) -> Item:
        return marker_item(self.user_id, self.period, self.scope, marker_expiry(self.period))


@dataclass(frozen=True, slots=True)
class _Counted:
    """What a change means: a click as it is now and as it was, or nothing, or something that makes no sense."""

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
    """What has been folded since somebody last asked; more than what is stored, if some of it was refused.

    `seconds_behind` is how old the newest of the clicks were that were folded last.
    """

    owners: set[str] = field(default_factory=set[str])
    has_grown: bool = False
    seconds_behind: float = 0.0


class Fold:
    """What a consumer of the clicks' stream does with changes; calling it is a `Handle`.

    `most_writes` is how many a transaction of the store can have, of which the consumer needs one.
    """

    def __init__(self, tables: Tables, clock: Clock, *, most_writes: int = MAX_TRANSACTION_ITEMS) -> None:
        self._tables = tables
        self._clock = clock
        self._most_writes = most_writes - 1
        self._last: dict[str, str] = {}
        self.folded = Folded()

    async def __call__(self, shard: str, changes: Sequence[Change], *, beside: int = 0) -> Effect:
        """As many changes as fit into a transaction that has so many more writes for each of them."""
        counted = [self._read(shard, change) for change in changes[:MOST_CHANGES]]
        window = _within_one_question(counted)
        new = await self._unmarked(window)
        covered = window[: self._fitting(window, new, beside)]
        marks = new & {mark for each in covered for mark in each.marks}
        # Before the fold: it only ever grows, so it does not matter if the fold is refused and comes again.
        await self._note_last(each.new for each in covered if each.new is not None)
        writes: list[Write] = [Put(COUNTS, mark.item, when=attr("PK").absent()) for mark in marks]
        writes += _growth(covered, marks, slot_of(shard))
        writes += _notes(covered, slot_of(shard), changes[len(covered) - 1].position)
        writes += [POISON.put(each.poison) for each in covered if each.poison is not None]
        return Effect(writes, len(covered))

    def _read(self, shard: str, change: Change) -> _Counted:
        # What goes, by its age or with the person it was of, stays counted.
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
                expires_at=int(now + _SET_ASIDE_FOR.total_seconds()),
            )
            return _Counted(poison=poison)

    async def _unmarked(self, window: Sequence[_Counted]) -> set[_Mark]:
        """Those who have not been counted in their period."""
        marks = list({mark for each in window for mark in each.marks})
        found = await self._tables.get_many(COUNTS, [COUNTS.key_of(mark.item) for mark in marks])
        return {mark for mark, item in zip(marks, found, strict=True) if item is None}

    def _fitting(self, window: Sequence[_Counted], new: set[_Mark], beside: int) -> int:
        """How many changes, from the first, fit into a transaction; one, even if it does not."""
        rows: set[object] = set()
        for number, each in enumerate(window):
            rows |= each.places | each.quarters | (each.marks & new) | {row.created[:10] for row in _rows(each)}
            rows |= {each.poison} if each.poison else set()
            if number and len(rows) + beside * (number + 1) > self._most_writes:
                return number
        return len(window)

    async def _note_last(self, clicks: Iterable[ClickRow]) -> None:
        latest = tally(clicks).last
        if len(self._last) > _MOST_REMEMBERED:
            self._last.clear()
        later = {scope: at for scope, at in latest.items() if at > self._last.get(scope, "")}
        await note_last(self._tables, later)
        self._last |= later
        self.folded.owners |= {scope.removeprefix(OWNER_SCOPE) for scope in latest if scope.startswith(OWNER_SCOPE)}
        if newest := latest.get(SITE):
            self.folded.has_grown = True
            self.folded.seconds_behind = max(0.0, self._clock() - from_iso(newest))


async def note_last(tables: Tables, latest: Mapping[str, str]) -> None:
    """Note when scopes were last clicked, unless something later is known; it can be repeated at any time."""

    async def note(scope: str, at: str) -> None:
        with suppress(ConditionFailed):
            grows = attr("PK").absent() | (attr("lastAt") < at)
            await tables.put(COUNTS, {**LAST.key(scope=scope), "lastAt": at}, when=grows)

    await asyncio.gather(*(note(scope, at) for scope, at in latest.items()))


def slot_of(shard: str) -> str:
    """Where a part of the stream adds."""
    return SLOTS[blake2b(shard.encode(), digest_size=1).digest()[0] % len(SLOTS)]


def growth_of(new: Iterable[ClickRow], old: Iterable[ClickRow]) -> dict[Place, dict[str, int]]:
    """What counts grow by when clicks that were as `old` are as `new`; people apart."""
    growth = tally(new).growth
    for place, less in tally(old).growth.items():
        row = growth.setdefault(place, {})
        for name, number in less.items():
            row[name] = row.get(name, 0) - number
    return growth


def clicks_in(changes: Iterable[Change]) -> tuple[list[ClickRow], list[ClickRow]]:
    """What changes leave behind and what they found, without what is not a click or makes no sense."""
    new: list[ClickRow] = []
    old: list[ClickRow] = []
    for change in changes:
        if change.new is not None and str(change.new.get("recordSort", "")).startswith(CLICK_PREFIX):
            with suppress(msgspec.ValidationError, Invalid):
                before = [] if change.old is None else [_click(change.old)]
                new.append(_click(change.new))
                old += before
    return new, old


def makes_sense(click: ClickRow) -> bool:
    """Whether it can be counted: other programs write into the table, too, and need not mind what a server would."""
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
    if not makes_sense(click):
        raise Invalid("A field of this click is not as clicks are.")
    return click


def _rows(counted: _Counted) -> list[ClickRow]:
    return [row for row in (counted.new, counted.old) if row is not None]


def _within_one_question(counted: Sequence[_Counted]) -> Sequence[_Counted]:
    """The first of them, and as many more as one question to the store can be about."""
    marks: set[_Mark] = set()
    for number, each in enumerate(counted):
        marks |= each.marks
        if number and len(marks) > _MOST_MARKERS:
            return counted[:number]
    return counted


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
    days = {row.created[:10] for each in covered for row in _rows(each)}
    return [UNPUBLISHED.put(UnpublishedRow(day=day, slot=slot, stamp=reached)) for day in days]
