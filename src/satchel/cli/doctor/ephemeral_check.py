"""Tries every ability of the store of short-lived state that Satchel counts on, under keys of its own."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

from satchel.cli.doctor.findings import Report, Step, Unfit
from satchel.cli.engine.terminal.output import without_password
from satchel.config import Settings
from satchel.kernel.clock import system_clock
from satchel.kernel.errors import SatchelError
from satchel.kernel.ids import new_id
from satchel.stores.connect import open_ephemeral
from satchel.stores.ports.ephemeral import Delete, Ephemeral, Exists, Get, ListPush, Publish, Put

PART = "ephemeral"
_UNFIT = "Use `memory:`, or Redis 6 or newer, or Valkey."
_PATIENCE = timedelta(seconds=10)
_SHORT = timedelta(milliseconds=50)


async def examine_ephemeral(settings: Settings, report: Report) -> None:
    probe = _Probe(settings)
    where = f"The address is {without_password(settings.ephemeral)}; change it with --ephemeral or SATCHEL_EPHEMERAL."
    try:
        await report.run(PART, probe.steps(), if_unreachable=where)
    finally:
        await probe.close()


class _Probe:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._opened: Ephemeral | None = None
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

    @property
    def _ephemeral(self) -> Ephemeral:
        assert self._opened is not None
        return self._opened

    async def open(self) -> str:
        self._opened = await open_ephemeral(self._settings, system_clock)
        await self._opened.run(Exists(self._value))
        return without_password(self._settings.ephemeral)

    async def write(self) -> None:
        await self._ephemeral.run(Put(self._value, b"\x00kept", ttl=timedelta(minutes=5)))

    async def read(self) -> None:
        if await self._ephemeral.run(Get(self._value)) != b"\x00kept":
            raise Unfit("What came back is not what was written.", _UNFIT)

    async def expire(self) -> None:
        await self._ephemeral.run(Put(self._brief, b"brief", ttl=_SHORT))
        await asyncio.sleep(2 * _SHORT.total_seconds())
        if await self._ephemeral.run(Exists(self._brief)):
            raise Unfit("A value is still there after its time.", _UNFIT)

    async def publish(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE.total_seconds()), self._ephemeral.subscribe(self._channel) as messages:
                await self._ephemeral.run(Publish(self._channel, b"heard"))
                if (await anext(messages)).body == b"heard":
                    return
        raise Unfit("A subscriber did not hear what was published.", _UNFIT)

    async def hand_over(self) -> None:
        waiting = self._ephemeral.wait_pop(self._list, _PATIENCE)
        handed, _ = await asyncio.gather(waiting, self._ephemeral.run(ListPush(self._list, b"handed")))
        if handed != b"handed":
            raise Unfit("Somebody waited for a value and did not get it.", _UNFIT)

    async def delete(self) -> None:
        await self._ephemeral.run(Delete(self._value))
        if await self._ephemeral.run(Exists(self._value)):
            raise Unfit("The value is still there.", _UNFIT)

    async def close(self) -> None:
        if self._opened is None:
            return
        # Whatever step failed, nothing of ours stays; if even this fails, the report has said why.
        with suppress(SatchelError):
            await self._opened.together(*(Delete(key) for key in (self._value, self._brief, self._list)))
        await self._opened.close()
