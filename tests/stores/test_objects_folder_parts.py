"""Parts in a folder of objects are joined as they come: cheaply in order, and rightly in any other way."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from satchel.stores.disk_room import leave_room
from satchel.stores.embedded.objects_folder import FolderObjects
from satchel.stores.ports.objects import MIN_PART_BYTES, ObjectMissing, Part
from tests.stores.harnesses_objects import proves, stream
from tests.stores.test_objects_folder import files_of, open_folder

SIZE = MIN_PART_BYTES


@pytest.fixture
async def folder(tmp_path: Path) -> AsyncIterator[FolderObjects]:
    store = await open_folder(tmp_path / "store")
    yield store
    await store.close()


async def put(folder: FolderObjects, upload: str, number: int, data: bytes) -> Part:
    return await folder.put_part(
        "x", upload, number, stream(data[: len(data) // 2], data[len(data) // 2 :]), length=len(data)
    )


async def read_all(folder: FolderObjects) -> bytes:
    async with folder.read("x") as reading:
        return b"".join([chunk async for chunk in reading])


async def test_parts_that_come_in_order_are_never_copied(folder: FolderObjects, tmp_path: Path) -> None:
    upload = await folder.begin("x", content_type="image/png", metadata={"a": "1"})
    pieces = [os.urandom(SIZE), os.urandom(SIZE + 1), os.urandom(10)]
    parts = [await put(folder, upload, number, data) for number, data in enumerate(pieces, 1)]
    [body] = (tmp_path / "store" / "uploads").glob("*/body")
    inode = body.stat().st_ino
    assert await folder.parts("x", upload) == parts
    info = await folder.complete("x", upload, parts)
    assert (info.size_bytes, info.content_type, info.metadata) == (2 * SIZE + 11, "image/png", {"a": "1"})
    assert info == await folder.head("x")
    assert [file.stat().st_ino for file in files_of(tmp_path, "objects")] == [inode]
    assert await read_all(folder) == b"".join(pieces)
    assert files_of(tmp_path, "uploads") == files_of(tmp_path, "drafts") == []


@pytest.mark.slow
async def test_a_part_that_is_replaced_leaves_those_behind_it_alone(folder: FolderObjects) -> None:
    for replaced in (1, 2, 3):
        upload = await folder.begin("x")
        pieces = [os.urandom(SIZE) for _ in range(3)]
        for number, data in enumerate(pieces, 1):
            await put(folder, upload, number, data)
        pieces[replaced - 1] = os.urandom(SIZE + 7)
        await put(folder, upload, replaced, pieces[replaced - 1])
        await folder.complete("x", upload, await folder.parts("x", upload))
        assert await read_all(folder) == b"".join(pieces)


@proves("whole")
async def test_a_part_that_breaks_off_leaves_what_was_there(folder: FolderObjects) -> None:
    upload = await folder.begin("x")
    pieces = [os.urandom(SIZE), os.urandom(SIZE)]
    await put(folder, upload, 1, pieces[0])

    async def breaks() -> AsyncIterator[bytes]:
        yield os.urandom(3 * SIZE // 2)
        raise ConnectionResetError

    for number in (1, 2):
        with pytest.raises(ConnectionResetError):
            await folder.put_part("x", upload, number, breaks(), length=2 * SIZE)
    await put(folder, upload, 2, pieces[1])
    await folder.complete("x", upload, await folder.parts("x", upload))
    assert await read_all(folder) == b"".join(pieces)


async def test_some_of_the_parts_make_an_object_of_these_alone(folder: FolderObjects) -> None:
    upload = await folder.begin("x")
    pieces = [os.urandom(SIZE) for _ in range(3)]
    parts = [await put(folder, upload, number, data) for number, data in enumerate(pieces, 1)]
    await folder.complete("x", upload, parts[:2])
    assert await read_all(folder) == b"".join(pieces[:2])


@proves("whole")
async def test_what_has_become_an_object_cannot_be_completed_into_nothing(
    folder: FolderObjects, tmp_path: Path
) -> None:
    upload = await folder.begin("x")
    parts = [await put(folder, upload, 1, os.urandom(SIZE))]
    place = tmp_path / "store" / "uploads" / upload
    shutil.copytree(place, tmp_path / "aside", ignore=shutil.ignore_patterns("body"))
    await folder.complete("x", upload, parts)
    before = await read_all(folder)
    # As if the server had been killed before the folder of the upload was taken away.
    shutil.copytree(tmp_path / "aside", place)
    with pytest.raises(ObjectMissing):
        await folder.complete("x", upload, parts)
    assert await read_all(folder) == before
    await folder.abort("x", upload)
    assert files_of(tmp_path, "uploads") == []


async def test_parts_that_come_at_once_are_joined_in_their_order(folder: FolderObjects) -> None:
    upload = await folder.begin("x")
    pieces = [os.urandom(SIZE + number) for number in range(6)]
    first = await put(folder, upload, 1, pieces[0])
    rest = await asyncio.gather(*(put(folder, upload, number, pieces[number - 1]) for number in range(2, 7)))
    await folder.complete("x", upload, [first, *rest])
    assert await read_all(folder) == b"".join(pieces)


@proves("whole")
async def test_the_same_part_sent_twice_at_once_is_one_of_the_two(folder: FolderObjects) -> None:
    upload = await folder.begin("x")
    both = [os.urandom(SIZE), os.urandom(SIZE)]

    async def slowly(data: bytes) -> AsyncIterator[bytes]:
        for start in range(0, SIZE, SIZE // 5):
            yield data[start : start + SIZE // 5]
            await asyncio.sleep(0.02)

    sent = await asyncio.gather(*(folder.put_part("x", upload, 1, slowly(data), length=SIZE) for data in both))
    [kept] = await folder.parts("x", upload)
    await folder.complete("x", upload, [kept])
    assert await read_all(folder) == both[sent.index(kept)]


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(numbers=st.lists(st.integers(1, 3), min_size=1, max_size=7), restarts=st.integers(0, 7))
def test_in_whatever_order_parts_come_and_come_again_the_last_of_each_counts(numbers: list[int], restarts: int) -> None:
    async def try_out() -> None:
        folder = await open_folder(Path(name))
        upload, latest = await folder.begin("x"), dict[int, bytes]()
        for step, number in enumerate(numbers):
            if step == restarts:
                await folder.close()
                folder = await open_folder(Path(name))
            latest[number] = os.urandom(SIZE + step)
            await put(folder, upload, number, latest[number])
        parts = await folder.parts("x", upload)
        assert [(part.number, part.size_bytes) for part in parts] == [(n, len(latest[n])) for n in sorted(latest)]
        await folder.complete("x", upload, parts)
        assert await read_all(folder) == b"".join(latest[number] for number in sorted(latest))
        await folder.close()

    with TemporaryDirectory(prefix="satchel-parts-") as name:
        asyncio.run(try_out())


def test_the_last_bytes_of_a_disk_are_left_for_deleting(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with file.open("wb") as opened:
        leave_room(opened.fileno(), 1)
        free = os.statvfs(tmp_path).f_bavail * os.statvfs(tmp_path).f_frsize
        with pytest.raises(OSError, match="No space left"):
            leave_room(opened.fileno(), free)


async def test_a_part_that_broke_off_takes_no_room(folder: FolderObjects, tmp_path: Path) -> None:
    upload = await folder.begin("x")

    async def broken() -> AsyncIterator[bytes]:
        yield os.urandom(SIZE)
        raise RuntimeError("the line is cut")

    await put(folder, upload, 1, os.urandom(SIZE))
    with pytest.raises(RuntimeError):
        await folder.put_part("x", upload, 2, broken(), length=2 * SIZE)
    [body] = (tmp_path / "store" / "uploads").glob("*/body")
    assert body.stat().st_size == SIZE
