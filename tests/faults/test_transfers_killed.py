"""What people hand to each other survives the death of the server at every step: all of it, or none."""

import random
from collections import Counter
from pathlib import Path

import pytest

from satchel.features.transfers.records import POINTER, RECEIPT, RECEIVED, SENT, TRANSFER, WAITING
from tests.faults.clients import BRIEFLY
from tests.faults.scenes import Moment, Scene, World, check_when_killed
from tests.faults.test_rooms_killed import PAUSES, WEEK, check_rooms
from tests.features.rooms import given as rooms
from tests.features.shelf.given import check_shelf, made, uploaded

FIRST, SECOND = random.Random(5).randbytes(3000), random.Random(6).randbytes(2000)


class TransferScene(Scene):
    """Something between Ann, who has two files in a folder of her shelf and one in a room, and Bob, who is there."""

    pauses = PAUSES

    async def prepare(self, world: World) -> None:
        satchel, known = world.satchel, world.known
        for name in ("ann", "bob"):
            world.callers[name] = satchel.caller()
            assert (await world[name].sign_up(f"{name}@example.org")).status_code == 201
        known["folder"] = await made(world["ann"], "folder")
        for name, content in (("first.txt", FIRST), ("second.txt", SECOND)):
            await uploaded(satchel, world["ann"], name, content, folder_id=known["folder"])
        room = await rooms.opened(world["ann"], name="Choir", hours=WEEK)
        await rooms.joined(world["bob"], room)
        known["room"] = room["room_id"]
        known["file"] = await rooms.sent(world["ann"], room, "brought.txt", FIRST)

    async def check(self, world: World) -> None:
        for name in ("ann", "bob"):
            await check_shelf(world.satchel, world[name])
            await check_history(world, name)
        await check_rooms(world.satchel)


async def check_history(world: World, name: str) -> None:
    """What leads to a transfer leads to one that is there, from both sides, and its counts are those of receipts."""
    tables, person_id = world.satchel.stores.tables, world[name].user_id
    pointers = (await POINTER.list(tables, person_id=person_id, limit=1000)).records
    for direction, shape in (("sent", SENT), ("received", RECEIVED)):
        found = (await shape.list(tables, person_id=person_id, limit=1000)).records
        assert found == [each for each in pointers if each.direction == direction]
    waiting = (await WAITING.list(tables, person_id=person_id, limit=1000)).records
    assert {each.transfer_id for each in waiting} <= {each.transfer_id for each in pointers}
    for pointer in pointers:
        transfer = await TRANSFER.get(tables, transfer_id=pointer.transfer_id)
        assert transfer is not None
        receipts = (await RECEIPT.list(tables, transfer_id=pointer.transfer_id, limit=1000)).records
        assert Counter(each.state for each in receipts) == +Counter(transfer.counts)
        assert (person_id in {each.person_id for each in receipts}) == (pointer.direction == "received")


class Sending(TransferScene):
    """Under a key, so that what is sent again is sent once."""

    async def send(self, world: World, to: dict[str, str], file_id: str) -> None:
        body = {"to": to, "files": [file_id], "note": "for you"}
        key = {"idempotency-key": "once"}
        while (answer := await world["ann"]("POST", "/transfers", json=body, headers=key)).status_code == 503:
            world.satchel.clock.advance(BRIEFLY)
        assert answer.status_code == 201, answer.text
        world.acknowledge("it is sent")


class SendingByEmail(Sending):
    """Two files to Bob's shelf."""

    async def act(self, world: World) -> None:
        await self.send(world, {"kind": "email", "email": "bob@example.org"}, world.known["folder"])


class HandingToARoom(Sending):
    async def act(self, world: World) -> None:
        await self.send(world, {"kind": "room", "room_id": world.known["room"]}, world.known["file"])


class Saving(TransferScene):
    """What was handed over in the room."""

    can_be_half_done = True

    async def prepare(self, world: World) -> None:
        await super().prepare(world)
        shared = {"shelf": [world.known["folder"]]}
        brought = await world["ann"]("POST", f"/rooms/{world.known['room']}/files", json=shared)
        assert brought.status_code == 201, brought.text
        file_ids = [file["file_id"] for file in brought.json()["files"]]
        to = {"kind": "person", "room_id": world.known["room"], "person_id": world["bob"].user_id}
        answer = await world["ann"]("POST", "/transfers", json={"to": to, "files": file_ids})
        assert answer.status_code == 201, answer.text
        world.known["transfer"] = answer.json()["transfer_id"]

    async def act(self, world: World) -> None:
        answer = await world["bob"]("POST", f"/transfers/{world.known['transfer']}/save", json={})
        assert answer.status_code == 200, answer.text
        world.acknowledge("it is saved")


class Declining(Saving):
    can_be_half_done = False

    async def act(self, world: World) -> None:
        answer = await world["bob"]("POST", f"/transfers/{world.known['transfer']}/decline")
        assert answer.status_code == 200, answer.text
        world.acknowledge("it is declined")


class Withdrawing(Saving):
    """And with it the files that were brought for it."""

    can_be_half_done = True

    async def act(self, world: World) -> None:
        answer = await world["ann"]("POST", f"/transfers/{world.known['transfer']}/withdraw")
        assert answer.status_code == 200, answer.text
        world.acknowledge("it is withdrawn")


SCENES = [SendingByEmail(), HandingToARoom(), Saving(), Declining(), Withdrawing()]


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
@pytest.mark.parametrize("moment", ["during", "after"])
def test_what_a_kill_at_any_step_cuts_off_is_done_or_not_and_can_be_asked_for_again(
    scene: Scene, moment: Moment, tmp_path: Path
) -> None:
    check_when_killed(scene, tmp_path, moment)
