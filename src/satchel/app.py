"""The only wiring: settings in, a running application out."""

import asyncio
import shutil
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlsplit

from starlette.types import ASGIApp

from satchel.config import Settings
from satchel.edge import application as edge
from satchel.edge import object_links, server
from satchel.edge.endpoints import Router
from satchel.edge.guard import Exposure
from satchel.edge.identity import Guest, Identity, Member, Token
from satchel.edge.live.listeners import SignedIn
from satchel.edge.live.roll import Attendance, Roll
from satchel.edge.live.sockets import LiveSockets
from satchel.edge.logs import Journal, start_journal
from satchel.edge.metrics import Metrics
from satchel.edge.object_links import LinkedObjects
from satchel.edge.previews import preview_of
from satchel.edge.site import Site
from satchel.edge.uploads.context import LASTS_AT_MOST, Uploads
from satchel.edge.uploads.destinations import Destination
from satchel.edge.uploads.lifecycle import sweep_expired_uploads
from satchel.edge.uploads.routes import routes as upload_routes
from satchel.features.accounts.model import StoreKinds
from satchel.features.accounts.routes import routes as account_routes
from satchel.features.accounts.service.context import Accounts
from satchel.features.accounts.service.finding import Finder
from satchel.features.accounts.service.invitations import sweep_expired_invitations
from satchel.features.accounts.service.password_resets import sweep_expired_resets
from satchel.features.accounts.service.passwords import Passwords
from satchel.features.accounts.service.sessions import sweep_expired_sessions
from satchel.features.drop.records import DURABLE_KEYS as DROP_KEYS
from satchel.features.drop.relay.relay import Relay
from satchel.features.drop.routes import routes as drop_routes
from satchel.features.drop.service.attendance import Attendance as DropAttendance
from satchel.features.drop.service.context import Drop
from satchel.features.rooms.records import DURABLE_KEYS as ROOM_KEYS
from satchel.features.rooms.routes import RoomDestination
from satchel.features.rooms.routes import routes as room_routes
from satchel.features.rooms.service.attendance import Attendance as RoomAttendance
from satchel.features.rooms.service.closing import keep_rooms
from satchel.features.rooms.service.context import Rooms
from satchel.features.rooms.service.lending import Lending
from satchel.features.rooms.service.mending import mend_rooms
from satchel.features.rooms.service.sweep import sweep_room_bytes
from satchel.features.shelf.model import HandedFileOpened, UserId
from satchel.features.shelf.records import UsageRow
from satchel.features.shelf.routes import ShelfDestination
from satchel.features.shelf.routes import routes as shelf_routes
from satchel.features.shelf.service.context import Shelf
from satchel.features.shelf.service.files import read_usage
from satchel.features.shelf.service.handing import Handing
from satchel.features.shelf.service.purging import sweep_due
from satchel.features.shelf.service.sweep import sweep_shelves
from satchel.features.transfers.model import PersonId, TransferId
from satchel.features.transfers.needs import Rooms as RoomsOfTransfers
from satchel.features.transfers.routes import routes as transfer_routes
from satchel.features.transfers.service.context import Transfers
from satchel.features.transfers.service.receiving import note_opening
from satchel.features.transfers.service.unfinished import sweep_unfinished
from satchel.housekeeping import Chore, Housekeeper, Sweep, repeat
from satchel.kernel.clock import Clock, system_clock
from satchel.kernel.errors import Unavailable
from satchel.kernel.ids import new_id
from satchel.kernel.signing import Signer
from satchel.live import Presence
from satchel.secret import open_signer
from satchel.stores.connect import Stores, open_stores
from satchel.stores.ports.ephemeral import Exists
from satchel.tables import ALL_TABLES, SELF_TEST
from satchel.throttles import DROP_SESSIONS_PER_NETWORK, Throttles

# Short-lived state that a restart must not forget: a session that was ended stays ended, a room stays open.
DURABLE_KEYS = ("revoked:", "upload-begun:", "transfer-begun:", "housekeeping:", *ROOM_KEYS, *DROP_KEYS)
HOUSEKEEPING_EVERY = timedelta(minutes=10)
# How late a room ends at most, after its time is over for everybody in it.
ROOMS_KEPT_EVERY = timedelta(seconds=5)
# The store counts from the beginning of an upload, so it has to wait for as long as one can last.
BROKEN_OFF_AFTER = LASTS_AT_MOST + timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Running:
    """An application that is ready to be served, and what it stands on."""

    app: ASGIApp
    stores: Stores
    housekeep: Callable[[], Awaitable[Sweep]]
    # Called when the server is told to stop, before it waits for requests to end.
    prepare_to_stop: Callable[[], None]


