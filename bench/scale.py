"""`python -m bench.scale`: what acts ask of shared stores, counted, and what that is for many people in a month.

It starts moto and Redis, puts a proxy before each, lets somebody act at a server, and counts. Then it multiplies. The
prices are those of one AWS region at one time, and stand below to be changed.
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from satchel.config import Settings
from satchel.kernel.clock import ManualClock
from satchel.stores.connect import open_tables
from satchel.tables import SHARED_TABLES
from tests.application import Caller, Satchel, running_satchel
from tests.faults.store_proxy import StoreProxy, proxied
from tests.services import moto_server, redis_server
from tests.uploads.given import a_bundle

# Dollars per million, and for one month: DynamoDB on demand, S3, a small Redis with a replica, servers and a worker.
WRITE, READ, PUT, GET = 0.625, 0.125, 5.0, 0.4
STORED_GB = 0.023
FIXED = {1_000: 120, 100_000: 600, 10_000_000: 24_000}
# What somebody does in a month, and how much they keep, in GB.
MONTHLY = {
    "sign in": 8,
    "list the shelf": 60,
    "upload a small file": 30,
    "fetch a small file": 40,
    "join a room": 4,
    "say something": 40,
    "send a file by e-mail": 4,
    "receive it": 4,
    "open a link": 10,
    "fetch by a link": 6,
    "press once": 30,
}
KEPT_GB = 2
BUSY_SHARE = 5  # the busiest second has so many times the average
_SECONDS = 30 * 86_400


@dataclass(frozen=True)
class Cost:
    """What one act asks: calls of DynamoDB, units read and written there, calls of S3, round trips to Redis."""

    act: str
    calls: int
    read: int
    written: int
    puts: int
    gets: int
    round_trips: int

    @property
    def dollars_per_million(self) -> float:
        return self.read * READ + self.written * WRITE + self.puts * PUT + self.gets * GET


@dataclass
class Place:
    """A server on shared stores, and what stands before each of them."""

    satchel: Satchel
    tables: StoreProxy
    objects: StoreProxy
    ephemeral: StoreProxy

    async def count(self, act: str, do: Callable[[], Awaitable[Any]]) -> tuple[Cost, Any]:
        # At one moment two clicks of one person need two attempts.
        self.satchel.clock.advance(1)
        for each in (self.tables, self.objects, self.ephemeral):
            each.take()
        answer = await do()
        asked, units = self.objects.asked, self.tables.units
        gets = asked["GET"] + asked["HEAD"]
        return Cost(
            act,
            self.tables.asked.total(),
            units["read"],
            units["written"],
            asked.total() - gets,
            gets,
            self.ephemeral.asked.total(),
        ), answer


@asynccontextmanager
async def place() -> AsyncGenerator[Place]:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        os.environ.update(AWS_ACCESS_KEY_ID="test", AWS_SECRET_ACCESS_KEY="test")
        moto, redis = stack.enter_context(moto_server()), stack.enter_context(redis_server())
        async with httpx.AsyncClient() as client:
            (await client.put(f"{moto}/bucket")).raise_for_status()
        tables, objects, ephemeral = [await stack.enter_async_context(proxied(each)) for each in (moto, moto, redis)]
        chosen: dict[str, Any] = {
            "table": f"dynamodb://us-east-1?endpoint={tables.url}",
            "ephemeral": ephemeral.url,
            "objects": f"s3://bucket?endpoint={objects.url}",
            "secret": "s" * 32,
        }
        made = await open_tables(Settings(data=folder, **chosen), ManualClock())
        await made.create(*SHARED_TABLES)
        await made.close()
        satchel = await stack.enter_async_context(running_satchel(folder, sign_up="open", **chosen))
        yield Place(satchel, tables, objects, ephemeral)


async def counted(place: Place) -> list[Cost]:
    """Every act once, after what a first time needs was done before."""
    ann, bob = place.satchel.caller(), place.satchel.caller()
    for caller, name in ((ann, "ann"), (bob, "bob")):
        await caller.sign_up(f"{name}@example.org")
    room = (await ann("POST", "/rooms", json={"name": "Choir"})).json()
    await _sent(ann, await _uploaded(ann, "first"))
    costs: list[Cost] = []

    async def act(name: str, do: Callable[[], Awaitable[Any]]) -> Any:
        cost, answer = await place.count(name, do)
        costs.append(cost)
        return answer

    await act("sign in", lambda: ann.sign_in("ann@example.org"))
    file_id = await act("upload a small file", lambda: _uploaded(ann, "second"))
    await act("list the shelf", lambda: ann("GET", "/shelf/entries"))
    await act("fetch a small file", lambda: ann("GET", f"/shelf/files/{file_id}/content"))
    await act("join a room", lambda: bob("POST", "/rooms/join", json={"code": room["code"]}))
    await act("say something", lambda: bob("POST", f"/rooms/{room['room_id']}/chat", json={"text": "Hello"}))
    sent = await act("send a file by e-mail", lambda: _sent(ann, file_id))

    async def receive() -> None:
        await bob("POST", f"/transfers/{sent}/opened")
        place.satchel.clock.advance(1)
        await bob("GET", f"/transfers/{sent}/files/0/content")

    await act("receive it", receive)
    given = (await ann("POST", "/links", json={"thing": {"kind": "file", "id": file_id}})).json()["token"]
    stranger = place.satchel.caller()
    await act("open a link", lambda: stranger("GET", f"/open/{given}"))
    await act("fetch by a link", lambda: stranger("GET", f"/open/{given}/content"))
    await act("press once", lambda: ann("POST", "/clicks", json={}))
    return costs


async def _uploaded(caller: Caller, name: str) -> str:
    bundle = a_bundle(({"filename": name}, name.encode()), destination="shelf")
    headers = {"content-type": "application/vnd.satchel.bundle"}
    return (await caller("POST", "/uploads/bundle", content=bundle, headers=headers)).json()["files"][0]["became"]


async def _sent(caller: Caller, file_id: str) -> str:
    to = {"kind": "email", "email": "bob@example.org"}
    return (await caller("POST", "/transfers", json={"to": to, "files": [file_id]})).json()["transfer_id"]


def lines(costs: list[Cost]) -> list[str]:
    """Two tables: what an act asks, and what a month of so many people is."""
    said = ["| act | DynamoDB calls | units read | units written | S3 puts | S3 gets | Redis round trips |"]
    said.append("|---|---:|---:|---:|---:|---:|---:|")
    said += [
        f"| {each.act} | {each.calls} | {each.read} | {each.written} | {each.puts} | {each.gets} | {each.round_trips} |"
        for each in costs
    ]
    said += [
        "",
        "| people | acts a second when busy | clicks a second | requests, $ | bytes, $ | the rest, $ | month, $ |",
    ]
    said.append("|---:|---:|---:|---:|---:|---:|---:|")
    for people, fixed in FIXED.items():
        busy = people * BUSY_SHARE / _SECONDS
        requests = people * sum(each.dollars_per_million * MONTHLY[each.act] for each in costs) / 1_000_000
        stored = people * KEPT_GB * STORED_GB
        clicks = MONTHLY["press once"] + MONTHLY["open a link"] + MONTHLY["fetch by a link"]
        said.append(
            f"| {people:,} | {busy * sum(MONTHLY.values()):,.1f} | {busy * clicks:,.1f} | {requests:,.0f} |"
            f" {stored:,.0f} | {fixed:,} | {requests + stored + fixed:,.0f} |"
        )
    return said


async def main() -> None:
    async with place() as opened:
        print("\n".join(lines(await counted(opened))))


if __name__ == "__main__":
    asyncio.run(main())
