"""A fresh place that takes uploads for every test."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.uploads.given import Place, Sender, a_place


@pytest.fixture
async def place(tmp_path: Path) -> AsyncGenerator[Place]:
    async with a_place(tmp_path) as opened:
        yield opened


@pytest.fixture
def ann(place: Place) -> Sender:
    return place.caller()
