"""Clicks through the service: stored, folded and durable, for clients that each wait for their own."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

from bench.clicks.crowd import Crowd
from bench.figures import Sample
from bench.processes import cpu_seconds_of_tree
from bench.rounds import Measure
from satchel.edge.http.server import collect_seldom
from satchel.features.clicks.events import SiteWatchers
from satchel.features.clicks.limits import ClickLimits, PageLimits
from satchel.features.clicks.model import NewClick
from satchel.features.clicks.records import SITE
from satchel.features.clicks.service.click_record import record, recorder_for
from satchel.features.clicks.service.context import Clicks
from satchel.features.clicks.service.counts import read_sum
from satchel.features.clicks.service.unique_people import Visitors
from satchel.features.links.adapters import LinkTargets
from satchel.kernel.clock import system_clock
from satchel.stores.embedded.ephemeral_memory import MemoryEphemeral
from satchel.stores.embedded.table_sqlite import SqliteTables
from satchel.tables import TABLES

CLIENTS = 256


@asynccontextmanager
async def opened(path: Path) -> AsyncGenerator[Clicks]:
    """Counting on a file of its own, in a process that is set up as the server is."""
    collect_seldom()
    tables = await SqliteTables.open(path, clock=system_clock)
    ephemeral = await MemoryEphemeral.open(clock=system_clock)
    await tables.create(*TABLES)
    recorder = recorder_for(tables=tables, bulk=tables.bulk, ephemeral=ephemeral, clock=system_clock, kept_for=None)
    try:
        yield Clicks(
            tables=tables,
            clock=system_clock,
            recorder=recorder,
            targets=LinkTargets(tables, {}),
            calls=ClickLimits(ephemeral),
            page_limits=PageLimits(ephemeral),
            visitors=Visitors(tables, system_clock),
            watchers=SiteWatchers(ephemeral, system_clock),
            kept_for=None,
        )
    finally:
        await recorder.close()
        await ephemeral.close()
        await tables.close()


def plain(user_id: str) -> NewClick:
    return NewClick(user_id=user_id)


def of_links(user_id: str) -> NewClick:
    """One of a hundred links of ten people, so that a click counts in four scopes."""
    link = int(user_id[-6:]) % 100
    return NewClick(
        user_id=user_id, kind="open", target=f"link-{link}", thing=f"file:{link}", owner=f"owner-{link % 10}"
    )


def recording(clicks: Clicks, crowd: Crowd, number: int, kind: Callable[[str], NewClick] = plain) -> Measure:
    """So many clicks, one call each, by as many clients at once as there are."""

    async def client(left: Iterator[str]) -> None:
        for user_id in left:
            await record(clicks, [kind(user_id)])

    async def run() -> Sample:
        left = iter(crowd.clicks(number))
        cpu, started = cpu_seconds_of_tree(os.getpid()), time.perf_counter()
        await asyncio.gather(*(client(left) for _ in range(CLIENTS)))
        # Counts may be written later than clicks are answered, but before anybody reads them.
        await read_sum(clicks.tables, SITE)
        return Sample(number, time.perf_counter() - started, cpu_seconds_of_tree(os.getpid()) - cpu)

    return run
