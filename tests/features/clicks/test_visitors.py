"""Visitors are told apart within a month, and nobody can tell afterwards who they were."""

import re
from collections.abc import AsyncGenerator
from datetime import timedelta
from pathlib import Path

import pytest

from satchel.features.clicks.records import VISITORS_SECRET
from satchel.features.clicks.service.unique_people import Visitors
from satchel.kernel.clock import ManualClock
from satchel.stores.ports.table import Tables
from tests.features.clicks.given import at, counting

ADDRESS, AGENT = "203.0.113.77", "Firefox/131.0 on Haiku"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(at("2030-03-17T12:00"))


@pytest.fixture
async def tables(tmp_path: Path, clock: ManualClock) -> AsyncGenerator[Tables]:
    async with counting(tmp_path, clock) as clicks:
        yield clicks.tables


async def test_the_same_browser_in_the_same_network_is_one_visitor_all_month(
    tables: Tables, clock: ManualClock
) -> None:
    visitors = Visitors(tables, clock)
    first = await visitors.visitor_of(ADDRESS, AGENT)
    assert re.fullmatch(r"visitor:[A-Za-z0-9_-]{22}", first)
    clock.advance(timedelta(days=14))
    assert await visitors.visitor_of(ADDRESS, AGENT) == first
    # Another server, or this one after a restart.
    assert await Visitors(tables, clock).visitor_of(ADDRESS, AGENT) == first


async def test_other_networks_and_other_browsers_are_other_visitors(tables: Tables, clock: ManualClock) -> None:
    visitors = Visitors(tables, clock)
    seen = [
        await visitors.visitor_of(address, agent)
        for address, agent in [
            (ADDRESS, AGENT),
            ("203.0.113.78", AGENT),
            (ADDRESS, AGENT + "1"),
            (ADDRESS + "F", AGENT[1:]),
            ("2001:db8:1:2::1", AGENT),
            ("2001:db8:1:3::1", AGENT),
            ("", ""),
            ("", "\udcff"),
        ]
    ]
    assert len(set(seen)) == len(seen)


async def test_addresses_that_a_device_changes_by_itself_are_one_network(tables: Tables, clock: ManualClock) -> None:
    visitors = Visitors(tables, clock)
    one = await visitors.visitor_of("2001:db8:1:2:aaaa::1", AGENT)
    assert await visitors.visitor_of("2001:db8:1:2:bbbb::2", AGENT) == one
    plain = await visitors.visitor_of(ADDRESS, AGENT)
    assert await visitors.visitor_of(f"::ffff:{ADDRESS}", AGENT) == plain


async def test_nobody_is_followed_into_the_next_month_and_the_secret_is_thrown_away(
    tables: Tables, clock: ManualClock
) -> None:
    visitors = Visitors(tables, clock)
    march = await visitors.visitor_of(ADDRESS, AGENT)
    clock.now = at("2030-04-01")
    assert await visitors.visitor_of(ADDRESS, AGENT) != march
    assert await VISITORS_SECRET.get(tables, month="2030-03") is not None
    clock.now = at("2030-04-05")
    assert await VISITORS_SECRET.get(tables, month="2030-03") is None
    assert await tables.sweep() == 1
    assert await VISITORS_SECRET.get(tables, month="2030-04") is not None


async def test_neither_address_nor_browser_is_written_anywhere(
    tmp_path: Path, tables: Tables, clock: ManualClock
) -> None:
    await Visitors(tables, clock).visitor_of(ADDRESS, AGENT)
    written = b"".join(each.read_bytes() for each in tmp_path.rglob("*") if each.is_file())
    assert b"SECRET#VISITORS" in written
    assert ADDRESS.encode() not in written
    assert AGENT.encode() not in written
