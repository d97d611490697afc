"""Tries every ability of the store of short-lived state that Satchel counts on, under keys of its own."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

from satchel.cli.doctor.findings import Report, Step, Unfit
from satchel.cli.doctor.store_probe import StoreProbe
from satchel.cli.engine.terminal.output import without_password
from satchel.config import Settings
from satchel.kernel.clock import system_clock
from satchel.kernel.ids import new_id
from satchel.stores.connect import open_ephemeral
from satchel.stores.ports.ephemeral import Delete, Ephemeral, Exists, Get, ListPush, Publish, Put

PART = "ephemeral"
_UNFIT = "Use `memory:`, or Redis 6 or newer, or Valkey."
_TIMEOUT = timedelta(seconds=10)
_SHORT = timedelta(milliseconds=50)


async def examine_ephemeral(settings: Settings, report: Report) -> None:
    await _Probe(settings).examine(PART, settings.ephemeral, report)


class _Probe(StoreProbe[Ephemeral]):
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        prefix = f"doctor/{new_id(system_clock)}"
        self._value, self._brief, self._list, self._channel = (
            f"{prefix}/{name}" for name in ("value", "brief", "list", "channel")
        )

    def steps(self) -> Sequence[Step]:
        return (
            Step("open it", self.open, vital=True),
            Step("write a value", self.write),
            Step("read it back", self.read),
            Step("let a value expire", self.expire),
            Step("publish to a subscriber", self.publish),
            Step("hand a value to somebody who waits for it", self.hand_over),
            Step("delete the value", self.delete),
        )

    async def open(self) -> str:
        self.opened = await open_ephemeral(self._settings, system_clock)
        await self.opened.run(Exists(self._value))
        return without_password(self._settings.ephemeral)

    async def write(self) -> None:
        await self.store.run(Put(self._value, b"\x00kept", ttl=timedelta(minutes=5)))

    async def read(self) -> None:
        if await self.store.run(Get(self._value)) != b"\x00kept":
            raise Unfit("What came back is not what was written.", _UNFIT)

    async def expire(self) -> None:
        await self.store.run(Put(self._brief, b"brief", ttl=_SHORT))
        await asyncio.sleep(2 * _SHORT.total_seconds())
        if await self.store.run(Exists(self._brief)):
            raise Unfit("A value is still there after its time.", _UNFIT)

    async def publish(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_TIMEOUT.total_seconds()), self.store.subscribe(self._channel) as messages:
                await self.store.run(Publish(self._channel, b"heard"))
                if (await anext(messages)).body == b"heard":
                    return
        raise Unfit("A subscriber did not hear what was published.", _UNFIT)

    async def hand_over(self) -> None:
        waiting = self.store.wait_pop(self._list, _TIMEOUT)
        handed, _ = await asyncio.gather(waiting, self.store.run(ListPush(self._list, b"handed")))
        if handed != b"handed":
            raise Unfit("Somebody waited for a value and did not get it.", _UNFIT)

    async def delete(self) -> None:
        await self.store.run(Delete(self._value))
        if await self.store.run(Exists(self._value)):
            raise Unfit("The value is still there.", _UNFIT)

    async def clean_up(self) -> None:
        await self.store.together(*(Delete(key) for key in (self._value, self._brief, self._list)))
