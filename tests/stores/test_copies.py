"""Everything that a server keeps, copied to stores of another kind and back: all of it is there, and nothing else."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from satchel.config import BadSetting, Settings
from satchel.data_backup import backup_shared, verify_all
from satchel.data_copy import CopyDone, copy_data, make_whole
from satchel.kernel.clock import ManualClock
from satchel.kernel.errors import Conflict, Unavailable
from satchel.kernel.signature import Signer
from satchel.stores import backups
from satchel.stores.connect import open_objects, open_tables
from satchel.stores.copies.objects_copy import ObjectsCopy
from satchel.stores.embedded.copy_journal import CopyJournal
from satchel.stores.embedded.objects_folder import FolderObjects
from satchel.stores.ports.whole_stores import ScansTables
from satchel.tables import COUNTS
from tests.application import Caller, Satchel, running_satchel
from tests.edge.given import once
from tests.features.rooms.given import joined, opened
from tests.features.shelf.given import uploaded

CONTENTS = {"a.txt": b"first", "large.bin": bytes(range(256)) * 40_000, "empty": b""}


def told(_count: int, _size_bytes: int) -> None:
    pass


class World:
    """A server on this machine with something of everything, and empty stores that servers can share."""

    def __init__(self, folder: Path, shared: Settings, clock: ManualClock) -> None:
        self.folder = folder
        self.shared = shared
        self.clock = clock
        self.here = Settings(data=folder / "here")
        self.room: dict[str, Any] = {}
        self.token = ""
        self.link_id = ""

    async def copy(self, source: Settings, target: Settings, *, finish: bool = False) -> CopyDone:
        return await copy_data(source, target, self.folder / "progress", self.clock, told, finish=finish)

    @asynccontextmanager
    async def running(self, settings: Settings) -> AsyncGenerator[Satchel]:
        chosen = {name: getattr(settings, name) for name in ("table", "ephemeral", "objects", "table_prefix", "secret")}
        async with running_satchel(settings.data, self.clock, **chosen) as satchel:
            yield satchel

    async def fill(self, satchel: Satchel, ann: Caller) -> None:
        assert (await ann.sign_up("ann@example.org")).status_code == 201
        for name, content in CONTENTS.items():
            await uploaded(satchel, ann, name, content)
        self.room = await opened(ann, name="Choir")
        entries = (await ann("GET", "/shelf/entries")).json()["entries"]
        thing = {"kind": "file", "id": next(entry["id"] for entry in entries if entry["name"] == "a.txt")}
        link = (await ann("POST", "/links", json={"thing": thing})).json()
        self.token, self.link_id = link["token"], link["link_id"]
        for _ in range(3):
            assert (await satchel.caller()("GET", f"/open/{self.token}/content")).content == b"first"

    async def check(self, settings: Settings, opens: int = 3) -> None:
        """What somebody finds who signs in at a server on these stores."""
        async with self.running(settings) as satchel:
            ann, bob = satchel.caller(), satchel.caller()
            assert (await ann.sign_in("ann@example.org")).status_code == 201
            entries = (await ann("GET", "/shelf/entries")).json()["entries"]
            found = {each["name"]: (await ann("GET", f"/shelf/files/{each['id']}/content")).content for each in entries}
            assert found == CONTENTS
            assert (await bob.sign_in("ann@example.org")).status_code == 201
            assert (await joined(bob, self.room))["room_id"] == self.room["room_id"]
            assert (await ann("GET", f"/links/{self.link_id}")).json()["opens"] == opens


@pytest.fixture
def world(tmp_path: Path, moto_endpoint: str, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> World:
    """moto takes as many writes in a transaction as DynamoDB."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    bucket = f"copy-{uuid4().hex}"
    httpx.put(f"{moto_endpoint}/{bucket}").raise_for_status()
    shared = Settings(
        data=tmp_path / "nothing",
        table=f"dynamodb://us-east-1?endpoint={moto_endpoint}",
        table_prefix=f"{bucket}-",
        ephemeral=redis_url,
        objects=f"s3://{bucket}?endpoint={moto_endpoint}",
        secret="s" * 32,
    )
    return World(tmp_path, shared, ManualClock())


async def test_a_server_moves_to_shared_stores_and_back_while_people_use_it(world: World) -> None:
    async with world.running(world.here) as satchel:
        ann = satchel.caller()
        await world.fill(satchel, ann)
        going = await uploaded(satchel, ann, "going.txt", b"not for long")
        done = await world.copy(world.here, world.shared)
        assert (done.different, done.finished, done.objects) == ([], False, len(CONTENTS) + 1)
        assert done.keys > 0
        for address in (f"/shelf/files/{going.file_id}", f"/shelf/bin/{going.file_id}"):
            assert (await ann("DELETE", address)).status_code == 204
        # A copy is nothing to work on before it is finished.
        with pytest.raises(Unavailable):
            async with world.running(world.shared):
                pass
        with pytest.raises(Unavailable, match="Another Satchel is using"):
            await world.copy(world.here, world.shared, finish=True)
    done = await world.copy(world.here, world.shared, finish=True)
    assert (done.different, done.finished, done.objects) == ([], True, len(CONTENTS))
    await world.check(world.shared)
    with pytest.raises(Conflict):
        await world.copy(world.here, world.shared)

    (world.folder / "progress").unlink()
    back = Settings(data=world.folder / "back")
    assert (await world.copy(world.shared, back, finish=True)).finished
    await world.check(back)


