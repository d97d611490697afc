"""What the tests of the SQLite tables share: a declaration, and a file that is opened as often as asked."""

from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from satchel.kernel.clock import ManualClock
from satchel.stores.embedded.table_sqlite import SqliteTables
from satchel.stores.ports.table import Change, IndexSpec, Item, TableSpec, number, text

BARE = TableSpec("Things", text("owner"), text("name"))
BY_COLOUR = IndexSpec("ByColour", text("colour"), number("weight"))
KEYS_BY_SHAPE = IndexSpec("ByShape", text("shape"), carries="keys")
THINGS = replace(BARE, indexes=(BY_COLOUR, KEYS_BY_SHAPE), expiry="until", stream=True)


def thing(name: str = "n", **more: Any) -> Item:
    return {"owner": "o", "name": name, **more}


def key(name: str = "n") -> dict[str, str]:
    return {"owner": "o", "name": name}


async def changes(tables: SqliteTables, after: str | None = None) -> list[Change]:
    return (await tables.changes(THINGS, "0", after)).changes


class Stores:
    """One file and one clock; every store opened on it is like another server on the same machine."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = ManualClock()
        self._opened: list[SqliteTables] = []

    async def open(self, prefix: str = "") -> SqliteTables:
        self._opened.append(await SqliteTables.open(self.path, clock=self.clock, prefix=prefix))
        return self._opened[-1]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for tables in self._opened:
            await tables.close()
