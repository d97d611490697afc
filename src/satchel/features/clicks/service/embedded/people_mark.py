"""Mark people in a step, and tell who is new to which period.

Most people come once. Their marker of all time names the day, which saves the markers of the day and its month.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import compress
from typing import TypeAlias

from satchel.features.clicks.records import ALL, first_marker_item, marker_item
from satchel.features.clicks.service.counts import DAY, Place, is_marked_first, marker_expiry, periods_of
from satchel.stores.ports.bulk import Step
from satchel.stores.ports.table import Item
from satchel.tables import COUNTS

# A scope, a day such as "DAY:2025-10-02", and somebody who was there.
_Seen: TypeAlias = tuple[str, str, str]


def mark_people(step: Step, seen: Mapping[Place, AbstractSet[str]], now: float) -> dict[Place, int]:
    """Mark those who were seen on each day; how many of them are new to it, to its month and to all time.

    A period whose markers have expired has no new people: nobody knows who was counted there.
    """
    people = [(scope, day, user_id) for (scope, day), people in seen.items() for user_id in people]
    all_time = [first_marker_item(user_id, scope, day.removeprefix(DAY)) for scope, day, user_id in people]
    new: dict[Place, int] = {}
    again: list[_Seen] = []
    for each, is_new in zip(people, step.insert_new(COUNTS, all_time), strict=True):
        if is_new:
            scope, day, _ = each
            new[scope, day] = new.get((scope, day), 0) + 1
        else:
            again.append(each)
    for (scope, day), number in list(new.items()):
        for period in periods_of(day.removeprefix(DAY))[1:]:
            new[scope, period] = new.get((scope, period), 0) + number
    for place in _mark_again(step, again, now):
        new[place] = new.get(place, 0) + 1
    return {place: number for place, number in new.items() if _is_open(place[1], now)}


def _mark_again(step: Step, people: Sequence[_Seen], now: float) -> Iterator[Place]:
    """Mark people who came before; each place that one of them is new to."""
    places: list[Place] = []
    markers: list[Item] = []
    for scope, day, user_id in people:
        first = step.get(COUNTS, marker_item(user_id, ALL, scope, None))
        for period in periods_of(day.removeprefix(DAY))[:-1]:
            if _is_open(period, now) and not is_marked_first(first, period):
                places.append((scope, period))
                markers.append(marker_item(user_id, period, scope, marker_expiry(period)))
    return compress(places, step.insert_new(COUNTS, markers))


def _is_open(period: str, now: float) -> bool:
    return (marker_expiry(period) or math.inf) > now
