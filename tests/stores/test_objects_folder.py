"""What only a folder of objects can get wrong: its disk, its index, its drafts, its links and its neighbours."""

import asyncio
import errno
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.kernel.clock import ManualClock
from satchel.kernel.errors import Invalid, OutOfSpace, SatchelError, Unavailable
from satchel.kernel.signature import Signer
from satchel.stores.embedded import folder_disk
from satchel.stores.embedded.folder_disk import FolderDisk
from satchel.stores.embedded.folder_files import Damaged, copy_range, disk_errors
from satchel.stores.embedded.folder_links import LinkExpired, LinkUnknown
from satchel.stores.embedded.objects_folder import FolderObjects
from satchel.stores.object_rules import check_key
from satchel.stores.ports.objects import ObjectMissing
from tests.services import python_environment
from tests.stores.harnesses_objects import BASE_URL, SECRET, content, proves, stream

MIB = 1024 * 1024
NOW = timedelta(0)


async def open_folder(root: Path, clock: ManualClock | None = None) -> FolderObjects:
    return await FolderObjects.open(root, clock=clock or ManualClock(), signer=Signer(SECRET), base_url=BASE_URL)


@pytest.fixture
async def folder(tmp_path: Path) -> AsyncIterator[FolderObjects]:
    store = await open_folder(tmp_path / "store")
    yield store
    await store.close()


def files_of(root: Path, kind: str) -> list[Path]:
    return [path for path in (root / "store" / kind).rglob("*") if path.is_file()]


async def keys_of(store: FolderObjects) -> list[str]:
    return [info.key for info in (await store.list()).objects]


@proves("failing")
async def test_a_folder_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Unavailable, match=str(tmp_path / "file")):
        await open_folder(tmp_path / "file" / "store")


LOCKED_SCRIPT = """
import asyncio, os, sys
from pathlib import Path
from satchel.kernel.errors import Unavailable
from satchel.kernel.signature import Signer
from satchel.stores.embedded.objects_folder import FolderObjects

root = Path(sys.argv[1])
if os.geteuid() == 0:
    os.setuid(65534)  # the superuser may write everywhere

def opening(folder):
    return FolderObjects.open(folder, clock=lambda: 1e9, signer=Signer(b"x" * 32), base_url="")

async def stream():
    yield b"bytes"

async def refused(call):
    try:
        await call
    except Unavailable as error:
        print(error.detail)

async def main():
    locked = root / "locked"
    locked.mkdir(mode=0o500)
    await refused(opening(locked / "store"))
    store = await opening(root / "store")
    await store.put("kept", stream())
    os.chmod(root / "store" / "drafts", 0o500)
    await refused(store.put("kept", stream()))
    await refused(store.begin("kept"))
    assert (await store.head("kept")).size_bytes == 5
    os.chmod(root / "store" / "drafts", 0o700)
    await store.put("kept", stream())
    await store.close()
    print("healthy")

asyncio.run(main())
"""


@proves("failing")
def test_a_folder_that_may_not_be_written_says_so_and_heals() -> None:
    with TemporaryDirectory() as place:
        Path(place).chmod(0o777)
        process = subprocess.run(
            [sys.executable, "-c", LOCKED_SCRIPT, place],
            env=python_environment(),
            capture_output=True,
            text=True,
            check=False,
        )
    assert process.stderr == ""
    *refusals, healthy = process.stdout.splitlines()
    assert healthy == "healthy"
    assert len(refusals) == 3
    assert all("may not write to" in sentence for sentence in refusals)


FULL_SCRIPT = """
import asyncio, resource, sys
from datetime import timedelta
from pathlib import Path
from satchel.kernel.errors import OutOfSpace
from satchel.kernel.signature import Signer
from satchel.stores.embedded.objects_folder import FolderObjects

MIB = 1024 * 1024
resource.setrlimit(resource.RLIMIT_FSIZE, (4 * MIB, 4 * MIB))

async def stream(megabytes):
    for _ in range(megabytes):
        yield bytes(MIB)

async def main():
    root = Path(sys.argv[1])
    store = await FolderObjects.open(root, clock=lambda: 1e9, signer=Signer(b"x" * 32), base_url="")
    await store.put("old", stream(1))
    upload = await store.begin("parts")
    part = await store.put_part("parts", upload, 1, stream(3), length=3 * MIB)
    for attempt in (
        lambda: store.put("old", stream(8)),
        lambda: store.put("new", stream(8), length=8 * MIB),
        lambda: store.put_part("parts", upload, 2, stream(8), length=8 * MIB),
    ):
        try:
            await attempt()
        except OutOfSpace as error:
            print(error.detail)
    assert list(await store.parts("parts", upload)) == [part]
    assert [(info.key, info.size_bytes) for info in (await store.list()).objects] == [("old", MIB)]
    assert list((root / "drafts").iterdir()) == []
    await store.put("new", stream(1))
    await store.close()
    print("healthy")

asyncio.run(main())
"""


