"""People at two servers whose shared stores fail at random: what they were told is what is there in the end.

Up to four act at the same moment, and some ask both servers at once under one key. A worker counts clicks from a
stream that repeats itself, clocks differ, and they jump. A store may be away for a whole act, or go away in the middle
of one, with an answer that is lost. Each act is repeated under its idempotency key, as clients do, until it
is answered or its people give up. Then the stores heal, everything is swept, and what was acknowledged, refused or left
open is compared with what is there.
"""

import asyncio
import os
import re
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import httpx
import pytest

from satchel.config import Settings
from satchel.edge.uploads.bundles import BUNDLE_TYPE
from satchel.features.rooms.model import RoomId
from satchel.features.rooms.records import FILE_JOURNAL, FILES, REFS, REPAIR_LEASE, decode_file
from satchel.kernel.clock import ManualClock
from satchel.kernel.errors import SatchelError
from satchel.stores.connect import open_tables
from satchel.stores.ports.ephemeral import Delete, HashAll
from satchel.tables import SHARED_TABLES
from satchel.worker import Worker, opened
from tests.application import Caller, Satchel, running_satchel
from tests.faults.store_proxy import Harm, StoreProxy, proxied
from tests.features.shelf.given import check_shelf
from tests.uploads.given import SENDS, a_bundle, pairs

pytestmark = pytest.mark.services

# For hours by hand: SATCHEL_WALK_ACTS=100000 .venv/bin/pytest -n 0 tests/faults/test_store_faults.py
ACTS = int(os.environ.get("SATCHEL_WALK_ACTS", "110"))
SEED = int(os.environ.get("SATCHEL_WALK_SEED", "1"))
TRIES = 4
# So often is a request harmed: while the stores are ill, and during acts in which one of them hardly works, or not.
SHARE, WORST = 0.06, (0.6, 1.0)
OUTAGES, TWICE, JUMPS = 0.12, 0.4, 0.04
# How often a store is full, or throttled, after how many writes, and can only be read; and how often one goes away in
# the middle of an act, after how many requests, and for how many.
FULL, WRITES = 0.24, range(4)
BREAKS, FINE, ILL = 0.36, range(8), range(4, 14)
READS = ("GetItem", "BatchGetItem", "Query", "GetRecords", "GetShardIterator", "DescribeStream", "GET", "HEAD")
# A stream may repeat its records at any time.
REPEATED = 0.5
AHEAD_SECONDS = 0.137
# There and back: nobody is signed out for good, and no room ends.
LEAPS = (timedelta(seconds=-30), timedelta(minutes=20))
HARMS: tuple[Harm, ...] = ("refused", "full", "cut", "slow", "lost", "lost", "half")
_REFUSALS: tuple[Harm, Harm] = ("full", "refused")
_GIVEN_UP = 500
_NUMBER = re.compile(r" \(\d+\)")


class AheadClock(ManualClock):
    """The clock of a server that is ahead of the others, though they are set from time to time."""

    def __init__(self, other: ManualClock) -> None:
        super().__init__()
        self._other = other

    def __call__(self) -> float:
        return self._other() + AHEAD_SECONDS


