"""A thousand people in a hundred rooms who talk: does everybody hear everything, in the room's order, and how soon?"""

import asyncio
import random
import statistics
import sys
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import msgspec

from bench.figures import Figure, alone
from bench.processes import cpu_seconds_of_tree, resident_megabytes, scratch_folder
from bench.rounds import Effort
from bench.satchel_server import PASSWORD, satchel_server

_ROOMS = 100
_PEOPLE_PER_ROOM = 10
_MESSAGES_PER_SECOND = 50
_LISTENING_PROCESSES = 2
# A minute where a sample usually takes two seconds.
_LONGER = 30
# So many come from one address at most, since the server lets only a few accounts and guests in from each.
_PER_ADDRESS = 50
_AT_ONCE = 20


@dataclass
class _Person:
    """Somebody in a room: how they speak, and which messages they heard, in which order and when."""

    person_id: str
    token: str
    heard: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"}


@dataclass
class _Room:
    room_id: str
    people: list[_Person]
    # What the server has accepted, by message, and when it was sent off.
    said: dict[str, float] = field(default_factory=dict[str, float])


async def measure(effort: Effort) -> list[Figure]:
    with scratch_folder() as folder, satchel_server(folder / "satchel") as satchel:
        async with httpx.AsyncClient(base_url=f"{satchel.url}/api/v1", timeout=60) as client:
            rooms = await _fill_rooms(satchel.url)
            people = [person for room in rooms for person in room.people]
            async with _listening(satchel.url, people) as listeners:
                before, started = cpu_seconds_of_tree(satchel.pid), time.perf_counter()
                await _talk(client, rooms, effort.seconds * _LONGER)
                cpu, elapsed = cpu_seconds_of_tree(satchel.pid) - before, time.perf_counter() - started
                # Whatever is still under way is not lost yet.
                await asyncio.sleep(2)
                memory = resident_megabytes(satchel.pid)
                await listeners.report()
            for room in rooms:
                await _check(client, room)
    delays = sorted(_delays(rooms))
    messages = sum(len(room.said) for room in rooms)
    talk = f"{len(people):,} people, {_ROOMS} rooms, {messages / elapsed:.0f} messages/s for {elapsed:.0f} s"
    return [
        alone("from sending to hearing, median", "ms", [1000 * statistics.median(delays)], note=f"{talk}."),
        alone("from sending to hearing, 99th of a hundred", "ms", [1000 * delays[len(delays) * 99 // 100]]),
        alone("from sending to hearing, slowest", "ms", [1000 * delays[-1]]),
        alone(
            "deliveries",
            "",
            [len(delays)],
            note="none lost, none twice, and everybody heard the order in which the room keeps its messages.",
        ),
        alone("processor time of the server", "% of one core", [100 * cpu / elapsed]),
        alone("resident with everybody connected", "MB", [memory]),
    ]


async def _fill_rooms(url: str) -> list[_Room]:
    """Rooms opened by accounts, and full of guests."""
    turns = asyncio.Semaphore(_AT_ONCE)

    async def fill(number: int) -> _Room:
        async with turns, _from_address(url, number * _PEOPLE_PER_ROOM // _PER_ADDRESS) as client:
            account = {"email": f"owner-{number}@example.org", "name": f"Owner {number}", "password": PASSWORD}
            signed_up = await _post(client, "/accounts", account)
            owner = _Person(signed_up["user_id"], signed_up["tokens"]["access_token"])
            opened = await _post(client, "/rooms", {"name": f"Room {number}"}, owner)
            room = _Room(opened["room_id"], [owner])
            for place in range(1, _PEOPLE_PER_ROOM):
                guest = await _post(client, "/guests", {"name": f"Guest {place}"})
                room.people.append(_Person(guest["guest_id"], guest["token"]))
                await _post(client, "/rooms/join", {"code": opened["code"]}, room.people[-1])
            return room

    # The first account administers the server, so nobody else is let in until it is there.
    return [await fill(0), *await asyncio.gather(*map(fill, range(1, _ROOMS)))]


def _from_address(url: str, number: int) -> httpx.AsyncClient:
    transport = httpx.AsyncHTTPTransport(local_address=f"127.0.1.{number + 1}")
    return httpx.AsyncClient(base_url=f"{url}/api/v1", transport=transport, timeout=60)


async def _post(client: httpx.AsyncClient, path: str, body: object, who: _Person | None = None) -> Any:
    response = await client.post(path, json=body, headers=who.headers if who else None)
    if not response.is_success:
        raise RuntimeError(f"POST {path} was answered {response.status_code}: {response.text}")
    return response.json()


async def _talk(client: httpx.AsyncClient, rooms: Sequence[_Room], seconds: float) -> None:
    """Somebody somewhere says something, again and again, without waiting for those who spoke before."""
    chance = random.Random(5)
    async with asyncio.TaskGroup() as speaking:
        started = time.perf_counter()
        for number in range(int(seconds * _MESSAGES_PER_SECOND)):
            await asyncio.sleep(started + number / _MESSAGES_PER_SECOND - time.perf_counter())
            room = chance.choice(rooms)
            speaking.create_task(_say(client, room, chance.choice(room.people), f"message {number}"))


async def _say(client: httpx.AsyncClient, room: _Room, person: _Person, text: str) -> None:
    sent_at = time.monotonic()
    message = await _post(client, f"/rooms/{room.room_id}/chat", {"text": text}, person)
    room.said[message["message_id"]] = sent_at


async def _check(client: httpx.AsyncClient, room: _Room) -> None:
    """Everybody has heard what the server accepted, each message once, in the order in which the room keeps them."""
    response = await client.get(f"/rooms/{room.room_id}/chat", params={"limit": 500}, headers=room.people[0].headers)
    kept = [message["message_id"] for message in response.raise_for_status().json()["messages"]]
    if set(kept) != set(room.said):
        raise RuntimeError(f"a room keeps {len(kept)} messages, and {len(room.said)} were accepted")
    for person in room.people:
        if [message_id for message_id, _ in person.heard] != kept:
            raise RuntimeError(f"somebody heard {len(person.heard)} messages of {len(kept)}, or in another order")


def _delays(rooms: Sequence[_Room]) -> list[float]:
    return [
        heard_at - room.said[message_id]
        for room in rooms
        for person in room.people
        for message_id, heard_at in person.heard
    ]


@dataclass
class _Listeners:
    """Processes that hold the live connections, and whose connections each holds."""

    held: list[tuple[asyncio.subprocess.Process, Sequence[_Person]]]

    async def report(self) -> None:
        """Have each process end, and write down what it heard."""
        for process, people in self.held:
            output, _ = await process.communicate(b"")
            heard = msgspec.json.decode(output, type=list[list[tuple[str, float]]])
            for person, each in zip(people, heard, strict=True):
                person.heard = each


@asynccontextmanager
async def _listening(url: str, people: Sequence[_Person]) -> AsyncGenerator[_Listeners]:
    """Everybody connected, by processes of their own, so that hearing does not wait for speaking."""
    size = -(-len(people) // _LISTENING_PROCESSES)
    async with AsyncExitStack() as opened:
        held: list[tuple[asyncio.subprocess.Process, Sequence[_Person]]] = []
        for start in range(0, len(people), size):
            some = people[start : start + size]
            held.append((await opened.enter_async_context(_listener(url, some)), some))
        yield _Listeners(held)


@asynccontextmanager
async def _listener(url: str, people: Sequence[_Person]) -> AsyncGenerator[asyncio.subprocess.Process]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.rooms_listener", url, stdin=pipe, stdout=pipe, limit=2**28
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(msgspec.json.encode([person.token for person in people]) + b"\n")
        if await process.stdout.readline() != b"ready\n":
            raise RuntimeError("not everybody could be connected")
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