@proves("failing")
def test_a_full_disk_refuses_and_keeps_nothing_half(tmp_path: Path) -> None:
    """A limit on the size of files stands in for the end of the disk: to the store it is one and the same."""
    process = subprocess.run(
        [sys.executable, "-c", FULL_SCRIPT, str(tmp_path / "store")],
        env=python_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.stderr == ""
    *refusals, healthy = process.stdout.splitlines()
    assert healthy == "healthy"
    assert refusals == ["The disk that holds the objects is full. Free some space and try again."] * 3


@proves("failing")
@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (errno.ENOSPC, OutOfSpace),
        (errno.EDQUOT, OutOfSpace),
        (errno.EROFS, Unavailable),
        (errno.EACCES, Unavailable),
        (errno.EIO, Unavailable),
        (errno.EMFILE, Unavailable),
    ],
)
def test_every_trouble_of_the_disk_is_one_of_ours(number: int, expected: type[SatchelError]) -> None:
    with pytest.raises(expected), disk_errors(Path("/data")):
        raise OSError(number, "never shown")


async def test_a_disk_that_is_not_mounted_is_not_an_empty_one(folder: FolderObjects, tmp_path: Path) -> None:
    await folder.put("x", stream(b"x"))
    (tmp_path / "store" / "objects").rename(tmp_path / "elsewhere")
    for call in (lambda: folder.head("x"), lambda: folder.put("x", stream(b"y")), lambda: folder.delete("x")):
        with pytest.raises(Unavailable):
            await call()
    (tmp_path / "elsewhere").rename(tmp_path / "store" / "objects")
    assert await content(folder, "x") == b"x"


@pytest.mark.parametrize("damage", [None, b"not a database at all, but long enough to look at" * 100])
async def test_a_lost_or_broken_index_is_made_again(tmp_path: Path, damage: bytes | None) -> None:
    keys = [f"{letter}/{number}" for letter in "äbc" for number in range(20)]
    store = await open_folder(tmp_path / "store")
    await asyncio.gather(*[store.put(key, stream(key.encode())) for key in keys])
    await store.close()
    for index in (tmp_path / "store").glob("keys.db*"):
        index.unlink()
    if damage is not None:
        (tmp_path / "store" / "keys.db").write_bytes(damage)
    store = await open_folder(tmp_path / "store")
    assert await keys_of(store) == sorted(keys, key=str.encode)
    await store.close()


async def test_a_damaged_file_is_reported_and_hides_no_other(folder: FolderObjects, tmp_path: Path) -> None:
    await folder.put("damaged", stream(b"x" * 1000))
    (path,) = files_of(tmp_path, "objects")
    await folder.put("whole", stream(b"x"))
    for remains in (b"", b"x" * 500, path.read_bytes().replace(b"damaged", b"DAMAGED")):
        path.write_bytes(remains)
        with pytest.raises(Damaged, match=path.name):
            await folder.head("damaged")
        assert await keys_of(folder) == ["whole"]
    await folder.put("damaged", stream(b"again"))
    assert await content(folder, "damaged") == b"again"


async def test_a_draft_is_swept_once_its_maker_is_gone(folder: FolderObjects, tmp_path: Path) -> None:
    release = asyncio.Event()

    async def slow() -> AsyncIterator[bytes]:
        yield bytes(2 * MIB)
        await release.wait()

    putting = asyncio.create_task(folder.put("slow", slow()))
    while not files_of(tmp_path, "drafts"):
        await asyncio.sleep(0.01)
    (draft,) = files_of(tmp_path, "drafts")
    left = draft.with_name("0" * 26)
    left.write_bytes(b"of a process that was killed")
    foreign = draft.with_name("notes.txt")
    foreign.write_bytes(b"not ours to sweep")
    assert await folder.clean(NOW) == 1
    assert sorted(files_of(tmp_path, "drafts")) == sorted([draft, foreign])
    release.set()
    assert (await putting).size_bytes == 2 * MIB
    assert files_of(tmp_path, "drafts") == [foreign]


async def test_a_key_whose_object_never_came_is_not_listed_and_swept(tmp_path: Path) -> None:
    store = await open_folder(tmp_path / "store")
    for key in "abc":
        await store.put(key, stream(b"x"))
    for path in files_of(tmp_path, "objects"):
        path.unlink()
    await store.put("b", stream(b"x"))
    listed = await store.list(limit=1)
    assert ([info.key for info in listed.objects], listed.after) == (["b"], None)
    assert await store.clean(NOW) == 2
    assert await store.clean(NOW) == 0
    await store.close()


