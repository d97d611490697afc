"""The sum of every bound stays within the memory that is promised."""

from dataclasses import fields

import pytest

from satchel.config import Settings
from satchel.edge.http.limits import Limits
from satchel.edge.live.live_sockets import Bounds
from tools.limits_page import limits_page
from tools.memory_sum import memory_parts, most_bytes, promised_bytes

# They bound time, or a moment of one connection that costs no memory.
WITHOUT_MEMORY = {"backlog", "linger_bytes", "linger_seconds", "shutdown_seconds", "ping_seconds"}


@pytest.mark.parametrize("memory", [512, 1024, 16_384])
def test_all_bounds_together_are_within_the_promise(memory: int) -> None:
    settings = Settings(memory=memory)
    assert most_bytes(settings) <= promised_bytes(settings)


def test_the_page_names_every_bound_of_connections() -> None:
    page = "\n".join(limits_page(""))
    for bounds in (Limits(), Bounds()):
        for field in fields(bounds):
            value = getattr(bounds, field.name)
            assert field.name in WITHOUT_MEMORY or not isinstance(value, int) or f"| {value:,} |" in page, field.name
    for part in memory_parts():
        assert part.what in page
