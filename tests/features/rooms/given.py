"""People who meet in rooms, what they send, and what must be left when a room is over."""

import asyncio
from base64 import b64encode
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import partial
from typing import Any, cast

import httpx

from satchel.edge.files.previews import preview_of
from satchel.features.rooms.limits import RoomLimits
from satchel.features.rooms.records import CODE, EPHEMERAL_KEYS, OBJECTS_PREFIX, ROOM, room_fields
from satchel.features.rooms.service.context import Rooms
from satchel.kernel.signature import Signer
from satchel.media.pictures import Pictures
from satchel.stores.connect import Stores
from satchel.stores.ports.ephemeral import Ephemeral, Exists, HashPut, Put
from satchel.stores.ports.objects import Objects
from tests.application import Caller, Satchel
from tests.features.hearing import Hearing, heard_by

TUS = {"tus-resumable": "1.0.0"}
BYTES = {"content-type": "application/offset+octet-stream"}
DETAILS = ("room_id", "person_id", "file_id", "code", "sha256", "key")


async def guest(satchel: Satchel, name: str = "Gus", address: str = "127.0.0.1") -> Caller:
    """Somebody without an account; `user_id` is their guest id."""
    caller = satchel.caller(address)
    answer = (await caller("POST", "/guests", json={"name": name})).json()
    caller.tokens, caller.user_id = {"access_token": answer["token"]}, answer["guest_id"]
    return caller


async def opened(caller: Caller, **wishes: Any) -> dict[str, Any]:
    """A new room, with its owner in it."""
    answer = await caller("POST", "/rooms", json=wishes)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def join(caller: Caller, code: str, key: str = "") -> httpx.Response:
    return await caller("POST", "/rooms/join", json={"code": code, "key": key})


async def joined(caller: Caller, room: dict[str, Any]) -> dict[str, Any]:
    answer = await join(caller, room["code"])
    assert answer.status_code == 200, answer.text
    return answer.json()["room"]


async def begin(caller: Caller, room: dict[str, Any], size_bytes: int, **details: str) -> httpx.Response:
    headers = {**TUS, "upload-length": str(size_bytes), "upload-metadata": _metadata(room, details)}
    return await caller("POST", "/uploads", headers=headers)


async def send_rest(caller: Caller, begun: httpx.Response, content: bytes) -> httpx.Response:
    path = begun.headers["location"].removeprefix("/api/v1")
    return await caller("PATCH", path, headers={**TUS, **BYTES, "upload-offset": "0"}, content=content)


async def send(caller: Caller, room: dict[str, Any], name: str, content: bytes, **details: str) -> httpx.Response:
    """A whole upload in one request."""
    described = _metadata(room, {"filename": name, "filetype": "text/plain", **details})
    headers = {**TUS, **BYTES, "upload-length": str(len(content)), "upload-metadata": described}
    return await caller("POST", "/uploads", headers=headers, content=content)


async def sent(caller: Caller, room: dict[str, Any], name: str, content: bytes, **details: str) -> str:
    """The id of a file that was brought into the room."""
    answer = await send(caller, room, name, content, **details)
    assert answer.status_code == 201, answer.text
    return answer.headers["location"].rpartition("/")[2]


async def files(caller: Caller, room: dict[str, Any]) -> list[dict[str, Any]]:
    answer = await caller("GET", f"/rooms/{room['room_id']}/files")
    assert answer.status_code == 200, answer.text
    return answer.json()["files"]


async def paths(caller: Caller, room: dict[str, Any]) -> list[str]:
    return [f"{file['folder']}/{file['name']}".lstrip("/") for file in await files(caller, room)]


async def content(caller: Caller, room: dict[str, Any], file_id: str) -> httpx.Response:
    return await caller("GET", f"/rooms/{room['room_id']}/files/{file_id}/content")


async def people(caller: Caller, room: dict[str, Any]) -> list[str]:
    answer = await caller("GET", f"/rooms/{room['room_id']}")
    assert answer.status_code == 200, answer.text
    return [person["name"] for person in answer.json()["people"]]


async def said(caller: Caller, room: dict[str, Any]) -> list[str]:
    answer = await caller("GET", f"/rooms/{room['room_id']}/chat")
    assert answer.status_code == 200, answer.text
    return [message["text"] for message in answer.json()["messages"]]


async def objects(satchel: Satchel, room: dict[str, Any] | None = None) -> list[str]:
    prefix = OBJECTS_PREFIX if room is None else f"{OBJECTS_PREFIX}{room['room_id']}/"
    return [info.key for info in (await satchel.stores.objects.list(prefix)).objects]


