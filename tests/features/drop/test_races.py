"""Whatever comes in between, nothing is left of what is over: tried before every single call of the store."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, cast

import pytest

from satchel.features.drop.model import FileId, MemberId, RequestId, SessionId
from satchel.features.drop.records import AcknowledgementRow
from satchel.features.drop.service.context import Drop
from satchel.features.drop.service.drop_door import become_door
from satchel.features.drop.service.drop_files import Announcement, announce
from satchel.features.drop.service.drop_requests import acknowledge, ask, finish, tell_progress
from satchel.features.drop.service.member_token import recognise
from satchel.features.drop.service.session_join import join
from satchel.features.drop.service.session_leave import leave
from satchel.features.drop.service.session_lock import set_lock
from satchel.features.drop.service.session_open import close_session
from satchel.kernel.errors import SatchelError
from satchel.stores.ports.ephemeral import Ephemeral
from tests.application import Satchel
from tests.features.drop.given import Person, announced, asked, b64, drop_of, joined, left_of, new_id, opened, sealed

KEY = b64(bytes(32))


class Meddling:
    """A store in which something else happens just before the n-th call."""

    def __init__(self, store: Ephemeral, number: int, meddle: Callable[[], Awaitable[Any]]) -> None:
        self._store = store
        self._number = number
        self._meddle = meddle
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        return partial(self._call, getattr(self._store, name))

    async def _call(self, do: Any, *positional: Any) -> Any:
        self.calls += 1
        if self.calls == self._number:
            await self._meddle()
        return await do(*positional)


class Scene:
    """A host with a file, a guest with another who has asked for the host's, and ids for what may come."""

    def __init__(self, satchel: Satchel, host: Person, guest: Person) -> None:
        self.satchel = satchel
        self.host, self.guest = host, guest
        self.session_id = SessionId(host.session_id)
        self.member_id, self.file_id, self.request_id = MemberId(new_id()), FileId(new_id()), RequestId(new_id())
        self.members_at_lock: set[str] = set()
        self.hosts_file, self.guests_file, self.asked = FileId(""), FileId(""), RequestId("")

    @property
    def ids(self) -> dict[str, list[str]]:
        return {
            "session_id": [self.session_id],
            "name": [self.host.name],
            "file_id": [self.file_id, self.hosts_file, self.guests_file],
            "request_id": [self.request_id, self.asked],
            "member_id": [self.member_id, self.host.member_id, self.guest.member_id],
        }

    async def close(self) -> None:
        drop = drop_of(self.satchel)
        await close_session(drop, await recognise(drop, self.session_id, self.host.token), "127.0.0.1")

    async def put_guest_out(self) -> None:
        drop = drop_of(self.satchel)
        host = await recognise(drop, self.session_id, self.host.token)
        await leave(drop, host, MemberId(self.guest.member_id))


async def a_scene(satchel: Satchel) -> Scene:
    host = await opened(satchel)
    scene = Scene(satchel, host, await joined(satchel, host))
    scene.hosts_file, scene.guests_file = FileId(await announced(host)), FileId(await announced(scene.guest))
    scene.asked = RequestId(await asked(scene.guest, scene.hosts_file))
    return scene


async def comes_in(drop: Drop, scene: Scene) -> None:
    admission, member_id = scene.host.admission, scene.member_id
    await join(drop, scene.session_id, admission=admission, member_id=member_id, sealed="s", network="127.0.0.1")


async def announces(drop: Drop, scene: Scene) -> None:
    guest = await recognise(drop, scene.session_id, scene.guest.token)
    await announce(drop, guest, [Announcement(scene.file_id, sealed())])


async def is_the_door(drop: Drop, scene: Scene) -> None:
    await become_door(drop, await recognise(drop, scene.session_id, scene.guest.token))


async def asks_again(drop: Drop, scene: Scene) -> None:
    guest = await recognise(drop, scene.session_id, scene.guest.token)
    await ask(drop, guest, scene.hosts_file, scene.request_id, public_key=KEY, sealed="s")


async def is_asked(drop: Drop, scene: Scene) -> None:
    host = await recognise(drop, scene.session_id, scene.host.token)
    await ask(drop, host, scene.guests_file, scene.request_id, public_key=KEY, sealed="s")


