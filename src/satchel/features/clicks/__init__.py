"""Clicks: whoever opens, views, downloads or presses something leaves one.

People see how many clicks there were, and by how many different people, per day, per month and of all time: for all
that they have shared, for each link and thing, and for each counter on a web page of their own.

One request, `POST /clicks`: `routes/clicks.py` reads a click or a list of them. `docs/walks/click.md` follows it from
there, on one machine and on many.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

from satchel.declaration import Platform, RouteNeeds, Slice
from satchel.edge.api.endpoints import Router
from satchel.features.clicks.adapters import count_stated
from satchel.features.clicks.events import LIVE_EVENTS, SiteWatchers
from satchel.features.clicks.limits import LIMITS, ClickLimits, PageLimits
from satchel.features.clicks.needs import Targets
from satchel.features.clicks.page_counter_records import PAGE_COUNTER_SHAPES
from satchel.features.clicks.records import EPHEMERAL_KEYS, SHAPES
from satchel.features.clicks.routes import routes
from satchel.features.clicks.service.click_erase import ClickHoldings, erase_old_clicks
from satchel.features.clicks.service.click_record import create_total, recorder_for
from satchel.features.clicks.service.context import Clicks
from satchel.features.clicks.service.unique_people import Visitors
from satchel.features.clicks.stream_records import STREAM_SHAPES
from satchel.kernel.counted import Counted


def _make(platform: Platform, *, targets: Targets) -> Clicks:
    stores, clock = platform.stores, platform.clock
    kept_for = timedelta(days=platform.settings.clicks_kept) if platform.settings.clicks_kept else None
    recorder = recorder_for(
        tables=stores.tables,
        bulk=stores.bulk,
        ephemeral=stores.ephemeral,
        clock=clock,
        kept_for=kept_for,
        most_writes=platform.settings.most_writes,
    )
    return Clicks(
        tables=stores.tables,
        clock=clock,
        recorder=recorder,
        targets=targets,
        calls=ClickLimits(stores.ephemeral),
        page_limits=PageLimits(stores.ephemeral),
        visitors=Visitors(stores.tables, clock),
        watchers=SiteWatchers(stores.ephemeral, clock),
        kept_for=kept_for,
        quit_counter=platform.settings.quit_it_today,
    )


def _routes(clicks: Clicks, needs: RouteNeeds) -> list[Router]:
    return routes(clicks, needs.addresses)


async def _finish_lists(clicks: Clicks) -> int:
    return await clicks.recorder.finish_lists()


@asynccontextmanager
async def _running(clicks: Clicks) -> AsyncGenerator[None]:
    await create_total(clicks)
    try:
        yield
    finally:
        await clicks.recorder.close()


CLICKS = Slice(
    name="clicks",
    make=_make,
    routes=_routes,
    records=(*SHAPES, *STREAM_SHAPES, *PAGE_COUNTER_SHAPES),
    ephemeral_keys=EPHEMERAL_KEYS,
    limits=LIMITS,
    live_events=LIVE_EVENTS,
    hears={Counted: count_stated},
    holdings=ClickHoldings,
    chores={"old clicks": erase_old_clicks, "interrupted lists": _finish_lists},
    running=_running,
)
