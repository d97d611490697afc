"""What of a transfer is counted: that a receiver has opened it, and that they have it, each once."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from satchel.kernel.clock import iso
from satchel.stores.connect import Stores
from satchel.stores.ports.ephemeral import Ephemeral, Publish
from satchel.stores.ports.table import StartsWith
from satchel.tables import CLICKS
from tests.application import Caller, Satchel, running_satchel
from tests.features.shelf.given import Killed
from tests.features.transfers.given import Room, a_file_sent, fetched, seen

Click = tuple[str, str, str, str]


async def counted(satchel: Satchel) -> list[Click]:
    """Who did what, with which thing of whom."""
    day = iso(satchel.clock())[:10]
    page = await satchel.stores.tables.query(CLICKS, f"DATE#{day}", StartsWith("CLICK#"), index="DateIndex")
    return sorted((item["userId"], item["kind"], item["thing"], item["owner"]) for item in page.items)


async def test_what_has_landed_on_a_shelf_counts_once_its_owner_looks(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    transfer_id = (await a_file_sent(satchel, ann))["transfer_id"]
    assert await counted(satchel) == []
    for _ in range(2):
        assert (await bob("POST", f"/transfers/{transfer_id}/opened")).status_code == 200
    thing = f"transfer:{transfer_id}"
    opened = (bob.user_id, "open", thing, ann.user_id)
    assert await counted(satchel) == [opened]
    await fetched(bob, transfer_id)
    assert await counted(satchel) == [(bob.user_id, "download", thing, ann.user_id), opened]


async def test_every_receiver_in_a_room_counts_once_however_often_they_download(satchel: Satchel, room: Room) -> None:
    ids = [await room.bring(room.ann, f"{number}.txt", b"%d" % number) for number in range(2)]
    transfer_id = (await room.handed(room.ann, *ids))["transfer_id"]
    owner, thing = room.ann.user_id, f"transfer:{transfer_id}"
    await fetched(room.bob, transfer_id, 0)
    opened = [(room.bob.user_id, "open", thing, owner)]
    assert await counted(satchel) == opened
    await asyncio.gather(*(fetched(room.bob, transfer_id, 1) for _ in range(5)))
    for place in range(2):
        await fetched(room.gus, transfer_id, place)
    guest = f"guest:{room.gus.user_id}"
    assert await counted(satchel) == sorted(
        [
            *opened,
            (room.bob.user_id, "download", thing, owner),
            (guest, "open", thing, owner),
            (guest, "download", thing, owner),
        ]
    )


async def test_a_transfer_that_is_declined_or_only_listed_counts_nothing(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    transfer_id = (await a_file_sent(satchel, ann))["transfer_id"]
    await bob("GET", "/transfers")
    await ann("GET", f"/transfers/{transfer_id}")
    assert (await bob("POST", f"/transfers/{transfer_id}/decline")).status_code == 200
    assert await counted(satchel) == []


class Mute:
    """An ephemeral store that loses its power when somebody shall be told something, once `dies` is set."""

    def __init__(self, store: Ephemeral) -> None:
        self.store = store
        self.dies = False

    async def together(self, *commands: Any) -> Any:
        if self.dies and any(isinstance(command, Publish) for command in commands):
            raise Killed
        return await self.store.together(*commands)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


async def test_a_use_is_counted_though_the_server_dies_right_after_the_receipt(tmp_path: Path) -> None:
    mutes: list[Mute] = []

    def muted(stores: Stores) -> Stores:
        mutes.append(Mute(stores.ephemeral))
        return replace(stores, ephemeral=cast("Ephemeral", mutes[-1]))

    async with running_satchel(tmp_path, sign_up="open", through=muted) as satchel:
        ann, bob = satchel.caller(), satchel.caller()
        await ann.sign_up("ann@example.org")
        await bob.sign_up("bob@example.org")
        transfer_id = (await a_file_sent(satchel, ann))["transfer_id"]
        mutes[-1].dies = True
        with pytest.raises(Killed):
            await bob("POST", f"/transfers/{transfer_id}/opened")
        mutes[-1].dies = False
        assert (await seen(ann, transfer_id))["state"] == "opened"
        assert await counted(satchel) == []
        satchel.clock.advance(120)
        for _ in range(2):
            await satchel.housekeep()
        assert await counted(satchel) == [(bob.user_id, "open", f"transfer:{transfer_id}", ann.user_id)]
