"""Clicks on DynamoDB, a stream of them that can split, calls that get lost, and recounts to compare figures with."""

import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import uuid4
from zlib import crc32

import pytest

from satchel.features.clicks.records import CLICK, ClickRow, click_row
from satchel.features.clicks.service.streamed.stream_fold import CONSUMER
from satchel.kernel.clock import Clock, ManualClock, from_iso, iso
from satchel.kernel.counted import Kind
from satchel.kernel.errors import Unavailable
from satchel.stores.consumer import POSITIONS, Consumer, Handle
from satchel.stores.distributed.table_dynamodb import DynamoTables
from satchel.stores.ports.expressions import Action, Condition, Value
from satchel.stores.ports.table import (
    Change,
    Changes,
    Item,
    Key,
    Page,
    Shard,
    Tables,
    TableSpec,
    TransactionCancelled,
    Write,
)
from satchel.tables import CLICKS, COUNTS, FOLLOWED_CLICKS, SELF_TEST

# The first day of a month, so that what happened yesterday belongs to another one.
NOW = from_iso("2030-04-01T10:00:00.000Z")
Figures = dict[tuple[str, str], dict[str, int]]


class TroubledTables(DynamoTables):
    """DynamoDB over a bad line, whose clicks come by a stream that can be told to split in two."""

    lost_share = 0.0
    chance = random.Random(7)
    last_of_parent: int | None = None
    before_writing: Callable[[], Awaitable[object]] | None = None
    # Before and after a day's clicks are read.
    around_reading: Callable[[], Awaitable[object]] | None = None

    async def transact(self, writes: Sequence[Write], *, token: str | None = None) -> None:
        if (interrupt := self.before_writing) is not None:
            self.before_writing = None
            await interrupt()
        self._lose()
        await super().transact(writes, token=token)
        self._lose()

    async def put(self, table: TableSpec, item: Mapping[str, Value], *, when: Condition | None = None) -> None:
        self._lose()
        await super().put(table, item, when=when)
        self._lose()

    async def update(
        self, table: TableSpec, key: Key, actions: Sequence[Action], *, when: Condition | None = None
    ) -> Item:
        self._lose()
        updated = await super().update(table, key, actions, when=when)
        self._lose()
        return updated

    async def delete(self, table: TableSpec, key: Key, *, when: Condition | None = None) -> Item | None:
        self._lose()
        deleted = await super().delete(table, key, when=when)
        self._lose()
        return deleted

    async def query(self, table: TableSpec, *asked: Any, index: str | None = None, **options: Any) -> Page:
        meanwhile = self.around_reading if index else None
        if meanwhile is not None:
            await meanwhile()
        page = await super().query(table, *asked, index=index, **options)
        if meanwhile is not None:
            await meanwhile()
        return page

    async def split(self) -> None:
        """From now on changes come in two parts after the one, of which neither knows all changes of a person."""
        (only,) = await super().shards(CLICKS)
        last = "0"
        while page := (await super().changes(CLICKS, only.id, None if last == "0" else last, limit=1000)).changes:
            last = page[-1].position
        self.last_of_parent = int(last)

    async def shards(self, table: TableSpec) -> list[Shard]:
        if self.last_of_parent is None:
            return await super().shards(table)
        (only,) = await super().shards(table)
        return [only, Shard("odd", only.id), Shard("even", only.id)]

    async def changes(self, table: TableSpec, shard: str, after: str | None, *, limit: int = 100) -> Changes:
        self._lose()
        if self.last_of_parent is None:
            return await super().changes(table, shard, after, limit=limit)
        (only,) = await super().shards(table)
        found: Changes = Changes()
        start = after
        while len(found.changes) < limit:
            page = (await super().changes(table, only.id, start, limit=limit)).changes
            found.changes.extend(change for change in page if (self._part_of(change) or only.id) == shard)
            if not page:
                return Changes(found.changes, ended=shard == only.id)
            start = page[-1].position
        return Changes(found.changes[:limit])

    def _part_of(self, change: Change) -> str | None:
        if self.last_of_parent is None or int(change.position) <= self.last_of_parent:
            return None
        return "odd" if crc32(change.key["createDateTime"].encode()) % 2 else "even"

    def cut_after(self, writes: int, cut: Callable[[], Awaitable[object]]) -> None:
        """Call `cut` when this many transactions have been made."""

        async def next_one() -> None:
            if writes:
                self.cut_after(writes - 1, cut)
            else:
                await cut()

        self.before_writing = next_one

    def _lose(self) -> None:
        if self.chance.random() < self.lost_share:
            raise Unavailable("The line is bad.")


