"""Tries every ability of the table store that Satchel counts on, with an item of its own that it deletes again."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from satchel.cli.doctor.findings import Report, Step, Unfit
from satchel.cli.doctor.store_probe import StoreProbe
from satchel.cli.engine.command.missing_tables import essential
from satchel.cli.engine.terminal.output import without_password
from satchel.config import Settings
from satchel.kernel.clock import system_clock
from satchel.kernel.ids import new_id
from satchel.stores.connect import open_tables
from satchel.stores.ports.expressions import attr
from satchel.stores.ports.table import Change, ConditionFailed, Item, Shard, Tables
from satchel.tables import SELF_TEST, tables_for

PART = "table"
_UNFIT = "Use the embedded SQLite, DynamoDB, or DynamoDB Local; other imitations may lack what Satchel needs."
# DynamoDB Streams usually lag by less than a second.
STREAM_SECONDS = 20.0


async def examine_tables(settings: Settings, report: Report) -> None:
    await _Probe(settings).examine(PART, settings.table_url, report)


class _Probe(StoreProbe[Tables]):
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._key = {"probe": f"doctor/{new_id(system_clock)}"}
        self._expired = {"probe": f"{self._key['probe']}/expired"}

    def steps(self) -> Sequence[Step]:
        return (
            Step("open it", self.open, vital=True),
            Step("find all tables", self.find, vital=True),
            Step("write an item", self.write),
            Step("read it back", self.read),
            Step("refuse a write whose condition does not hold", self.refuse),
            Step("let an item expire", self.expire),
            Step("see the write in the change stream", self.stream),
            Step("delete the item", self.delete),
        )

    @property
    def _item(self) -> Item:
        return {**self._key, "count": 42, "name": "Jürgen"}

    async def open(self) -> str:
        self.opened = await open_tables(self._settings, system_clock)
        await self.opened.missing(SELF_TEST)  # the first question it has to answer
        return without_password(self._settings.table_url)

    async def find(self) -> str:
        tables = tables_for(has_one_writer=self._settings.has_one_writer)
        missing = essential(await self.store.missing(*tables))
        if not missing:
            return f"{len(tables)} tables"
        if self._settings.has_one_writer:
            await self.store.create(*tables)
            return "made what was missing, as a server does when it starts"
        raise Unfit(f"Missing: {', '.join(missing)}.", "Make them with `satchel tables create`.")

    async def write(self) -> None:
        await self.store.put(SELF_TEST, self._item)

    async def read(self) -> None:
        found = await self.store.get(SELF_TEST, self._key)
        if found != self._item:
            raise Unfit("What came back is not what was written.", _UNFIT)

    async def refuse(self) -> None:
        try:
            await self.store.put(SELF_TEST, self._item, when=attr("probe").absent())
        except ConditionFailed:
            return
        raise Unfit("The write was accepted, so that two people could overwrite each other's changes.", _UNFIT)

    async def expire(self) -> None:
        ended = int(system_clock()) - 60
        await self.store.put(SELF_TEST, {**self._expired, "expiresAt": ended})
        if await self.store.get(SELF_TEST, self._expired) is not None:
            raise Unfit("An item is still there after its time.", _UNFIT)

    async def stream(self) -> None:
        positions: dict[str, str | None] = {}
        with suppress(TimeoutError):
            async with asyncio.timeout(STREAM_SECONDS):
                while True:
                    for shard in await self.store.shards(SELF_TEST):
                        if await self._appears_in(shard, positions):
                            return
                    await asyncio.sleep(0.25)
        raise Unfit(
            f"The change did not appear within {STREAM_SECONDS:.0f} seconds.",
            f"See that the stream of the table {SELF_TEST.name} is on and shows new and old images. {_UNFIT}",
        )

    async def _appears_in(self, shard: Shard, positions: dict[str, str | None]) -> bool:
        """Read the shard on to where it ends for now."""
        while True:
            found = await self.store.changes(SELF_TEST, shard.id, positions.get(shard.id), limit=1000)
            if any(self._is_ours(change) for change in found.changes):
                return True
            if not found.changes:
                return False
            positions[shard.id] = found.changes[-1].position

    def _is_ours(self, change: Change) -> bool:
        return change.key == self._key and change.new == self._item

    async def delete(self) -> None:
        await self.store.delete(SELF_TEST, self._key)
        await self.store.delete(SELF_TEST, self._expired)
        if await self.store.get(SELF_TEST, self._key) is not None:
            raise Unfit("The item is still there.", _UNFIT)

    async def clean_up(self) -> None:
        await self.store.write_many(SELF_TEST, delete=[self._key, self._expired])
