"""Publish what workers have folded: the seed's rows of days, months and the total, and live figures for owners.

Rows are assigned, never added to, so that doing it again changes nothing. A note comes with every fold, and goes only
after what it is about has been published, and only if nothing was folded since.
"""

from collections.abc import Collection
from contextlib import suppress

from satchel.features.clicks.events import StatsChanged, Teller
from satchel.features.clicks.records import SITE, UNPUBLISHED, UnpublishedRow, stat_item
from satchel.features.clicks.service.counts import read_sum
from satchel.features.clicks.service.folding import owner_scope, periods_of
from satchel.features.clicks.service.leases import Lease
from satchel.kernel.clock import Clock, iso
from satchel.stores.ports.expressions import attr
from satchel.stores.ports.table import MAX_PAGE_ITEMS, ConditionFailed, Put, Tables, TransactionCancelled
from satchel.tables import CLICKS, COUNTS

PUBLISHER = "publisher"


async def publish(tables: Tables, lease: Lease) -> int:
    """Assign every row of the seed that has changed, if nobody else is at it; how many."""
    notes = await _notes(tables)
    if not notes or not await lease.take():
        return 0
    periods = {period for note in notes for period in periods_of(note.day)}
    for period in periods:
        total = await read_sum(tables, SITE, period)
        row = Put(CLICKS, stat_item(period, total.clicks, total.people))
        try:
            # Whoever took over has read later than we have: what we know may be old by now.
            await tables.transact([row, lease.is_ours()])
        except TransactionCancelled:
            return 0
    for note in notes:
        with suppress(ConditionFailed):
            unchanged = attr("stamp") == note.stamp
            await tables.delete(COUNTS, UNPUBLISHED.key(day=note.day, slot=note.slot), when=unchanged)
    return len(periods)


async def tell_owners(tables: Tables, clock: Clock, teller: Teller, owners: Collection[str]) -> None:
    """Let owners see their figures grow."""
    today = iso(clock())[:10]
    figures: dict[str, StatsChanged] = {}
    for owner in owners:
        total = await read_sum(tables, owner_scope(owner))
        day = await read_sum(tables, owner_scope(owner), f"DAY:{today}")
        figures[owner] = StatsChanged(total=total.clicks, today=day.clicks, day=today)
    teller.note(figures)


async def _notes(tables: Tables) -> list[UnpublishedRow]:
    notes: list[UnpublishedRow] = []
    cursor: str | None = None
    while True:
        partition = UNPUBLISHED.keys["PK"].render({})
        page = await tables.query(COUNTS, partition, limit=MAX_PAGE_ITEMS, cursor=cursor)
        notes += [UNPUBLISHED.read(item) for item in page.items]
        cursor = page.cursor
        if cursor is None:
            return notes