class _Tokens:
    """What accounts need of the edge's identity."""

    def __init__(self, identity: Identity) -> None:
        self._identity = identity
        self.revoke = identity.revoke

    def issue_member(self, *, user_id: str, email: str, session_id: str, admin: bool) -> Token:
        return self._identity.issue_access(Member(user_id, email, session_id, admin))

    def issue_guest(self, *, guest_id: str, name: str) -> Token:
        return self._identity.issue_guest(Guest(guest_id, name))


@dataclass(frozen=True, slots=True)
class _Room:
    """How much the disk of the objects can hold, and how much of that is free."""

    capacity_bytes: int
    free_bytes: int


class _Storage:
    """What accounts need to know of storage: how much the shelf keeps, on what."""

    def __init__(self, settings: Settings, shelf: Shelf) -> None:
        self._shelf = shelf
        place = urlsplit(settings.objects_url)
        self._folder = Path(place.path) if place.scheme == "file" else None
        self.kinds = StoreKinds(
            table=urlsplit(settings.table_url).scheme,
            ephemeral="memory" if settings.ephemeral.startswith("memory:") else "redis",
            objects="folder" if self._folder else place.scheme,
        )

    async def usage_of(self, user_ids: Sequence[str]) -> list[UsageRow]:
        return await read_usage(self._shelf, [UserId(user_id) for user_id in user_ids])

    async def room(self) -> _Room | None:
        if self._folder is None:
            return None
        disk = await asyncio.to_thread(shutil.disk_usage, self._folder)
        return _Room(disk.total, disk.free)


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
    journal = journal or Journal(settings.log_format, settings.log_level)
    signer = open_signer(settings)
    async with open_stores(settings, clock, signer, durable_keys=DURABLE_KEYS) as opened:
        stores = through(opened)
        await _have_tables(settings, stores)
        identity = Identity(signer, stores.ephemeral, clock=clock)
        throttles = Throttles(stores.ephemeral)
        housekeeper = Housekeeper(stores.ephemeral, clock, HOUSEKEEPING_EVERY)
        shelf = _shelf(settings, stores, clock)
        storage = _Storage(settings, shelf)
        accounts = _accounts(settings, stores, clock, signer, identity, throttles, storage, housekeeper)
        rooms = _rooms(settings, stores, clock, throttles, accounts, shelf)
        destinations = {"shelf": ShelfDestination(shelf), "room": RoomDestination(rooms)}
        uploads = _uploads(settings, stores, clock, destinations)
        transfers = _transfers(stores, clock, throttles, accounts, shelf, Lending(rooms))
        _connect(shelf, transfers)
        metrics = Metrics()
        drop = _drop(settings, stores, clock, throttles)
        relay = _relay(settings, stores, clock, metrics)
        live = _live(stores, clock, metrics, attendances=[RoomAttendance(rooms), DropAttendance(drop)])
        app = edge.application(
            [
                *account_routes(accounts),
                *shelf_routes(shelf),
                *room_routes(rooms, settings.public_url),
                *transfer_routes(transfers),
                *drop_routes(drop, relay, live, settings.public_url),
                upload_routes(uploads),
                *_link_routes(settings, stores),
            ],
            identity=identity,
            exposure=Exposure(
                trusted_proxies=settings.trusted_proxies,
                addresses=(settings.public_url,),
                metrics_from=settings.metrics_from,
            ),
            journal=journal,
            metrics=metrics,
            version=version("satchel"),
            site=Site(Path(__file__).with_name("site")),
            live=live.open_to(SignedIn(identity)),
            checks={
                "table": lambda: stores.tables.get(SELF_TEST, {"probe": "ready"}),
                "ephemeral": lambda: stores.ephemeral.run(Exists("ready")),
                "objects": lambda: stores.objects.list("ready/", limit=1),
            },
        )

        chores = [
            Chore("expired records", stores.tables.sweep),
            Chore("expired uploads", lambda: sweep_expired_uploads(uploads)),
            Chore("broken-off uploads", lambda: stores.objects.clean(BROKEN_OFF_AFTER)),
            Chore("expired sessions", lambda: sweep_expired_sessions(accounts)),
            Chore("expired invitations", lambda: sweep_expired_invitations(accounts)),
            Chore("expired password resets", lambda: sweep_expired_resets(accounts)),
            Chore("binned and expired files", lambda: sweep_due(shelf)),
            Chore("orphaned shelf bytes", lambda: sweep_shelves(shelf)),
            Chore("ended rooms", lambda: keep_rooms(rooms)),
            Chore("interrupted in rooms", lambda: mend_rooms(rooms)),
            Chore("orphaned room bytes", lambda: sweep_room_bytes(rooms)),
            Chore("interrupted transfers", lambda: sweep_unfinished(transfers)),
        ]
        keepers = [
            asyncio.create_task(housekeeper.keep_house(chores), name="housekeeping"),
            asyncio.create_task(repeat(lambda: keep_rooms(rooms), ROOMS_KEPT_EVERY), name="rooms"),
        ]

        def prepare_to_stop() -> None:
            live.stop()
            relay.stop()
            uploads.turns.stop_all()

        try:
            async with live.roll.kept():
                yield Running(app, stores, lambda: housekeeper.sweep(chores), prepare_to_stop)
        finally:
            for keeper in keepers:
                keeper.cancel()
            await asyncio.gather(*keepers, return_exceptions=True)


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


