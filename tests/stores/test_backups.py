"""Backups of embedded stores: what the tables speak of at one moment comes back, byte for byte, whatever goes on."""

import asyncio
import errno
import hashlib
import os
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from satchel.config import Settings
from satchel.kernel.clock import ManualClock, system_clock
from satchel.kernel.errors import Conflict, Invalid, NotFound, SatchelError
from satchel.kernel.signature import Signer
from satchel.stores import backups
from satchel.stores.connect import Stores, open_stores
from satchel.stores.embedded.backup_repository import Entry, Repository
from satchel.stores.embedded.folder_files import Damaged, Description, Draft
from satchel.stores.embedded.folder_hold import FolderHold
from satchel.stores.ports.objects import MIN_PART_BYTES, ObjectMissing
from satchel.stores.ports.table import TableSpec, text
from tests.stores.harnesses_objects import SECRET, stream

NOTES = TableSpec("Notes", text("name"))
LARGE = os.urandom(64 * 1024)


class Server:
    """Stores in use, and backups of them; each backup is a second later."""

    def __init__(self, folder: Path, stores: Stores, settings: Settings) -> None:
        self.stores, self.settings = stores, settings
        self.folder = folder / "backups"
        self.clock = ManualClock()
        self.place = backups.open_place(str(self.folder), self.clock)

    async def put(self, key: str, body: bytes) -> None:
        await self.stores.objects.put(key, stream(body))
        await self.stores.tables.put(NOTES, {"name": key, "size": len(body)})

    async def delete(self, key: str) -> None:
        await self.stores.tables.delete(NOTES, {"name": key})
        await self.stores.objects.delete(key)

    async def backup(self, *, keep: int | None = None) -> backups.TakenBackup:
        self.clock.advance(1)
        return await asyncio.to_thread(backups.backup, self.settings, self.place, self.clock, ignored, keep=keep)

    def file_of(self, body: bytes) -> Path:
        files = self.settings.data.glob("objects/objects/*/*")
        (found,) = (path for path in files if path.read_bytes().startswith(body[:9]))
        return found


def ignored(_files: int, _bytes: int) -> None:
    pass


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    settings = Settings(data=tmp_path / "data")
    async with open_stores(settings, system_clock, Signer(SECRET), durable_keys=("kept:",)) as stores:
        await stores.tables.create(NOTES)
        (settings.data / "secret").write_text("s" * 64)
        yield Server(tmp_path, stores, settings)


async def found_in(settings: Settings) -> dict[str, bytes | None]:
    """What the tables speak of, and what is there; None for bytes that are gone."""
    async with open_stores(settings, system_clock, Signer(SECRET), durable_keys=("kept:",)) as stores:
        await stores.tables.create(NOTES)
        found: dict[str, bytes | None] = {}
        for info in (await stores.objects.list()).objects:
            if await stores.tables.get(NOTES, {"name": info.key}) is not None:
                async with stores.objects.read(info.key) as reading:
                    found[info.key] = b"".join([chunk async for chunk in reading])
        return found


async def restored(server: Server, name: str | None = None, into: str = "restored") -> dict[str, bytes | None]:
    settings = replace(server.settings, data=server.settings.data.with_name(into))
    await asyncio.to_thread(backups.restore, settings, server.place, name, ignored)
    return await found_in(settings)


