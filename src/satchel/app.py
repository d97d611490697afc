"""The only wiring: settings in, a running application out."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.types import ASGIApp

from satchel import __version__
from satchel.chores import Chore, Housekeeper, Sweep, repeat
from satchel.config import Settings
from satchel.declaration import OpenSlice, Platform, RouteNeeds
from satchel.edge import application as edge
from satchel.edge.api import search_route
from satchel.edge.api.addresses import Addresses
from satchel.edge.api.disk_reserve import DiskReserve
from satchel.edge.api.endpoints import Router
from satchel.edge.api.health import PROBE
from satchel.edge.api.identity import Identity
from satchel.edge.files import object_links
from satchel.edge.files.object_links import LinkedObjects
from satchel.edge.files.page_summary import SummarizedSite
from satchel.edge.files.site import Site
from satchel.edge.http import server
from satchel.edge.http.lan_addresses import lan_addresses
from satchel.edge.http.lan_name import announce
from satchel.edge.http.limits import Limits
from satchel.edge.http.logs import Journal, start_journal
from satchel.edge.http.metrics import Metrics
from satchel.edge.http.middleware import Exposure
from satchel.edge.live.listeners import SignedIn
from satchel.edge.live.live_sockets import Bounds, LiveSockets
from satchel.edge.live.presence import PresenceTracker
from satchel.edge.tls import trust_page
from satchel.edge.uploads import shared_form
from satchel.edge.uploads.body_buffers import BUFFERS, Buffers
from satchel.edge.uploads.context import LASTS_AT_MOST, Uploads
from satchel.edge.uploads.routes import routes as upload_routes
from satchel.edge.uploads.upload_create import sweep_expired_uploads
from satchel.edge.uploads.upload_erase import UploadHoldings
from satchel.kernel.clock import Clock, system_clock
from satchel.kernel.errors import Unavailable
from satchel.kernel.events import Events
from satchel.media.picture_maker import PictureMaker
from satchel.media.pictures import Pictures
from satchel.outbox import Outbox
from satchel.secret import open_signer
from satchel.setup_check import note_format, refuse_flaws, refuse_settings, store_checks
from satchel.slices import DURABLE_KEYS, PICTURED, is_essential, open_slices
from satchel.stores.connect import Stores, open_stores, prepare_folder
from satchel.stores.object_rules import direct_links
from satchel.stores.ports.ephemeral import Exists
from satchel.tables import SELF_TEST, tables_for

if TYPE_CHECKING:
    from satchel.edge.tls.certificates import Certificates

HOUSEKEEPING_EVERY = timedelta(minutes=10)
# Where the files go that another app shares with a member.
SHARED_TO = "shelf"
LOOK_AT_CERTIFICATE_EVERY = timedelta(minutes=1)
# The store counts from the beginning of an upload, so it waits for as long as one can last.
BROKEN_OFF_AFTER = LASTS_AT_MOST + timedelta(days=1)

_log = logging.getLogger("satchel")


@dataclass(frozen=True, slots=True)
class Running:
    """An application that is ready to be served, and what it stands on."""

    app: ASGIApp
    stores: Stores
    # One round of every chore, and rounds until cancelled, which whoever serves the application begins.
    housekeep: Callable[[], Awaitable[Sweep]]
    keep_house: Callable[[], Coroutine[None, None, None]]
    # Called when the server is told to stop, before it waits for requests to end.
    prepare_to_stop: Callable[[], None]
    # Makes pictures until cancelled. Where all stores are shared, `satchel worker` does.
    make_pictures: Callable[[], Coroutine[None, None, None]]
    # What slices have to say on the terminal of a server that is reached at this address.
    greetings: Callable[[str], Awaitable[list[str]]]


@asynccontextmanager
async def application(
    settings: Settings,
    clock: Clock = system_clock,
    journal: Journal | None = None,
    through: Callable[[Stores], Stores] = lambda stores: stores,
    certificates: "Certificates | None" = None,
) -> AsyncGenerator[Running]:
    """Open the stores and put the slices on them.

    Whatever the slices do with the stores goes `through` this, which lets a test come in between.
    """
    signer = open_signer(settings)
    refuse_settings(settings)
    async with open_stores(settings, clock, signer, durable_keys=DURABLE_KEYS, is_essential=is_essential) as opened:
        stores = through(opened)
        await _have_tables(settings, stores)
        # The clocks of machines are compared, whatever time this application is told.
        await refuse_flaws(store_checks(settings, opened, system_clock))
        await note_format(opened.tables)
        housekeeper = Housekeeper(stores.ephemeral, clock, HOUSEKEEPING_EVERY)
        pictures = Pictures(stores.tables, stores.objects, stores.ephemeral, clock)
        events = Events()
        outbox = Outbox(
            tables=stores.tables,
            ephemeral=stores.ephemeral,
            clock=clock,
            count=events.deliver,
            alone_since=clock() if settings.has_one_writer else 0,
        )
        platform = Platform(
            settings=settings,
            stores=stores,
            clock=clock,
            signer=signer,
            identity=Identity(signer, stores.ephemeral, clock=clock),
            housekeeper=housekeeper,
            pictures=pictures,
            events=events,
            outbox=outbox,
        )
        slices = open_slices(platform)
        uploads = _uploads(platform, slices)
        platform.holdings.append(UploadHoldings(uploads))
        metrics = Metrics()
        live = _live(platform, slices)
        _collect(metrics, slices, live)
        needs = RouteNeeds(Addresses(settings.public_url, settings.listens_on, settings.speaks_tls), live)
        routes = [router for each in slices for router in each.routes(needs)]
        routes.append(search_route.routes([found for each in slices for found in each.searches()]))
        routes += [upload_routes(uploads), *_link_routes(settings, stores)]
        routes.append(shared_form.routes(uploads, platform.identity, SHARED_TO, _spool_of(settings)))
        if certificates and certificates.authority:
            routes.append(trust_page.routes(certificates.authority))
        summaries = {folder: summarize for each in slices for folder, summarize in each.summaries().items()}
        site = SummarizedSite(_site(settings.map_origin, _bucket_origin(stores)), summaries, settings.public_url)
        journal = journal or Journal(settings.log_format, settings.log_level)
        has_authority = certificates is not None and certificates.authority is not None
        app = _app(platform, routes, journal, metrics, site=site, live=live, sends_hsts=not has_authority)
        chores = [*_chores(platform, uploads), *(chore for each in slices for chore in each.chores())]
        chores += _backups(settings, clock)

        def prepare_to_stop() -> None:
            live.stop()
            for each in slices:
                if each.declared.stop:
                    each.declared.stop(each.context)
            uploads.locks.stop_all()

        async with AsyncExitStack() as running, live.presence.running():
            for each in slices:
                if each.declared.running:
                    await running.enter_async_context(each.declared.running(each.context))
            if outbox.alone_since:
                with suppress(Unavailable):
                    await outbox.settle()
            await running.enter_async_context(_background(_repeated(settings, slices)))
            yield Running(
                app,
                stores,
                partial(housekeeper.sweep, chores),
                partial(housekeeper.keep_house, chores),
                prepare_to_stop,
                PictureMaker(pictures, PICTURED).run,
                partial(_greetings, slices),
            )


async def _greetings(slices: Sequence[OpenSlice[Any]], address: str) -> list[str]:
    said = [await each.declared.greets(each.context, address) for each in slices if each.declared.greets]
    return [line for line in said if line]


ReachLines = Callable[[str, "Certificates | None"], Iterable[str]]


def serve(settings: Settings, reach_lines: ReachLines = lambda _address, _certificates: ()) -> int:
    """Run the server until it is told to stop; the exit code of the process.

    `reach_lines` says how others reach a server that runs at an address with such certificates.
    """
    certificates = _open_certificates(settings)
    journal = start_journal(settings.log_format, settings.log_level)

    opened_here: list[Running] = []

    @asynccontextmanager
    async def opened() -> AsyncGenerator[ASGIApp]:
        async with application(settings, journal=journal, certificates=certificates) as running:
            opened_here.append(running)
            work = {"housekeeping": running.keep_house()}
            if not settings.shares_all_stores:
                work["pictures"] = running.make_pictures()
            if settings.is_announced:
                work["name on the local network"] = announce(
                    settings.lan_name,
                    settings.port,
                    speaks_tls=settings.speaks_tls,
                    addresses=partial(lan_addresses, settings.listens_on),
                )
            if certificates:
                work["certificates"] = repeat(partial(asyncio.to_thread, certificates.renew), LOOK_AT_CERTIFICATE_EVERY)
            async with _background(work):
                yield running.app

    async def greetings(address: str) -> list[str]:
        said = [line for running in opened_here for line in await running.greetings(address)]
        return [*reach_lines(address, certificates), *said]

    def stopping() -> None:
        for running in opened_here:
            running.prepare_to_stop()

    return server.run(
        opened,
        host=settings.listens_on,
        port=settings.port,
        address=settings.public_url or None,
        limits=_limits(settings),
        tls=certificates.context if certificates else None,
        greetings=greetings,
        on_stopping=stopping,
    )


def _limits(settings: Settings) -> Limits:
    by_default = Limits()
    return replace(
        by_default,
        connections=settings.share(by_default.connections),
        held_bytes=settings.share(by_default.held_bytes),
        websockets=settings.share(by_default.websockets),
    )


def _open_certificates(settings: Settings) -> "Certificates | None":
    if not settings.speaks_tls:
        return None
    # Imported here, because a server behind a proxy does without.
    from satchel.edge.tls.certificates import GivenCertificates, LocalCertificates, names_of_server

    if settings.tls_cert:
        return GivenCertificates(Path(settings.tls_cert), Path(settings.tls_key or settings.tls_cert))
    prepare_folder(settings.data)
    more = (urlsplit(settings.public_url).hostname or "", settings.lan_name, *settings.allowed_hosts)
    return LocalCertificates(settings.data / "tls", partial(names_of_server, settings.listens_on, more))


def _app(
    platform: Platform,
    routes: Sequence[Router],
    journal: Journal,
    metrics: Metrics,
    *,
    site: ASGIApp,
    live: LiveSockets,
    sends_hsts: bool,
) -> ASGIApp:
    settings, stores = platform.settings, platform.stores
    return edge.application(
        routes,
        identity=platform.identity,
        exposure=Exposure(
            trusted_proxies=settings.trusted_proxies,
            addresses=(settings.public_url,),
            allowed_hosts=(settings.listens_on, *settings.allowed_hosts),
            metrics_from=settings.metrics_from,
            speaks_tls=settings.speaks_tls,
            sends_hsts=sends_hsts,
        ),
        journal=journal,
        metrics=metrics,
        version=__version__,
        site=site,
        live=live.open_to(SignedIn(platform.identity)),
        disk=DiskReserve(Path(urlsplit(settings.table_url).path).parent) if settings.has_one_writer else None,
        checks={
            "table": lambda: stores.tables.get(SELF_TEST, {"probe": "ready"}),
            "ephemeral": lambda: stores.ephemeral.run(Exists(PROBE())),
            "objects": lambda: stores.objects.list("ready/", limit=1),
        },
    )


@cache
def _site(images_from: str, sends_to: str) -> Site:
    """Read once, however many applications are started in this process."""
    return Site(Path(__file__).with_name("site"), images_from, sends_to)


def _bucket_origin(stores: Stores) -> str:
    direct = direct_links(stores.objects)
    return direct.origin if direct else ""


def _repeated(settings: Settings, slices: Sequence[OpenSlice[Any]]) -> dict[str, Coroutine[None, None, None]]:
    """What slices do more often than the chores."""
    return {
        repeated.name: repeat(partial(repeated.do, each.context), repeated.every)
        for each in slices
        for repeated in each.declared.repeated
        if not (repeated.by_worker and settings.shares_all_stores)
    }


@asynccontextmanager
async def _background(named: Mapping[str, Coroutine[None, None, None]]) -> AsyncGenerator[None]:
    """Run these until the block ends."""
    tasks = [asyncio.create_task(work, name=name) for name, work in named.items()]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _chores(platform: Platform, uploads: Uploads) -> list[Chore]:
    """What has to be done every few minutes besides the chores of the slices."""
    stores = platform.stores
    return [
        Chore("expired records and changes", stores.tables.sweep),
        Chore("interrupted answers", platform.outbox.settle),
        Chore("expired uploads", lambda: sweep_expired_uploads(uploads)),
        Chore("broken-off uploads", lambda: stores.objects.clean(BROKEN_OFF_AFTER)),
    ]


def _backups(settings: Settings, clock: Clock) -> list[Chore]:
    if not settings.backup_to:
        return []
    # Imported here, because a server that shares its stores has no use for it.
    from satchel.backup_schedule import BackupSchedule

    return [Chore("backups", BackupSchedule(settings, clock).begin_if_due)]


def _uploads(platform: Platform, slices: Sequence[OpenSlice[Any]]) -> Uploads:
    return Uploads(
        tables=platform.stores.tables,
        objects=platform.stores.objects,
        ephemeral=platform.stores.ephemeral,
        clock=platform.clock,
        destinations={name: destination for each in slices for name, destination in each.uploads().items()},
        max_bytes=platform.settings.upload_limit,
        buffers=Buffers(platform.settings.share(BUFFERS)),
        direct=direct_links(platform.stores.objects),
    )


def _live(platform: Platform, slices: Sequence[OpenSlice[Any]]) -> LiveSockets:
    attendances = [each.declared.attendance(each.context) for each in slices if each.declared.attendance]
    by_default, settings = Bounds(), platform.settings
    bounds = replace(
        by_default,
        sockets=settings.share(by_default.sockets),
        sockets_per_network=settings.share(by_default.sockets_per_network),
        visitors=settings.share(by_default.visitors),
    )
    tracker = PresenceTracker(platform.presence, attendances)
    return LiveSockets(platform.stores.ephemeral, tracker, clock=platform.clock, bounds=bounds)


def _collect(metrics: Metrics, slices: Sequence[OpenSlice[Any]], live: LiveSockets) -> None:
    for each in slices:
        if each.declared.metrics:
            metrics.add(each.declared.metrics(each.context))
    metrics.add(live)


def _spool_of(settings: Settings) -> Path | None:
    """Where forms of other apps wait: the disk that will have their files. `/tmp` is memory on many systems."""
    return Path(urlsplit(settings.objects_url).path) if settings.objects_url.startswith("file:") else None


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
        if settings.shares_all_stores:
            _log.info("pictures and pages of scores are made by `satchel worker`, too: give it the same stores")
