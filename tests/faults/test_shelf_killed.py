"""The shelf survives the death of its server at every step: nothing acknowledged is lost, nothing is left behind."""

import hashlib
import random
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path

import pytest

from satchel.features.shelf.model import UserId
from satchel.features.shelf.records import BLOB, BlobRow, object_key
from satchel.kernel.clock import iso
from satchel.kernel.ids import new_id
from tests.application import Caller, Satchel
from tests.faults.clients import send
from tests.faults.scenes import Moment, Scene, World, check_when_killed
from tests.features.shelf.given import check_shelf, made, uploaded
from tests.uploads.given import SENDS, TUS, pairs

KEPT, NEW = random.Random(1).randbytes(3000), random.Random(2).randbytes(2000)
# Longer than things stay in the bin, or an upload may wait; and what is over by then, but not at once.
LONG, NOT_SO_LONG = timedelta(days=31), timedelta(days=20)


class ShelfScene(Scene):
    """Something about Ann's shelf, on which there is a file in a folder."""

    # Three rounds are more than a day: what the first one resumes is looked at again a day later.
    between_rounds = timedelta(hours=13)

    async def prepare(self, world: World) -> None:
        ann = world.callers["ann"] = world.satchel.caller()
        assert (await ann.sign_up("ann@example.org")).status_code == 201
        folder = world.known["folder"] = await made(ann, "folder")
        world.known["kept"] = (await uploaded(world.satchel, ann, "kept.txt", KEPT, folder_id=folder)).file_id

    async def check(self, world: World) -> None:
        await check_shelf(world.satchel, world["ann"])


class UploadOfNewBytes(ShelfScene):
    """Into folders that it brings along."""

    async def act(self, world: World) -> None:
        became = await send(world, "ann", "new.txt", NEW, destination="shelf", relativePath="a/b/new.txt")
        shown = await world["ann"]("GET", f"/shelf/files/{became}/content")
        assert shown.content == NEW


class UploadOfKnownBytes(ShelfScene):
    """Under a name that is taken, for a while."""

    async def act(self, world: World) -> None:
        expires = iso(world.satchel.clock() + NOT_SO_LONG.total_seconds())
        await send(world, "ann", "kept.txt", KEPT, destination="shelf", folder=world.known["folder"], expires=expires)


class UploadGivenUp(ShelfScene):
    """After half of it."""

    async def act(self, world: World) -> None:
        headers = {**SENDS, "upload-length": str(len(NEW)), "upload-metadata": pairs(destination="shelf")}
        begun = await world["ann"]("POST", "/uploads", headers=headers, content=NEW[:1000])
        assert begun.status_code == 201, begun.text
        world.acknowledge("half has come")
        url = begun.headers["location"].removeprefix("/api/v1")
        assert (await world["ann"]("DELETE", url, headers=TUS)).status_code == 204
        world.acknowledge("it is given up")


class DeletionOfAFile(ShelfScene):
    """Into the bin, and out of it."""

    async def act(self, world: World) -> None:
        for path in ("/shelf/files/{}", "/shelf/bin/{}"):
            answer = await world["ann"]("DELETE", path.format(world.known["kept"]))
            assert answer.status_code in (204, 404), answer.text
            world.acknowledge(path)


class DeletionOfSharedBytes(DeletionOfAFile):
    """Which another file goes on showing."""

    async def prepare(self, world: World) -> None:
        await super().prepare(world)
        await uploaded(world.satchel, world["ann"], "other.txt", KEPT)


class DeletionOfAFolder(ShelfScene):
    """With a folder in it, and then all that is in the bin."""

    can_be_half_done = True

    async def prepare(self, world: World) -> None:
        await super().prepare(world)
        ann, satchel = world["ann"], world.satchel
        inner = await made(ann, "inner", world.known["folder"])
        await uploaded(satchel, ann, "inner.txt", NEW, folder_id=inner)
        other = await uploaded(satchel, ann, "other.txt", KEPT)
        assert (await ann("DELETE", f"/shelf/files/{other.file_id}")).status_code == 204

    async def act(self, world: World) -> None:
        answer = await world["ann"]("DELETE", f"/shelf/folders/{world.known['folder']}")
        assert answer.status_code in (204, 404), answer.text
        world.acknowledge("the folder is in the bin")
        assert (await world["ann"]("DELETE", "/shelf/bin")).status_code == 204
        world.acknowledge("the bin is empty")


class WayBackFromTheBin(ShelfScene):
    """To where something else has taken the name."""

    async def prepare(self, world: World) -> None:
        await super().prepare(world)
        assert (await world["ann"]("DELETE", f"/shelf/files/{world.known['kept']}")).status_code == 204
        await uploaded(world.satchel, world["ann"], "kept.txt", NEW, folder_id=world.known["folder"])

    async def act(self, world: World) -> None:
        answer = await world["ann"]("POST", f"/shelf/bin/{world.known['kept']}/restore")
        assert answer.status_code in (200, 404), answer.text
        world.acknowledge("it is back")


class SweepOfTheShelf(DeletionOfAFolder):
    """The bin, a file and an upload have had their time, and bytes are lying about that nobody shows."""

    can_be_half_done = False

    async def prepare(self, world: World) -> None:
        await super().prepare(world)
        ann, satchel = world["ann"], world.satchel
        assert (await ann("DELETE", f"/shelf/folders/{world.known['folder']}")).status_code == 204
        brief = await uploaded(satchel, ann, "brief.txt", b"brief")
        expires = {"expires_at": iso(satchel.clock() + NOT_SO_LONG.total_seconds())}
        assert (await ann("PATCH", f"/shelf/files/{brief.file_id}", json=expires)).status_code == 200
        headers = {**SENDS, "upload-length": str(len(NEW)), "upload-metadata": pairs(destination="shelf")}
        assert (await ann("POST", "/uploads", headers=headers, content=NEW[:1000])).status_code == 201
        for number in range(2):
            await orphan(satchel, ann, f"without a row {number}".encode(), row=False)
            await orphan(satchel, ann, f"without a file {number}".encode(), row=True)

    lasts = LONG
    # No longer than a session lasts, which is swept as well.
    pauses = (timedelta(days=1), timedelta(days=2))

    async def act(self, world: World) -> None:
        world.satchel.clock.advance(LONG)
        await world.satchel.housekeep()
        world.acknowledge("the house is kept")


async def orphan(satchel: Satchel, caller: Caller, content: bytes, *, row: bool) -> None:
    """What an upload leaves that dies before there is a file."""
    blob = BlobRow(
        user_id=UserId(caller.user_id),
        sha256=hashlib.sha256(content).hexdigest(),
        object_id=new_id(satchel.clock),
        size_bytes=len(content),
        references=0,
        created_at=iso(satchel.clock()),
    )
    await satchel.stores.objects.put(object_key(blob), stream(content))
    if row:
        await satchel.stores.tables.put(BLOB.table, BLOB.item(blob))


async def stream(content: bytes) -> AsyncGenerator[bytes]:
    yield content


SCENES = [
    UploadOfNewBytes(),
    UploadOfKnownBytes(),
    UploadGivenUp(),
    DeletionOfAFile(),
    DeletionOfSharedBytes(),
    DeletionOfAFolder(),
    WayBackFromTheBin(),
    SweepOfTheShelf(),
]


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
@pytest.mark.parametrize("moment", ["during", "after"])
def test_what_a_kill_at_any_step_cuts_off_is_done_or_not_and_can_be_asked_for_again(
    scene: Scene, moment: Moment, tmp_path: Path
) -> None:
    check_when_killed(scene, tmp_path, moment)
