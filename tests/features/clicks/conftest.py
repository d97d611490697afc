"""Clicks on DynamoDB Local for every test that asks for them; moto lets transactions that come at once overlap."""

from collections.abc import AsyncGenerator

import pytest

from tests.features.clicks.streams import LOCAL, Store, open_store


@pytest.fixture
async def store(request: pytest.FixtureRequest) -> AsyncGenerator[Store]:
    store = await open_store(request, LOCAL)
    yield store
    await store.tables.close()
