"""Back up stores that servers share: a copy of their tables, and each object as a file that describes itself.

The files are those that a folder store would have, so a backup is restored to one machine like any other.
"""

import asyncio
import hashlib
import sqlite3
from collections.abc import AsyncIterable, Awaitable, Callable, Coroutine, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any, Protocol, TypeVar

from satchel.kernel.errors import SatchelError
from satchel.stores.embedded.backup_repository import Entry, Repository
from satchel.stores.embedded.backup_take import by_folder, copy_secret
from satchel.stores.embedded.data_files import DATABASES, SECRET_FILE, Damage, DataFiles, Told, object_folders
from satchel.stores.embedded.folder_files import Description, Draft
from satchel.stores.object_rules import digest_in
from satchel.stores.ports.objects import ObjectInfo, ObjectMissing, Objects

_AT_ONCE = 8
_NOT_THOSE = "its bytes are not those that were stored"

Result = TypeVar("Result")


class Loop(Protocol):
    """Runs a coroutine in the loop of the stores, for a thread that waits for it."""

    def __call__(self, work: Coroutine[Any, Any, Result]) -> Result: ...


class SharedStores:
    """See `BackupSource`. `objects` are read where they are, once; `copy_tables` copies all else into a folder."""

    def __init__(
        self,
        objects: AsyncIterable[ObjectInfo],
        store: Objects,
        copy_tables: Callable[[Path], Coroutine[Any, Any, DataFiles]],
        run: Loop,
        told: Told,
    ) -> None:
        self._objects = objects
        self._store = store
        self._copy_tables = copy_tables
        self._run = run
        self._told = told
        self._done = 0
        self._done_bytes = 0
        self.damages: list[Damage] = []

    def entries(self, repository: Repository, drafts: Path, before: Iterable[Entry]) -> Iterator[Entry]:
        files = self._run(self._copy_tables(drafts / "tables"))
        for name in DATABASES:
            if files.database(name).exists():
                yield self._counted(repository.add_database(name, files.database(name)))
        if (files.data / SECRET_FILE).exists():
            yield self._counted(copy_secret(repository, files.data / SECRET_FILE))
        known = by_folder(before)
        with _Index.made(drafts / "objects.db") as index:
            self._run(index.fill(self._objects))
            for folder in object_folders():
                copied = self._run(self._copy_all(repository, drafts, index.of(folder), known(folder)))
                yield from (self._counted(entry) for entry in copied)

    async def _copy_all(
        self, repository: Repository, drafts: Path, objects: Iterator["_Seen"], last: Mapping[str, Entry]
    ) -> list[Entry]:
        """In the order in which they came."""
        copied: dict[str, Entry] = {}

        async def some() -> None:
            for seen in objects:
                entry = await self._copy(repository, drafts, seen, last.get(seen.path))
                if entry is not None:
                    copied[seen.path] = entry

        await _together(some() for _ in range(_AT_ONCE))
        return [copied[path] for path in sorted(copied)]

    async def _copy(self, repository: Repository, drafts: Path, seen: "_Seen", last: Entry | None) -> Entry | None:
        """Unless the last backup has it. What cannot be read stays as it was there."""
        if last is not None and last.source == seen.source:
            if last.damage is not None:
                self.damages.append(Damage(seen.path, last.damage, seen.key))
            return last
        made = drafts / token_hex(16)
        try:
            damage = await self._download(seen.key, made)
            size_bytes = made.stat().st_size
            sha256 = await asyncio.to_thread(repository.add_made, made)
        except ObjectMissing:
            return None  # deleted meanwhile
        except SatchelError as error:
            self.damages.append(Damage(seen.path, error.detail, seen.key))
            return last
        finally:
            made.unlink(missing_ok=True)
        if damage is not None:
            self.damages.append(Damage(seen.path, damage, seen.key))
        return Entry(path=seen.path, size_bytes=size_bytes, sha256=sha256, source=seen.source, damage=damage)

    async def _download(self, key: str, target: Path) -> str | None:
        """Make a file of an object; what is wrong with it, if anything."""
        draft = Draft(target.with_name(f"{target.name}.part"))
        try:
            async with self._store.read(key) as reading:
                async for piece in reading:
                    await asyncio.to_thread(draft.write, [piece])
                info = reading.info
            named = digest_in(key)
            description = Description(
                key=key,
                etag=named or draft.sha256,
                modified=info.modified.timestamp(),
                content_type=info.content_type,
                metadata=dict(info.metadata),
            )
            damage = None if description.etag == draft.sha256 else _NOT_THOSE
            draft.seal(description, durable=False)
            draft.publish(target)
            return damage
        finally:
            draft.discard()

    def _counted(self, entry: Entry) -> Entry:
        self._done += 1
        self._done_bytes += entry.size_bytes
        self._told(self._done, self._done_bytes)
        return entry


class _Seen:
    """An object as it was listed. `source` changes whenever its bytes do."""

    __slots__ = ("key", "path", "source")

    def __init__(self, path: str, key: str, source: str) -> None:
        self.path, self.key, self.source = path, key, source


class _Index:
    """The objects in the order of their files, in a file of its own: there may be millions."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @classmethod
    @contextmanager
    def made(cls, path: Path) -> Generator["_Index"]:
        connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        try:
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("CREATE TABLE objects (path TEXT PRIMARY KEY, key TEXT, source TEXT) WITHOUT ROWID")
            yield cls(connection)
        finally:
            connection.close()

    async def fill(self, objects: AsyncIterable[ObjectInfo]) -> None:
        self._connection.execute("BEGIN")
        async for info in objects:
            row = object_path(info.key), info.key, source_of(info)
            self._connection.execute("INSERT OR REPLACE INTO objects VALUES (?, ?, ?)", row)
        self._connection.execute("COMMIT")

    def of(self, folder: str) -> Iterator[_Seen]:
        rows = self._connection.execute(
            "SELECT * FROM objects WHERE path > ? AND path < ? ORDER BY path", (f"{folder}/", f"{folder}0")
        )
        return (_Seen(*row) for row in rows)


def object_path(key: str) -> str:
    """Of the file of an object in a folder store."""
    name = hashlib.sha256(key.encode()).hexdigest()
    return f"objects/objects/{name[:2]}/{name}"


def source_of(info: ObjectInfo) -> str:
    return f"{info.etag}:{info.size_bytes}"


async def _together(work: Iterable[Awaitable[None]]) -> None:
    """Wait for all, or raise what failed first."""
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
