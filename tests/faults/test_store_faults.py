"""People at two servers whose shared stores fail at random: what they were told is what is there in the end.

Each act is repeated under its idempotency key, as the clients do, until it is answered or its people give up. Then the
stores heal, everything is swept, and what was acknowledged, refused or left open is compared with what is there.
"""

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import httpx
import pytest

from satchel.config import Settings
from satchel.kernel.clock import ManualClock
from satchel.stores.connect import open_tables
from satchel.tables import SHARED_TABLES
from tests.application import Caller, Satchel, running_satchel
from tests.faults.store_proxy import Harm, StoreProxy, proxied
from tests.features.shelf.given import check_shelf
from tests.uploads.given import SENDS, pairs

pytestmark = pytest.mark.services

# For hours by hand: SATCHEL_WALK_ACTS=100000 .venv/bin/pytest -n 0 tests/faults/test_store_faults.py
ACTS = int(os.environ.get("SATCHEL_WALK_ACTS", "80"))
SEED = int(os.environ.get("SATCHEL_WALK_SEED", "1"))
TRIES = 4
# So often is a request harmed: while the stores are ill, and during an act in which one of them hardly works.
SHARE, WORST = 0.06, 0.6
OUTAGES = 0.15
HARMS: tuple[Harm, ...] = ("refused", "cut", "lost", "half")
_GIVEN_UP = 500


@dataclass
class World:
    """Two servers on the same stores, somebody at each, and what they know."""

    servers: list[Satchel]
    proxies: list[StoreProxy]
    random: Random
    clock: ManualClock
    callers: list[Caller] = field(default_factory=list[Caller])
    # Contents by file id; and names of what nobody knows the outcome of.
    kept: dict[str, bytes] = field(default_factory=dict[str, bytes])
    open: set[str] = field(default_factory=set[str])
    said: list[str] = field(default_factory=list[str])
    maybe_said: set[str] = field(default_factory=set[str])
    refused: set[str] = field(default_factory=set[str])
    uploads: int = 0
    presses: int = 0
    maybe_presses: int = 0
    room: str = ""
    acts: int = 0

    def fall_ill(self) -> None:
        """All stores a little; now and then one of them so that no retry of a server helps."""
        worst = self.random.choice(self.proxies) if self.random.random() < OUTAGES else None
        for proxy in self.proxies:
            proxy.harm = self._harm(WORST if proxy is worst else SHARE)

    def _harm(self, share: float) -> Callable[[str], Harm | None]:
        return lambda _name: self.random.choice(HARMS) if self.random.random() < share else None

    def heal(self) -> None:
        for proxy in self.proxies:
            proxy.harm = lambda _name: None

    async def ask(self, method: str, path: str, **request: Any) -> httpx.Response:
        """Ask one server or the other under one key until one of them answers; the last answer may be an error."""
        headers = {"idempotency-key": uuid4().hex, **request.pop("headers", {})}
        answer = httpx.Response(_GIVEN_UP)
        for _ in range(TRIES):
            caller = self.random.choice(self.callers)
            answer = await caller(method, path, headers=headers, **request)
            if answer.status_code < _GIVEN_UP and answer.status_code not in (409, 423, 429):
                break
        return answer

    async def upload(self) -> None:
        name, content = f"{self.acts}.txt", self.random.randbytes(self.random.choice((0, 10, 3000)))
        metadata = pairs(destination="shelf", filename=name)
        headers = {**SENDS, "upload-length": str(len(content)), "upload-metadata": metadata}
        answer = await self.ask("POST", "/uploads", headers=headers, content=content)
        if answer.status_code == 201:
            where = answer.headers["location"].removeprefix("/api/v1")
            state = await self.ask("GET", where)
            if state.status_code == 200 and state.json()["became"]:
                self.kept[state.json()["became"]] = content
                self.uploads += 1
                return
        self.open.add(name)

    async def delete(self) -> None:
        if not self.kept:
            return
        file_id = self.random.choice(sorted(self.kept))
        content = self.kept.pop(file_id)
        answer = await self.ask("DELETE", f"/shelf/files/{file_id}")
        if answer.status_code not in (204, 404):
            found = await self.patient("GET", f"/shelf/files/{file_id}")
            if found.status_code == 200:
                self.kept[file_id] = content

    async def say(self) -> None:
        text = f"message {self.acts}"
        answer = await self.ask("POST", f"/rooms/{self.room}/chat", json={"text": text})
        (self.said.append if answer.status_code in (200, 201) else self.maybe_said.add)(text)

    async def press(self) -> None:
        answer = await self.ask("POST", "/clicks", json={"key": f"press-{self.acts}"})
        if answer.status_code == 201:
            self.presses += 1
        else:
            self.maybe_presses += 1

    async def overstep(self) -> None:
        """What is refused for good must not happen."""
        name = f"refused {self.acts}"
        answer = await self.ask("POST", "/shelf/folders", json={"name": name, "folder_id": "0" * 26})
        assert answer.status_code in (404, 422, 429) or answer.status_code >= _GIVEN_UP
        self.refused.add(name)

    async def patient(self, method: str, path: str, **request: Any) -> httpx.Response:
        """Ask while the stores are well."""
        ill = [proxy.harm for proxy in self.proxies]
        self.heal()
        try:
            return await self.callers[0](method, path, **request)
        finally:
            for proxy, harm in zip(self.proxies, ill, strict=True):
                proxy.harm = harm


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
        servers = [await stack.enter_async_context(running_satchel(tmp_path / name, clock, **chosen)) for name in "ab"]
        world = World(servers, proxies, Random(SEED), clock)
        ann = servers[0].caller()
        assert (await ann.sign_up("ann@example.org")).status_code == 201
        there = servers[1].caller()
        assert (await there.sign_in("ann@example.org")).status_code == 201
        world.callers = [ann, there]
        world.room = (await ann("POST", "/rooms", json={"name": "Choir"})).json()["room_id"]
        yield world
        world.heal()


