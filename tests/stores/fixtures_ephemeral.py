"""A plugin that opens each of the ephemeral stores for each test that asks for one."""

from collections.abc import AsyncIterator

import pytest

from satchel.stores.ports.ephemeral import Ephemeral
from tests.stores.harnesses_ephemeral import HARNESSES, EphemeralHarness


@pytest.fixture(params=HARNESSES)
def ephemeral_harness(request: pytest.FixtureRequest) -> EphemeralHarness:
    return request.param(request)


@pytest.fixture
async def ephemeral(ephemeral_harness: EphemeralHarness) -> AsyncIterator[Ephemeral]:
    store = await ephemeral_harness.open()
    yield store
    await store.close()
