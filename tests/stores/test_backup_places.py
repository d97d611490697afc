"""Backups in a folder and in buckets of two servers: the same promises hold of all of them."""

import hashlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from satchel.config import BadSetting, Settings
from satchel.kernel.clock import ManualClock
from satchel.kernel.errors import Conflict, NotFound, Unavailable
from satchel.kernel.signature import Signer
from satchel.stores import backups
from satchel.stores.backups import BackupPlace
from satchel.stores.connect import open_objects, open_stores
from satchel.stores.ports.objects import Objects
from satchel.stores.ports.whole_stores import KnowsMd5
from tests.services import S3Server
from tests.stores.harnesses_objects import SECRET, stream

# More than the last line of a list, and more than one part of an upload.
MANY, LARGE = 60, os.urandom(9 * 1024 * 1024)


class Keeper:
    """A server's files, and a place for their backups that can be opened by any number of programs."""

    def __init__(self, folder: Path, where: str, clock: ManualClock) -> None:
        self.settings = Settings(data=folder / "data")
        self.where = where
        self.clock = clock

    def place(self) -> BackupPlace:
        return backups.open_place(self.where, self.clock)

    async def put(self, bodies: dict[str, bytes]) -> None:
        async with open_stores(self.settings, self.clock, Signer(SECRET)) as stores:
            for key, body in bodies.items():
                await stores.objects.put(key, stream(body))

    def backup(self, keep: int | None = None) -> backups.TakenBackup:
        self.clock.advance(1)
        return backups.backup(self.settings, self.place(), self.clock, told, keep=keep)

    async def restored(self, name: str | None = None) -> dict[str, bytes]:
        settings = Settings(data=self.settings.data.with_name(f"restored-{uuid4().hex}"))
        backups.restore(settings, self.place(), name, told)
        found: dict[str, bytes] = {}
        async with open_stores(settings, self.clock, Signer(SECRET)) as stores:
            for info in (await stores.objects.list()).objects:
                async with stores.objects.read(info.key) as reading:
                    found[info.key] = b"".join([chunk async for chunk in reading])
        return found


@pytest.fixture
async def s3_store(moto_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Objects]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    bucket = f"digests-{uuid4().hex}"
    httpx.put(f"{moto_endpoint}/{bucket}").raise_for_status()
    settings = Settings(objects=f"s3://{bucket}?endpoint={moto_endpoint}")
    store = await open_objects(settings, ManualClock(), Signer(SECRET))
    yield store
    await store.close()


def told(_files: int, _bytes: int) -> None:
    pass


@pytest.fixture(params=["folder", "rclone", "moto"])
def keeper(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Keeper:
    where = str(tmp_path / "backups")
    if request.param == "rclone":
        server: S3Server = request.getfixturevalue("s3")
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        where = f"s3://{server.bucket}/{uuid4().hex}?endpoint={server.endpoint}"
    if request.param == "moto":
        endpoint: str = request.getfixturevalue("moto_endpoint")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "test")
        bucket = f"backups-{uuid4().hex}"
        httpx.put(f"{endpoint}/{bucket}").raise_for_status()
        where = f"s3://{bucket}?endpoint={endpoint}"
    return Keeper(tmp_path, where, ManualClock())


async def test_what_was_backed_up_comes_back_and_takes_space_once(keeper: Keeper) -> None:
    first = {f"x/{number}": os.urandom(50) for number in range(MANY)} | {"large": LARGE}
    await keeper.put(first)
    one = keeper.backup()
    await keeper.put({"more": b"more"})
    two = keeper.backup()
    assert (one.damages, two.damages) == ([], [])
    assert two.new_bytes < 1_000_000 < len(LARGE) < one.new_bytes
    assert [each.name for each in backups.backups_in(keeper.place())] == [one.backup.name, two.backup.name]
    assert await keeper.restored(one.backup.name) == first
    assert await keeper.restored() == first | {"more": b"more"}
    assert backups.verify_place(keeper.place(), told).damages == []


async def test_what_no_backup_needs_any_more_is_deleted(keeper: Keeper) -> None:
    await keeper.put({"old": b"old" * 100})
    keeper.backup()
    before = set(keeper.place().files())
    async with open_stores(keeper.settings, keeper.clock, Signer(SECRET)) as stores:
        await stores.objects.delete("old")
    last = keeper.backup(keep=1)
    assert len(last.pruned) == 1
    after = set(keeper.place().files())
    assert before - after, "the file of the deleted object is gone"
    assert len(after) == last.backup.files
    assert await keeper.restored() == {}


async def test_a_missing_file_is_told(keeper: Keeper) -> None:
    await keeper.put({"a": b"a" * 100})
    keeper.backup()
    place = keeper.place()
    with place.writing():
        place.forget_files(iter(list(place.files())[:1]))
    (damage,) = backups.verify_place(place, told).damages
    assert damage.why == "its file is missing"
    with pytest.raises(Unavailable):
        await keeper.restored()


async def test_two_backups_at_once_do_not_mix(keeper: Keeper) -> None:
    await keeper.put({"a": b"a"})
    first = keeper.place()
    with first.writing(), pytest.raises(Conflict, match="Another backup"):
        keeper.backup()
    assert keeper.backup().damages == []


def test_a_place_without_backups_says_so(keeper: Keeper) -> None:
    assert backups.backups_in(keeper.place()) == []
    with pytest.raises(NotFound, match="There are no backups"):
        backups.restore(Settings(data=keeper.settings.data.with_name("new")), keeper.place(), None, told)


@pytest.mark.parametrize("keeper", ["rclone", "moto"], indirect=True)  # in a folder, a lock ends with its process
async def test_who_was_broken_off_keeps_others_out_for_five_minutes_and_publishes_nothing_then(
    keeper: Keeper, tmp_path: Path
) -> None:
    await keeper.put({"a": b"a"})
    lost, listed = keeper.place(), tmp_path / "list"
    listed.write_bytes(b"{}\n")
    with lost.writing():
        keeper.clock.advance(290)
        with pytest.raises(Conflict):
            keeper.backup()
        keeper.clock.advance(10)
        other = keeper.place()
        with other.writing():
            for attempt in (lambda: lost.keep_list(listed, "x"), lambda: lost.forget_lists(["x"])):
                with pytest.raises(Conflict, match="Another backup"):
                    attempt()
    assert keeper.place().lists() == []
    assert keeper.backup().damages == []


@pytest.mark.parametrize("where", ["s3://", "s3://bucket?endpiont=http://127.0.0.1:1"])
def test_an_address_that_is_not_understood_is_refused(where: str) -> None:
    with pytest.raises(BadSetting, match="is not a place for backups"):
        backups.open_place(where, ManualClock())


async def test_a_bucket_knows_the_md5_of_what_came_in_one_piece_only(s3_store: Objects) -> None:
    await s3_store.put("small", stream(b"some"))
    await s3_store.put("parts", stream(LARGE))
    assert isinstance(s3_store, KnowsMd5)
    assert await s3_store.md5("small") == hashlib.md5(b"some").hexdigest()
    assert await s3_store.md5("parts") is None
