"""Lists of clicks that are too long for one transaction: written down first, so that they are stored all or none.

The row of a list is written after the rows with its clicks. From then on the list is accepted. Each of its clicks has
an idempotency key, so whoever stores the list may begin again at any point.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import msgspec

from satchel.features.clicks.model import NewClick
from satchel.features.clicks.stream_records import LIST, LIST_PART, ListPartRow, ListRow
from satchel.kernel.clock import Clock, iso
from satchel.kernel.ids import new_id
from satchel.stores.ports.table import Tables
from satchel.tables import COUNTS

# Much longer than it takes to store the longest list.
STORED_WITHIN = timedelta(minutes=1)
CLICKS_PER_PART = 100
# Parts of a list that was never accepted go by themselves.
_KEPT_FOR = timedelta(days=7)


class _Part(msgspec.Struct, frozen=True, array_like=True):
    clicks: list[NewClick]
    times: list[int]


@dataclass(frozen=True, slots=True)
class AcceptedList:
    """A list that has to be stored, and when each of its clicks happened."""

    row: ListRow
    clicks: Sequence[NewClick]
    times: Sequence[int]


async def accept(tables: Tables, clock: Clock, new: Sequence[NewClick], times: Sequence[int]) -> AcceptedList:
    list_id = new_id(clock)
    clicks = [
        click if click.key is not None else msgspec.structs.replace(click, key=f"{list_id}/{place}")
        for place, click in enumerate(new)
    ]
    starts = range(0, len(clicks), CLICKS_PER_PART)
    parts = [
        ListPartRow(
            list_id=list_id,
            part=f"{number:02}",
            clicks=msgspec.msgpack.encode(
                _Part(clicks[start : start + CLICKS_PER_PART], list(times[start : start + CLICKS_PER_PART]))
            ),
            expires_at=int(clock() + _KEPT_FOR.total_seconds()),
        )
        for number, start in enumerate(starts)
    ]
    row = ListRow(list_id=list_id, parts=len(parts), due=iso(clock() + STORED_WITHIN.total_seconds()))
    if len(parts) == 1:
        await tables.transact([LIST_PART.put(parts[0]), LIST.put(row)])
    else:
        await tables.write_many(COUNTS, put=[LIST_PART.item(part) for part in parts])
        await tables.put(COUNTS, LIST.item(row))
    return AcceptedList(row, clicks, times)


async def overdue(tables: Tables, clock: Clock) -> list[AcceptedList]:
    """Some of the lists whose server has died."""
    page = await tables.query(COUNTS, LIST.keys["PK"].render({}))
    rows = [LIST.read(item) for item in page.items]
    return [await _read(tables, row) for row in rows if row.due <= iso(clock())]


async def forget(tables: Tables, accepted: AcceptedList) -> None:
    """The row goes first: without it, parts are nothing."""
    row = accepted.row
    if row.parts == 1:
        await tables.transact([LIST.delete(list_id=row.list_id), LIST_PART.delete(list_id=row.list_id, part="00")])
        return
    await tables.delete(COUNTS, LIST.key(list_id=row.list_id))
    keys = [LIST_PART.key(list_id=row.list_id, part=f"{number:02}") for number in range(row.parts)]
    await tables.write_many(COUNTS, delete=keys)


async def _read(tables: Tables, row: ListRow) -> AcceptedList:
    page = await LIST_PART.list(tables, list_id=row.list_id)
    parts = [msgspec.msgpack.decode(each.clicks, type=_Part) for each in page.records]
    return AcceptedList(
        row, [click for part in parts for click in part.clicks], [at for part in parts for at in part.times]
    )