@dataclass
class Store:
    """Tables on one of the servers, and what that server can do."""

    endpoint: str
    prefix: str
    clock: ManualClock
    tables: TroubledTables
    most_writes: int

    @property
    def can_take_links(self) -> bool:
        """A click on a link grows twelve counts, which DynamoDB Local has no room for."""
        return self.most_writes > 10

    def clicks(self, number: int, **options: Any) -> list[ClickRow]:
        """A fourth of them on moto, where a transaction takes as long as the tables are large."""
        return some_clicks(number // 4 if self.can_take_links else number, links=self.can_take_links, **options)

    def consumer(self, worker: str = "one", **options: Any) -> Consumer:
        return Consumer(tables=self.tables, table=CLICKS, name=CONSUMER, worker=worker, clock=self.clock, **options)

    async def opened_again(self) -> TroubledTables:
        tables = await TroubledTables.open("us-east-1", endpoint=self.endpoint, prefix=self.prefix, clock=self.clock)
        assert isinstance(tables, TroubledTables)
        return tables


@dataclass
class Log:
    """The stored clicks and for how long they are kept."""

    tables: Tables
    clock: Clock
    kept_for: timedelta | None = None


# The fixtures that start servers, and how many writes fit into a transaction there.
LOCAL, MOTO = "dynamodb_endpoint", "moto_endpoint"
_MOST_WRITES = {LOCAL: 10, MOTO: 100}


async def open_store(request: pytest.FixtureRequest, server: str) -> Store:
    endpoint: str = request.getfixturevalue(server)
    prefix = f"test-{uuid4().hex[:12]}-"
    clock = ManualClock(NOW)
    tables = await TroubledTables.open("us-east-1", endpoint=endpoint, prefix=prefix, clock=clock)
    assert isinstance(tables, TroubledTables)
    await tables.create(FOLLOWED_CLICKS, COUNTS, POSITIONS, SELF_TEST)
    return Store(endpoint, prefix, clock, tables, _MOST_WRITES[server])


def some_clicks(number: int, *, links: bool, seed: int = 1, people: int = 12) -> list[ClickRow]:
    """Clicks of two days in two months, by few people; on links of two owners, if the store can take that."""
    chance = random.Random(seed)
    kinds: tuple[Kind, ...] = ("press", "open", "download")
    made: dict[tuple[str, str], ClickRow] = {}
    while len(made) < number:
        link = chance.randrange(3)
        row = click_row(
            f"person{chance.randrange(people)}",
            iso(NOW - chance.randrange(20 * 3600) + chance.randrange(1000) / 1000),
            count=chance.randint(1, 3),
            kind=chance.choice(kinds),
            owner=f"owner{link % 2}" if links else None,
            target=f"link{link}" if links else None,
            thing=f"file:{link}" if links else None,
        )
        made[row.user_id, row.created] = row
    return list(made.values())


async def store_clicks(store: Store, clicks: Iterable[ClickRow]) -> None:
    """As other servers do, whose line is good."""
    share, store.tables.lost_share = store.tables.lost_share, 0.0
    for click in clicks:
        await store.tables.put(CLICKS, CLICK.item(click))
    store.tables.lost_share = share


async def fold_all(consumer: Consumer, handle: Handle, *, limit: int = 100) -> None:
    """Until nothing is left, however often the line fails."""
    quiet = 0
    while quiet < 2:
        with suppress(Unavailable, TransactionCancelled):
            quiet = 0 if await consumer.consume(handle, limit=limit) else quiet + 1


def expected(clicks: Iterable[ClickRow]) -> Figures:
    """What clicks come to, counted click by click."""
    sums: dict[tuple[str, str], Counter[str]] = {}
    people: dict[tuple[str, str], set[str]] = {}
    for click in clicks:
        scopes = ["SITE"]
        if click.owner:
            scopes += [f"OWNER:{click.owner}", f"LINK:{click.target}", f"THING:{click.owner}:{click.thing}"]
        quarter = f"QUARTER:{click.created[:14]}{int(click.created[14:16]) // 15 * 15:02}"
        for scope in scopes:
            periods = (f"DAY:{click.created[:10]}", f"MONTH:{click.created[:7]}", "ALL")
            for period in (*periods, quarter):
                grown = {"totalClicks": click.count, click.kind: click.count}
                sums.setdefault((scope, period), Counter()).update(grown)
            for period in periods:
                people.setdefault((scope, period), set()).add(click.user_id)
    return {place: {**sums[place], **_people(people.get(place))} for place in sums}


def _people(seen: set[str] | None) -> dict[str, int]:
    """In a quarter of an hour nobody is told apart."""
    return {"uniqueUsers": len(seen)} if seen else {}


async def counted(store: Store, clicks: Iterable[ClickRow]) -> Figures:
    """What is stored for all scopes that these clicks could have grown."""
    found: dict[tuple[str, str], Counter[str]] = {}
    for scope in {scope for scope, _ in expected(clicks)}:
        for row in (await store.tables.query(COUNTS, f"COUNT#{scope}", limit=1000)).items:
            period = row.pop("SK").rpartition("#")[0]
            row.pop("PK")
            found.setdefault((scope, period), Counter()).update(row)
    return {place: {name: number for name, number in row.items() if number} for place, row in found.items()}


async def statistics(store: Store) -> list[Item]:
    """The seed's rows."""
    partitions = ("STAT#DAILY", "STAT#MONTHLY", "STAT#TOTAL")
    return [item for name in partitions for item in (await store.tables.query(CLICKS, name)).items]