def _accounts(
    settings: Settings,
    stores: Stores,
    clock: Clock,
    signer: Signer,
    identity: Identity,
    throttles: Throttles,
    storage: _Storage,
    housekeeper: Housekeeper,
) -> Accounts:
    return Accounts(
        tables=stores.tables,
        clock=clock,
        signer=signer,
        access=_Tokens(identity),
        passwords=Passwords(),
        guesses=throttles.sign_ins,
        sign_ups=throttles.sign_ups,
        guest_entries=throttles.guest_entries,
        password_resets=throttles.password_resets,
        storage=storage,
        housekeeping=housekeeper,
        default_sign_up=settings.sign_up,
    )


def _shelf(settings: Settings, stores: Stores, clock: Clock) -> Shelf:
    return Shelf(
        tables=stores.tables,
        objects=stores.objects,
        ephemeral=stores.ephemeral,
        clock=clock,
        quota_bytes=settings.quota or None,
    )


def _rooms(
    settings: Settings, stores: Stores, clock: Clock, throttles: Throttles, accounts: Accounts, shelf: Shelf
) -> Rooms:
    return Rooms(
        ephemeral=stores.ephemeral,
        objects=stores.objects,
        clock=clock,
        quota_bytes=settings.room_quota or None,
        guesses=throttles.room_codes,
        knocking=throttles.knocks,
        talking=throttles.messages,
        people=Finder(accounts),
        attending=Presence(stores.ephemeral, clock),
        shelves=Handing(shelf),
        preview_of=preview_of,
    )


def _connect(shelf: Shelf, transfers: Transfers) -> None:
    """Let slices hear what others state."""

    async def note(opened: HandedFileOpened) -> None:
        await note_opening(transfers, PersonId(opened.user_id), TransferId(opened.transfer_id))

    shelf.events.on(HandedFileOpened, note)


def _transfers(
    stores: Stores, clock: Clock, throttles: Throttles, accounts: Accounts, shelf: Shelf, rooms: RoomsOfTransfers
) -> Transfers:
    return Transfers(
        tables=stores.tables,
        objects=stores.objects,
        ephemeral=stores.ephemeral,
        clock=clock,
        people=Finder(accounts),
        shelf=Handing(shelf),
        rooms=rooms,
        receivers_tried=throttles.receivers,
    )


def _uploads(settings: Settings, stores: Stores, clock: Clock, destinations: Mapping[str, Destination]) -> Uploads:
    return Uploads(
        tables=stores.tables,
        objects=stores.objects,
        ephemeral=stores.ephemeral,
        clock=clock,
        destinations=destinations,
        max_bytes=settings.upload_limit,
    )


def _drop(settings: Settings, stores: Stores, clock: Clock, throttles: Throttles) -> Drop:
    return Drop(
        ephemeral=stores.ephemeral,
        clock=clock,
        attending=Presence(stores.ephemeral, clock),
        limits=throttles.drop,
        max_sessions_of_a_network=DROP_SESSIONS_PER_NETWORK,
        daily_limit_bytes=settings.drop_daily_limit or None,
    )


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
    if settings.table_url.startswith("sqlite:"):
        await stores.tables.create(*ALL_TABLES)
    elif missing := await stores.tables.missing(*ALL_TABLES):
        raise Unavailable(f"Run `satchel tables create` first. Missing: {', '.join(missing)}.")
