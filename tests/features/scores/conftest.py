"""Scores of Ann's on the table store that a test names, or on SQLite."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from satchel.features.accounts.adapters import ScopeGrants
from satchel.features.scores.limits import ScoreLimits
from satchel.features.scores.service.context import Scores
from satchel.kernel.events import Events
from satchel.kernel.signature import Signer
from satchel.media.pictures import Pictures
from satchel.media.score_pages import ScorePages
from satchel.stores.embedded.ephemeral_memory import MemoryEphemeral
from satchel.stores.embedded.objects_folder import FolderObjects
from satchel.tables import CATALOG, SCORES, USER_TRANSFERS
from tests.features.albums.given import Nobody
from tests.stores.harnesses_table import HARNESSES, Make


@pytest.fixture
def make() -> Make:
    """SQLite, unless a test says otherwise."""
    return HARNESSES[0].values[0]  # type: ignore[return-value]


@pytest.fixture
async def scores(make: Make, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Scores]:
    harness = make(request)
    tables = await harness.open()
    await tables.create(CATALOG, USER_TRANSFERS, SCORES)
    clock = harness.clock
    ephemeral = await MemoryEphemeral.open(clock=clock)
    objects = await FolderObjects.open(tmp_path / "o", clock=clock, signer=Signer(b"s" * 32), base_url="http://x")
    pages = ScorePages(objects, children=1)
    try:
        yield Scores(
            tables=tables,
            objects=objects,
            ephemeral=ephemeral,
            clock=clock,
            grants=ScopeGrants(tables, clock),
            people=Nobody(),
            pictures=Pictures(tables, objects, ephemeral, clock),
            events=Events(),
            pages=pages,
            limits=ScoreLimits(ephemeral),
            most_scores=10,
            most_bytes=500 * 1024 * 1024,
        )
    finally:
        await pages.close()
        await objects.close()
        await ephemeral.close()
        await harness.close()
