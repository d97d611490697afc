"""A download in a room, of an album or of a transfer counts once, wherever the server dies behind its last byte."""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest

from satchel.outbox import OUTBOX, OUTBOX_INDEX, OUTBOX_SORT
from satchel.stores.connect import Stores
from tests.application import Caller, Satchel, running_satchel
from tests.features.albums.photos_given import sent as photo_sent
from tests.features.albums.test_photo_access import given_album
from tests.features.rooms.given import joined, opened, sent
from tests.features.shelf.given import Killed
from tests.features.transfers.given import a_file_sent
from tests.media.samples import taken

CONTENT = b"0123456789"


@dataclass
class Blade:
    """Lets the server die before the call of a store of this number, once it is sharp."""

    number: int
    is_sharp: bool = False
    calls: int = 0
    # That the last bytes of an answer are about to go.
    is_said: bool = False

    def through(self, stores: Stores) -> Stores:
        tables, ephemeral = (cast("Any", _Watched(one, self)) for one in (stores.tables, stores.ephemeral))
        return replace(stores, tables=tables, ephemeral=ephemeral)

    @property
    def has_fallen(self) -> bool:
        return self.calls > self.number

    def falls(self) -> None:
        if self.is_sharp:
            self.calls += 1
            if self.has_fallen:
                raise Killed


class _Watched:
    def __init__(self, store: Any, blade: Blade) -> None:
        self._store = store
        self._blade = blade

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if not inspect.iscoroutinefunction(found):
            return found

        async def call(*given: Any, **named: Any) -> Any:
            self._blade.falls()
            answer = await found(*given, **named)
            self._blade.is_said |= name == "put" and given[0] is OUTBOX.table and "EntryId" in given[1]
            return answer

        return call


@dataclass
class Shared:
    """Where Bob finds the bytes of what Ann shares, in which parts he fetches them, and as what they count."""

    path: str
    thing: str
    parts: tuple[str, ...] = ("",)


async def a_file_of_a_room(_: Satchel, ann: Caller, bob: Caller) -> Shared:
    room = await opened(ann, hours=168)
    file_id = await sent(ann, room, "a.txt", CONTENT)
    await joined(bob, room)
    return Shared(f"/rooms/{room['room_id']}/files/{file_id}/content", f"room:{room['room_id']}")


async def parts_of_a_file_of_a_room(satchel: Satchel, ann: Caller, bob: Caller) -> Shared:
    return replace(await a_file_of_a_room(satchel, ann, bob), parts=("bytes=0-3", "bytes=4-"))


async def an_archive_of_a_room(satchel: Satchel, ann: Caller, bob: Caller) -> Shared:
    shared = await a_file_of_a_room(satchel, ann, bob)
    return replace(shared, path=f"{shared.path.partition('/files')[0]}/archive")


async def a_photo(_: Satchel, ann: Caller, __: Caller) -> Shared:
    await given_album(ann, "bob@example.org")
    media_id = await photo_sent(ann, taken("2024:01:31 12:00:00"))
    return Shared(f"/photos/{ann.user_id}/{media_id}/content", f"photo:{media_id}")


async def a_transfer(satchel: Satchel, ann: Caller, _: Caller) -> Shared:
    transfer_id = (await a_file_sent(satchel, ann, content=CONTENT))["transfer_id"]
    return Shared(f"/transfers/{transfer_id}/files/0/content", f"transfer:{transfer_id}")


@pytest.mark.slow
@pytest.mark.parametrize(
    "given", [a_file_of_a_room, parts_of_a_file_of_a_room, an_archive_of_a_room, a_photo, a_transfer]
)
async def test_a_download_counts_once_wherever_the_server_dies_behind_its_last_byte(
    tmp_path: Path, given: Callable[[Satchel, Caller, Caller], Awaitable[Shared]]
) -> None:
    for number in count():
        blade, data = Blade(number), tmp_path / str(number)
        async with running_satchel(data, sign_up="open", through=blade.through) as satchel:
            ann, bob = satchel.caller(), satchel.caller()
            for caller, name in ((ann, "ann"), (bob, "bob")):
                await caller.sign_up(f"{name}@example.org")
            shared = await given(satchel, ann, bob)
            *before, last = ({"range": part} if part else {} for part in shared.parts)
            for part in before:
                assert (await bob("GET", shared.path, headers=part)).is_success
            blade.is_sharp, blade.is_said = True, False
            try:
                assert (await bob("GET", shared.path, headers=last)).is_success
            except Killed:
                assert blade.has_fallen
            blade.is_sharp = False
            waiting = (await satchel.stores.tables.query(OUTBOX.table, OUTBOX_SORT, index=OUTBOX_INDEX)).items
            assert blade.has_fallen or not waiting
        for _ in range(2):
            async with running_satchel(data) as satchel:
                owner = satchel.caller()
                owner.tokens = ann.tokens
                summary = (await owner("GET", f"/stats/thing:{shared.thing}/summary")).json()
                found = summary["total"]["download"] if "total" in summary else 0
            assert found == blade.is_said, number
        if not blade.has_fallen:
            return
