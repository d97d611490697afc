"""Join the slots of counts, when tables that servers shared become those of one server."""

from satchel.features.clicks.records import COUNT, ONE_SLOT, SLOTS
from satchel.stores.ports.expressions import add
from satchel.stores.ports.table import Delete, Item, Key, Tables, Update
from satchel.stores.ports.whole_stores import ScansTables
from satchel.tables import COUNTS


async def join_slots(tables: Tables) -> None:
    """Each count becomes one row. What is done can be done again: a slot is added and deleted in one step."""
    assert isinstance(tables, ScansTables)
    after: Key | None = None
    while True:
        page = await tables.scan(COUNTS, after, limit=500)
        for item in page.items:
            if item["PK"].startswith(COUNT.keys["PK"].render_prefix({})):
                await _join(tables, item)
        if (after := page.after) is None:
            return


async def _join(tables: Tables, item: Item) -> None:
    period, _, slot = item["SK"].rpartition("#")
    if slot == ONE_SLOT or slot not in SLOTS:
        return
    adding = [add(name, value) for name, value in item.items() if name not in COUNTS.key_names]
    whole = {"PK": item["PK"], "SK": f"{period}#{ONE_SLOT}"}
    await tables.transact([Delete(COUNTS, COUNTS.key_of(item)), Update(COUNTS, whole, adding)])
