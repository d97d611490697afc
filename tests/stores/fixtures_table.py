"""A plugin that opens the table stores once for each test module that names it.

Tests of a module share the tables, and keep apart by using an `owner` of their own as partition.
"""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
import pytest_asyncio

from satchel.stores.ports.table import Tables
from tests.stores.harnesses_table import HARNESSES, NEWER_HARNESSES, TABLES, TableHarness


async def _opened(harness: TableHarness) -> AsyncIterator[TableHarness]:
    tables = await harness.open()
    await tables.create(*TABLES)
    yield harness
    await harness.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=HARNESSES)
async def harness(request: pytest.FixtureRequest) -> AsyncIterator[TableHarness]:
    async for harness in _opened(request.param(request)):
        yield harness


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tables(harness: TableHarness) -> Tables:
    return harness.first


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=NEWER_HARNESSES)
async def newer(request: pytest.FixtureRequest) -> AsyncIterator[Tables]:
    """Tables on a server that promises what DynamoDB Local cannot yet."""
    async for harness in _opened(request.param(request)):
        yield harness.first


@pytest.fixture
def owner() -> str:
    """A partition that no other test uses."""
    return f"owner-{uuid4().hex}"
