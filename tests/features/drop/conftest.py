"""A fresh Satchel for every test of the drop, on both stores of short-lived state."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from redis import Redis

from tests.application import Satchel, running_satchel


@pytest.fixture(params=["memory", pytest.param("redis", marks=pytest.mark.services)])
async def satchel(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Satchel]:
    ephemeral = emptied(request.getfixturevalue("redis_url")) if request.param == "redis" else "memory:"
    async with running_satchel(tmp_path, sign_up="open", ephemeral=ephemeral) as running:
        yield running


@pytest.fixture
async def embedded(tmp_path: Path) -> AsyncGenerator[Satchel]:
    """One whose store goes by the test's clock, so that what is kept for a time can be seen to end."""
    async with running_satchel(tmp_path, sign_up="open") as running:
        yield running


def emptied(url: str) -> str:
    with Redis.from_url(url) as redis:  # pyright: ignore[reportUnknownMemberType]
        redis.flushdb()  # pyright: ignore[reportUnknownMemberType]
    return url
