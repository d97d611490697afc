"""That the embedded table store answers as DynamoDB does: the same random operations on both, every answer compared.

`SATCHEL_DIFFERENTIAL_EXAMPLES` runs more of them than the ordinary run does.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from satchel.kernel.clock import ManualClock
from satchel.kernel.errors import SatchelError
from satchel.stores.distributed.table_dynamodb import DynamoTables
from satchel.stores.embedded.table_sqlite import SqliteTables
from satchel.stores.ports.expressions import Append, Assign, BeginsWith, Compare, Condition
from satchel.stores.ports.table import (
    MAX_ITEM_BYTES,
    Change,
    Check,
    Delete,
    Item,
    Page,
    Put,
    Tables,
    TableSpec,
    Update,
    Write,
)
from tests.stores import strategies_table as some
from tests.stores.harnesses_table import exact
from tests.stores.strategies_table import LINES, NOTES, TABLES

EXAMPLES = int(os.environ.get("SATCHEL_DIFFERENTIAL_EXAMPLES", "25"))
STEPS = 50
# Tokens are remembered for ten minutes: by SQLite of our clock, by DynamoDB of the world's.
TOKEN_SECONDS = 600


class Both:
    """The same tables in an SQLite file and on a DynamoDB server, for one event loop of their own."""

    def __init__(self, endpoint: str) -> None:
        self._runner = asyncio.Runner()
        self._folder = tempfile.TemporaryDirectory(prefix="satchel-differential-")
        # Ahead of the world's clock, by which DynamoDB Local itself takes expired items away.
        self.clock = ManualClock(float(int(time.time()) + 3600))
        self.agree = True
        self.stores = self._runner.run(self._open(endpoint))

    async def _open(self, endpoint: str) -> tuple[Tables, Tables]:
        sqlite = await SqliteTables.open(Path(self._folder.name) / "tables.db", clock=self.clock)
        prefix = f"both-{uuid4().hex[:12]}-"
        dynamo = await DynamoTables.open("us-east-1", endpoint=endpoint, prefix=prefix, clock=self.clock)
        await asyncio.gather(sqlite.create(*TABLES), dynamo.create(*TABLES))
        return sqlite, dynamo

    def ask(self, act: Callable[[Tables], Awaitable[Any]]) -> tuple[Any, Any]:
        """What either store answers; an error stands for itself."""

        async def outcome(tables: Tables) -> Any:
            try:
                return await act(tables)
            except SatchelError as error:
                return error

        async def outcomes() -> tuple[Any, Any]:
            sqlite, dynamo = await asyncio.gather(*map(outcome, self.stores))
            return sqlite, dynamo

        return self._runner.run(outcomes())

    def same(self, act: Callable[[Tables], Awaitable[Any]]) -> Any:
        """Do the same with both, and return the answer that they agree on."""
        self.agree = False
        sqlite, dynamo = self.ask(act)
        assert exact(sqlite) == exact(dynamo), f"\nSQLite says   {sqlite!r}\nDynamoDB says {dynamo!r}"
        self.agree = True
        return sqlite

    def close(self) -> None:
        for tables in self.stores:
            self._runner.run(tables.close())
        self._runner.close()
        self._folder.cleanup()


def _place(item: Item) -> str:
    return str([item["owner"], item.get("name"), item.get("at")])


class TableMachine(RuleBasedStateMachine):
    """Does everything twice; the test below says where DynamoDB Local is."""

    endpoint: str

    def __init__(self) -> None:
        super().__init__()
        self.both = Both(self.endpoint)
        self.started = self.both.clock()
        self.expiries: list[Decimal] = []
        self.largest = 0
        self.left_off: list[tuple[dict[str, Any], str]] = []
        self.transactions: list[tuple[str, list[Write]]] = []

    def teardown(self) -> None:
        try:
            if self.both.agree:  # else what went wrong is known already
                self.compare_streams()
        finally:
            self.both.close()

    def compare_streams(self) -> None:
        self.both.same(_line_changes)
        sqlite, dynamo = self.both.ask(_note_changes)
        _check_chain(sqlite)
        _check_chain(dynamo)

    @property
    def untils(self) -> st.SearchStrategy[Any]:
        """Times around now at which an item may expire, and what is no time at all."""
        now = Decimal(self.both.clock())
        times = [now + seconds for seconds in (-1, 0, 1, 2, 10, Decimal("0.5"), 1000)]
        return st.sampled_from(times).map(self._noted) | st.sampled_from(["soon", None, True])

    def _noted(self, until: Decimal) -> Decimal:
        self.expiries.append(until)
        return until

    @initialize(data=st.data())
    def fill(self, data: st.DataObject) -> None:
        for table in TABLES:
            items = data.draw(st.lists(some.items(table, self.untils), min_size=2, max_size=8, unique_by=_place))
            self.both.same(lambda tables, table=table, items=items: tables.write_many(table, put=items))

    @rule(data=st.data(), table=some.tables, when=some.whens)
    def put(self, data: st.DataObject, table: TableSpec, when: Condition | None) -> None:
        item = data.draw(some.items(table, self.untils))
        self.both.same(lambda tables: tables.put(table, item, when=when))
        self.both.same(lambda tables: tables.get(table, table.key_of(item)))

    @rule(data=st.data(), table=some.tables, twist=st.booleans(), together=st.booleans())
    def put_again(self, data: st.DataObject, table: TableSpec, twist: bool, together: bool) -> None:
        """The same item as is there, or one that is only almost the same; the streams tell whether it was noticed."""
        key = data.draw(some.keys(table))
        found = self.both.same(lambda tables: tables.get(table, key))
        if found is not None:
            item = some.twisted(found, table) if twist else found
            again = [Put(table, item)]
            self.both.same(lambda tables: tables.transact(again) if together else tables.put(table, item))

    @rule(data=st.data(), table=some.tables, when=some.whens)
    def update(self, data: st.DataObject, table: TableSpec, when: Condition | None) -> None:
        key = data.draw(some.keys(table))
        actions = data.draw(some.actions(table, self.untils))
        self.both.same(lambda tables: tables.update(table, key, actions, when=when))
        self.both.same(lambda tables: tables.get(table, key))

    @rule(data=st.data(), table=some.tables, elements=st.lists(some.scalars, min_size=2, max_size=5))
    def edit_a_list(self, data: st.DataObject, table: TableSpec, elements: list[Any]) -> None:
        key = data.draw(some.keys(table))
        edits = data.draw(some.list_edits)
        self.both.same(lambda tables: tables.put(table, {**key, "l": elements}))
        self.both.same(lambda tables: tables.update(table, key, edits))

    @rule(data=st.data(), table=some.tables, when=some.whens)
    def delete(self, data: st.DataObject, table: TableSpec, when: Condition | None) -> None:
        key = data.draw(some.keys(table))
        self.both.same(lambda tables: tables.delete(table, key, when=when))

    @rule(data=st.data(), table=some.tables)
    def get_many(self, data: st.DataObject, table: TableSpec) -> None:
        keys = data.draw(st.lists(some.keys(table), max_size=6))
        self.both.same(lambda tables: tables.get_many(table, keys))

    @rule(data=st.data(), table=some.tables)
    def write_many(self, data: st.DataObject, table: TableSpec) -> None:
        items = data.draw(st.lists(some.items(table, self.untils), max_size=4))
        keys = data.draw(st.lists(some.keys(table), max_size=3))
        self.both.same(lambda tables: tables.write_many(table, put=items, delete=keys))

    @rule(data=st.data(), named=st.booleans())
    def transact(self, data: st.DataObject, named: bool) -> None:
        writes = data.draw(some.writes(self.untils))
        token = uuid4().hex if named else None
        if token is not None:
            self.transactions.append((token, writes))
        self.both.same(lambda tables: tables.transact(writes, token=token))

    @precondition(lambda self: self.transactions and self.both.clock() < self.started + TOKEN_SECONDS)
    @rule(data=st.data(), changed=st.booleans())
    def repeat_a_transaction(self, data: st.DataObject, changed: bool) -> None:
        token, writes = data.draw(st.sampled_from(self.transactions))
        if changed:
            writes = data.draw(some.writes(self.untils))
        self.both.same(lambda tables: tables.transact(writes, token=token))

    @rule(question=some.questions(), limit=some.limits)
    def query(self, question: dict[str, Any], limit: int) -> None:
        if "index" in question:
            return self._query_index(question, limit)
        page = self.both.same(lambda tables: tables.query(**question, limit=limit))
        if isinstance(page, Page) and page.cursor is not None:
            self.left_off.append((question, page.cursor))
        return None

    @precondition(lambda self: self.left_off)
    @rule(data=st.data(), limit=some.limits)
    def read_on(self, data: st.DataObject, limit: int) -> None:
        """Go on from a page that was read before other things happened."""
        question, cursor = data.draw(st.sampled_from(self.left_off))
        page = self.both.same(lambda tables: tables.query(**question, limit=limit, cursor=cursor))
        if page.cursor is not None:
            self.left_off.append((question, page.cursor))

    @precondition(lambda self: self.left_off)
    @rule(data=st.data(), question=some.questions())
    def misuse_a_cursor(self, data: st.DataObject, question: dict[str, Any]) -> None:
        _, cursor = data.draw(st.sampled_from(self.left_off))
        place = data.draw(st.integers(0, len(cursor) - 1))
        broken = cursor[:place] + data.draw(st.sampled_from("Aa0-._=é")) + cursor[place + 1 :]
        self.both.same(lambda tables: tables.query(**question, cursor=broken))

    def _query_index(self, question: dict[str, Any], limit: int) -> None:
        """Through an index the order of ties is open, so what is compared is the whole walk, and its order apart."""

        async def walk(tables: Tables) -> tuple[list[int], list[Item]]:
            found: list[Item] = []
            sizes: list[int] = []
            cursor: str | None = None
            while cursor is not None or not sizes:
                page = await tables.query(**question, limit=limit, cursor=cursor)
                sizes.append(len(page.items))
                found += page.items
                cursor = page.cursor
            if question["index"] == "ByColour":
                weights = [item["weight"] for item in found]
                assert weights == sorted(weights, reverse=question["descending"])
            return sizes, sorted(found, key=lambda item: (item["owner"], item["name"]))

        self.both.same(walk)

    @precondition(lambda self: self.largest < 2)  # these are slow
    @rule(short=st.integers(-1, 1), grow=st.booleans(), note=st.booleans())
    def approach_the_largest_size(self, short: int, grow: bool, note: bool) -> None:
        self.largest += 1
        table = NOTES if note else LINES
        key: Item = {"owner": "big", "name": "é"} if note else {"owner": "big", "at": Decimal("-1.5")}
        # 5 + 3 for the owner; then the sort key: "name" and two bytes of text, or "at" and three of a number
        # (one for two digits, one, and one for its sign); and the name of the filling.
        used = 8 + (4 + 2 if note else 2 + 3) + 4
        fill = "x" * (MAX_ITEM_BYTES - used + short)
        if grow:
            self.both.same(lambda tables: tables.put(table, {**key, "fill": fill[:-1]}))
            self.both.same(lambda tables: tables.update(table, key, [Assign(("fill",), fill)]))
        else:
            self.both.same(lambda tables: tables.put(table, {**key, "fill": fill}))
        self.both.same(lambda tables: tables.get(table, key))

    @precondition(lambda self: self.expiries)
    @rule(data=st.data(), seconds=st.sampled_from([-1, 0, 1]), sweep=st.booleans())
    def go_to_an_expiry(self, data: st.DataObject, seconds: int, sweep: bool) -> None:
        """To the second before, the very second, or the second after. Time goes forward only."""
        soon = [until for until in self.expiries if 0 < until + seconds - Decimal(self.both.clock()) <= 20]
        if soon:
            self.both.clock.now = float(data.draw(st.sampled_from(soon)) + seconds)
            if sweep:  # which only SQLite has to, and nobody may notice
                self.both.ask(lambda tables: tables.sweep())
            for owner in some.OWNERS:
                self.both.same(lambda tables, owner=owner: tables.query(NOTES, owner))

    @rule(data=st.data(), late=st.integers(0, 1), together=st.booleans(), limit=some.limits)
    def write_over_what_has_just_expired(self, data: st.DataObject, late: int, together: bool, limit: int) -> None:
        """Or what has one second left, as the case may be."""
        item = {**data.draw(some.items(NOTES, self.untils)), "until": Decimal(self.both.clock()) + 1}
        key = NOTES.key_of(item)
        self.both.same(lambda tables: tables.put(NOTES, item))
        self.both.clock.advance(late)
        self.both.same(lambda tables: tables.query(NOTES, key["owner"], limit=limit))
        write = data.draw(some.writes_to(NOTES, key, self.untils))
        self.both.same(lambda tables: tables.transact([write]) if together else _alone(tables, write))
        self.both.same(lambda tables: tables.get(NOTES, key))


async def _alone(tables: Tables, write: Write) -> Any:
    match write:
        case Put(table, item, when):
            return await tables.put(table, item, when=when)
        case Update(table, key, actions, when):
            return await tables.update(table, key, actions, when=when)
        case Delete(table, key, when):
            return await tables.delete(table, key, when=when)
        case Check():
            return await tables.transact([write])


async def _changes(tables: Tables, table: TableSpec) -> list[Change]:
    found: list[Change] = []
    for shard in await tables.shards(table):
        after: str | None = None
        while step := (await tables.changes(table, shard.id, after, limit=7)).changes:
            found += step
            after = step[-1].position
    return found


async def _line_changes(tables: Tables) -> dict[str, Any]:
    """What happened to each item, in order."""
    histories: dict[str, Any] = {}
    for change in await _changes(tables, LINES):
        histories.setdefault(str(change.key), []).append([change.old, change.new])
    return {key: histories[key] for key in sorted(histories)}


async def _note_changes(tables: Tables) -> tuple[list[Change], list[Item]]:
    found = await _changes(tables, NOTES)
    pages = [await tables.query(NOTES, owner) for owner in some.OWNERS]
    return found, [item for page in pages for item in page.items]


def _check_chain(told: tuple[list[Change], list[Item]]) -> None:
    """When what has expired leaves the stream is open, so here each store's story only has to hold together."""
    changes, live = told
    stories: dict[str, Item | None] = {}
    for change in changes:
        before = stories.get(str(change.key))
        assert exact(change.old) == exact(before) or (change.old is None and before and "until" in before)
        stories[str(change.key)] = change.new
    known = [exact(item) for item in stories.values()]
    assert all(exact(item) in known for item in live)


