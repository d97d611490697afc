"""Make backups while a server runs, each in a process of its own: it takes long, and may be killed at any time."""

import asyncio
import os
import sys

import msgspec

from satchel.config import Settings
from satchel.kernel.clock import Clock, from_iso
from satchel.kernel.errors import Unavailable
from satchel.stores.backups import backups_in, open_place


class _Taken(msgspec.Struct, frozen=True):
    """What `satchel data backup --json` says."""

    damages: list[msgspec.Raw]
    pruned: list[str]


class BackupSchedule:
    """Makes a backup whenever the newest one in the place of the settings is too old."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._running: asyncio.Task[int] | None = None

    async def begin_if_due(self) -> int:
        """How many old backups the last one has deleted. What went wrong with it is raised, once."""
        if self._running is not None and not self._running.done():
            return 0
        ended, self._running = self._running, None
        if await asyncio.to_thread(self._is_due):
            self._running = asyncio.create_task(self._make())
            # A server that stops before the next time does not ask what went wrong.
            self._running.add_done_callback(lambda task: task.cancelled() or task.exception())
        return 0 if ended is None else ended.result()

    async def _make(self) -> int:
        settings = self._settings
        # By the environment: everyone on the machine can read arguments, and addresses may have passwords in them.
        stores = {
            "SATCHEL_DATA": str(settings.data.absolute()),
            "SATCHEL_TABLE": settings.table_url,
            "SATCHEL_TABLE_PREFIX": settings.table_prefix,
            "SATCHEL_OBJECTS": settings.objects_url,
            "SATCHEL_EPHEMERAL": settings.ephemeral,
            "SATCHEL_SECRET": settings.secret,
        }
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "satchel", "data", "backup", settings.backup_to, "--json"),
            *("--keep", str(max(1, settings.backup_keep))),
            env={**os.environ, **stores},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            said, complaint = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        try:
            taken = msgspec.json.decode(said, type=_Taken)
        except msgspec.DecodeError as error:
            raise Unavailable(f"No backup was made. {complaint.decode(errors='replace').strip()}") from error
        if taken.damages:
            raise Unavailable(f"A backup found damaged files: {len(taken.damages)}. Run `satchel data verify`.")
        return len(taken.pruned)

    def _is_due(self) -> bool:
        there = backups_in(open_place(self._settings.backup_to, self._clock))
        every = self._settings.backup_every * 3600
        # A backup of the future was made by a wrong clock.
        return not there or not 0 <= self._clock() - from_iso(there[-1].made_at) < every
