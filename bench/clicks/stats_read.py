"""What statistics cost to read when there are a thousand clicks, and when there are a million."""

import random
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from pathlib import Path

from bench.clicks.service import opened
from bench.figures import Figure, Sample, at_least, compare
from bench.rounds import Measure, in_turn
from satchel.features.clicks.model import QUARTER, stamp
from satchel.features.clicks.records import (
    CLICK,
    SITE,
    TOTAL_CLICKS,
    UNIQUE_USERS,
    ClickRow,
    click_row,
    count_key,
    stat_item,
)
from satchel.features.clicks.service.click_list import day_stat
from satchel.features.clicks.service.context import Clicks
from satchel.features.clicks.service.counts import Place, Tally, link_scope, read_sums
from satchel.stores.connect import bulk_of
from satchel.stores.ports.table import Item
from satchel.tables import CLICKS, COUNTS

FEW = 1_000
LAST = date(2025, 10, 31)
DAYS = [LAST - timedelta(days=number) for number in range(31)]
PEOPLE = 20_000
LINKS = 10
_AT_ONCE = 5_000
_READS = 100
_ROUNDS = 20

Reading = Callable[[Clicks], Awaitable[object]]


async def measure(folder: Path, clicks: int) -> list[Figure]:
    async with opened(folder / "few") as few, opened(folder / "many") as many:
        await _fill(few, FEW)
        await _fill(many, clicks)
        figures: list[Figure] = []
        readings: dict[str, Reading] = {
            "the row of a day": lambda each: day_stat(each, LAST),
            "31 days": _series(SITE),
            "31 days of a link": _series(link_scope("link-0")),
        }
        for what, reading in readings.items():
            contestants = {"few": _repeated(few, reading), "many": _repeated(many, reading)}
            for contestant in contestants.values():
                await contestant()
            samples = await in_turn(f"clicks, {what}", _ROUNDS, contestants)
            figures.append(
                compare(
                    f"{what} of {clicks:,} clicks",
                    "/s",
                    samples,
                    ours="many",
                    peer="few",
                    target=at_least(0.67),
                    note=f"beside the same of {FEW:,}; half of the clicks are on links.",
                )
            )
        return figures


def _series(scope: str) -> Reading:
    return lambda clicks: read_sums(clicks.tables, scope, f"DAY:{DAYS[-1]}", f"DAY:{DAYS[0]}")


def _repeated(clicks: Clicks, reading: Reading) -> Measure:
    async def run() -> Sample:
        started = time.perf_counter()
        for _ in range(_READS):
            await reading(clicks)
        return Sample(_READS, time.perf_counter() - started)

    return run


async def _fill(clicks: Clicks, number: int) -> None:
    """Clicks and what they come to, written as a recorder would have left them but for the markers."""
    bulk = bulk_of(clicks.tables)
    assert bulk is not None
    counted = Tally()
    rows = _rows(number)
    while some := list(islice(rows, _AT_ONCE)):
        counted.add(some)
        items = [CLICK.item(row) for row in some]
        await bulk.in_one_step(lambda step, items=items: step.insert_new(CLICKS, items))
    people = counted.people()
    await clicks.tables.write_many(COUNTS, put=list(_counts(counted, people)))
    site = ((period, growth) for (scope, period), growth in counted.growth.items() if scope == SITE)
    stats = [
        stat_item(period, growth[TOTAL_CLICKS], len(people[SITE, period]))
        for period, growth in site
        if not period.startswith(QUARTER)
    ]
    await clicks.tables.write_many(CLICKS, put=stats)


def _rows(number: int) -> Iterator[ClickRow]:
    """Evenly over the days, at times that nobody has twice."""
    chance = random.Random(1)
    first = int(datetime.combine(DAYS[-1], datetime.min.time(), UTC).timestamp() * 1000)
    step = len(DAYS) * 86_400_000 // number
    for place in range(number):
        user_id, created = f"user-{chance.randrange(PEOPLE)}", stamp(first + place * step)
        if place % 2:
            yield click_row(user_id, created)
        else:
            link = place // 2 % LINKS
            yield click_row(user_id, created, target=f"link-{link}", thing=f"file:{link}", owner="ann")


def _counts(counted: Tally, people: Mapping[Place, AbstractSet[str]]) -> Iterator[Item]:
    for place, growth in counted.growth.items():
        seen = people.get(place)
        yield {**count_key(*place), **growth, **({UNIQUE_USERS: len(seen)} if seen else {})}
