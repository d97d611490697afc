"""Every slice on the stores, with what it needs of the others, which slices themselves do not know."""

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from satchel.chores import Chore, Housekeeper
from satchel.config import Settings
from satchel.edge.api.endpoints import Router
from satchel.edge.api.identity import Guest, Identity, Member, Token
from satchel.edge.files.previews import preview_of
from satchel.edge.live.live_sockets import LiveSockets
from satchel.edge.live.presence import Attendance
from satchel.edge.uploads.context import LASTS_AT_MOST, Uploads
from satchel.edge.uploads.destinations import Destination
from satchel.edge.uploads.routes import routes as upload_routes
from satchel.edge.uploads.upload_create import sweep_expired_uploads
from satchel.features.accounts.adapters import Finder
from satchel.features.accounts.limits import AccountLimits
from satchel.features.accounts.model import StoreKinds
from satchel.features.accounts.routes import routes as account_routes
from satchel.features.accounts.service.context import Accounts
from satchel.features.accounts.service.invitations import sweep_expired_invitations
from satchel.features.accounts.service.password_resets import sweep_expired_resets
from satchel.features.accounts.service.passwords import Passwords
from satchel.features.accounts.service.sessions import sweep_expired_sessions
from satchel.features.clicks.limits import ClickLimits
from satchel.features.clicks.records import ONE_SLOT, SLOTS
from satchel.features.clicks.routes import routes as click_routes
from satchel.features.clicks.service.context import Clicks
from satchel.features.clicks.service.raw_clicks import let_old_go
from satchel.features.clicks.service.recording import Counter
from satchel.features.clicks.service.recording_distributed import SharedRecorder
from satchel.features.clicks.service.recording_embedded import GroupRecorder
from satchel.features.clicks.service.summing import LinkCounts
from satchel.features.clicks.service.telling import SiteWatchers, Teller
from satchel.features.clicks.service.visitors import Visitors
from satchel.features.drop.limits import DropLimits
from satchel.features.drop.records import DURABLE_KEYS as DROP_KEYS
from satchel.features.drop.relay.relay import Relay
from satchel.features.drop.routes import routes as drop_routes
from satchel.features.drop.service.context import Drop
from satchel.features.drop.service.drop_presence import Attendance as DropAttendance
from satchel.features.links.adapters import Naming
from satchel.features.links.limits import LinkLimits
from satchel.features.links.model import ThingKind
from satchel.features.links.needs import Inbox, Things
from satchel.features.links.routes import LinkDestination
from satchel.features.links.routes import routes as link_routes
from satchel.features.links.service.context import Links
from satchel.features.links.service.link_change import forget_revoked
from satchel.features.rooms.adapters import LinkedRooms
from satchel.features.rooms.limits import RoomLimits
from satchel.features.rooms.model import RoomFileUsed
from satchel.features.rooms.records import DURABLE_KEYS as ROOM_KEYS
from satchel.features.rooms.routes import RoomDestination
from satchel.features.rooms.routes import routes as room_routes
from satchel.features.rooms.service.context import Rooms
from satchel.features.rooms.service.room_close import keep_rooms
from satchel.features.rooms.service.room_garbage import sweep_room_bytes
from satchel.features.rooms.service.room_lend import Lending
from satchel.features.rooms.service.room_presence import Attendance as RoomAttendance
from satchel.features.rooms.service.room_repair import mend_rooms
from satchel.features.shelf.adapters import AskingFolders, LinkedFolders, LinkedShelfFiles
from satchel.features.shelf.model import HandedFileOpened, UserId
from satchel.features.shelf.records import UsageRow
from satchel.features.shelf.routes import ShelfDestination
from satchel.features.shelf.routes import routes as shelf_routes
from satchel.features.shelf.service.context import Shelf
from satchel.features.shelf.service.files import read_usage
from satchel.features.shelf.service.purge import sweep_due
from satchel.features.shelf.service.shelf_copies import Handing
from satchel.features.shelf.service.shelf_garbage import sweep_shelves
from satchel.features.transfers.limits import UNKNOWN_RECEIVERS_PER_SENDER
from satchel.features.transfers.model import PersonId, TransferId, TransferUsed
from satchel.features.transfers.needs import Rooms as RoomsOfTransfers
from satchel.features.transfers.routes import routes as transfer_routes
from satchel.features.transfers.service.context import Transfers
from satchel.features.transfers.service.transfer_receive import note_opening
from satchel.features.transfers.service.transfer_recovery import sweep_unfinished
from satchel.kernel.clock import Clock
from satchel.kernel.counted import Counted
from satchel.kernel.signature import Signer
from satchel.live import Presence
from satchel.stores.connect import Stores

