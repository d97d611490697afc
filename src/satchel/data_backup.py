"""Back up stores that servers share, and verify what any server keeps.

While servers run, such a backup is of no one moment: each thing is as it was at some time during the copying.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import aclosing
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from satchel.config import Settings
from satchel.data_copy import any_signer, carry_secret, copy_tables, objects_of, reading
from satchel.kernel.clock import Clock
from satchel.slices import EPHEMERAL_KEYS, SLICES
from satchel.stores import backups
from satchel.stores.backups import (
    BackupPlace,
    Damage,
    DataFiles,
    SharedCheck,
    SharedStores,
    TakenBackup,
    Told,
    Verified,
)
from satchel.stores.connect import open_objects, prepare_folder
from satchel.stores.copies.missing_objects import MissingObjects

Result = TypeVar("Result")
SHAPES = tuple(shape for each in SLICES for shape in each.records)


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


async def verify_all(settings: Settings, clock: Clock, told: Told, repair_from: BackupPlace | None = None) -> Verified:
    """Read every object again, and look for those that are gone; put good copies of backups in their place."""
    if settings.keeps_all_here:
        found = await asyncio.to_thread(backups.verify, settings, told, repair_from)
    else:
        found = await _verify_shared(settings, clock, told, repair_from)
    await _look_for_missing(settings, clock, found, repair_from)
    return found


async def _verify_shared(settings: Settings, clock: Clock, told: Told, repair_from: BackupPlace | None) -> Verified:
    store = await open_objects(settings, clock, any_signer())
    try:
        async with aclosing(objects_of(store)) as objects:
            return await SharedCheck(store, objects, told).run(repair_from)
    finally:
        await store.close()


async def _look_for_missing(settings: Settings, clock: Clock, found: Verified, repair_from: BackupPlace | None) -> None:
    if not _has_tables(settings):
        return
    async with reading(settings, clock) as stores:
        search = MissingObjects(stores.objects, SHAPES, EPHEMERAL_KEYS)
        missing = await search.find(stores.tables, stores.ephemeral)
    if not missing:
        return
    # Of tables on this machine a copy was read, as they were at one moment.
    async with reading(settings, clock) as stores:
        search = MissingObjects(stores.objects, SHAPES, EPHEMERAL_KEYS)
        needed = {each.key: each.by for each in await search.still(missing, stores.tables, stores.ephemeral)}
        restored = await backups.put_missing_back(stores.objects, repair_from, needed) if repair_from else []
    found.repaired += restored
    found.missing = [Damage(key, f"it is gone: {by}") for key, by in needed.items() if key not in restored]


def _has_tables(settings: Settings) -> bool:
    return not settings.has_one_writer or Path(urlsplit(settings.table_url).path).exists()
