"""Delete the rows of a partition, in pages that a crash can come between."""

from typing import Any

from satchel.stores.ports.table import StartsWith, Tables, TableSpec
from satchel.stores.schema import Shape

# Few enough that other writes need not wait long.
_AT_ONCE = 500


async def delete_partition(tables: Tables, table: TableSpec, partition: str, beginning: str = "") -> int:
    """Delete the rows whose sort key begins so, or all of them. Returns how many."""
    gone = 0
    wanted = StartsWith(beginning) if beginning else None
    while items := (await tables.query(table, partition, wanted, limit=_AT_ONCE)).items:
        await tables.write_many(table, delete=[table.key_of(item) for item in items])
        gone += len(items)
    return gone


async def delete_records(tables: Tables, shape: Shape[Any], **fields: str) -> int:
    """Delete the records of one kind in a partition. `fields` name as much of the key as is known."""
    partition, sort = (shape.keys[name] for name in shape.table.key_names)
    return await delete_partition(tables, shape.table, partition.render(fields), sort.render_prefix(fields))
