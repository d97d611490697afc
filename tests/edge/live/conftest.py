"""Fixtures of the tests of live connections."""

import pytest

from satchel.kernel.clock import ManualClock
from satchel.stores.embedded.ephemeral_memory import MemoryEphemeral
from tests.edge.given import Edge
from tests.edge.live.given import LiveEdge


@pytest.fixture
def live(edge: Edge, ephemeral: MemoryEphemeral, clock: ManualClock) -> LiveEdge:
    return LiveEdge(edge, ephemeral, clock)
