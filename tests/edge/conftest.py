"""Fixtures of the edge's tests."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path

import pytest
import uvloop
from starlette.responses import Response

from satchel.edge.api.identity import Identity
from satchel.edge.files.downloads import Download, attached_as
from satchel.kernel.clock import ManualClock
from satchel.kernel.signature import Signer
from satchel.stores.embedded.ephemeral_memory import MemoryEphemeral
from satchel.stores.embedded.objects_folder import FolderObjects
from tests.edge.given import BIG, DOWNLOAD_NAME, SMALL, Edge, once

LoopFactory = Callable[[], asyncio.AbstractEventLoop]


def pytest_asyncio_loop_factories(item: pytest.Item) -> Mapping[str, LoopFactory]:
    """Going past the transports is a matter of the event loop, so both of them are tried."""
    files = ("tests/edge/test_sendfile.py", "tests/edge/test_splice.py", "tests/edge/test_tls_listener.py")
    if item.nodeid.startswith(files):
        return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}
    return {"asyncio": asyncio.new_event_loop}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def ephemeral(clock: ManualClock) -> MemoryEphemeral:
    return await MemoryEphemeral.open(clock=clock)


@pytest.fixture
def identity(clock: ManualClock, ephemeral: MemoryEphemeral) -> Identity:
    return Identity(Signer(b"k" * 32), ephemeral, clock=clock)


@pytest.fixture
def edge(identity: Identity) -> Edge:
    return Edge(identity)


@pytest.fixture
async def objects(tmp_path: Path, clock: ManualClock) -> AsyncGenerator[FolderObjects]:
    store = await FolderObjects.open(tmp_path, clock=clock, signer=Signer(b"k" * 32), base_url="http://satchel.test")
    yield store
    await store.close()


@pytest.fixture
async def library(edge: Edge, objects: FolderObjects) -> Edge:
    """An edge that offers three stored objects for download."""
    await objects.put("big", once(BIG), content_type="image/png")
    await objects.put("small", once(SMALL))
    await objects.put("empty", once(b""))
    router = edge.router(prefix="")

    @router.get("/files/{key}")
    async def download(key: str) -> Response:
        return Download(objects, key, disposition=attached_as(DOWNLOAD_NAME))

    return edge