async def test_a_round_of_sweeping_looks_at_so_many_keys_and_the_next_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_disk, "_SWEPT_AT_ONCE", 2)
    monkeypatch.setattr(folder_disk, "_KEYS_SWEPT", 4)
    store = await open_folder(tmp_path / "store")
    for number in range(7):
        await store.put(str(number), stream(b"x"))
    for path in files_of(tmp_path, "objects"):
        path.unlink()
    await store.put("0", stream(b"x"))
    assert [await store.clean(NOW) for _ in range(3)] == [3, 3, 0]
    (path,) = files_of(tmp_path, "objects")
    path.unlink()
    assert sum([await store.clean(NOW) for _ in range(2)]) == 1
    await store.close()


async def test_a_file_can_be_sent_without_copying(folder: FolderObjects, tmp_path: Path) -> None:
    data = bytes(range(256)) * 1000
    await folder.put("x", stream(data))
    async with folder.read("x", start=1000, length=5000) as reading:
        file = reading.file
        with (tmp_path / "sent").open("wb") as target:
            assert os.sendfile(target.fileno(), file.fileno(), reading.start, reading.length) == 5000
        assert (tmp_path / "sent").read_bytes() == data[1000:6000]
    assert file.closed


def test_bytes_are_copied_even_where_the_kernel_cannot(tmp_path: Path) -> None:
    """Between file systems of different kinds it refuses to."""
    data = bytes(range(256)) * 10_000
    with TemporaryDirectory(dir="/dev/shm") as memory, (tmp_path / "target").open("wb") as target:
        source = Path(memory) / "source"
        source.write_bytes(data + b"more")
        with source.open("rb") as opened:
            copy_range(opened.fileno(), target.fileno(), len(data))
            with pytest.raises(OSError, match="Input/output error"):
                copy_range(opened.fileno(), target.fileno(), len(data) + 5)
    assert (tmp_path / "target").read_bytes()[: len(data)] == data


@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_no_name_leads_out_of_the_folder(key: str) -> None:
    disk = object.__new__(FolderDisk)
    disk._objects = Path("/data/objects")
    try:
        check_key(key)
    except Invalid:
        return
    path = disk._path(key)
    assert path.is_relative_to("/data/objects")
    assert len(path.relative_to("/data/objects").parts) == 2
    assert path.name.isalnum() and len(path.name) == 64


@pytest.mark.slow
async def test_two_stores_can_share_a_folder(tmp_path: Path) -> None:
    """As a server and a command beside it do. Names come and go on both sides; what is there is listed on both."""
    clock = ManualClock()
    stores = [await open_folder(tmp_path / "store", clock) for _ in range(2)]

    async def churn(store: FolderObjects, seed: int) -> None:
        for step in range(40):
            key = f"key {(step * seed) % 7}"
            await store.put(key, stream(b"%d" % step))
            if step % 3 == seed % 3:
                await store.delete(key)
            if step % 10 == 0:
                await store.clean(timedelta(hours=1))

    await asyncio.gather(*[churn(stores[seed % 2], seed) for seed in range(1, 9)])
    there: list[str] = []
    for number in range(7):
        try:
            there.append((await stores[0].head(f"key {number}")).key)
        except ObjectMissing:
            continue
    for store in stores:
        assert await keys_of(store) == there
        await store.close()


async def test_a_closed_store_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    store = await open_folder(tmp_path / "store")
    started = asyncio.Event()

    async def slow() -> AsyncIterator[bytes]:
        yield bytes(2 * MIB)
        started.set()
        await asyncio.sleep(0.05)

    putting = asyncio.create_task(store.put("x", slow()))
    await started.wait()
    await store.close()
    await store.close()
    with pytest.raises(Unavailable):
        await putting
    with pytest.raises(Unavailable):
        await store.head("x")
    assert files_of(tmp_path, "drafts") == []


async def test_a_link_says_whether_it_is_unknown_or_over(tmp_path: Path) -> None:
    clock = ManualClock()
    store = await open_folder(tmp_path / "store", clock)
    reading = await store.sign_get("ü", timedelta(minutes=1), download_name="n")
    writing = await store.sign_put("ü", timedelta(minutes=1), content_type="image/png")
    get, put = (link.removeprefix(f"{BASE_URL}/objects/") for link in (reading, writing))
    assert store.open_link(get, "GET").key == store.open_link(put, "PUT").key == "ü"
    assert "filename" in str(store.open_link(get, "GET").disposition)
    assert store.open_link(put, "PUT").content_type == "image/png"
    foreign = Signer(SECRET[::-1]).sign("object-link", b"{}")
    other_purpose = Signer(SECRET).sign("access", b"{}")
    for token, method in ((get, "PUT"), (put, "GET"), (get, "HEAD"), (foreign, "GET"), (other_purpose, "GET")):
        with pytest.raises(LinkUnknown):
            store.open_link(token, method)
    clock.advance(60)
    with pytest.raises(LinkExpired):
        store.open_link(get, "GET")
    await store.close()
