"""Recovery: finish acts that a crash interrupted, look once more at those that are done, and forget old ones."""

from satchel.features.albums.records import ACT, ACT_DUE, ACT_SORT, DUE_INDEX, ActDueRow
from satchel.features.albums.service.album_act import KEPT_FOR, carry_out, due_row, read_act
from satchel.features.albums.service.context import Albums
from satchel.kernel.clock import from_iso
from satchel.kernel.errors import SatchelError
from satchel.stores.ports.table import Range


async def sweep_acts(albums: Albums) -> int:
    """See to the acts that are due. How many were forgotten."""
    page = await albums.tables.query(ACT_DUE.table, ACT_SORT, Range(high=albums.now()), index=DUE_INDEX)
    forgotten, failures = 0, list[SatchelError]()
    for item in await albums.tables.get_many(ACT_DUE.table, [ACT_DUE.table.key_of(item) for item in page.items]):
        if item is None:
            continue
        try:
            forgotten += await _see_to(albums, ACT_DUE.read(item))
        except SatchelError as error:
            # One that cannot be finished must not keep the others from it.
            failures.append(error)
    if failures:
        raise failures[0]
    return forgotten


async def _see_to(albums: Albums, due: ActDueRow) -> int:
    act = await read_act(albums, due.owner, due.act_id)
    ends = None if act is None else from_iso(act.at) + KEPT_FOR.total_seconds()
    if act is not None and ends is not None and (albums.clock() < ends or not act.done_at):
        was_done = bool(act.done_at)
        await carry_out(albums, act, within=None)
        if was_done:
            # Once more was enough.
            await albums.tables.put(ACT_DUE.table, ACT_DUE.item(due_row(albums, act, KEPT_FOR)))
        return 0
    await albums.tables.write_many(
        ACT.table,
        delete=[ACT.key(owner=due.owner, act_id=due.act_id), ACT_DUE.key(owner=due.owner, act_id=due.act_id)],
    )
    return 1