# Short-lived state that a restart must not forget: a session that was ended stays ended, a room stays open.
DURABLE_KEYS = ("revoked:", "upload-begun:", "transfer-begun:", "housekeeping:", *ROOM_KEYS, *DROP_KEYS)
# The store counts from the beginning of an upload, so it has to wait for as long as one can last.
BROKEN_OFF_AFTER = LASTS_AT_MOST + timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Ground:
    """What every slice stands on."""

    settings: Settings
    stores: Stores
    clock: Clock
    signer: Signer
    identity: Identity
    housekeeper: Housekeeper


@dataclass(frozen=True, slots=True)
class Slices:
    """All that the program can do."""

    accounts: Accounts
    shelf: Shelf
    rooms: Rooms
    transfers: Transfers
    clicks: Clicks
    links: Links
    drop: Drop
    uploads: Uploads


def put_slices_on(ground: Ground) -> Slices:
    """Make every slice, and let those hear of each other that have to."""
    shelf = _shelf(ground)
    accounts = _accounts(ground, _Storage(ground.settings, shelf))
    rooms = _rooms(ground, accounts, shelf)
    things = _things(shelf, rooms)
    clicks = _clicks(ground, Naming(ground.stores.tables, things))
    links = _links(ground, accounts, things, AskingFolders(shelf), clicks)
    transfers = _transfers(ground, accounts, shelf, Lending(rooms))
    _connect(shelf, rooms, transfers, Counter(clicks))
    destinations = {
        "shelf": ShelfDestination(shelf),
        "room": RoomDestination(rooms),
        "link": LinkDestination(links),
    }
    uploads = _uploads(ground, destinations)
    return Slices(accounts, shelf, rooms, transfers, clicks, links, _drop(ground), uploads)


def routes_of(slices: Slices, relay: Relay, live: LiveSockets, public_url: str) -> list[Router]:
    return [
        *account_routes(slices.accounts),
        *shelf_routes(slices.shelf),
        *room_routes(slices.rooms, public_url),
        *transfer_routes(slices.transfers),
        *link_routes(slices.links, public_url),
        *click_routes(slices.clicks),
        *drop_routes(slices.drop, relay, live, public_url),
        upload_routes(slices.uploads),
    ]


def chores_of(slices: Slices, stores: Stores) -> list[Chore]:
    """What has to be done every few minutes."""
    return [
        Chore("expired records", stores.tables.sweep),
        Chore("expired uploads", lambda: sweep_expired_uploads(slices.uploads)),
        Chore("broken-off uploads", lambda: stores.objects.clean(BROKEN_OFF_AFTER)),
        Chore("expired sessions", lambda: sweep_expired_sessions(slices.accounts)),
        Chore("expired invitations", lambda: sweep_expired_invitations(slices.accounts)),
        Chore("expired password resets", lambda: sweep_expired_resets(slices.accounts)),
        Chore("binned and expired files", lambda: sweep_due(slices.shelf)),
        Chore("orphaned shelf bytes", lambda: sweep_shelves(slices.shelf)),
        Chore("ended rooms", lambda: keep_rooms(slices.rooms)),
        Chore("interrupted in rooms", lambda: mend_rooms(slices.rooms)),
        Chore("orphaned room bytes", lambda: sweep_room_bytes(slices.rooms)),
        Chore("interrupted transfers", lambda: sweep_unfinished(slices.transfers)),
        Chore("revoked links", lambda: forget_revoked(slices.links)),
        Chore("old clicks", lambda: let_old_go(slices.clicks)),
    ]


def attendances_of(slices: Slices) -> list[Attendance]:
    """Who has to know when people come and go."""
    return [RoomAttendance(slices.rooms), DropAttendance(slices.drop)]


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


def _accounts(ground: Ground, storage: _Storage) -> Accounts:
    return Accounts(
        tables=ground.stores.tables,
        clock=ground.clock,
        signer=ground.signer,
        access=_Tokens(ground.identity),
        passwords=Passwords(),
        limits=AccountLimits(ground.stores.ephemeral),
        storage=storage,
        housekeeping=ground.housekeeper,
        default_sign_up=ground.settings.sign_up,
    )


def _shelf(ground: Ground) -> Shelf:
    return Shelf(
        tables=ground.stores.tables,
        objects=ground.stores.objects,
        ephemeral=ground.stores.ephemeral,
        clock=ground.clock,
        quota_bytes=ground.settings.quota or None,
    )


