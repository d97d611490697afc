"""Store and fold clicks in one step of a store with one writer, so that no crash can come between the two."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice

from satchel.features.clicks.events import StatsChanged
from satchel.features.clicks.model import KeyReused, Recorded, stamp
from satchel.features.clicks.records import (
    ALL,
    LAST,
    SITE,
    TOTAL_CLICKS,
    UNIQUE_USERS,
    count_key,
    marker_item,
    stat_item,
)
from satchel.features.clicks.service.folding import OWNER_SCOPE, QUARTER, Place, Tally, marker_expiry, tally
from satchel.features.clicks.service.idempotency import Call, Fresh, Plan, stored_row
from satchel.features.clicks.service.preparing import row_of, sent_item
from satchel.kernel.clock import Clock, iso
from satchel.stores.ports.bulk import Step
from satchel.stores.ports.table import Item
from satchel.tables import CLICKS, COUNTS

# How much is remembered to save looking it up; forgetting it costs time and nothing else.
MOST_KNOWN = 200_000
MOST_USED = 50_000
# Where so many milliseconds on end are taken, the search for a free one widens.
NEIGHBOURS = 100


@dataclass(frozen=True, slots=True)
class Marked:
    """Who is counted where, for good once the step that found out is durable; void if markers were taken away since."""

    generation: int
    people: dict[Place, set[str]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a step: for each call its clicks or why it is refused, and what owners may hear of it."""

    answers: list[list[Recorded] | KeyReused]
    figures: dict[str, StatsChanged]
    marked: Marked
    has_grown: bool


class Ledger:
    """Enters clicks into the store. It belongs to the writer's thread, as does all that it remembers."""

    def __init__(self, clock: Clock, kept_for: timedelta | None) -> None:
        self._clock = clock
        self._kept_for = kept_for
        self._generation = 0
        self._known: dict[Place, set[str]] = {}
        self._known_size = 0
        # Where the latest click went that asked for a millisecond of its user.
        self._used: dict[tuple[str, int], int] = {}

    def enter(self, step: Step, calls: Sequence[Call], durable: Marked | None) -> Outcome:
        """Store the clicks of these calls and fold them; `durable` is what the step before has marked."""
        self._learn(durable)
        plan = Plan(step, calls)
        self._store(step, plan.fresh)
        counted = tally(map(stored_row, plan.fresh))
        marked = self._mark(step, counted)
        figures = self._count(step, counted)
        return Outcome(plan.recorded(), figures, marked, has_grown=bool(plan.fresh))

    def forget_known(self) -> None:
        self._generation += 1
        self._known.clear()
        self._known_size = 0

    def _learn(self, durable: Marked | None) -> None:
        if durable is None or durable.generation != self._generation:
            return
        if self._known_size > MOST_KNOWN:
            self._known.clear()
            self._known_size = 0
        for place, people in durable.people.items():
            self._known.setdefault(place, set()).update(people)
            self._known_size += len(people)

    def _store(self, step: Step, fresh: Sequence[Fresh]) -> None:
        if len(self._used) > MOST_USED:
            self._used.clear()
        for each in fresh:
            asked = each.click.user_id, each.at
            used = self._used.get(asked)
            self._used[asked] = created = each.at if used is None else used + 1
            each.row = row_of(each.click, stamp(created), self._kept_for)
        stored = step.insert_new(CLICKS, [stored_row(each) for each in fresh])
        for each, is_stored in zip(fresh, stored, strict=True):
            if not is_stored:
                self._store_later(step, each)
        now = self._clock()
        sent = [
            sent_item(each.click, each.fingerprint, stored_row(each).created, now)
            for each in fresh
            if each.fingerprint is not None
        ]
        step.insert_new(COUNTS, sent)

    def _store_later(self, step: Step, each: Fresh) -> None:
        """Another click of this user has the same millisecond: take the next that is free."""
        asked = each.click.user_id, each.at
        created, tried, stored = self._used[asked], 0, [False]
        while not stored[0]:
            tried += 1
            created += 1 << max(0, tried - NEIGHBOURS)
            each.row = row_of(each.click, stamp(created), self._kept_for)
            stored = step.insert_new(CLICKS, [each.row])
        self._used[asked] = created

    def _mark(self, step: Step, counted: Tally) -> Marked:
        """Let growth have those whom a period has not seen before."""
        unknown = {place: people - self._known.get(place, set()) for place, people in counted.seen.items()}
        markers: list[Item] = []
        for (scope, period), people in unknown.items():
            expires_at = marker_expiry(period)
            markers += [marker_item(user_id, period, scope, expires_at) for user_id in people]
        are_new = iter(step.insert_new(COUNTS, markers))
        for place, people in unknown.items():
            if new := sum(islice(are_new, len(people))):
                counted.growth[place][UNIQUE_USERS] = new
        return Marked(self._generation, unknown)

    def _count(self, step: Step, counted: Tally) -> dict[str, StatsChanged]:
        grown: dict[Place, Item] = {}
        for (scope, period), growth in counted.growth.items():
            count = step.add(COUNTS, count_key(scope, period), growth)
            grown[scope, period] = count
            if scope == SITE and not period.startswith(QUARTER):
                step.put(CLICKS, stat_item(period, count[TOTAL_CLICKS], count.get(UNIQUE_USERS, 0)))
        note_last(step, counted.last)
        return self._figures(step, grown)

    def _figures(self, step: Step, grown: dict[Place, Item]) -> dict[str, StatsChanged]:
        today = iso(self._clock())[:10]
        figures: dict[str, StatsChanged] = {}
        for (scope, period), total in grown.items():
            if period == ALL and scope.startswith(OWNER_SCOPE):
                day = grown.get((scope, f"DAY:{today}")) or step.get(COUNTS, count_key(scope, f"DAY:{today}"))
                figures[scope.removeprefix(OWNER_SCOPE)] = StatsChanged(
                    total=total[TOTAL_CLICKS], today=day[TOTAL_CLICKS] if day else 0, day=today
                )
        return figures


def note_last(step: Step, latest: Mapping[str, str]) -> None:
    """Note when scopes were last clicked, unless something later is known."""
    for scope, at in latest.items():
        key = LAST.key(scope=scope)
        known = step.get(COUNTS, key)
        if known is None or known["lastAt"] < at:
            step.put(COUNTS, {**key, "lastAt": at})
