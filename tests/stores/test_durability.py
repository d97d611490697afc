"""What was acknowledged survives a loss of power: bytes are flushed before they get a name, names before the answer.

Nothing can be unplugged here. Instead every flush and every change of a name is watched, and made.
"""

import hashlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from satchel.config import Settings
from satchel.kernel.clock import system_clock
from satchel.kernel.errors import Invalid
from satchel.kernel.signature import Signer
from satchel.secret import open_signer
from satchel.stores.embedded.ephemeral_memory import MemoryEphemeral
from satchel.stores.embedded.folder_keys import KeyIndex
from satchel.stores.embedded.folder_shared import WORTH_SHARING_BYTES
from satchel.stores.embedded.objects_folder import FolderObjects
from satchel.stores.embedded.sqlite_writer import SqliteWriter
from satchel.stores.embedded.table_sqlite import SqliteTables
from satchel.stores.ports.objects import Part, SmallObject
from tests.services import python_environment

KEY = "some/key"
LARGE = WORTH_SHARING_BYTES + 1


def at(opened: int) -> Path:
    """The path of something that is open."""
    return Path(f"/proc/self/fd/{opened}").readlink()


class Disk:
    """What a loss of power would undo at this moment: folders whose names changed since they were last flushed.

    A name that is given to bytes which are not flushed is an error at once, except of parts: they count as unflushed
    until they are, and so does the body with their bytes. In `drafts`, and when a name goes from `shared`, nothing is
    promised.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.unflushed: set[Path] = set()
        # How long a file was when it was last flushed.
        self._flushed_bytes: dict[int, int] = {}
        self.flushes = 0

    def flush(self, opened: int) -> None:
        self.flushes += 1
        path = at(opened)
        if path.is_dir():
            self.unflushed.discard(path)
        else:
            found = os.fstat(opened)
            self._flushed_bytes[found.st_ino] = found.st_size
            self.unflushed.discard(path)

    def changed(self, folder: Path) -> None:
        if not folder.is_relative_to(self.root / "drafts"):
            self.unflushed.add(folder)

    def rename(self, source: Path, target: Path) -> None:
        if source.is_dir():
            self.unflushed = {folder for folder in self.unflushed if not folder.is_relative_to(source)}
        elif target.name.isdecimal():
            self.unflushed |= {
                name
                for file, name in ((source, target), (target.parent / "body", target.parent / "body"))
                if not self._is_flushed(file)
            }
        else:
            self._must_be_flushed(source)
            if target.is_relative_to(self.root / "objects"):
                self._must_be_listed(target.name)
                spoken_of = {folder for folder in self.unflushed if folder.is_relative_to(self.root / "shared")}
                assert not spoken_of, "an object speaks of a link that may be lost"
        self.changed(source.parent)
        self.changed(target.parent)

    def link(self, source: Path, target: Path) -> None:
        if not source.is_relative_to(self.root):
            self._must_be_flushed(source)
        self.changed(target.parent)

    def unlink(self, path: Path) -> None:
        if not path.is_relative_to(self.root / "shared"):
            self.changed(path.parent)

    def forget(self, keys: list[str]) -> None:
        assert not self.unflushed, f"{keys} leave the index while their objects could come back"

    def _must_be_flushed(self, file: Path) -> None:
        assert self._is_flushed(file), f"{file} gets a name before it is flushed"

    def _is_flushed(self, file: Path) -> bool:
        return not file.exists() or self._flushed_bytes.get(file.stat().st_ino) == file.stat().st_size

    def _must_be_listed(self, name: str) -> None:
        with sqlite3.connect(self.root / "keys.db") as index:
            keys = [bytes(key) for (key,) in index.execute("SELECT key FROM keys")]
        index.close()
        assert name in {hashlib.sha256(key).hexdigest() for key in keys}, "an object that is not in the index"


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    watched = Disk(tmp_path / "store")

    def watch(owner: Any, name: str, see: Callable[..., None], *, before: bool) -> None:
        call = getattr(owner, name)

        def seen(*arguments: Any, **options: Any) -> Any:
            if before:
                see(*arguments)
            result = call(*arguments, **options)
            if not before:
                folder = options.get("dir_fd")
                see(*arguments[:1] if folder is None else [at(folder) / arguments[0]])
            return result

        monkeypatch.setattr(owner, name, seen)

    watch(os, "fsync", watched.flush, before=False)

    def rename(source: str, target: str) -> None:
        watched.rename(Path(source), Path(target))

    def link(source: str, target: str) -> None:
        watched.link(Path(source), Path(target))

    def unlink(path: str) -> None:
        watched.unlink(Path(path))

    def mkdir(path: str) -> None:
        watched.changed(Path(path).parent)

    def remove(_: KeyIndex, keys: Any) -> None:
        watched.forget(keys)

    watch(os, "rename", rename, before=True)
    watch(os, "replace", rename, before=True)
    watch(os, "link", link, before=True)
    watch(os, "unlink", unlink, before=False)
    watch(os, "mkdir", mkdir, before=False)
    watch(KeyIndex, "remove", remove, before=True)
    return watched


@pytest.fixture
async def store(disk: Disk) -> AsyncIterator[FolderObjects]:
    opened = await FolderObjects.open(disk.root, clock=system_clock, signer=Signer(b"k" * 32), base_url="http://t")
    assert not disk.unflushed
    disk.flushes = 0
    yield opened
    await opened.close()


async def body(*chunks: bytes) -> AsyncGenerator[bytes]:
    for chunk in chunks:
        yield chunk


async def put(store: FolderObjects, key: str, size_bytes: int = 10) -> None:
    await store.put(key, body(b"x" * size_bytes))


async def test_a_new_folder_is_there_for_good(disk: Disk, store: FolderObjects) -> None:
    assert (disk.root / "objects" / "00").is_dir()


@pytest.mark.parametrize("size_bytes", [0, 10, LARGE])
async def test_what_is_put(disk: Disk, store: FolderObjects, size_bytes: int) -> None:
    await put(store, KEY, size_bytes)
    assert not disk.unflushed
    await put(store, KEY, size_bytes + 1)
    assert not disk.unflushed
    # The file and its folder, each time.
    assert disk.flushes == 4


async def test_what_is_put_together(disk: Disk, store: FolderObjects) -> None:
    await store.put_many([SmallObject(f"key {number}", b"x" * number) for number in range(20)])
    assert not disk.unflushed
    assert disk.flushes >= 21


@pytest.mark.parametrize("size_bytes", [10, LARGE])
async def test_what_is_copied(disk: Disk, store: FolderObjects, size_bytes: int) -> None:
    await put(store, KEY, size_bytes)
    await store.copy(KEY, "copy")
    assert not disk.unflushed
    await store.copy("copy", "copy of the copy")
    assert not disk.unflushed


@pytest.mark.parametrize("size_bytes", [10, LARGE])
async def test_what_is_deleted(disk: Disk, store: FolderObjects, size_bytes: int) -> None:
    await put(store, KEY, size_bytes)
    await store.copy(KEY, "copy")
    disk.flushes = 0
    await store.delete("copy")
    assert not disk.unflushed
    assert disk.flushes == 1
    await store.delete(KEY)
    assert not disk.unflushed


async def send_parts(disk: Disk, store: FolderObjects, numbers: list[int]) -> tuple[str, list[Part]]:
    upload = await store.begin(KEY)
    assert not disk.unflushed
    parts: dict[int, Part] = {}
    for number in numbers:
        size = 5 * 1024 * 1024 + number
        parts[number] = await store.put_part(KEY, upload, number, body(b"p" * size), length=size)
        assert not disk.unflushed
    return upload, [parts[number] for number in sorted(parts)]


# One after the other, as they are joined in one file; the other way round; and one that comes again.
@pytest.mark.parametrize("numbers", [[1, 2], [2, 1], [1, 2, 1]], ids=str)
async def test_what_comes_in_parts(disk: Disk, store: FolderObjects, numbers: list[int]) -> None:
    upload, parts = await send_parts(disk, store, numbers)
    await store.complete(KEY, upload, parts)
    assert not disk.unflushed


async def test_parts_that_are_flushed_together(disk: Disk, store: FolderObjects) -> None:
    upload, size = await store.begin(KEY), 5 * 1024 * 1024
    # The third is the first again, which has a file of its own.
    parts = [
        await store.put_part(KEY, upload, number, body(b"p" * size), length=size, durable=False) for number in (1, 2, 1)
    ]
    assert disk.unflushed
    disk.flushes = 0
    await store.flush_parts(KEY, upload, parts[1:])
    assert not disk.unflushed
    # The bytes, both descriptions and their folder.
    assert disk.flushes == 4
    assert await store.parts(KEY, upload) == [parts[2], parts[1]]


async def test_a_part_that_the_power_took_with_it_was_never_there(disk: Disk, store: FolderObjects) -> None:
    upload, parts = await send_parts(disk, store, [1])
    lost = await store.put_part(KEY, upload, 2, body(b"p"), length=1, durable=False)
    os.truncate(disk.root / "uploads" / upload / "00002", 0)
    assert await store.parts(KEY, upload) == parts
    with pytest.raises(Invalid):
        await store.complete(KEY, upload, [*parts, lost])
    again = await store.put_part(KEY, upload, 2, body(b"again"), length=5)
    assert (await store.complete(KEY, upload, [*parts, again])).size_bytes == parts[0].size_bytes + 5


async def test_an_upload_that_was_ended(disk: Disk, store: FolderObjects) -> None:
    upload, _ = await send_parts(disk, store, [1])
    await store.abort(KEY, upload)
    assert not disk.unflushed


def test_the_secret_is_whole_before_it_has_its_name(disk: Disk, tmp_path: Path) -> None:
    open_signer(Settings(data=tmp_path))
    assert disk.flushes == 1


# Commits are flushed, and a reader sees all of one or nothing. The rest is what the file's size and speed stand on.
OF_A_WRITER = {
    "journal_mode": "wal",
    "synchronous": 2,
    "page_size": 8192,
    "cache_size": -4096,
    "wal_autocheckpoint": 4000,
    "journal_size_limit": 64 * 1024 * 1024,
}


@pytest.fixture(autouse=True)
def sqlite_of_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some are built so that they flush less by themselves: what we need has to be asked for."""
    connect = sqlite3.connect

    def connected(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.execute("PRAGMA synchronous = OFF")
        return connection

    monkeypatch.setattr(sqlite3, "connect", connected)


def pragmas(connection: sqlite3.Connection, *names: str) -> dict[str, Any]:
    return {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names}


async def of_writer(writer: SqliteWriter) -> dict[str, Any]:
    return await writer.run(lambda connection: pragmas(connection, *OF_A_WRITER))


async def test_tables_flush_every_commit(tmp_path: Path) -> None:
    tables = await SqliteTables.open(tmp_path / "tables.db", clock=system_clock)
    assert await of_writer(tables._writer) == OF_A_WRITER
    await tables.close()


async def test_what_is_kept_of_short_lived_state_is_flushed_with_every_commit(tmp_path: Path) -> None:
    ephemeral = await MemoryEphemeral.open(clock=system_clock, path=tmp_path / "ephemeral.db", durable=["kept:"])
    assert ephemeral._kept is not None
    assert await of_writer(ephemeral._kept._history._writer) == OF_A_WRITER
    await ephemeral.close()


def test_the_index_of_objects_flushes_every_commit(tmp_path: Path) -> None:
    index = KeyIndex(tmp_path / "keys.db")
    for connection in (index._writer, index._reader):
        assert pragmas(connection, "journal_mode", "synchronous") == {"journal_mode": "wal", "synchronous": 2}
    index.close()


ANOTHER_PROCESS = """
import sys
from pathlib import Path
from satchel.stores.embedded.folder_keys import KeyIndex

index = KeyIndex(Path(sys.argv[1]))
index.add(sys.argv[2])
index.close()
"""


def test_a_key_that_another_process_added_stays_in_the_index(tmp_path: Path) -> None:
    path = tmp_path / "keys.db"
    index = KeyIndex(path)
    index.add("ours")
    for key in ("first", "second"):
        subprocess.run([sys.executable, "-c", ANOTHER_PROCESS, path, key], check=True, env=python_environment())
        index.add(f"after the {key}")
    index.close()
    index = KeyIndex(path)
    assert set(index.after("", "", 10)) == {"ours", "first", "second", "after the first", "after the second"}
    index.close()
