"""Delete clicks where workers fold them, and take from every figure what they added to it.

Each click goes in the transaction that takes from the counts, so that repeating it takes nothing twice. Sums do not
mind whether a worker has folded the click yet. People do: of a click that is folded later, its reader stays counted.
"""

import asyncio
import random
from collections.abc import Sequence

from satchel.features.clicks.records import ALL, CLICK, COUNT, ONE_SLOT, UNIQUE_USERS, ClickRow, marker_item
from satchel.features.clicks.service.context import ClickLog
from satchel.features.clicks.service.counts import tally
from satchel.features.clicks.service.people_unmark import times_of, touched, unmark
from satchel.features.clicks.stream_records import UNPUBLISHED, UnpublishedRow
from satchel.kernel.errors import Conflict
from satchel.kernel.ids import new_id
from satchel.stores.ports.expressions import add, attr
from satchel.stores.ports.table import Delete, Put, TransactionCancelled, Write
from satchel.tables import CLICKS, COUNTS

_ATTEMPTS = 20
_LONGEST_PAUSE_SECONDS = 0.2


async def take_back(clicks: ClickLog, rows: Sequence[ClickRow], complete: float, *, most_writes: int) -> int:
    """How many of them were still there. `complete` is the moment since when all clicks are."""
    left, taken, failed = list(rows), list[ClickRow](), 0
    while left:
        number = _fitting(left, most_writes)
        batch, left = left[:number], left[number:]
        try:
            await clicks.tables.transact(_writes(clicks, batch))
        except TransactionCancelled:
            keys = [CLICK.key(user_id=row.user_id, created=row.created) for row in batch]
            found = await clicks.tables.get_many(CLICKS, keys)
            there = [row for row, item in zip(batch, found, strict=True) if item is not None]
            left = there + left
            if len(there) < len(batch):
                continue
            failed += 1
            if failed == _ATTEMPTS:
                raise Conflict("Clicks come in faster than they can be taken back. Try again.") from None
            await asyncio.sleep(random.random() * _LONGEST_PAUSE_SECONDS)  # noqa: S311 -- no secret
        else:
            taken += batch
    for user_id in {row.user_id for row in taken}:
        await _unmark(clicks, user_id, taken, complete)
    return len(taken)


def _fitting(rows: Sequence[ClickRow], most_writes: int) -> int:
    """How many fit into a transaction; at least one."""
    number = 1
    while number < len(rows):
        some = rows[: number + 1]
        if len(some) + len(tally(some).growth) + len({row.created[:10] for row in some}) > most_writes:
            break
        number += 1
    return number


def _writes(clicks: ClickLog, rows: Sequence[ClickRow]) -> list[Write]:
    writes: list[Write] = [
        Delete(CLICKS, CLICK.key(user_id=row.user_id, created=row.created), attr("userId").exists()) for row in rows
    ]
    writes += [
        COUNT.update([add(name, -number) for name, number in growth.items()], scope=scope, period=period, slot=ONE_SLOT)
        for (scope, period), growth in tally(rows).growth.items()
    ]
    return writes + [_note(clicks, day) for day in sorted({row.created[:10] for row in rows})]


def _note(clicks: ClickLog, day: str) -> Put:
    """The note that a day has to be published, with its month and the total."""
    return UNPUBLISHED.put(UnpublishedRow(day=day, slot=ONE_SLOT, stamp=new_id(clicks.clock)))


async def _unmark(clicks: ClickLog, user_id: str, rows: Sequence[ClickRow], complete: float) -> None:
    """Take somebody from the people of the periods where no click of theirs is left, each in one transaction."""
    scopes, periods = touched(user_id, rows, complete)
    emptied = {each for each in periods if not await _has_clicks(clicks, user_id, each)}
    for scope in scopes if emptied else ():
        named = sorted({*emptied, ALL})
        keys = [marker_item(user_id, each, scope, None) for each in named]
        markers = dict(zip(named, await clicks.tables.get_many(COUNTS, keys), strict=True))
        outcome = unmark(user_id, scope, emptied, markers)
        writes: list[Write] = [Delete(COUNTS, key, attr("PK").exists()) for key in outcome.deleted]
        writes += [Put(COUNTS, marker) for marker in outcome.stored]
        writes += [
            COUNT.update([add(UNIQUE_USERS, -1)], scope=scope, period=each, slot=ONE_SLOT) for each in outcome.lost
        ]
        day = next(row.created[:10] for row in rows if row.user_id == user_id)
        if outcome.lost:
            await clicks.tables.transact([*writes, _note(clicks, day)])


async def _has_clicks(clicks: ClickLog, user_id: str, period: str) -> bool:
    return bool((await clicks.tables.query(CLICKS, user_id, times_of(period), limit=1)).items)