@dataclass
class World:
    """Two servers on the same stores, somebody at each, and what they know."""

    servers: list[Satchel]
    proxies: list[StoreProxy]
    random: Random
    clock: ManualClock
    settings: Settings
    callers: list[Caller] = field(default_factory=list[Caller])
    # Contents by file id; and names of what nobody knows the outcome of.
    kept: dict[str, bytes] = field(default_factory=dict[str, bytes])
    open: set[str] = field(default_factory=set[str])
    said: list[str] = field(default_factory=list[str])
    maybe_said: set[str] = field(default_factory=set[str])
    refused: set[str] = field(default_factory=set[str])
    # What may have been deleted, and the same of files in the room.
    doubtful: dict[str, bytes] = field(default_factory=dict[str, bytes])
    shared: dict[str, bytes] = field(default_factory=dict[str, bytes])
    uploads: int = 0
    presses: int = 0
    maybe_presses: int = 0
    room: str = ""
    acts: int = 0

    def fall_ill(self) -> bool:
        """All stores a little; now and then one of them so that no retry of a server helps. Answers whether so."""
        harms = (self._harm(self.random.choice(WORST)), self._fills(), self._break(), self._harm(SHARE))
        (harm,) = self.random.choices(harms, (OUTAGES, FULL, BREAKS, 1 - OUTAGES - FULL - BREAKS))
        worst = self.random.choice(self.proxies)
        for proxy in self.proxies:
            proxy.harm = harm if proxy is worst else self._harm(SHARE)
        return harm is not harms[-1]

    def _fills(self) -> Callable[[str], Harm | None]:
        left, kind = self.random.choice(WRITES), self.random.choice(_REFUSALS)

        def harm(name: str) -> Harm | None:
            nonlocal left
            if name not in READS:
                left -= 1
            return kind if left < 0 and name not in READS else None

        return harm

    def _harm(self, share: float) -> Callable[[str], Harm | None]:
        return lambda name: self.random.choice(HARMS) if self.random.random() < share else self._repeated(name)

    def _break(self) -> Callable[[str], Harm | None]:
        fine, ill = self.random.choice(FINE), self.random.choice(ILL)

        def harm(name: str) -> Harm | None:
            nonlocal fine, ill
            if fine > 0:
                fine -= 1
                return None
            # Of Redis, requests and answers are told apart.
            if fine == 0 and name != "round trip":
                fine = -1
                return "lost" if name == "answer" else self.random.choice(("lost", "cut"))
            ill -= 1
            return self.random.choice(("refused", "cut")) if ill > 0 and fine < 0 else None

        return harm

    def _repeated(self, name: str) -> Harm | None:
        return "twice" if name == "GetRecords" and self.random.random() < REPEATED else None

    def heal(self) -> None:
        for proxy in self.proxies:
            proxy.harm = self._repeated

    async def ask(self, method: str, path: str, **request: Any) -> httpx.Response:
        """Ask one server, the other or both under one key until one of them answers; the last may be an error."""
        headers = {"idempotency-key": uuid4().hex, **request.pop("headers", {})}
        answer = httpx.Response(_GIVEN_UP)
        for _ in range(TRIES):
            asked = self.callers if self.random.random() < TWICE else [self.random.choice(self.callers)]
            answers = await asyncio.gather(*(each(method, path, headers=headers, **request) for each in asked))
            answer = min(answers, key=_how_open)
            if not _how_open(answer):
                break
        return answer

    async def upload(self) -> None:
        await self._upload(self.kept, destination="shelf")

    async def bundle(self) -> None:
        """Two files in one request, as browsers send small ones."""
        files = {f"{self.number()}.txt": self.random.randbytes(300) for _ in range(2)}
        # Each file has a key of its own.
        said = [({"filename": name, "key": name.replace(".", "-")}, content) for name, content in files.items()]
        request = {"headers": {"content-type": BUNDLE_TYPE}, "content": a_bundle(*said, destination="shelf")}
        answer = await self.ask("POST", "/uploads/bundle", **request)
        became = [file["became"] for file in answer.json()["files"]] if answer.status_code == 200 else [None, None]
        for (name, content), file_id in zip(files.items(), became, strict=True):
            if file_id:
                self.kept[file_id] = content
                self.uploads += 1
            else:
                self.open.add(name)

    async def share(self) -> None:
        """Equal contents are stored once in a room, and counted."""
        await self._upload(self.shared, destination="room", room=self.room)

    async def _upload(self, kept: dict[str, bytes], **place: str) -> None:
        name, content = f"{self.number()}.txt", self.random.choice((b"", b"ten bytes.", self.random.randbytes(3000)))
        headers = {**SENDS, "upload-length": str(len(content)), "upload-metadata": pairs(filename=name, **place)}
        answer = await self.ask("POST", "/uploads", headers=headers, content=content)
        if answer.status_code == 201:
            where = answer.headers["location"].removeprefix("/api/v1")
            state = await self.ask("GET", where)
            if state.status_code == 200 and state.json()["became"]:
                kept[state.json()["became"]] = content
                self.uploads += 1
                return
        self.open.add(name)

    async def delete(self) -> None:
        await self._delete(self.kept, "/shelf/files")

    async def withdraw(self) -> None:
        await self._delete(self.shared, f"/rooms/{self.room}/files")

    async def _delete(self, kept: dict[str, bytes], where: str) -> None:
        if not kept:
            return
        file_id = self.random.choice(sorted(kept))
        content = kept.pop(file_id)
        answer = await self.ask("DELETE", f"{where}/{file_id}")
        if answer.status_code not in (204, 404):
            self.doubtful[file_id] = content

    async def fold(self) -> None:
        """Count some clicks. Each time anew: after a cancelled transaction moto's iterators lead nowhere."""
        with suppress(SatchelError):
            async with opened(self.settings, self.clock) as platform:
                await Worker(platform, name="worker").fold_some()

    async def say(self) -> None:
        text = f"message {self.number()}"
        answer = await self.ask("POST", f"/rooms/{self.room}/chat", json={"text": text})
        (self.said.append if answer.status_code in (200, 201) else self.maybe_said.add)(text)

    async def press(self) -> None:
        answer = await self.ask("POST", "/clicks", json={"key": f"press-{self.number()}"})
        if answer.status_code == 201:
            self.presses += 1
        else:
            self.maybe_presses += 1

    async def overstep(self) -> None:
        """What is refused for good must not happen."""
        name = f"refused {self.number()}"
        answer = await self.ask("POST", "/shelf/folders", json={"name": name, "folder_id": "0" * 26})
        assert answer.status_code in (404, 422, 429) or answer.status_code >= _GIVEN_UP
        self.refused.add(name)

    async def leap(self) -> None:
        """The clock jumps, while the stores are well enough to sign in anew."""
        self.heal()
        self.clock.advance(self.random.choice(LEAPS))
        for caller in self.callers:
            assert (await caller.sign_in("ann@example.org")).status_code == 201

    def number(self) -> int:
        self.acts += 1
        return self.acts


