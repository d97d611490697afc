"""Publish what workers have folded: the site's rows of days, months and the total, and live figures for owners.

Rows are assigned, never added to, so publishing again changes nothing. Every fold leaves a note. The note is deleted
only after its day has been published, and only if nothing was folded since. One worker publishes at a time, by a lease.
"""

from collections.abc import Collection
from contextlib import suppress
from datetime import timedelta

from satchel.features.clicks.events import OwnerNotifier, StatsChanged
from satchel.features.clicks.records import SITE, stat_item
from satchel.features.clicks.service.counts import owner_scope, periods_of, read_sum
from satchel.features.clicks.stream_records import LEASED, UNPUBLISHED, UnpublishedRow
from satchel.kernel.clock import Clock, iso
from satchel.stores.patterns.lease import TableLease
from satchel.stores.ports.expressions import attr
from satchel.stores.ports.table import MAX_PAGE_ITEMS, ConditionFailed, Put, Tables, TransactionCancelled
from satchel.tables import CLICKS, COUNTS

PUBLISHER_LEASE_LASTS = timedelta(seconds=10)
_PUBLISHER = "publisher"


def publisher_lease(tables: Tables, clock: Clock, holder: str) -> TableLease:
    """The lease of the one worker that publishes."""
    return TableLease(
        tables=tables, clock=clock, shape=LEASED, name=_PUBLISHER, holder=holder, lasts=PUBLISHER_LEASE_LASTS
    )


async def publish(tables: Tables, lease: TableLease) -> int:
    """Assign every row of the site that has changed, unless another worker holds the lease; how many."""
    notes = await _notes(tables)
    if not notes or not await lease.take():
        return 0
    periods = {period for note in notes for period in periods_of(note.day)}
    for period in periods:
        total = await read_sum(tables, SITE, period)
        row = Put(CLICKS, stat_item(period, total.clicks, total.people))
        if not total.clicks and await tables.get(CLICKS, CLICKS.key_of(row.item)) is None:
            # A month is noted by its first day, which may have no clicks.
            continue
        try:
            # A worker that took the lease over has read later sums than these.
            await tables.transact([row, lease.fence()])
        except TransactionCancelled:
            return 0
    for note in notes:
        with suppress(ConditionFailed):
            unchanged = attr("stamp") == note.stamp
            await tables.delete(COUNTS, UNPUBLISHED.key(day=note.day, slot=note.slot), when=unchanged)
    return len(periods)


async def notify_owners(tables: Tables, clock: Clock, notifier: OwnerNotifier, owners: Collection[str]) -> None:
    """Send owners their figures while they look."""
    today = iso(clock())[:10]
    figures: dict[str, StatsChanged] = {}
    for owner in owners:
        total = await read_sum(tables, owner_scope(owner))
        day = await read_sum(tables, owner_scope(owner), f"DAY:{today}")
        figures[owner] = StatsChanged(total=total.clicks, today=day.clicks, day=today)
    notifier.notify(figures)


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
