"""A library of Ann's on the table store that a test names, or on SQLite."""

from collections.abc import AsyncGenerator

import pytest

from tests.features.albums.given import Given, given_library
from tests.stores.harnesses_table import HARNESSES, Make


@pytest.fixture
def make() -> Make:
    """SQLite, unless a test says otherwise."""
    return HARNESSES[0].values[0]  # type: ignore[return-value]


@pytest.fixture
def bulk() -> bool:
    """Whether medias move by steps of the one writer, if there is one."""
    return True


@pytest.fixture
async def library(make: Make, bulk: bool, request: pytest.FixtureRequest) -> AsyncGenerator[Given]:
    async with given_library(make, request, bulk=bulk) as given:
        yield given
