"""Delete clicks in a step, and take from every figure what they added to it."""

from collections.abc import Sequence

from satchel.features.clicks.model import KINDS, QUARTER
from satchel.features.clicks.records import (
    ALL,
    CLICK,
    SITE,
    TOTAL_CLICKS,
    UNIQUE_USERS,
    ClickRow,
    count_key,
    marker_item,
    stat_item,
)
from satchel.features.clicks.service.counts import Place, tally
from satchel.features.clicks.service.people_unmark import times_of, touched, unmark
from satchel.stores.ports.bulk import Step
from satchel.stores.ports.table import Item
from satchel.tables import CLICKS, COUNTS


def take_back(step: Step, clicks: Sequence[ClickRow], complete: float) -> int:
    """How many of them were still there. `complete` is the moment since when all clicks are."""
    keys = [CLICK.key(user_id=click.user_id, created=click.created) for click in clicks]
    there = [click for click, key in zip(clicks, keys, strict=True) if step.get(CLICKS, key) is not None]
    for key in keys:
        step.delete(CLICKS, key)
    less: dict[Place, dict[str, int]] = tally(there).growth
    for user_id in {click.user_id for click in there}:
        for place in _unmark(step, user_id, there, complete):
            row = less.setdefault(place, {})
            row[UNIQUE_USERS] = row.get(UNIQUE_USERS, 0) + 1
    for (scope, period), row in less.items():
        count: Item = dict(step.get(COUNTS, count_key(scope, period)) or count_key(scope, period))
        for name, number in row.items():
            count[name] = max(0, count.get(name, 0) - number)
        step.put(COUNTS, {name: value for name, value in count.items() if value or name not in KINDS})
        if scope == SITE and not period.startswith(QUARTER):
            step.put(CLICKS, stat_item(period, count.get(TOTAL_CLICKS, 0), count.get(UNIQUE_USERS, 0)))
    return len(there)


def _unmark(step: Step, user_id: str, clicks: Sequence[ClickRow], complete: float) -> list[Place]:
    """Delete the markers of somebody where no click of theirs is left; where they are counted no more."""
    scopes, periods = touched(user_id, clicks, complete)
    emptied = {each for each in periods if not step.query(CLICKS, user_id, times_of(each), limit=1).items}
    lost: list[Place] = []
    for scope in scopes if emptied else ():
        markers = {each: step.get(COUNTS, marker_item(user_id, each, scope, None)) for each in {*emptied, ALL}}
        outcome = unmark(user_id, scope, emptied, markers)
        for key in outcome.deleted:
            step.delete(COUNTS, key)
        for marker in outcome.stored:
            step.put(COUNTS, marker)
        lost += [(scope, each) for each in outcome.lost]
    return lost
