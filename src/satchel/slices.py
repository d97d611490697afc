"""Every slice, and whose adapter serves whose need: slices themselves know nothing of each other."""

from typing import Any

from satchel import chores, live, outbox
from satchel.declaration import OpenSlice, Platform
from satchel.edge.api import health, identity
from satchel.edge.uploads import records as uploads
from satchel.features.accounts import ACCOUNTS
from satchel.features.accounts.adapters import Contacts, PeopleFinder, ScopeGrants
from satchel.features.accounts.service.passwords import AT_ONCE, Passwords
from satchel.features.albums import ALBUMS
from satchel.features.albums.adapters import AlbumInbox
from satchel.features.clicks import CLICKS
from satchel.features.clicks.adapters import LinkCounts, Visitors
from satchel.features.drop import DROP
from satchel.features.links import LINKS
from satchel.features.links.adapters import LinkTargets, OpenLinks
from satchel.features.rooms import ROOMS
from satchel.features.rooms.adapters import RoomFiles
from satchel.features.scores import SCORES
from satchel.features.shelf import SHELF
from satchel.features.shelf.adapters import AskingFolders, ShelfFiles, ShelfUsage
from satchel.features.transfers import TRANSFERS
from satchel.media import records as media
from satchel.stores.patterns import guess_lane, throttle
from satchel.stores.schema import durable_prefixes, is_one_of

SLICES = (ACCOUNTS, SHELF, ROOMS, TRANSFERS, LINKS, CLICKS, DROP, ALBUMS, SCORES)

# Every key of the ephemeral store: of what all slices stand on, then of each slice.
EPHEMERAL_KEYS = (
    *(
        key
        for each in (chores, guess_lane, health, identity, live, media, outbox, throttle, uploads)
        for key in each.EPHEMERAL_KEYS
    ),
    *(key for each in SLICES for key in each.ephemeral_keys),
)
# Short-lived state that a restart must not forget: a session that was ended stays ended, a room stays open.
DURABLE_KEYS = durable_prefixes(EPHEMERAL_KEYS)
is_essential = is_one_of(key for key in EPHEMERAL_KEYS if key.essential)
PICTURED = {prefix: note for each in SLICES for prefix, note in each.pictured.items()}


def open_slices(platform: Platform) -> list[OpenSlice[Any]]:
    """Put every slice on the stores."""
    open_links = OpenLinks(platform.stores.tables, platform.clock)
    shelf = SHELF.open(platform, links=open_links)
    accounts = ACCOUNTS.open(platform, usages=ShelfUsage(shelf.context))
    people, shelf_files = PeopleFinder(accounts.context), ShelfFiles(shelf.context)
    rooms = ROOMS.open(platform, people=people, shelves=shelf_files)
    grants = ScopeGrants(platform.stores.tables, platform.clock)
    albums = ALBUMS.open(
        platform,
        grants=grants,
        people=people,
        links=open_links,
        shelves=shelf_files,
    )
    scores = SCORES.open(platform, grants=grants, people=people)
    things = shelf.things() | rooms.things() | albums.things() | scores.things()
    clicks = CLICKS.open(platform, targets=LinkTargets(platform.stores.tables, things, albums.counted()))
    transfers = TRANSFERS.open(
        platform,
        people=people,
        contacts=Contacts(accounts.context),
        shelf=shelf_files,
        rooms=RoomFiles(rooms.context),
    )
    links = LINKS.open(
        platform,
        things=things,
        inboxes={"request": AskingFolders(shelf.context), "album": AlbumInbox(albums.context)},
        people=people,
        # Not those of accounts: whoever tries passwords of links keeps nobody from signing in.
        passwords=Passwords(platform.settings.share(AT_ONCE)),
        figures=LinkCounts(clicks.context),
        visitors=Visitors(platform.stores.tables, platform.clock),
    )
    return [accounts, shelf, rooms, transfers, links, clicks, DROP.open(platform), albums, scores]