@contextmanager
def right_after_the_tables(do: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """Something that happens when the tables have been copied, and the objects have not."""
    add_database = Repository.add_database

    def then(self: Repository, name: str, path: Path) -> Entry:
        entry = add_database(self, name, path)
        if name == "satchel.db":
            do()
        return entry

    with monkeypatch.context() as patched:
        patched.setattr(Repository, "add_database", then)
        yield


async def test_everything_comes_back_in_a_new_folder(server: Server) -> None:
    for key, body in (("a", b"one"), ("b/c", LARGE), ("empty", b"")):
        await server.put(key, body)
    await server.stores.objects.copy("b/c", "copy")
    await server.stores.tables.put(NOTES, {"name": "copy"})
    taken = await server.backup()
    assert taken.damages == []
    assert await restored(server) == {"a": b"one", "b/c": LARGE, "copy": LARGE, "empty": b""}
    assert (server.settings.data.with_name("restored") / "secret").read_text() == "s" * 64
    # The copy took no space, and takes none now.
    shared = [path.stat() for path in server.settings.data.with_name("restored").glob("objects/shared/*/*")]
    assert [each.st_nlink for each in shared] == [2]


async def test_what_is_deleted_or_replaced_while_objects_are_copied_comes_back(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key in ("stays", "goes", "replaced", "origin"):
        await server.put(key, key.encode())
    await server.put("origin", LARGE)
    await server.stores.objects.copy("origin", "copy")
    await server.stores.tables.put(NOTES, {"name": "copy"})
    loop = asyncio.get_running_loop()

    async def meddle() -> None:
        await server.delete("goes")
        await server.delete("origin")
        await server.delete("copy")
        await server.stores.objects.put("replaced", stream(b"new"))
        await server.put("later", b"later")

    def wait() -> None:
        asyncio.run_coroutine_threadsafe(meddle(), loop).result()

    with right_after_the_tables(wait, monkeypatch):
        await server.backup()
    assert await restored(server) == {
        "stays": b"stays",
        "goes": b"goes",
        "replaced": b"replaced",
        "origin": LARGE,
        "copy": LARGE,
    }
    assert not (server.settings.data / "objects" / "held").exists()
    with pytest.raises(ObjectMissing):
        await server.stores.objects.head("goes")


async def test_the_next_backup_adds_only_what_is_new_and_every_one_can_be_restored(server: Server) -> None:
    await server.put("a", b"one")
    await server.put("b", LARGE)
    first = await server.backup()
    await server.delete("b")
    await server.put("c", b"three")
    second = await server.backup()
    assert second.new_files == 2  # c, and the tables
    assert [each.name for each in backups.backups_in(server.place)] == [first.backup.name, second.backup.name]
    assert await restored(server, first.backup.name, "first") == {"a": b"one", "b": LARGE}
    assert await restored(server, second.backup.name, "second") == {"a": b"one", "c": b"three"}
    third = await server.backup(keep=1)
    assert third.pruned == [first.backup.name, second.backup.name]
    assert await restored(server, into="third") == {"a": b"one", "c": b"three"}
    assert not any(LARGE in path.read_bytes() for path in server.folder.glob("files/*/*"))
    with pytest.raises(NotFound):
        await restored(server, first.backup.name, "gone")


async def test_what_rots_is_found_and_repaired_from_a_backup(server: Server) -> None:
    await server.put("good", b"good bytes")
    await server.put("bad", LARGE)
    await server.backup()
    file = server.file_of(LARGE)
    assert (await verified(server)).damages == []
    _flip(file, 100)
    (damage,) = (await verified(server)).damages
    assert damage.key == "bad"
    # The next backup keeps the good bytes: the file has not been written since.
    await server.backup()
    assert await restored(server) == {"good": b"good bytes", "bad": LARGE}
    repaired = await verified(server, repair=True)
    assert (repaired.damages, len(repaired.repaired)) == ([], 1)
    async with server.stores.objects.read("bad") as reading:
        assert b"".join([chunk async for chunk in reading]) == LARGE


async def test_a_backup_says_what_was_damaged_before_it(server: Server) -> None:
    await server.put("bad", LARGE)
    _flip(server.file_of(LARGE), 100)
    assert [each.key for each in (await server.backup()).damages] == ["bad"]
    # There is no good copy to repair it from.
    assert [each.key for each in (await verified(server, repair=True)).damages] == ["bad"]


@pytest.mark.parametrize("then", ["put", "deleted"])
async def test_what_changes_between_reading_and_repair_is_left_alone(
    server: Server, then: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await server.put("a", b"one")
    await server.backup()
    _flip(server.file_of(b"one"), 1)
    loop, complete = asyncio.get_running_loop(), Repository.complete

    async def meddle() -> None:
        await (server.put("a", b"two") if then == "put" else server.delete("a"))

    def meanwhile(self: Repository) -> list[backups.Backup]:
        asyncio.run_coroutine_threadsafe(meddle(), loop).result()
        return complete(self)

    monkeypatch.setattr(Repository, "complete", meanwhile)
    found = await verified(server, repair=True)
    assert (found.damages, found.repaired) == ([], [])
    assert [info.key for info in (await server.stores.objects.list()).objects] == (["a"] if then == "put" else [])
    if then == "put":
        async with server.stores.objects.read("a") as reading:
            assert b"".join([chunk async for chunk in reading]) == b"two"


async def test_bytes_that_a_copy_shares_are_missed_and_brought_back(server: Server) -> None:
    await server.put("a", LARGE)
    await server.stores.objects.copy("a", "b")
    await server.backup()
    (shared,) = server.settings.data.glob("objects/shared/*/*")
    shared.unlink()
    assert [each.key for each in (await verified(server)).damages] == ["b"]
    repaired = await verified(server, repair=True)
    assert (repaired.damages, len(repaired.repaired)) == ([], 1)
    assert (await verified(server)).damages == []
    async with server.stores.objects.read("b") as reading:
        assert b"".join([chunk async for chunk in reading]) == LARGE


async def test_while_something_is_damaged_it_is_said_and_no_backup_is_deleted(server: Server) -> None:
    await server.put("a", LARGE)
    await server.backup()
    file = server.file_of(LARGE)
    _flip(file, 100)
    os.utime(file)
    for _ in range(3):
        taken = await server.backup(keep=1)
        assert (len(taken.damages), taken.pruned) == (1, [])
    repaired = await verified(server, repair=True)
    assert (repaired.damages, len(repaired.repaired)) == ([], 1)
    assert len((await server.backup(keep=1)).pruned) == 4


async def test_a_file_that_the_disk_does_not_give_back_stops_nothing(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    await server.put("a", LARGE)
    await server.backup()
    await server.put("b", b"fine")
    bad, pread = server.file_of(LARGE), os.pread
    os.utime(bad)

    def failing(file: int, count: int, offset: int) -> bytes:
        if os.path.samestat(os.fstat(file), bad.stat()):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return pread(file, count, offset)

    with monkeypatch.context() as patched:
        patched.setattr(os, "pread", failing)
        assert ["cannot be read" in each.why for each in (await verified(server)).damages] == [True]
        assert len((await server.backup()).damages) == 1
    assert await restored(server) == {"a": LARGE, "b": b"fine"}


async def test_a_clock_that_is_set_back_costs_no_backup(server: Server) -> None:
    await server.put("a", b"one")
    first = await server.backup(keep=2)
    server.clock.advance(-3600)
    second, third = await server.backup(keep=2), await server.backup(keep=2)
    assert (first.pruned, second.pruned, third.pruned) == ([], [], [first.backup.name])
    assert [each.name for each in backups.backups_in(server.place)] == [second.backup.name, third.backup.name]
    assert await restored(server) == {"a": b"one"}


async def test_a_damaged_list_and_foreign_files_leave_the_other_backups_usable(server: Server) -> None:
    await server.put("a", b"one")
    first, second = await server.backup(), await server.backup()
    cut = server.folder / "backups" / second.backup.name
    cut.write_bytes(cut.read_bytes()[:-5])
    (server.folder / "backups" / ".DS_Store").write_bytes(b"x")
    (server.folder / "files" / "3f").mkdir(exist_ok=True)
    (server.folder / "files" / "3f" / ".nfs0001").write_bytes(b"x")
    found = await asyncio.to_thread(backups.verify_place, server.place, ignored)
    assert [each.path for each in found.damages] == [f"backups/{second.backup.name}"]
    with pytest.raises(Invalid, match="damaged"):
        await restored(server, second.backup.name, "second")
    assert await restored(server, first.backup.name, "first") == {"a": b"one"}
    assert (await server.backup(keep=1)).pruned == []
    cut.unlink()
    assert len((await server.backup(keep=1)).pruned) == 2


async def test_a_list_that_is_damaged_in_the_middle_stops_neither_backups_nor_repairs(server: Server) -> None:
    await server.put("a", LARGE)
    first, second = await server.backup(), await server.backup()
    lines = (server.folder / "backups" / second.backup.name).read_bytes().splitlines(keepends=True)
    lines[0] = b"{" + lines[0]
    (server.folder / "backups" / second.backup.name).write_bytes(b"".join(lines))
    _flip(server.file_of(LARGE), 100)
    repaired = await verified(server, repair=True)
    assert (repaired.damages, len(repaired.repaired)) == ([], 1)
    third = await server.backup(keep=2)
    assert (third.damages, third.pruned) == ([], [])
    assert await restored(server) == {"a": LARGE}
    assert await restored(server, first.backup.name, "first") == {"a": LARGE}


async def test_a_restore_that_was_cut_off_leaves_no_data_folder(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    await server.put("a", b"one")
    await server.backup()
    entries = Repository.entries

    def cut_off(self: Repository, backup: backups.Backup) -> Generator[Entry]:
        yield from list(entries(self, backup))[:2]
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patched:
        patched.setattr(Repository, "entries", cut_off)
        with pytest.raises(SatchelError):
            await restored(server)
    assert not server.settings.data.with_name("restored").exists()
    assert await restored(server) == {"a": b"one"}
    assert not server.settings.data.with_name("restored.restoring").exists()


async def test_what_was_put_in_parts_is_read_again_too(server: Server) -> None:
    objects, parts = server.stores.objects, [os.urandom(MIN_PART_BYTES), b"the end"]
    upload = await objects.begin("parts")
    stored = [
        await objects.put_part("parts", upload, number, stream(body), length=len(body))
        for number, body in enumerate(parts, 1)
    ]
    info = await objects.complete("parts", upload, stored)
    assert info.etag == hashlib.sha256(b"".join(parts)).hexdigest()
    await _check_and_harm(server, parts)


async def test_an_object_whose_etag_is_that_of_its_parts_is_read_again_too(server: Server) -> None:
    parts = [os.urandom(MIN_PART_BYTES), b"the end"]
    await server.stores.objects.put("parts", stream(*parts))
    etags = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
    file, draft = server.file_of(parts[0]), Draft(server.settings.data / "draft")
    draft.write(parts)
    draft.seal(Description(key="parts", etag=f"{etags}-2", modified=0, part_bytes=MIN_PART_BYTES))
    draft.publish(file)
    await _check_and_harm(server, parts)


async def _check_and_harm(server: Server, parts: list[bytes]) -> None:
    found = await verified(server)
    assert (found.damages, found.unproved) == ([], 0)
    _flip(server.file_of(parts[0]), MIN_PART_BYTES + 2)
    assert [each.key for each in (await verified(server)).damages] == ["parts"]


@pytest.mark.parametrize("harm", ["flipped", "missing"])
async def test_a_backup_that_rots_is_found_and_not_restored(server: Server, harm: str) -> None:
    await server.put("a", LARGE)
    await server.backup()
    assert (await asyncio.to_thread(backups.verify_place, server.place, ignored)).damages == []
    (file,) = (path for path in server.folder.glob("files/*/*") if path.read_bytes()[:9] == LARGE[:9])
    if harm == "flipped":
        _flip(file, 5)
    else:
        file.unlink()
    assert len((await asyncio.to_thread(backups.verify_place, server.place, ignored)).damages) == 1
    with pytest.raises(Damaged):
        await restored(server)


async def test_nothing_is_restored_over_what_is_there(server: Server) -> None:
    await server.put("a", b"one")
    await server.backup()
    with pytest.raises(Conflict, match="not empty"):
        await asyncio.to_thread(backups.restore, server.settings, server.place, None, ignored)
    async with server.stores.objects.read("a") as reading:
        assert b"".join([chunk async for chunk in reading]) == b"one"


async def test_two_backups_at_once_are_one_and_a_refusal(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    await server.put("a", b"one")
    refused: list[SatchelError] = []

    def second() -> None:
        for folder in (server.folder, server.folder.with_name("elsewhere")):
            try:
                backups.backup(server.settings, backups.open_place(str(folder), system_clock), system_clock, ignored)
            except Conflict as error:
                refused.append(error)

    with right_after_the_tables(second, monkeypatch):
        await server.backup()
    assert len(refused) == 2
    assert await restored(server) == {"a": b"one"}


async def test_what_a_backup_that_died_has_held_is_freed(server: Server) -> None:
    await server.put("a", b"one")
    held = server.settings.data / "objects" / "held"
    hold = FolderHold(server.settings.data / "objects", system_clock)
    with hold.begun():
        await server.stores.objects.clean(timedelta(0))
        assert held.exists()
        await server.delete("a")
        assert [path.read_bytes()[:3] for _, path in hold.kept()] == [b"one"]
        held.rename(held.with_name("died"))
        held.mkdir()
    held.with_name("died").rename(held)
    await server.stores.objects.clean(timedelta(0))
    assert not held.exists()


def _flip(file: Path, offset: int) -> None:
    """Change one byte, as a disk does: neither size nor time tells."""
    times = file.stat()
    with file.open("r+b") as opened:
        opened.seek(offset)
        byte = opened.read(1)[0]
        opened.seek(offset)
        opened.write(bytes([byte ^ 1]))
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


async def verified(server: Server, *, repair: bool = False) -> backups.Verified:
    return await asyncio.to_thread(backups.verify, server.settings, ignored, server.place if repair else None)
