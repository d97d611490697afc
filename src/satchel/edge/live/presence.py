"""Presence: who is connected to this server, and word to others when somebody comes or has really gone."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Protocol

from satchel.kernel.errors import SatchelError
from satchel.live import BELIEVED_FOR, Presence

_log = logging.getLogger("satchel.edge")

# A tunnel, a lift, a page that is loaded again: whoever is back within this time was never away.
GRACE = timedelta(seconds=10)
# Two refreshes may fail before anybody counts as away.
REFRESH_EVERY = BELIEVED_FOR / 3
_REFRESHED_AT_ONCE = 100
_LAST_NOTICES_SECONDS = 5.0


class Attendance(Protocol):
    """Who wants to know that people come and go. The same notice may come twice."""

    async def came(self, person_id: str) -> None: ...

    async def went(self, person_id: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Connection:
    """An open connection of a person."""

    id: str
    person_id: str
    device: str


class PresenceTracker:
    """The connections of this server. It sends notices in tasks of its own, so that no end of a socket loses one."""

    def __init__(
        self,
        presence: Presence,
        attendances: Sequence[Attendance] = (),
        *,
        grace: timedelta = GRACE,
        refresh_every: timedelta = REFRESH_EVERY,
    ) -> None:
        self._presence = presence
        self._attendances = attendances
        self._grace = grace
        self._refresh_every = refresh_every
        self._connections: dict[str, Connection] = {}
        self._notices: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Refresh the presence of all connections until the block ends, then finish the notices that are under way."""
        refreshing = asyncio.create_task(self._refresh_forever(), name="presence")
        try:
            yield
        finally:
            self.stop()
            refreshing.cancel()
            await asyncio.gather(refreshing, return_exceptions=True)
            if self._notices:
                await asyncio.wait(self._notices, timeout=_LAST_NOTICES_SECONDS)

    def stop(self) -> None:
        """Announce nobody as gone any more: whoever loses this server reconnects to another within the grace."""
        self._stopping.set()

    async def enter(self, connection: Connection) -> None:
        self._connections[connection.id] = connection
        if await self._presence.enter(connection.person_id, connection.id, connection.device):
            for attendance in self._attendances:
                self._in_background(attendance.came(connection.person_id))

    def leave(self, connection: Connection) -> None:
        if self._connections.pop(connection.id, None):
            self._in_background(self._leave_after_grace(connection))

    async def _leave_after_grace(self, connection: Connection) -> None:
        await self._presence.linger(connection.person_id, connection.id, connection.device, self._grace)
        try:
            async with asyncio.timeout(self._grace.total_seconds()):
                await self._stopping.wait()
        except TimeoutError:
            if await self._presence.leave(connection.person_id, connection.id):
                self._announce_went(connection.person_id)

    async def _refresh_forever(self) -> None:
        while True:
            await asyncio.sleep(self._refresh_every.total_seconds())
            every = iter(list(self._connections.values()))
            while some := list(islice(every, _REFRESHED_AT_ONCE)):
                # Those that ended meanwhile linger already; a refresh would make them last.
                here = [each for each in some if each.id in self._connections]
                await _suppressed(self._presence.refresh((each.person_id, each.id, each.device) for each in here))
            await _suppressed(self._announce_lapsed())

    async def _announce_lapsed(self) -> None:
        """Announce those whose server died or stopped, and who have not connected to another."""
        for person_id in await self._presence.lapsed():
            self._announce_went(person_id)

    def _announce_went(self, person_id: str) -> None:
        for attendance in self._attendances:
            self._in_background(attendance.went(person_id))

    def _in_background(self, notice: Awaitable[None]) -> None:
        task = asyncio.create_task(_suppressed(notice))
        self._notices.add(task)
        task.add_done_callback(self._notices.discard)


async def _suppressed(notice: Awaitable[None]) -> None:
    try:
        await notice
    except Exception as error:  # noqa: BLE001 -- presence is a courtesy; its failure must not end anything else
        cause = None if isinstance(error, SatchelError) else error
        _log.warning("presence was not told: %s", error, exc_info=cause)
