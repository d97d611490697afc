"""Follows a table's stream so that an effect and the position behind it are one write: nothing twice, nothing missed.

async def count(changes: Sequence[Change]) -> list[Write]:
    return [Update(TOTALS, {"day": day}, [add("opened", n)]) for day, n in tally(changes)]

await tables.create(TOTALS, POSITIONS)
while await consume(tables, CLICKS, "totals", count): ...
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from satchel.stores.ports.expressions import Condition, attr
from satchel.stores.ports.table import (
    Change,
    Item,
    Put,
    Shard,
    Tables,
    TableSpec,
    TransactionCancelled,
    Write,
    text,
)

POSITIONS = TableSpec("StreamPositions", text("consumer"), text("shard"))

Handle: TypeAlias = Callable[[Sequence[Change]], Awaitable[Sequence[Write]]]


async def consume(tables: Tables, table: TableSpec, consumer: str, handle: Handle, *, limit: int = 25) -> int:
    """Look once into every part of the stream and carry out what `handle` makes of the next changes; how many.

    `handle` says what to write, up to 99 writes for `limit` changes, and writes nothing itself: it is asked again for
    the same changes after a failure, and by a rival of the same name. Whoever commits first moves the position; the
    other's writes do not happen. A part is begun only once its parent is finished, so that each item's changes come in
    order. `PositionLost` means that changes are gone: rebuild what depends on them, `start_over`, and go on.
    """
    shards = await tables.shards(table)
    stored = await tables.get_many(POSITIONS, [_key(table, consumer, shard) for shard in shards])
    unfinished = {shard.id for shard in shards}
    taken = 0
    for shard, position in zip(shards, stored, strict=True):
        if shard.parent in unfinished:
            continue
        if position is None or not position["ended"]:
            count, ended = await _take(tables, table, _key(table, consumer, shard), position, handle, limit)
            taken += count
            if not ended:
                continue
        unfinished.discard(shard.id)
    return taken


async def start_over(tables: Tables, table: TableSpec, consumer: str) -> None:
    """Forget the positions of a consumer, so that it begins again with the oldest changes that are kept."""
    shards = await tables.shards(table)
    await tables.write_many(POSITIONS, delete=[_key(table, consumer, shard) for shard in shards])


async def _take(
    tables: Tables, table: TableSpec, key: dict[str, str], position: Item | None, handle: Handle, limit: int
) -> tuple[int, bool]:
    """How many changes were carried out, and whether this part of the stream is finished."""
    after: str | None = None if position is None else position["after"]
    found = await tables.changes(table, key["shard"], after, limit=limit)
    if not found.changes and not found.ended:
        return 0, False
    writes = await handle(found.changes) if found.changes else ()
    reached = found.changes[-1].position if found.changes else after
    move = Put(POSITIONS, {**key, "after": reached, "ended": found.ended}, when=_still_at(position))
    try:
        await tables.transact([*writes, move])
    except TransactionCancelled as refusal:
        if refusal.reasons[-1] == "condition":
            return 0, False  # a rival took these changes
        raise
    return len(found.changes), found.ended


def _still_at(position: Item | None) -> Condition:
    return attr("shard").absent() if position is None else attr("after") == position["after"]


def _key(table: TableSpec, consumer: str, shard: Shard) -> dict[str, str]:
    return {"consumer": f"{table.name}/{consumer}", "shard": shard.id}
