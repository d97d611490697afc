"""A sweep of objects goes on where the one before has ended, and begins anew after the last object."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest

from satchel.kernel.clock import ManualClock
from satchel.kernel.signature import Signer
from satchel.stores.embedded.ephemeral_memory import MemoryEphemeral
from satchel.stores.embedded.objects_folder import FolderObjects
from satchel.stores.patterns.sweep_cursor import SweepCursor, sweep_objects
from satchel.stores.ports.objects import ObjectInfo, Objects, SmallObject

KEYS = [f"shelf/{number}" for number in range(5)]


@pytest.fixture
async def objects(tmp_path: Path) -> AsyncGenerator[Objects]:
    objects = await FolderObjects.open(
        tmp_path, clock=ManualClock(), signer=Signer(b"s" * 32), base_url="http://satchel.test"
    )
    await objects.put_many([SmallObject(key, b"x", "text/plain", {}) for key in [*KEYS, "other/1"]])
    yield objects
    await objects.close()


@pytest.fixture
async def cursor() -> AsyncGenerator[SweepCursor]:
    ephemeral = await MemoryEphemeral.open(clock=ManualClock())
    yield SweepCursor(ephemeral, "sweep:test")
    await ephemeral.close()


async def test_every_object_is_looked_at_once_in_a_round_and_then_again(objects: Objects, cursor: SweepCursor) -> None:
    looked_at: list[list[str]] = []

    async def find_garbage(found: Sequence[ObjectInfo]) -> list[str]:
        looked_at.append([info.key for info in found])
        return []

    for _ in range(4):
        assert await sweep_objects(objects, "shelf/", cursor, find_garbage, limit=2) == 0
    assert looked_at == [KEYS[:2], KEYS[2:4], KEYS[4:], KEYS[:2]]


async def test_what_nobody_needs_is_deleted_and_counted(objects: Objects, cursor: SweepCursor) -> None:
    async def find_garbage(found: Sequence[ObjectInfo]) -> list[str]:
        return [info.key for info in found if info.key in KEYS[1:4]]

    swept = [await sweep_objects(objects, "shelf/", cursor, find_garbage, limit=2) for _ in range(3)]
    assert swept == [1, 2, 0]
    assert [info.key for info in (await objects.list()).objects] == ["other/1", KEYS[0], KEYS[4]]


async def test_a_sweep_that_is_cut_off_looks_at_the_same_objects_again(objects: Objects, cursor: SweepCursor) -> None:
    async def fail(_: Sequence[ObjectInfo]) -> list[str]:
        raise RuntimeError("killed")

    await cursor.move(KEYS[1])
    with pytest.raises(RuntimeError):
        await sweep_objects(objects, "shelf/", cursor, fail, limit=2)
    assert await cursor.read() == KEYS[1]


async def test_a_cursor_begins_at_the_beginning_and_can_be_led_back(cursor: SweepCursor) -> None:
    assert await cursor.read() == ""
    await cursor.move("shelf/é")
    assert await cursor.read() == "shelf/é"
    await cursor.move(None)
    assert await cursor.read() == ""