MANY = settings(
    max_examples=EXAMPLES,
    stateful_step_count=STEPS,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    print_blob=True,
)


def test_sqlite_answers_as_dynamodb_does(dynamodb_endpoint: str) -> None:
    class Machine(TableMachine):
        endpoint = dynamodb_endpoint

    run_state_machine_as_test(Machine, settings=MANY)  # pyright: ignore[reportUnknownMemberType]


def test_sqlite_keeps_what_is_empty_as_dynamodb_does(moto_endpoint: str) -> None:
    """Against moto, because DynamoDB Local does not know yet that texts and bytes may be empty."""
    both = Both(moto_endpoint)
    key = {"owner": "ann", "at": 1}

    @settings(MANY, max_examples=max(20, EXAMPLES // 2))
    @given(value=some.hollow_values, other=some.hollow_values, prefix=st.sampled_from(["", "a"]))
    def empty_or_not(value: Any, other: Any, prefix: str) -> None:
        both.same(lambda tables: tables.put(LINES, {**key, "v": value, "l": [], "m": {}}))
        both.same(lambda tables: tables.get(LINES, key))
        same_value = Compare(("v",), "=", other)
        both.same(lambda tables: tables.update(LINES, key, [Assign(("m", "x"), other)], when=same_value))
        both.same(lambda tables: tables.update(LINES, key, [Append(("l",), (value, other))]))
        both.same(lambda tables: tables.delete(LINES, key, when=BeginsWith(("v",), prefix)))

    try:
        empty_or_not()
    finally:
        both.close()