def slug(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"].rpartition("#")[2]


async def left_of(satchel: Satchel, room: dict[str, Any], *, sha256: str = "", **ids: str) -> list[str]:
    """Patterns of those keys that still hold something of the room, or of these people and files."""
    known = {"room_id": room["room_id"], "code": room["code"], "sha256": sha256, **ids}
    found: list[str] = []
    for key in EPHEMERAL_KEYS:
        named = {name for name in DETAILS if f"{{{name}}}" in key.pattern}
        if named and named <= known.keys():
            is_there = await satchel.stores.ephemeral.run(Exists(key(**{name: known[name] for name in named})))
            found += [key.pattern] if is_there else []
    return found


async def relabel(satchel: Satchel, room: dict[str, Any], code: str) -> None:
    """As if these letters had been drawn for the room."""
    await satchel.stores.ephemeral.together(
        Put(CODE(code=code), room["room_id"].encode()), HashPut(ROOM(room_id=room["room_id"]), room_fields(code=code))
    )


def hearing(ephemeral: Ephemeral, caller: Caller) -> AbstractAsyncContextManager[Hearing]:
    return heard_by(ephemeral, caller.user_id)


def _metadata(room: dict[str, Any], details: dict[str, str]) -> str:
    pairs = {"destination": "room", "room": room["room_id"], **details}
    return ",".join(f"{key} {b64encode(value.encode()).decode()}" for key, value in pairs.items())


class Killed(BaseException):
    """What happens to a server whose power goes out: nothing below may handle it."""


class Mortal:
    """Stores of a server that dies just before or just after its n-th call, and does nothing from then on."""

    def __init__(self, number: int, *, afterwards: bool) -> None:
        self._number = number
        self._afterwards = afterwards
        self._calls = 0

    def rooms(self, rooms: Rooms) -> Rooms:
        ephemeral = cast("Ephemeral", _Through(rooms.ephemeral, self))
        return replace(rooms, ephemeral=ephemeral, objects=cast("Objects", _Through(rooms.objects, self)))

    async def call(self, do: Any, *positional: Any, **named: Any) -> Any:
        self._calls += 1
        if self._calls > self._number or (self._calls == self._number and not self._afterwards):
            raise Killed
        answer = await do(*positional, **named)
        if self._calls == self._number:
            raise Killed
        return answer


class Meddling:
    """Stores in which something else happens just before the n-th call."""

    def __init__(self, number: int, meddle: Callable[[], Awaitable[Any]]) -> None:
        self._number = number
        self._meddle = meddle
        self.calls = 0

    def rooms(self, rooms: Rooms) -> Rooms:
        ephemeral = cast("Ephemeral", _Through(rooms.ephemeral, self))
        return replace(rooms, ephemeral=ephemeral, objects=cast("Objects", _Through(rooms.objects, self)))

    async def call(self, do: Any, *positional: Any, **named: Any) -> Any:
        self.calls += 1
        if self.calls == self._number:
            await self._meddle()
        return await do(*positional, **named)


class Unhurried:
    """Stores that let others go on before they answer, as those across a network do."""

    async def call(self, do: Any, *positional: Any, **named: Any) -> Any:
        await asyncio.sleep(0)
        return await do(*positional, **named)


class Watched:
    """Stores that remember what was asked of them."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def rooms(self, rooms: Rooms) -> Rooms:
        return replace(rooms, ephemeral=cast("Ephemeral", _Through(rooms.ephemeral, self)))

    async def call(self, do: Any, *positional: Any, **named: Any) -> Any:
        self.asked += positional
        return await do(*positional, **named)


class _Through:
    """A store whose every call goes through one of these."""

    def __init__(self, store: Any, way: Mortal | Meddling | Unhurried | Watched) -> None:
        self._store = store
        self._way = way

    def __getattr__(self, name: str) -> Any:
        return partial(self._way.call, getattr(self._store, name))


def unhurried(stores: Stores) -> Stores:
    return replace(stores, ephemeral=cast("Ephemeral", _Through(stores.ephemeral, Unhurried())))


async def lives_through(rooms: Rooms, number: int, do: Callable[[Rooms], Awaitable[Any]], *, afterwards: bool) -> bool:
    """Whether a server whose stores die at this call gets to the end of what it does."""
    try:
        await do(Mortal(number, afterwards=afterwards).rooms(rooms))
    except Killed:
        return False
    return True


def rooms_of(satchel: Satchel) -> Rooms:
    """Rooms on the same stores as the running ones."""
    stores = satchel.stores
    nobody = cast("Any", None)
    return Rooms(
        ephemeral=stores.ephemeral,
        objects=stores.objects,
        clock=satchel.clock,
        signer=Signer(b"of no running server, 32 bytes...."),
        pictures=Pictures(stores.tables, stores.objects, stores.ephemeral, satchel.clock),
        quota_bytes=None,
        limits=RoomLimits(stores.ephemeral),
        people=nobody,
        attending=nobody,
        shelves=nobody,
        preview_of=preview_of,
        events=nobody,
        outbox=nobody,
    )
