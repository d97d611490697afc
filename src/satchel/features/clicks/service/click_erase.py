"""Forget a person: their clicks and every mark of them go, while the sums stay as they were counted.

The days concerned are noted first, since no recount of them would come out right any more. Should the person click
again, they are somebody new.
"""

from collections.abc import Sequence

from satchel.features.clicks.model import check_id
from satchel.features.clicks.records import CLICK, ERASED_FROM, MARKER, SENT, ErasedFromRow
from satchel.features.clicks.service.context import Clicks
from satchel.stores.ports.bulk import Step
from satchel.stores.ports.table import Key
from satchel.tables import COUNTS

# Few enough that other writes need not wait long.
_AT_ONCE = 500


async def erase_person(clicks: Clicks, user_id: str) -> int:
    """How many clicks were erased. If it breaks off, doing it again does the rest."""
    check_id(user_id)
    erased = 0
    while page := (await clicks.tables.query(CLICK.table, user_id, limit=_AT_ONCE)).items:
        days = {item["createDateTime"][:10] for item in page}
        notes = [ERASED_FROM.item(ErasedFromRow(day=day)) for day in days]
        await clicks.tables.write_many(COUNTS, put=notes)
        await clicks.tables.write_many(CLICK.table, delete=[CLICK.table.key_of(item) for item in page])
        erased += len(page)
    for shape in (MARKER, SENT):
        await _empty(clicks, shape.keys["PK"].render({"user_id": user_id}))
    return erased


async def _empty(clicks: Clicks, partition: str) -> None:
    while page := (await clicks.tables.query(COUNTS, partition, limit=_AT_ONCE)).items:
        keys = [COUNTS.key_of(item) for item in page]
        if clicks.bulk is None:
            await clicks.tables.write_many(COUNTS, delete=keys)
            clicks.recorder.forget_known()
        else:
            await clicks.bulk.in_one_step(lambda step, keys=keys: _take_away(step, clicks, keys))


def _take_away(step: Step, clicks: Clicks, keys: Sequence[Key]) -> None:
    for key in keys:
        step.delete(COUNTS, key)
    clicks.recorder.forget_known()
