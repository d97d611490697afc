"""Who hears what of a transfer while they look."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from satchel.live import person_channel
from satchel.stores.ports.ephemeral import Publish
from tests.application import Caller, Satchel
from tests.features.transfers.given import Room, a_file_sent, fetched, seen


async def heard(satchel: Satchel, act: Callable[[], Awaitable[Any]], **people: Caller) -> set[tuple[str, str]]:
    """Who heard of what while something was done, each kind of event once."""
    channels = {person_channel(caller.user_id): name for name, caller in people.items()}
    # Somebody's own channel, for the word that ends the listening.
    async with satchel.stores.ephemeral.subscribe(*channels, "end") as messages:
        await act()
        await satchel.stores.ephemeral.run(Publish("end", b""))
        found: set[tuple[str, str]] = set()
        async for message in messages:
            if message.channel == "end":
                break
            found.add((channels[message.channel], msgspec.json.decode(message.body)["type"]))
    return {each for each in found if each[1].startswith("transfer.")}


async def test_a_receiver_hears_of_an_offer_and_a_sender_of_what_became_of_it(
    satchel: Satchel, ann: Caller, bob: Caller
) -> None:
    sent: dict[str, Any] = {}

    async def send() -> None:
        sent.update(await a_file_sent(satchel, ann))

    offered = {("bob", "transfer.offered"), ("bob", "transfer.changed"), ("ann", "transfer.changed")}
    assert await heard(satchel, send, ann=ann, bob=bob) == offered
    opened = await heard(satchel, lambda: bob("POST", f"/transfers/{sent['transfer_id']}/opened"), ann=ann, bob=bob)
    assert opened == {("ann", "transfer.changed"), ("bob", "transfer.changed")}
    again = await heard(satchel, lambda: bob("POST", f"/transfers/{sent['transfer_id']}/opened"), ann=ann, bob=bob)
    assert again == set()


async def test_who_has_nothing_to_do_with_it_hears_nothing(satchel: Satchel, room: Room) -> None:
    file_id = await room.bring(room.ann, "a.txt", b"one", to=room.bob)
    send = await heard(
        satchel,
        lambda: room.handed(room.ann, file_id, to=room.bob),
        ann=room.ann,
        bob=room.bob,
        gus=room.gus,
    )
    assert {name for name, _ in send} == {"ann", "bob"}


async def test_a_sender_is_not_told_of_each_file_of_many(satchel: Satchel, room: Room) -> None:
    ids = [await room.bring(room.ann, f"{number}.txt", b"%d" % number) for number in range(3)]
    transfer_id = (await room.handed(room.ann, *ids))["transfer_id"]
    told = [
        await heard(satchel, lambda place=place: fetched(room.bob, transfer_id, place), ann=room.ann, bob=room.bob)
        for place in range(3)
    ]
    assert [("ann", "transfer.changed") in each for each in told] == [True, False, True]
    assert all(("bob", "transfer.changed") in each for each in told)
    assert (await seen(room.ann, transfer_id))["counts"]["downloaded"] == 1
