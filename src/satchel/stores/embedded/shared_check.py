"""Read every object of stores that servers share again, and put good copies of a backup in place of damaged ones."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

from satchel.kernel.errors import Invalid, SatchelError
from satchel.stores.embedded.backup_repository import Entry, Repository
from satchel.stores.embedded.backup_shared import object_path, source_of
from satchel.stores.embedded.data_check import Verified
from satchel.stores.embedded.data_files import Damage, Told
from satchel.stores.embedded.file_check import check_file
from satchel.stores.embedded.folder_files import Description, read_description
from satchel.stores.embedded.missing_restore import put_back
from satchel.stores.object_rules import digest_in
from satchel.stores.ports.backup_place import BackupPlace
from satchel.stores.ports.objects import ObjectInfo, ObjectMissing, Objects
from satchel.stores.ports.whole_stores import KnowsMd5

_AT_ONCE = 8


class SharedCheck:
    """One reading of everything; `objects` are those to read."""

    def __init__(self, store: Objects, objects: AsyncIterator[ObjectInfo], told: Told) -> None:
        self._store = store
        self._objects = objects
        self._told = told
        self._found = Verified()
        # Of each damaged object, what it was when it was listed.
        self._damaged: dict[str, tuple[ObjectInfo, Damage]] = {}

    async def run(self, repair_from: BackupPlace | None = None) -> Verified:
        lock = asyncio.Lock()

        async def some() -> None:
            while True:
                async with lock:
                    info = await anext(self._objects, None)
                if info is None:
                    return
                await self._check(info)

        async with asyncio.TaskGroup() as tasks:
            for _ in range(_AT_ONCE):
                tasks.create_task(some())
        if repair_from is not None and self._damaged:
            await self._repair(Repository(repair_from))
        self._found.damages = [damage for _, damage in self._damaged.values()]
        return self._found

    async def _check(self, info: ObjectInfo) -> None:
        try:
            proved, why = await self._read(info.key)
        except ObjectMissing:
            return  # deleted meanwhile
        except SatchelError as error:
            proved, why = True, error.detail
        self._found.files += 1
        self._found.size_bytes += info.size_bytes
        self._found.unproved += not proved
        if why is not None:
            self._damaged[object_path(info.key)] = info, Damage(info.key, why)
        self._told(self._found.files, self._found.size_bytes)

    async def _read(self, key: str) -> tuple[bool, str | None]:
        """Whether there is a digest to compare with, and what is wrong, if anything."""
        wanted = digest_in(key)
        digest = hashlib.sha256()
        if wanted is None:
            wanted = await self._store.md5(key) if isinstance(self._store, KnowsMd5) else None
            digest = hashlib.md5(usedforsecurity=False)
        async with self._store.read(key) as reading:
            async for piece in reading:
                await asyncio.to_thread(digest.update, piece)
        if wanted is None:
            return False, None
        return True, None if digest.hexdigest() == wanted else "its bytes are not those that were stored"

    async def _repair(self, repository: Repository) -> None:
        for backup in reversed(await asyncio.to_thread(repository.complete)):
            with suppress(Invalid):  # a damaged list: an older one may be good
                for entry in await asyncio.to_thread(self._wanted, repository.entries(backup)):
                    if entry.path in self._damaged:
                        await self._repair_one(repository, entry)

    def _wanted(self, entries: Iterator[Entry]) -> list[Entry]:
        return [entry for entry in entries if entry.path in self._damaged and entry.damage is None]

    async def _repair_one(self, repository: Repository, entry: Entry) -> None:
        info, _ = self._damaged[entry.path]
        with suppress(SatchelError, OSError), ExitStack() as held:  # an older backup may have a good one
            path = await asyncio.to_thread(held.enter_context, repository.file(entry.sha256))
            if await self._is_that(info, entry, path):
                await put_back(self._store, *await asyncio.to_thread(_described, path))
                if (await self._read(info.key))[1] is None:
                    del self._damaged[entry.path]
                    self._found.repaired.append(info.key)

    async def _is_that(self, info: ObjectInfo, entry: Entry, path: Path) -> bool:
        """Whether the file is whole, and of the object that was listed, which is still there."""
        checked = await asyncio.to_thread(check_file, path)
        if checked.damage is not None or checked.key != info.key:
            return False
        is_named = digest_in(info.key) is not None
        return source_of(await self._store.head(info.key)) == source_of(info) and (
            is_named or entry.source == source_of(info)
        )


def _described(path: Path) -> tuple[Description, Path, int]:
    about, size_bytes = read_description(path)
    return about, path, size_bytes
