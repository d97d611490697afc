"""Copies in a folder of objects share their bytes: only the disk notices, and none is freed too early or never."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from satchel.kernel.clock import ManualClock
from satchel.stores.embedded.folder_files import Draft
from satchel.stores.embedded.folder_hold import FolderHold
from satchel.stores.embedded.folder_shared import SharedBytes
from satchel.stores.embedded.objects_folder import FolderObjects
from tests.stores.harnesses_objects import proves, stream
from tests.stores.test_objects_folder import MIB, NOW, files_of, open_folder


@pytest.fixture
async def folder(tmp_path: Path) -> AsyncIterator[FolderObjects]:
    store = await open_folder(tmp_path / "store")
    yield store
    await store.close()


async def copied(folder: FolderObjects, data: bytes) -> None:
    await folder.put("x", stream(data), content_type="image/png", metadata={"a": "1"})
    await folder.copy("x", "y", metadata={"b": "2"})


async def read_all(folder: FolderObjects, key: str, **part: int) -> bytes:
    async with folder.read(key, **part) as reading:
        return b"".join([chunk async for chunk in reading])


@proves("whole")
async def test_a_large_copy_takes_no_room_and_outlives_what_it_was_made_of(
    folder: FolderObjects, tmp_path: Path
) -> None:
    data = os.urandom(3 * MIB)
    await copied(folder, data)
    assert sum(path.stat().st_size for path in files_of(tmp_path, "objects")) < 4 * MIB
    await folder.copy("y", "z")
    await folder.delete("x")
    await folder.put("y", stream(b"another"))
    assert await read_all(folder, "z") == data
    assert await read_all(folder, "z", start=MIB + 5, length=7) == data[MIB + 5 : MIB + 12]
    info = await folder.head("z")
    assert (info.key, info.size_bytes, info.content_type, info.metadata) == ("z", 3 * MIB, "image/png", {"b": "2"})
    assert [info.size_bytes for info in (await folder.list()).objects] == [7, 3 * MIB]


@proves("whole")
async def test_what_was_opened_stays_readable_though_a_copy_be_replaced_or_deleted(folder: FolderObjects) -> None:
    data = os.urandom(MIB)
    await copied(folder, data)
    async with folder.read("y") as replaced:
        await folder.delete("x")
        await folder.put("y", stream(b"another"))
        assert b"".join([chunk async for chunk in replaced]) == data
    await folder.copy("y", "x")
    assert await read_all(folder, "x") == b"another"


async def test_the_last_of_several_copies_frees_the_room(folder: FolderObjects, tmp_path: Path) -> None:
    await copied(folder, os.urandom(MIB))
    await folder.copy("y", "y", metadata={"again": "1"})
    await folder.copy("y", "z")
    assert len(files_of(tmp_path, "shared")) == 2
    await folder.delete("x", "y")
    await folder.copy("z", "z", metadata={})
    assert len(files_of(tmp_path, "shared")) == 1
    await folder.delete("z")
    assert files_of(tmp_path, "shared") == files_of(tmp_path, "objects") == files_of(tmp_path, "drafts") == []


async def test_sweeping_frees_links_that_nobody_speaks_of_and_no_others(folder: FolderObjects, tmp_path: Path) -> None:
    data = os.urandom(MIB)
    await copied(folder, data)
    [link] = files_of(tmp_path, "shared")
    name, _, maker = link.name.partition("-")
    lost = link.with_name(f"{name}-{'0' * 26}")
    lost.hardlink_to(link)
    nobodys = link.with_name(f"{'f' * 64}-{maker}")
    nobodys.hardlink_to(link)
    # Each round looks at some of the folders; together they look at all, and begin anew.
    rounds = [await folder.clean(NOW) for _ in range(8)]
    assert sorted(rounds) == [0] * 7 + [2]
    assert files_of(tmp_path, "shared") == [link]
    lost.hardlink_to(link)
    assert sum([await folder.clean(NOW) for _ in range(8)]) == 1
    assert await read_all(folder, "y") == data


async def test_a_file_system_without_links_copies_the_bytes(folder: FolderObjects, tmp_path: Path) -> None:
    data = os.urandom(MIB)
    shutil.rmtree(tmp_path / "store" / "shared")
    await copied(folder, data)
    await folder.delete("x")
    assert await read_all(folder, "y") == data


def test_what_stands_at_the_source_by_now_is_not_what_was_opened(tmp_path: Path) -> None:
    source, newer, shared = tmp_path / "source", tmp_path / "newer", tmp_path / "shared"
    source.write_bytes(b"opened")
    newer.write_bytes(b"newer")
    shared.mkdir()
    draft = Draft(tmp_path / "draft")
    with source.open("rb") as opened:
        newer.rename(source)
        hold = FolderHold(tmp_path, ManualClock())
        assert SharedBytes(shared, hold).link(source, opened, 6, tmp_path / "target", draft) is None
    draft.discard()
    assert list(shared.iterdir()) == []


async def test_copying_and_sweeping_at_once_loses_nothing(folder: FolderObjects) -> None:
    data = os.urandom(MIB)
    await folder.put("x", stream(data))
    stopping = asyncio.Event()

    async def sweep() -> None:
        while not stopping.is_set():
            await folder.clean(NOW)

    sweeping = asyncio.create_task(sweep())
    for _ in range(20):
        await asyncio.gather(*(folder.copy("x", f"copy-{number % 3}") for number in range(6)))
    stopping.set()
    await sweeping
    for number in range(3):
        assert await read_all(folder, f"copy-{number}") == data
    await folder.delete("x", *(f"copy-{number}" for number in range(3)))
