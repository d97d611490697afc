"""The table stores that one suite runs against, and what each of the servers behind them can be held to."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from satchel.kernel.clock import ManualClock
from satchel.kernel.errors import Invalid, SatchelError, StoreRefused
from satchel.stores.distributed.table_dynamodb import DynamoTables
from satchel.stores.embedded.table_sqlite import SqliteTables
from satchel.stores.ports.table import (
    IndexSpec,
    Item,
    Page,
    Tables,
    TableSpec,
    TransactionCancelled,
    binary,
    number,
    text,
)

THINGS = TableSpec(
    "Things",
    text("owner"),
    text("name"),
    indexes=(
        IndexSpec("ByColour", text("colour"), number("weight")),
        IndexSpec("ByShape", text("shape"), carries="keys"),
        IndexSpec("ByMaker", text("maker"), text("name"), carries=("weight",)),
    ),
    expiry="until",
    stream=True,
)
LOGS = TableSpec("Logs", text("owner"), number("at"))
BLOBS = TableSpec("Blobs", text("owner"), binary("digest"))
# Nothing but a partition key, and that one of bytes.
SINGLES = TableSpec("Singles", binary("id"))
TABLES = (THINGS, LOGS, BLOBS, SINGLES)

# What a store can be held to here, beyond the contract or short of it.
INDEX_IS_IMMEDIATE = "index_is_immediate"
# DynamoDB Local as it is published on npm is of 2020. AWS allowed empty texts and bytes outside of keys later that
# year, and transactions of more than 10 (then 25, then 100) items; and it never checks index keys in an update,
# which AWS does. moto knows these three, but no tokens, and gets many other things wrong: it runs only where named.
KEEPS_EMPTY_VALUES = "keeps_empty_values"
TRANSACTS_A_HUNDRED = "transacts_a_hundred"
CHECKS_UPDATED_INDEX_KEYS = "checks_updated_index_keys"
# DynamoDB sweeps by the clock of the world, days later; SQLite when told to, by our clock.
SWEEPS_WHEN_TOLD = "sweeps_when_told"


@dataclass
class TableHarness:
    """One set of tables that can be opened again and again, and a clock that only tests move."""

    promises: frozenset[str]
    _open: Callable[["TableHarness"], Awaitable[Tables]]
    # Python that opens the same tables in another process, and the imports that it needs.
    recipe: str
    # Ahead of the world's clock, so that DynamoDB's own sweeping never takes away what is still live to a test.
    clock: ManualClock = field(default_factory=lambda: ManualClock(float(int(time.time()) + 3600)))
    _opened: list[Tables] = field(default_factory=list[Tables])

    @property
    def first(self) -> Tables:
        return self._opened[0]

    async def open(self) -> Tables:
        tables = await self._open(self)
        self._opened.append(tables)
        return tables

    async def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)

    async def close(self) -> None:
        for tables in self._opened:
            await tables.close()


def sqlite_tables(path: Path) -> TableHarness:
    return TableHarness(
        promises=frozenset(
            {
                INDEX_IS_IMMEDIATE,
                KEEPS_EMPTY_VALUES,
                TRANSACTS_A_HUNDRED,
                CHECKS_UPDATED_INDEX_KEYS,
                SWEEPS_WHEN_TOLD,
            }
        ),
        _open=lambda harness: SqliteTables.open(path, clock=harness.clock),
        recipe=f"""
from pathlib import Path
from typing import Any
from satchel.stores.embedded.table_sqlite import SqliteTables
opening = SqliteTables.open(Path({str(path)!r}), clock=clock)
""",
    )


def dynamodb_tables(endpoint: str, promises: frozenset[str] = frozenset()) -> TableHarness:
    # All tests share one server: a prefix of its own keeps each set of tables apart.
    prefix = f"test-{uuid4().hex[:12]}-"
    return TableHarness(
        promises=promises,
        _open=lambda harness: DynamoTables.open("us-east-1", endpoint=endpoint, prefix=prefix, clock=harness.clock),
        recipe=f"""
from satchel.stores.distributed.table_dynamodb import DynamoTables
opening = DynamoTables.open("us-east-1", endpoint={endpoint!r}, prefix={prefix!r}, clock=clock)
""",
    )


Make = Callable[[pytest.FixtureRequest], TableHarness]


def _sqlite(request: pytest.FixtureRequest) -> TableHarness:
    folder: Path = request.getfixturevalue("tmp_path_factory").mktemp("tables")
    return sqlite_tables(folder / "tables.db")


def _dynamodb_local(request: pytest.FixtureRequest) -> TableHarness:
    return dynamodb_tables(request.getfixturevalue("dynamodb_endpoint"))


def _moto(request: pytest.FixtureRequest) -> TableHarness:
    promises = {KEEPS_EMPTY_VALUES, TRANSACTS_A_HUNDRED, CHECKS_UPDATED_INDEX_KEYS}
    return dynamodb_tables(request.getfixturevalue("moto_endpoint"), frozenset(promises))


_SQLITE = pytest.param(_sqlite, id="sqlite")
_MOTO = pytest.param(_moto, id="moto", marks=pytest.mark.services)

HARNESSES = [_SQLITE, pytest.param(_dynamodb_local, id="dynamodb-local", marks=pytest.mark.services)]
# For what DynamoDB Local does not know yet.
NEWER_HARNESSES = [_SQLITE, _MOTO]


async def eventually(look: Callable[[], Awaitable[Any]], expected: Any, within_seconds: float = 5.0) -> None:
    """Look until what is expected is found; at the end fail with what was found instead."""
    deadline = asyncio.get_running_loop().time() + within_seconds
    while (found := await look()) != expected and asyncio.get_running_loop().time() < deadline:
        await asyncio.sleep(0.01)
    assert found == expected


async def pages_of(
    tables: Tables, table: TableSpec, partition: Any, *sort: Any, **options: Any
) -> AsyncIterator[list[Item]]:
    cursor: str | None = None
    while True:
        page = await tables.query(table, partition, *sort, cursor=cursor, **options)
        yield page.items
        if page.cursor is None:
            return
        assert page.items, "a page that goes on has items"
        cursor = page.cursor


async def all_of(tables: Tables, table: TableSpec, partition: Any, *sort: Any, **options: Any) -> list[Item]:
    return [item async for items in pages_of(tables, table, partition, *sort, **options) for item in items]


def exact(answer: Any) -> Any:
    """A form of an answer in which what differs in type is different, and errors are their class and reasons."""
    match answer:
        case TransactionCancelled():
            return answer.reasons
        case StoreRefused():
            return Invalid  # what SQLite refuses by our rules, DynamoDB may refuse by its own
        case SatchelError():
            return type(answer)
        case Page():
            return [exact(item) for item in answer.items], answer.cursor
        case dict():
            return {name: exact(value) for name, value in answer.items()}  # pyright: ignore[reportUnknownVariableType]
        case list():
            return [exact(value) for value in answer]  # pyright: ignore[reportUnknownVariableType]
        case _:
            return type(answer), answer