async def walk(world: World) -> None:
    acts = (world.upload, world.upload, world.delete, world.say, world.press, world.overstep)
    for _ in range(ACTS):
        world.acts += 1
        world.fall_ill()
        # Limits are not what is tried here.
        world.clock.advance(2)
        await world.random.choice(acts)()
    world.heal()


async def check(world: World) -> None:
    """Compare what people were told with what is there."""
    world.clock.advance(timedelta(minutes=15))
    for server in world.servers:
        for _ in range(2):
            await server.housekeep()
    ann = world.callers[0]
    assert (await ann.sign_in("ann@example.org")).status_code == 201
    entries = (await ann("GET", "/shelf/entries", params={"limit": 1000})).json()["entries"]
    found = {entry["id"]: entry["name"] for entry in entries}
    assert not world.kept.keys() - found.keys(), "acknowledged files are lost"
    unexpected = {name for file_id, name in found.items() if file_id not in world.kept}
    assert unexpected <= world.open, "files are there of which nobody was told that they might be"
    assert not world.refused & set(found.values()), "what was refused happened"
    for file_id, content in world.kept.items():
        assert (await ann("GET", f"/shelf/files/{file_id}/content")).content == content
    chat = (await ann("GET", f"/rooms/{world.room}/chat", params={"limit": 500})).json()["messages"]
    texts = [message["text"] for message in chat if message["text"].startswith("message")]
    assert set(world.said) <= set(texts) <= set(world.said) | world.maybe_said, "the chat is not what was said"
    assert len(texts) == len(set(texts)), "something was said twice"
    clicks = (await ann("GET", "/clicks", params={"limit": 1000})).json()["clicks"]
    assert world.presses <= len(clicks) <= world.presses + world.maybe_presses, "clicks were lost or counted twice"
    await check_shelf(world.servers[0], ann)


async def test_what_people_were_told_is_there_though_stores_fail(world: World) -> None:
    await walk(world)
    assert min(world.uploads, len(world.said), world.presses) > 0
    await check(world)