async def says_yes(drop: Drop, scene: Scene) -> None:
    host = await recognise(drop, scene.session_id, scene.host.token)
    answer = AcknowledgementRow(public_key=KEY, sealed="s", chunks=1, bytes=1)
    await acknowledge(drop, host, scene.asked, answer)


async def gets_on(drop: Drop, scene: Scene) -> None:
    guest = await recognise(drop, scene.session_id, scene.guest.token)
    await tell_progress(drop, guest, scene.asked, 1)


async def has_everything(drop: Drop, scene: Scene) -> None:
    guest = await recognise(drop, scene.session_id, scene.guest.token)
    await finish(drop, guest, scene.asked, KEY)


async def locks(drop: Drop, scene: Scene) -> None:
    await set_lock(drop, await recognise(drop, scene.session_id, scene.host.token), is_locked=True)


DEEDS = [comes_in, locks, announces, is_the_door, asks_again, is_asked, says_yes, gets_on, has_everything]
Deed = Callable[[Drop, Scene], Awaitable[None]]


async def done_with(scene: Scene, deed: Deed, number: int, meddle: Callable[[], Awaitable[Any]]) -> bool:
    """Whether there was something to meddle with before the n-th call."""
    meddling = Meddling(scene.satchel.stores.ephemeral, number, meddle)
    with suppress(SatchelError):
        await deed(drop_of(scene.satchel, ephemeral=cast("Ephemeral", meddling)), scene)
    return meddling.calls >= number


@pytest.mark.parametrize("deed", DEEDS)
async def test_a_session_that_is_closed_meanwhile_leaves_nothing(embedded: Satchel, deed: Deed) -> None:
    number = 1
    while True:
        scene = await a_scene(embedded)
        if not await done_with(scene, deed, number, scene.close):
            break
        assert await left_of(embedded, scene.ids) == [], number
        number += 1
    assert number > 2


async def test_nobody_who_was_on_the_way_comes_in_after_the_lock(embedded: Satchel) -> None:
    number = 1
    while True:
        scene = await a_scene(embedded)

        async def lock(scene: Scene = scene) -> None:
            assert (await scene.host("PUT", "/lock")).status_code == 204
            scene.members_at_lock = {each["member_id"] for each in (await scene.host.look())["members"]}

        if not await done_with(scene, comes_in, number, lock):
            break
        assert {each["member_id"] for each in (await scene.host.look())["members"]} == scene.members_at_lock, number
        number += 1
    assert number > 2


@pytest.mark.parametrize("deed", [announces, is_the_door, asks_again, is_asked, says_yes, gets_on])
async def test_a_member_who_is_put_out_meanwhile_leaves_neither_files_nor_requests(
    embedded: Satchel, deed: Deed
) -> None:
    number = 1
    while True:
        scene = await a_scene(embedded)
        if not await done_with(scene, deed, number, scene.put_guest_out):
            break
        seen = await scene.host.look()
        assert [each["file_id"] for each in seen["files"]] == [scene.hosts_file], number
        assert (seen["requests"], seen["door_id"], len(seen["members"])) == ([], None, 1), number
        await scene.close()
        assert await left_of(embedded, scene.ids) == [], number
        number += 1
    assert number > 2


async def test_whoever_leaves_while_the_host_does_somebody_who_is_there_is_host(embedded: Satchel) -> None:
    number = 1
    while True:
        host = await opened(embedded)
        embedded.clock.advance(1)
        scene = Scene(embedded, host, await joined(embedded, host))
        embedded.clock.advance(1)
        last = await joined(embedded, host)

        async def guest_leaves(guest: Person = scene.guest) -> None:
            assert (await guest("DELETE", f"/members/{guest.member_id}")).status_code == 204

        if not await done_with(scene, host_leaves, number, guest_leaves):
            break
        assert (await last.look())["host_id"] == last.member_id, number
        number += 1
    assert number > 5


async def host_leaves(drop: Drop, scene: Scene) -> None:
    host = await recognise(drop, scene.session_id, scene.host.token)
    await leave(drop, host, host.member_id)
