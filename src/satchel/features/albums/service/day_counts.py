"""Reads how many medias each day has, of an owner or of an album, and brings counts from before to the months' rows.

In a library from before, each day has a row of its own. Whoever reads it adds it to its month and deletes it, in one
transaction. Nothing else writes it any more, and a month can be added to whether or not it has its old days yet. So
writers need not know, and it does not matter who brings a day, or whether a crash comes between two months.
"""

import asyncio
from itertools import groupby

from satchel.features.albums.count_records import ALBUM_DAY, MONTH, count_days, days_in, month_of, still
from satchel.features.albums.service.context import Albums
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.ports.table import Delete, Item, StartsWith

_PAGE = 1000
_FROM_BEFORE = ALBUM_DAY.keys["SK"].render_prefix({})


async def read_days(albums: Albums, partition: str) -> dict[str, int]:
    """The days that have medias, the last first."""
    return {day: count for item in await _months(albums, partition) for day, count in days_in(item)}


async def month_range(albums: Albums, partition: str) -> tuple[str, str] | None:
    """The first and the last month that has, or had, medias."""
    first = await _edge(albums, partition, descending=False)
    if first is not None and _is_from_before(first):
        await _months(albums, partition)
        first = await _edge(albums, partition, descending=False)
    last = await _edge(albums, partition, descending=True)
    return None if first is None or last is None else (_month(first), _month(last))


async def _edge(albums: Albums, partition: str, *, descending: bool) -> Item | None:
    page = await albums.tables.query(MONTH.table, partition, descending=descending, limit=1)
    return page.items[0] if page.items else None


def _month(item: Item) -> str:
    return MONTH.keys["SK"].parse(item["SK"])["month"]


async def _months(albums: Albums, partition: str) -> list[Item]:
    """The rows of the months, the last first. Those of days from before are brought to them."""
    while True:
        items = await _rows(albums, partition)
        days = [item["Day"] for item in items if _is_from_before(item)]
        if not days:
            return items
        for _, months in groupby(sorted({month_of(day) for day in days}), key=lambda month: month[:4]):
            await asyncio.gather(*(_bring(albums, partition, month) for month in months))


async def _rows(albums: Albums, partition: str) -> list[Item]:
    items: list[Item] = []
    cursor: str | None = None
    while True:
        page = await albums.tables.query(MONTH.table, partition, descending=True, limit=_PAGE, cursor=cursor)
        items += page.items
        if (cursor := page.cursor) is None:
            return items


@optimistic_update()
async def _bring(albums: Albums, partition: str, month: str) -> None:
    """Add the days of a month from before to its row: as many as fit into a transaction."""
    old = StartsWith(f"{_FROM_BEFORE}{month}")
    page = await albums.tables.query(MONTH.table, partition, old, limit=albums.most_writes - 1)
    if not page.items:
        return
    counts = {item["Day"]: item.get("Count", 0) for item in page.items}
    gone = [Delete(MONTH.table, MONTH.table.key_of(item), still("Count", item.get("Count", 0))) for item in page.items]
    await albums.tables.transact([*count_days(partition, counts), *gone])


def _is_from_before(item: Item) -> bool:
    return item["SK"].startswith(_FROM_BEFORE)
