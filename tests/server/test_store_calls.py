"""How much an act asks of shared stores: calls cost money and time there, so their number is held."""

from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from satchel.config import Settings
from satchel.kernel.clock import ManualClock
from satchel.stores.connect import open_tables
from satchel.tables import SHARED_TABLES
from tests.application import Caller, Satchel, running_satchel
from tests.faults.store_proxy import StoreProxy, proxied
from tests.features.rooms.given import guest, join, opened
from tests.uploads.given import a_bundle

pytestmark = pytest.mark.services


@dataclass
class Shared:
    """A server on shared stores, and what stands between it and each of them."""

    satchel: Satchel
    tables: StoreProxy
    objects: StoreProxy
    ephemeral: StoreProxy

    async def member(self, name: str) -> Caller:
        caller = self.satchel.caller()
        assert (await caller.sign_up(f"{name}@example.org")).status_code == 201
        return caller

    @contextmanager
    def costs(self, *, tables: int, objects: int, ephemeral: int) -> Generator[None]:
        """What is done in the block asks so often of DynamoDB, S3 and Redis at most."""
        for each in (self.tables, self.objects, self.ephemeral):
            each.take()
        # At one moment two clicks of one person need two attempts.
        self.satchel.clock.advance(1)
        yield
        bounds = ((self.tables, tables), (self.objects, objects), (self.ephemeral, ephemeral))
        assert all(each.asked.total() <= bound for each, bound in bounds), [each.asked for each, _ in bounds]


@pytest.fixture
async def shared(
    tmp_path: Path,
    moto_endpoint: str,
    redis_url: str,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> AsyncGenerator[Shared]:
    quota: int | None = getattr(request, "param", None)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    bucket = f"calls-{uuid4().hex}"
    httpx.put(f"{moto_endpoint}/{bucket}").raise_for_status()
    async with AsyncExitStack() as stack:
        tables, objects = [await stack.enter_async_context(proxied(moto_endpoint)) for _ in range(2)]
        ephemeral = await stack.enter_async_context(proxied(redis_url))
        chosen: dict[str, Any] = {
            "table": f"dynamodb://us-east-1?endpoint={tables.url}",
            "table_prefix": f"{bucket}-",
            "ephemeral": ephemeral.url,
            "objects": f"s3://{bucket}?endpoint={objects.url}",
            "secret": "s" * 32,
        }
        made = await open_tables(Settings(data=tmp_path, **chosen), ManualClock())
        await made.create(*SHARED_TABLES)
        await made.close()
        satchel = await stack.enter_async_context(running_satchel(tmp_path, sign_up="open", quota=quota, **chosen))
        yield Shared(satchel, tables, objects, ephemeral)


async def test_joining_a_room_takes_twelve_round_trips_to_redis(shared: Shared) -> None:
    ann, bob = await shared.member("ann"), await shared.member("bob")
    room = await opened(ann, name="Choir")
    gus = await guest(shared.satchel)
    for caller in (bob, gus):
        with shared.costs(tables=1, objects=0, ephemeral=12):
            assert (await join(caller, room["code"])).status_code == 200


@pytest.mark.parametrize("key", [None, "k"])
async def test_a_hundred_clicks_take_five_calls_of_dynamodb(shared: Shared, key: str | None) -> None:
    ann = await shared.member("ann")
    clicks = [{"label": "x"} if key is None else {"key": f"{key}{number}"} for number in range(100)]
    with shared.costs(tables=5, objects=0, ephemeral=3):
        assert len((await ann("POST", "/clicks", json=clicks)).json()["clicks"]) == 100


async def small_file(caller: Caller, name: str) -> str:
    """The id of a new one on the caller's shelf."""
    bundle = a_bundle(({"filename": name}, name.encode()), destination="shelf")
    headers = {"content-type": "application/vnd.satchel.bundle"}
    (kept,) = (await caller("POST", "/uploads/bundle", content=bundle, headers=headers)).json()["files"]
    return kept["became"]


async def test_what_small_files_take(shared: Shared) -> None:
    ann = await shared.member("ann")
    with shared.costs(tables=3, objects=1, ephemeral=2):
        file_id = await small_file(ann, "a.txt")
    with shared.costs(tables=2, objects=1, ephemeral=1):
        assert (await ann("GET", f"/shelf/files/{file_id}/content")).content == b"a.txt"


@pytest.mark.parametrize("shared", [None, 10_000], ids=["no quota", "a quota"], indirect=True)
async def test_handing_a_small_file_over_takes_ten_calls_of_dynamodb_and_two_of_s3(shared: Shared) -> None:
    ann, bob = await shared.member("ann"), await shared.member("bob")
    to = {"kind": "email", "email": "bob@example.org"}
    # The first time they have to get to know each other, and Bob gets a folder for what he receives.
    for number in range(2):
        key = {"idempotency-key": f"key-{number}"}
        with shared.costs(tables=10, objects=2, ephemeral=11):
            file_id = await small_file(ann, f"{number}.txt")
            answer = await ann("POST", "/transfers", json={"to": to, "files": [file_id]}, headers=key)
        assert (answer.status_code, answer.json()["state"], answer.json()["is_available"]) == (201, "shelved", True)
        transfer_id = answer.json()["transfer_id"]
        seen = (await ann("GET", f"/transfers/{transfer_id}")).json()
        assert seen == answer.json()
        with shared.costs(tables=5, objects=0, ephemeral=2):
            opened = await bob("POST", f"/transfers/{transfer_id}/opened")
        with shared.costs(tables=6, objects=1, ephemeral=3):
            content = await bob("GET", f"/transfers/{transfer_id}/files/0/content")
        assert (opened.json()["state"], content.content) == ("opened", f"{number}.txt".encode())
