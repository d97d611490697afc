"""Follows a table's stream. An effect and its position are one write, so nothing is applied twice or missed.

async def count(shard: str, changes: Sequence[Change]) -> Effect:
    return Effect([Update(TOTALS, {"day": day}, [add("opened", n)]) for day, n in tally(changes)], len(changes))

await tables.create(TOTALS, POSITIONS)
totals = Consumer(tables=tables, table=CLICKS, name="totals", worker=new_id(clock), clock=clock)
while await totals.consume(count): ...

Workers of one name share the shards of a stream by leases, which are stored beside the positions. A lease only saves
work that another worker does already. That nothing is applied twice follows from the position, not from the lease.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeAlias

from satchel.kernel.clock import Clock
from satchel.kernel.errors import Conflict
from satchel.stores.patterns.backoff import Retries
from satchel.stores.patterns.optimistic_update import CONTENTION
from satchel.stores.ports.expressions import Condition, assign, attr, remove
from satchel.stores.ports.table import (
    Change,
    Check,
    ConditionFailed,
    Item,
    PositionLost,
    Put,
    Shard,
    Tables,
    TableSpec,
    TransactionCancelled,
    Write,
    text,
)

POSITIONS = TableSpec("StreamPositions", text("consumer"), text("shard"), expiry="expiresAt")

# A stream lists a shard for a day after its end. Only then is it safe to forget that it was finished.
FORGOTTEN_AFTER = timedelta(hours=48)
LEASE = timedelta(seconds=30)
# For an effect that is worked out anew because something else than the position was not as expected.
_BACKOFF = replace(CONTENTION, attempts=8)
_LEASE = ("holder", "until", "alone")
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Effect:
    """What to write for the first `covers` changes: at least one, and at most as many as were given."""

    writes: Sequence[Write]
    covers: int


# Is told the part of the stream and the next changes in it; says what to write, and writes nothing that would count
# twice: it is called again for the same changes after a failure, and by another worker of the same name.
Handle: TypeAlias = Callable[[str, Sequence[Change]], Awaitable[Effect]]


class HeldAlone(Conflict):
    """Another worker holds the whole stream. That ends when it is done, or when its leases expire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """One of the workers that follow a table's stream under one name.

    A worker with `alone` takes all shards from the others. None of their effects happens until it releases them or its
    leases expire.
    """

    tables: Tables
    table: TableSpec
    name: str
    worker: str
    clock: Clock
    lease: timedelta = LEASE
    alone: bool = False

    async def consume(self, handle: Handle, *, limit: int = 100) -> int:
        """Read every shard whose lease is ours once, and apply what `handle` returns. Returns the number of changes.

        A shard is begun only once its parent is finished, so that each item's changes come in order. `PositionLost`
        means that changes are gone: rebuild what depends on them, call `forget_lost`, and continue.
        """
        shards = await self.tables.shards(self.table)
        rows = await self._rows()
        looked: set[str] = set()
        taken = 0
        while ready := [shard for shard in _ready(shards, rows) if shard.id not in looked]:
            looked.update(shard.id for shard in ready)
            looks = [self._look(shard.id, rows, handle, limit) for shard in await self._ours(ready, rows)]
            outcomes = await asyncio.gather(*looks, return_exceptions=True)
            for outcome in outcomes:
                if isinstance(outcome, BaseException):
                    raise outcome
                taken += outcome
        _refuse_gaps(shards, rows)
        return taken

    async def take(self, shard: str, changes: Sequence[Change], handle: Handle) -> int:
        """Apply changes that somebody else has read. Returns how many from the beginning are applied, now or earlier.

        The caller has to know when a shard has ended. Here its record expires when nothing has come for long.
        """
        rows = await self._rows()
        # A worker that holds the stream alone could not take a shard that did not exist then, but that one is included.
        held_alone = any(row.get("alone") and self._is_elsewhere(row) for row in rows.values())
        if held_alone or not await self._ours([Shard(shard)], rows):
            return 0
        after = int(rows[shard].get("after", -1))
        new = [change for change in changes if int(change.position) > after]
        row = {**rows[shard], "expiresAt": self._forgotten_at()}
        once = _once_each(new)
        done = await self._apply(row, once, handle)
        return len(changes) if done == len(once) else len(changes) - len(new) + done

    async def hold(self) -> list[Check]:
        """Take the lease of every unfinished shard. The returned checks make a transaction fail once a lease is lost.

        Repeat it before the leases expire.
        """
        rows = await self._rows()
        unfinished = [shard for shard in await self.tables.shards(self.table) if not _ended(rows.get(shard.id))]
        for shard in unfinished:
            if self._is_elsewhere(rows.get(shard.id)) or not await self._claim(shard.id, rows):
                raise HeldAlone("This is already running. Wait until it has ended.")
        return [Check(POSITIONS, self._key(shard.id), attr("holder") == self.worker) for shard in unfinished]

    async def release(self) -> None:
        """Release our leases, so that other workers can have these shards."""
        mine = attr("holder") == self.worker
        for row in (await self._rows()).values():
            if row.get("holder") == self.worker:
                with suppress(ConditionFailed):  # taken over meanwhile
                    await self.tables.update(POSITIONS, POSITIONS.key_of(row), [*map(remove, _LEASE)], when=mine)

    async def following(self) -> list[Change]:
        """The changes after the positions, without moving these."""
        rows = await self._rows()
        found: list[Change] = []
        for shard in await self.tables.shards(self.table):
            row = rows.get(shard.id, {})
            after: str | None = row.get("after")
            while not _ended(row):
                page = await self.tables.changes(self.table, shard.id, after, limit=1000)
                found += page.changes
                if page.ended or not page.changes:
                    break
                after = page.changes[-1].position
        return found

    async def lost(self) -> list[Item]:
        """Positions that the stream no longer reaches back to, each with `movedAt`, when it was reached."""
        shards = {shard.id for shard in await self.tables.shards(self.table)}
        return [row for row in (await self._rows()).values() if not await self._can_go_on(row, shards)]

    async def forget_lost(self) -> None:
        """Wherever a position was lost, continue with the oldest changes that are kept."""
        await self.tables.write_many(POSITIONS, delete=[POSITIONS.key_of(row) for row in await self.lost()])

    async def start_over(self) -> None:
        """Delete all positions, so that every change that is kept comes again."""
        rows = (await self._rows()).values()
        await self.tables.write_many(POSITIONS, delete=[POSITIONS.key_of(row) for row in rows])

    async def _look(self, shard: str, rows: dict[str, Item], handle: Handle, limit: int) -> int:
        row = {name: value for name, value in rows[shard].items() if name != "expiresAt"}
        found = await self.tables.changes(self.table, shard, row.get("after"), limit=limit)
        changes = _once_each(found.changes)
        done = await self._apply(row, changes, handle)
        if found.ended and done == len(changes) and await self._finish(shard):
            rows[shard] = {**row, "ended": True}
        return done

    async def _apply(self, row: Item, changes: Sequence[Change], handle: Handle) -> int:
        """How many of the changes were applied: fewer than all if another worker took the lease."""
        done, retries = 0, Retries(_BACKOFF)
        while done < len(changes):
            effect = await handle(row["shard"], changes[done:])
            if not effect.covers:
                raise ValueError("an effect has to cover a change")
            moved = self._moved(row, changes[done + effect.covers - 1].position)
            try:
                await self.tables.transact([*effect.writes, Put(POSITIONS, moved, when=_unchanged(row))])
            except TransactionCancelled as refusal:
                if refusal.reasons[-1] == "condition":
                    break
                # Something that `handle` had read has changed since: retry with a fresh read.
                if not await retries.pause():
                    raise
            else:
                row, done, retries = moved, done + effect.covers, Retries(_BACKOFF)
        return done

    async def _finish(self, shard: str) -> bool:
        """Record that a shard has ended, and delete the record once the stream no longer lists the shard."""
        actions = [assign("ended", value=True), assign("expiresAt", self._forgotten_at()), *map(remove, _LEASE)]
        try:
            await self.tables.update(POSITIONS, self._key(shard), actions, when=attr("holder") == self.worker)
        except ConditionFailed:
            return False
        return True

    def _moved(self, row: Item, position: str) -> Item:
        now = self.clock()
        return {**row, "after": position, "movedAt": int(now), "until": self._until(now)}

    async def _ours(self, ready: Sequence[Shard], rows: dict[str, Item]) -> list[Shard]:
        """The shards whose lease is ours or has expired, and one more if another worker has too many."""
        busy = [shard for shard in ready if self._is_elsewhere(rows.get(shard.id))]
        ours = [shard for shard in ready if shard not in busy and await self._claim(shard.id, rows)]
        held_by = Counter(rows[shard.id]["holder"] for shard in busy if not rows[shard.id].get("alone"))
        for richest, share in held_by.most_common(1):
            if share >= len(ours) + 2:
                one = next(shard for shard in busy if rows[shard.id]["holder"] == richest)
                ours += [one] if await self._claim(one.id, rows) else []
        return ours

    async def _claim(self, shard: str, rows: dict[str, Item]) -> bool:
        """Whether the lease of the shard is ours now. If so, `rows` has it as it is stored."""
        row = rows.get(shard, {})
        now = self.clock()
        if row.get("holder") == self.worker and row["until"] - self._until(now) > -self.lease / _MILLISECOND / 2:
            return True
        actions = [assign("holder", self.worker), assign("until", self._until(now)), assign("alone", self.alone)]
        # Where nothing has been read yet, this is when the following began.
        actions.append(assign("movedAt", int(now), only_if_absent=True))
        try:
            rows[shard] = await self.tables.update(POSITIONS, self._key(shard), actions, when=_unchanged(row))
        except ConditionFailed:
            return False
        return True

    def _is_elsewhere(self, row: Item | None) -> bool:
        """Whether another worker holds the lease of a shard."""
        if row is None or row.get("holder", self.worker) == self.worker or row["until"] <= self.clock() * 1000:
            return False
        return bool(row["alone"]) or not self.alone

    async def _can_go_on(self, row: Item, shards: set[str]) -> bool:
        if _ended(row):
            return True
        if row["shard"] not in shards:
            return "expiresAt" in row
        try:
            await self.tables.changes(self.table, row["shard"], row.get("after"), limit=1)
        except PositionLost:
            return False
        return True

    async def _rows(self) -> dict[str, Item]:
        rows: dict[str, Item] = {}
        cursor: str | None = None
        while True:
            page = await self.tables.query(POSITIONS, f"{self.table.name}/{self.name}", limit=1000, cursor=cursor)
            rows |= {row["shard"]: row for row in page.items}
            cursor = page.cursor
            if cursor is None:
                return rows

    def _key(self, shard: str) -> dict[str, str]:
        return {"consumer": f"{self.table.name}/{self.name}", "shard": shard}

    def _forgotten_at(self) -> int:
        return int(self.clock() + FORGOTTEN_AFTER.total_seconds())

    def _until(self, now: float) -> int:
        return int(now * 1000) + self.lease // _MILLISECOND


def _once_each(changes: Sequence[Change]) -> list[Change]:
    """A stream may deliver a change again."""
    return list({change.position: change for change in changes}.values())


def _ready(shards: Sequence[Shard], rows: dict[str, Item]) -> list[Shard]:
    unfinished = {shard.id for shard in shards if not _ended(rows.get(shard.id))}
    return [shard for shard in shards if shard.id in unfinished and shard.parent not in unfinished]


def _ended(row: Item | None) -> bool:
    return bool(row and row.get("ended"))


def _unchanged(row: Item) -> Condition:
    """The position and the lease are as they were read."""
    return _as_in(row, "after") & _as_in(row, "holder")


def _as_in(row: Item, name: str) -> Condition:
    return attr(name) == row[name] if name in row else attr(name).absent()


def _refuse_gaps(shards: Sequence[Shard], rows: dict[str, Item]) -> None:
    """A shard that the stream deleted before it was finished had changes that nobody applied.

    A row with an expiry was finished, or is read by a caller of `take`, who knows when it has ended.
    """
    kept = {shard.id for shard in shards}
    if any(shard not in kept and "expiresAt" not in row for shard, row in rows.items()):
        raise PositionLost("A part of the stream was deleted before it was read to its end. Rebuild from the items.")
