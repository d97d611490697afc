"""A plugin that opens the object stores once for each test module that names it.

Tests of a module share the store, and keep apart by using a `place` of their own in front of every key.
"""

from collections.abc import AsyncIterator, Callable
from uuid import uuid4

import httpx
import pytest
import pytest_asyncio

from satchel.stores.ports.objects import Objects
from tests.services import S3Server
from tests.stores.harnesses_objects import MOTO, RCLONE, ObjectsHarness, folder_objects, s3_objects

Make = Callable[[pytest.FixtureRequest], ObjectsHarness]


def folder(request: pytest.FixtureRequest) -> ObjectsHarness:
    return folder_objects(request.getfixturevalue("tmp_path_factory").mktemp("objects") / "store")


def rclone(request: pytest.FixtureRequest) -> ObjectsHarness:
    return s3_objects(request.getfixturevalue("s3"), RCLONE)


def moto(request: pytest.FixtureRequest) -> ObjectsHarness:
    return s3_objects(request.getfixturevalue("moto_bucket"), MOTO, copy_bytes=6 * 1024 * 1024)


HARNESSES = [
    pytest.param(folder, id="folder"),
    pytest.param(rclone, id="rclone", marks=pytest.mark.services),
    pytest.param(moto, id="moto", marks=pytest.mark.services),
]


@pytest.fixture(scope="session")
def moto_bucket(moto_endpoint: str) -> S3Server:
    server = S3Server(moto_endpoint, "bucket")
    httpx.put(f"{server.endpoint}/{server.bucket}").raise_for_status()
    return server


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=HARNESSES)
async def objects_harness(request: pytest.FixtureRequest) -> AsyncIterator[ObjectsHarness]:
    harness: ObjectsHarness = request.param(request)
    yield harness
    await harness.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def objects(objects_harness: ObjectsHarness) -> Objects:
    return await objects_harness.open()


@pytest.fixture
def place() -> str:
    """The beginning of keys that no other test uses."""
    return f"{uuid4().hex}/"
