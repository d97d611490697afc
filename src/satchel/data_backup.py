"""Back up stores that servers share, and read their objects again.

While servers run, such a backup is of no one moment: each thing is as it was at some time during the copying.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import aclosing
from pathlib import Path
from typing import Any, TypeVar

from satchel.config import Settings
from satchel.data_copy import any_signer, carry_secret, copy_tables, objects_of, reading
from satchel.kernel.clock import Clock
from satchel.stores import backups
from satchel.stores.backups import BackupPlace, DataFiles, SharedCheck, SharedStores, TakenBackup, Told, Verified
from satchel.stores.connect import open_objects, prepare_folder

Result = TypeVar("Result")


async def backup_shared(
    settings: Settings, place: BackupPlace, clock: Clock, told: Told, *, keep: int | None = None
) -> TakenBackup:
    """Add a backup to a place of them, and leave only the newest `keep`."""
    loop = asyncio.get_running_loop()

    def run(work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    async with reading(settings, clock) as stores:

        async def copied(folder: Path) -> DataFiles:
            copy = Settings(data=folder, memory=settings.memory)
            prepare_folder(folder)
            await copy_tables(stores, copy, folder / "progress", clock)
            carry_secret(settings, copy)
            return backups.files_of(copy)

        source = SharedStores(objects_of(stores.objects), stores.objects, copied, run, told)
        return await asyncio.to_thread(backups.take, source, place, clock, keep=keep)


async def verify_shared(
    settings: Settings, clock: Clock, told: Told, repair_from: BackupPlace | None = None
) -> Verified:
    """Read every object again, and put good copies of backups in place of those that are damaged."""
    store = await open_objects(settings, clock, any_signer())
    try:
        async with aclosing(objects_of(store)) as objects:
            return await SharedCheck(store, objects, told).run(repair_from)
    finally:
        await store.close()