def _how_open(answer: httpx.Response) -> int:
    """Whether the outcome is known: 0 if it is."""
    return 0 if answer.status_code < _GIVEN_UP and answer.status_code not in (409, 423, 429) else 1


@pytest.fixture
async def world(
    tmp_path: Path, moto_endpoint: str, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[World]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    bucket = f"faults-{uuid4().hex}"
    httpx.put(f"{moto_endpoint}/{bucket}").raise_for_status()
    async with AsyncExitStack() as stack:
        proxies = [await stack.enter_async_context(proxied(each)) for each in (moto_endpoint, redis_url, moto_endpoint)]
        tables, ephemeral, objects = proxies
        chosen: dict[str, Any] = {
            "table": f"dynamodb://us-east-1?endpoint={tables.url}",
            "table_prefix": f"{bucket}-",
            "ephemeral": ephemeral.url,
            "objects": f"s3://{bucket}?endpoint={objects.url}",
            "secret": "s" * 32,
        }
        clock = ManualClock()
        made = await open_tables(Settings(data=tmp_path, **chosen), clock)
        await made.create(*SHARED_TABLES)
        await made.close()
        clocks = {"a": clock, "b": AheadClock(clock)}
        servers = [
            await stack.enter_async_context(running_satchel(tmp_path / name, its, **chosen))
            for name, its in clocks.items()
        ]
        world = World(servers, proxies, Random(SEED), clock, Settings(data=tmp_path / "worker", **chosen))
        ann = servers[0].caller()
        assert (await ann.sign_up("ann@example.org")).status_code == 201
        there = servers[1].caller()
        assert (await there.sign_in("ann@example.org")).status_code == 201
        world.callers = [ann, there]
        world.room = (await ann("POST", "/rooms", json={"name": "Choir"})).json()["room_id"]
        yield world
        world.heal()


async def walk(world: World) -> None:
    acts = (world.upload, world.upload, world.bundle, world.delete, world.share, world.share, world.withdraw)
    others = (world.say, world.press, world.press, world.press, world.overstep, world.fold)
    for _ in range(ACTS // 2):
        if world.random.random() < JUMPS:
            await world.leap()
        is_away = world.fall_ill()
        # Limits are not what is tried here.
        world.clock.advance(4)
        # While a store is away, everybody waits anyway.
        together = world.random.choices((*acts, *others), k=world.random.choice((2, 3, 4) if is_away else (1, 2, 3)))
        await asyncio.gather(*(act() for act in together))
    world.heal()


async def check(world: World) -> None:
    """Compare what people were told with what is there."""
    world.clock.advance(timedelta(hours=2))
    ann = world.callers[0]
    assert (await ann.sign_in("ann@example.org")).status_code == 201
    # Redis has a time of its own, in which it lasts a minute after a repair that was cut off.
    await world.servers[0].stores.ephemeral.run(Delete(REPAIR_LEASE(room_id=RoomId(world.room))))
    await housekeep(world)
    entries = (await ann("GET", "/shelf/entries", params={"limit": 1000})).json()["entries"]
    await check_files(world, "/shelf/files", world.kept, {entry["id"]: entry["name"] for entry in entries})
    in_room = (await ann("GET", f"/rooms/{world.room}/files")).json()["files"]
    await check_files(
        world, f"/rooms/{world.room}/files", world.shared, {file["file_id"]: file["name"] for file in in_room}
    )
    await check_counts_of_room(world)
    used = sum({file["sha256"]: file["size_bytes"] for file in in_room}.values())
    assert (await ann("GET", f"/rooms/{world.room}")).json()["used_bytes"] == used, "a room counts what is not there"
    chat = (await ann("GET", f"/rooms/{world.room}/chat", params={"limit": 500})).json()["messages"]
    texts = [message["text"] for message in chat if message["text"].startswith("message")]
    assert set(world.said) <= set(texts) <= set(world.said) | world.maybe_said, "the chat is not what was said"
    assert len(texts) == len(set(texts)), "something was said twice"
    clicks = (await ann("GET", "/clicks", params={"limit": 1000})).json()["clicks"]
    assert world.presses <= len(clicks) <= world.presses + world.maybe_presses, "clicks were lost or counted twice"
    async with opened(world.settings, world.clock) as platform:
        await Worker(platform, name="worker").catch_up()
    summary = (await ann("GET", "/stats/site/summary")).json()["total"]
    assert summary["press"] == len(clicks), "figures differ from a recount"
    # What was given up is found again after a day; by then the room has ended.
    world.clock.advance(timedelta(hours=26))
    await housekeep(world)
    await check_shelf(world.servers[0], ann)


async def housekeep(world: World) -> None:
    for server in world.servers:
        for _ in range(2):
            await server.housekeep()


async def check_counts_of_room(world: World) -> None:
    """How often each object is used is what a recount says, and nothing is under way any more."""
    room_id = RoomId(world.room)
    rows, counts, journal = await world.servers[0].stores.ephemeral.together(
        HashAll(FILES(room_id=room_id)), HashAll(REFS(room_id=room_id)), HashAll(FILE_JOURNAL(room_id=room_id))
    )
    counted = {name.partition(".")[2]: int(count) for name, count in counts.items()}
    assert counted == Counter(decode_file(row).object_id for row in rows.values()), "a room counts wrongly"
    assert not journal


async def check_files(world: World, where: str, kept: dict[str, bytes], found: dict[str, str]) -> None:
    assert not kept.keys() - found.keys(), "acknowledged files are lost"
    # A name that an attempt has claimed is free again only later, so that the file may have a number.
    others = [file_id for file_id in found if file_id not in kept.keys() | world.doubtful.keys()]
    unexpected = [_NUMBER.sub("", found[file_id]) for file_id in others]
    assert set(unexpected) <= world.open, "files are there of which nobody was told that they might be"
    assert len(unexpected) == len(set(unexpected)), "what was sent once is there twice"
    assert not world.refused & set(found.values()), "what was refused happened"
    for file_id, content in kept.items():
        assert (await world.callers[0]("GET", f"{where}/{file_id}/content")).content == content


async def test_what_people_were_told_is_there_though_stores_fail(world: World) -> None:
    await walk(world)
    assert min(world.uploads, len(world.said), world.presses) > 0
    await check(world)