async def test_a_copy_that_was_broken_off_goes_on(world: World) -> None:
    async with world.running(world.here) as satchel:
        await world.fill(satchel, satchel.caller())
    there = Settings(data=world.folder / "there")
    for step in (2, 8):
        steps = iter(range(step))

        def break_off(_count: int, _size_bytes: int, steps: Iterator[int] = steps) -> None:
            if next(steps, None) is None:
                raise Unavailable("The line broke.")

        with pytest.raises(Unavailable, match="The line broke"):
            await copy_data(world.here, there, world.folder / "progress", world.clock, break_off)
    done = await world.copy(world.here, there, finish=True)
    assert (done.different, done.finished) == ([], True)
    await world.check(there)


async def test_the_progress_of_a_copy_to_other_stores_says_nothing_of_these(world: World) -> None:
    async with world.running(world.here) as satchel:
        await world.fill(satchel, satchel.caller())
    for name in ("first", "second"):
        there = Settings(data=world.folder / name)
        assert (await world.copy(world.here, there)).objects == len(CONTENTS)
    assert (await world.copy(world.here, there, finish=True)).different == []
    await world.check(there)


async def test_a_copy_that_is_not_what_was_copied_is_found_and_copied_again(tmp_path: Path) -> None:
    clock, signer = ManualClock(), Signer(b"k" * 32)
    source, target = [
        await FolderObjects.open(tmp_path / name, clock=clock, signer=signer, base_url="http://t") for name in "ab"
    ]
    await source.put("x/y", once(b"bytes" * 1000), content_type="image/png", metadata={"name": "ü"})
    await source.put("z", once(b"z"))
    with CopyJournal.opened(tmp_path / "progress") as journal:
        copy = ObjectsCopy(source, target, journal, is_left_out=lambda _: False, told=told)
        for wrong in (["x/y"], []):
            journal.begin_run()
            await copy.copy()
            if wrong:
                await target.put("x/y", once(b"other"))
            assert await copy.check() == wrong
    info = await target.head("x/y")
    assert (info.content_type, info.metadata, info.size_bytes) == ("image/png", {"name": "ü"}, 5000)


async def test_shared_stores_are_backed_up_and_restored_to_one_machine(world: World) -> None:
    async with world.running(world.here) as satchel:
        await world.fill(satchel, satchel.caller())
    await world.copy(world.here, world.shared, finish=True)
    await split_a_count(world.shared, world.clock)
    place = backups.open_place(str(world.folder / "backups"), world.clock)
    first, second = [await backup_shared(world.shared, place, world.clock, told, keep=2) for _ in range(2)]
    assert (first.damages, second.damages) == ([], [])
    assert second.new_bytes < 5_000_000 < first.new_bytes
    restored = Settings(data=world.folder / "restored")
    backups.restore(restored, place, None, told)
    await make_whole(restored, world.clock)
    assert (restored.data / "secret").read_text() == world.shared.secret
    await world.check(restored, opens=6)


async def test_damaged_objects_of_shared_stores_are_found_and_repaired_from_a_backup(world: World) -> None:
    async with world.running(world.here) as satchel:
        await world.fill(satchel, satchel.caller())
    await world.copy(world.here, world.shared, finish=True)
    place = backups.open_place(f"{world.shared.objects.replace('?', '/backups?')}", world.clock)
    assert (await backup_shared(world.shared, place, world.clock, told)).damages == []
    assert (await verify_all(world.shared, world.clock, told)).damages == []

    store = await open_objects(world.shared, world.clock, Signer(b"k" * 32))
    (damaged,) = [each.key for each in (await store.list("user/")).objects if each.size_bytes == len(b"first")]
    await store.put(damaged, once(b"frist"))
    await store.close()

    found = await verify_all(world.shared, world.clock, told)
    assert [(each.path, each.why) for each in found.damages] == [(damaged, "its bytes are not those that were stored")]
    # A backup of now would keep what is damaged, and says so.
    assert [each.key for each in (await backup_shared(world.shared, place, world.clock, told)).damages] == [damaged]
    repaired = await verify_all(world.shared, world.clock, told, place)
    assert (repaired.damages, repaired.repaired) == ([], [damaged])
    assert (await verify_all(world.shared, world.clock, told)).damages == []
    await world.check(world.shared)

    store = await open_objects(world.shared, world.clock, Signer(b"k" * 32))
    await store.delete(damaged)
    await store.close()
    (gone,) = (await verify_all(world.shared, world.clock, told)).missing
    assert (gone.path, "a.txt (shelf, " in gone.why) == (damaged, True)
    repaired = await verify_all(world.shared, world.clock, told, place)
    assert (repaired.missing, repaired.repaired) == ([], [damaged])
    await world.check(world.shared)


async def split_a_count(shared: Settings, clock: ManualClock) -> None:
    """As workers do: a count lies in several slots."""
    tables = await open_tables(shared, clock)
    assert isinstance(tables, ScansTables)
    for item in (await tables.scan(COUNTS, limit=1000)).items:
        if item["PK"].startswith("COUNT#LINK") and item["SK"].endswith("#00") and "download" in item:
            await tables.put(COUNTS, {**item, "SK": f"{item['SK'][:-2]}07", "download": 2, "totalClicks": 2})
    await tables.close()


async def test_stores_that_are_the_same_or_not_empty_are_refused(world: World) -> None:
    with pytest.raises(BadSetting, match="nothing to copy"):
        await world.copy(world.here, world.shared)
    async with world.running(world.here) as satchel:
        await world.fill(satchel, satchel.caller())
    with pytest.raises(BadSetting, match="names a store of the source"):
        await world.copy(world.here, world.here)
    other = Settings(data=world.folder / "other")
    async with world.running(other) as satchel:
        await satchel.caller().sign_up("bob@example.org")
    with pytest.raises(Conflict, match="not empty"):
        await world.copy(world.here, other)
