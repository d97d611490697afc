"""What of a transfer is counted: that a receiver has opened it, and that they have it, each once."""

import asyncio

from satchel.kernel.clock import iso
from satchel.stores.ports.table import StartsWith
from satchel.tables import CLICKS
from tests.application import Caller, Satchel
from tests.features.transfers.given import Room, a_file_sent, fetched

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