def _rooms(ground: Ground, accounts: Accounts, shelf: Shelf) -> Rooms:
    return Rooms(
        ephemeral=ground.stores.ephemeral,
        objects=ground.stores.objects,
        clock=ground.clock,
        quota_bytes=ground.settings.room_quota or None,
        limits=RoomLimits(ground.stores.ephemeral),
        people=Finder(accounts),
        attending=Presence(ground.stores.ephemeral, ground.clock),
        shelves=Handing(shelf),
        preview_of=preview_of,
    )


def _transfers(ground: Ground, accounts: Accounts, shelf: Shelf, rooms: RoomsOfTransfers) -> Transfers:
    return Transfers(
        tables=ground.stores.tables,
        objects=ground.stores.objects,
        ephemeral=ground.stores.ephemeral,
        clock=ground.clock,
        people=Finder(accounts),
        shelf=Handing(shelf),
        rooms=rooms,
        unknown_receivers=UNKNOWN_RECEIVERS_PER_SENDER.on(ground.stores.ephemeral),
    )


def _clicks(ground: Ground, targets: Naming) -> Clicks:
    kept_for = timedelta(days=ground.settings.clicks_kept) if ground.settings.clicks_kept else None
    if ground.stores.bulk is None:
        recorder = SharedRecorder(ground.stores.tables, ground.clock, kept_for)
    else:
        recorder = GroupRecorder(
            ground.stores.bulk, ground.clock, Teller(ground.stores.ephemeral, ground.clock), kept_for
        )
    return Clicks(
        tables=ground.stores.tables,
        bulk=ground.stores.bulk,
        clock=ground.clock,
        recorder=recorder,
        targets=targets,
        calls=ClickLimits(ground.stores.ephemeral),
        watchers=SiteWatchers(ground.stores.ephemeral, ground.clock),
        kept_for=kept_for,
    )


def _things(shelf: Shelf, rooms: Rooms) -> dict[ThingKind, Things]:
    """What links can lead to."""
    return {
        "file": LinkedShelfFiles(shelf),
        "folder": LinkedFolders(shelf),
        "request": AskingFolders(shelf),
        "room": LinkedRooms(rooms),
    }


def _links(
    ground: Ground, accounts: Accounts, things: Mapping[ThingKind, Things], inbox: Inbox, clicks: Clicks
) -> Links:
    return Links(
        tables=ground.stores.tables,
        objects=ground.stores.objects,
        ephemeral=ground.stores.ephemeral,
        clock=ground.clock,
        signer=ground.signer,
        things=things,
        inbox=inbox,
        people=Finder(accounts),
        passwords=accounts.passwords,
        figures=LinkCounts(ground.stores.tables, SLOTS if clicks.bulk is None else (ONE_SLOT,)),
        counter=Counter(clicks),
        visitors=Visitors(ground.stores.tables, ground.clock),
        limits=LinkLimits(ground.stores.ephemeral),
        alone_since=0 if clicks.bulk is None else ground.clock(),
    )


def _uploads(ground: Ground, destinations: Mapping[str, Destination]) -> Uploads:
    return Uploads(
        tables=ground.stores.tables,
        objects=ground.stores.objects,
        ephemeral=ground.stores.ephemeral,
        clock=ground.clock,
        destinations=destinations,
        max_bytes=ground.settings.upload_limit,
    )


def _drop(ground: Ground) -> Drop:
    return Drop(
        ephemeral=ground.stores.ephemeral,
        clock=ground.clock,
        attending=Presence(ground.stores.ephemeral, ground.clock),
        limits=DropLimits(ground.stores.ephemeral),
        daily_limit_bytes=ground.settings.drop_daily_limit or None,
    )


def _connect(shelf: Shelf, rooms: Rooms, transfers: Transfers, counter: Counter) -> None:
    """Let slices hear what others state."""

    async def note(opened: HandedFileOpened) -> None:
        await note_opening(transfers, PersonId(opened.user_id), TransferId(opened.transfer_id))

    async def count_transfer(used: TransferUsed) -> None:
        receiver, sender = (_counted_as(party.person_id, party.kind) for party in (used.receiver, used.sender))
        thing = f"transfer:{used.transfer_id}"
        await counter.count(Counted(user_id=receiver, kind=used.kind, owner=sender, thing=thing))

    async def count_in_room(used: RoomFileUsed) -> None:
        person = _counted_as(used.person_id, used.person_kind)
        owner = _counted_as(used.brought_by, used.bringer_kind)
        await counter.count(Counted(user_id=person, kind=used.use, owner=owner, thing=f"room:{used.room_id}"))

    shelf.events.on(HandedFileOpened, note)
    rooms.events.on(RoomFileUsed, count_in_room)
    transfers.events.on(TransferUsed, count_transfer)


def _counted_as(person_id: str, kind: Literal["member", "guest"]) -> str:
    return person_id if kind == "member" else f"guest:{person_id}"
