"""The only wiring: settings in, a running application out."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from importlib.metadata import version
from pathlib import Path

from starlette.types import ASGIApp

from satchel.chores import Housekeeper, Sweep, repeat
from satchel.config import Settings
from satchel.edge import application as edge
from satchel.edge.api.endpoints import Router
from satchel.edge.api.identity import Identity
from satchel.edge.files import object_links
from satchel.edge.files.object_links import LinkedObjects
from satchel.edge.files.site import Site
from satchel.edge.http import server
from satchel.edge.http.logs import Journal, start_journal
from satchel.edge.http.metrics import Metrics
from satchel.edge.http.middleware import Exposure
from satchel.edge.live.listeners import SignedIn
from satchel.edge.live.live_sockets import LiveSockets
from satchel.edge.live.presence import Attendance, Roll
from satchel.features.clicks.service.recording import begin
from satchel.features.drop.relay.relay import Relay
from satchel.features.rooms.service.room_close import keep_rooms
from satchel.kernel.clock import Clock, system_clock
from satchel.kernel.errors import Unavailable
from satchel.kernel.ids import new_id
from satchel.live import Presence
from satchel.secret import open_signer
from satchel.slices import DURABLE_KEYS, Ground, attendances_of, chores_of, put_slices_on, routes_of
from satchel.stores.connect import Stores, open_stores
from satchel.stores.ports.ephemeral import Exists
from satchel.tables import SELF_TEST, tables_for

HOUSEKEEPING_EVERY = timedelta(minutes=10)
# How late a room ends at most, after its time is over for everybody in it.
ROOMS_KEPT_EVERY = timedelta(seconds=5)

_log = logging.getLogger("satchel")


@dataclass(frozen=True, slots=True)
class Running:
    """An application that is ready to be served, and what it stands on."""

    app: ASGIApp
    stores: Stores
    housekeep: Callable[[], Awaitable[Sweep]]
    # Called when the server is told to stop, before it waits for requests to end.
    prepare_to_stop: Callable[[], None]


@asynccontextmanager
async def application(
    settings: Settings,
    clock: Clock = system_clock,
    journal: Journal | None = None,
    through: Callable[[Stores], Stores] = lambda stores: stores,
) -> AsyncGenerator[Running]:
    """Open the stores, put the slices on them, and keep house until the block ends.

    Whatever the slices do with the stores goes `through` this, which lets a test come in between.
    """
    signer = open_signer(settings)
    async with open_stores(settings, clock, signer, durable_keys=DURABLE_KEYS) as opened:
        stores = through(opened)
        await _have_tables(settings, stores)
        housekeeper = Housekeeper(stores.ephemeral, clock, HOUSEKEEPING_EVERY)
        identity = Identity(signer, stores.ephemeral, clock=clock)
        ground = Ground(settings, stores, clock, signer, identity, housekeeper)
        slices = put_slices_on(ground)
        await begin(slices.clicks)
        metrics = Metrics()
        relay = _relay(settings, stores, clock, metrics)
        live = _live(stores, clock, metrics, attendances_of(slices))
        routes = [*routes_of(slices, relay, live, settings.public_url), *_link_routes(settings, stores)]
        app = _app(ground, routes, journal or Journal(settings.log_format, settings.log_level), metrics, live)
        chores = chores_of(slices, stores)
        keepers = [
            asyncio.create_task(housekeeper.keep_house(chores), name="housekeeping"),
            asyncio.create_task(repeat(lambda: keep_rooms(slices.rooms), ROOMS_KEPT_EVERY), name="rooms"),
        ]

        def prepare_to_stop() -> None:
            live.stop()
            relay.stop()
            slices.uploads.turns.stop_all()

        try:
            async with live.roll.kept():
                yield Running(app, stores, lambda: housekeeper.sweep(chores), prepare_to_stop)
        finally:
            for keeper in keepers:
                keeper.cancel()
            await asyncio.gather(*keepers, return_exceptions=True)
            await slices.clicks.recorder.close()


def serve(settings: Settings) -> int:
    """Run the server until it is told to stop; the exit code of the process."""
    journal = start_journal(settings.log_format, settings.log_level)

    opened_here: list[Running] = []

    @asynccontextmanager
    async def opened() -> AsyncGenerator[ASGIApp]:
        async with application(settings, journal=journal) as running:
            opened_here.append(running)
            yield running.app

    def stopping() -> None:
        for running in opened_here:
            running.prepare_to_stop()

    return server.run(
        opened,
        host=settings.host,
        port=settings.port,
        address=settings.public_url or None,
        on_stopping=stopping,
    )


def _app(ground: Ground, routes: Sequence[Router], journal: Journal, metrics: Metrics, live: LiveSockets) -> ASGIApp:
    settings, stores = ground.settings, ground.stores
    return edge.application(
        routes,
        identity=ground.identity,
        exposure=Exposure(
            trusted_proxies=settings.trusted_proxies,
            addresses=(settings.public_url,),
            metrics_from=settings.metrics_from,
        ),
        journal=journal,
        metrics=metrics,
        version=version("satchel"),
        site=_site(),
        live=live.open_to(SignedIn(ground.identity)),
        checks={
            "table": lambda: stores.tables.get(SELF_TEST, {"probe": "ready"}),
            "ephemeral": lambda: stores.ephemeral.run(Exists("ready")),
            "objects": lambda: stores.objects.list("ready/", limit=1),
        },
    )


@cache
def _site() -> Site:
    """Read once, however many applications are started in this process."""
    return Site(Path(__file__).with_name("site"))


def _relay(settings: Settings, stores: Stores, clock: Clock, metrics: Metrics) -> Relay:
    # Only with a store that others can reach can the other side of a stream be at another server.
    shared = not settings.ephemeral.startswith("memory:")
    relay = Relay(stores.ephemeral, clock, server_id=new_id(clock), shared=shared)
    metrics.add(relay)
    return relay


def _live(stores: Stores, clock: Clock, metrics: Metrics, attendances: Sequence[Attendance]) -> LiveSockets:
    roll = Roll(Presence(stores.ephemeral, clock), attendances)
    live = LiveSockets(stores.ephemeral, roll, clock=clock)
    metrics.add(live)
    return live


def _link_routes(settings: Settings, stores: Stores) -> list[Router]:
    """S3 answers the links that it signs; those of the folder lead to us."""
    objects = stores.objects
    return [object_links.routes(objects, settings.upload_limit)] if isinstance(objects, LinkedObjects) else []


async def _have_tables(settings: Settings, stores: Stores) -> None:
    """Make our own tables; those of an AWS account are made when somebody asks for it, since they cost money there."""
    tables = tables_for(has_one_writer=settings.has_one_writer)
    if settings.has_one_writer:
        await stores.tables.create(*tables)
    elif missing := await stores.tables.missing(*tables):
        raise Unavailable(f"Run `satchel tables create` first. Missing: {', '.join(missing)}.")
    else:
        _log.info("clicks are stored here, and counted by `satchel worker`: run one beside the servers")
