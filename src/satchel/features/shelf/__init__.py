"""A person keeps files in folders on a shelf of their own, and each content is stored once however many files show it.

They find, preview, rename and move files, download several as one archive or give one link to them, let them expire,
replace their contents, and restore what they deleted or replaced.

One request, an upload to the shelf: `edge/uploads` stores the bytes and hands the object to `routes/shelf_uploads.py`.
`service/shelf_file_add.py` gives the file a name of its own and shares the bytes it has already. Many small files come
as a bundle, to `service/bundle_add.py`.
"""

from datetime import timedelta

from satchel.declaration import Platform, RouteNeeds, Slice
from satchel.edge.api.endpoints import Router
from satchel.features.shelf.adapters import AskingFolders, LinkedFolders, LinkedShelfFiles, ShelfSearch
from satchel.features.shelf.events import LIVE_EVENTS
from satchel.features.shelf.linked_selections import LinkedSelections
from satchel.features.shelf.model import FileId, SelectionId, UserId
from satchel.features.shelf.needs import Links
from satchel.features.shelf.records import EPHEMERAL_KEYS, SHAPES
from satchel.features.shelf.routes import ShelfDestination, routes
from satchel.features.shelf.service.context import Shelf
from satchel.features.shelf.service.files import find_file, note_opening
from satchel.features.shelf.service.purge import sweep_due
from satchel.features.shelf.service.selections import note_selection_link
from satchel.features.shelf.service.shelf_erase import ShelfHoldings
from satchel.features.shelf.service.shelf_garbage import sweep_shelves
from satchel.kernel.handed_file import HandedFileOpened, ShelfFolderUsed
from satchel.kernel.linked import ThingLinked


def _make(platform: Platform, *, links: Links) -> Shelf:
    return Shelf(
        tables=platform.stores.tables,
        objects=platform.stores.objects,
        ephemeral=platform.stores.ephemeral,
        clock=platform.clock,
        pictures=platform.pictures,
        links=links,
        quota_bytes=platform.settings.quota or None,
        versions_kept=timedelta(days=platform.settings.versions_kept),
        most_writes=platform.settings.most_writes,
        events=platform.events,
    )


def _routes(shelf: Shelf, _: RouteNeeds) -> list[Router]:
    return routes(shelf)


async def _note_link(shelf: Shelf, linked: ThingLinked) -> None:
    """What somebody gives a link to is theirs, though it was handed to them."""
    user_id = UserId(linked.owner_id)
    if linked.kind == "file":
        await note_opening(shelf, await find_file(shelf, user_id, FileId(linked.thing_id)))
    elif linked.kind == "folder":
        await shelf.events.publish(ShelfFolderUsed(user_id, linked.thing_id))
    elif linked.kind == "selection":
        await note_selection_link(shelf, user_id, SelectionId(linked.thing_id))


SHELF = Slice(
    name="shelf",
    make=_make,
    routes=_routes,
    records=SHAPES,
    ephemeral_keys=EPHEMERAL_KEYS,
    live_events=LIVE_EVENTS,
    states=(HandedFileOpened, ShelfFolderUsed),
    hears={ThingLinked: _note_link},
    uploads={"shelf": ShelfDestination},
    holdings=ShelfHoldings,
    search=ShelfSearch,
    things={"file": LinkedShelfFiles, "folder": LinkedFolders, "selection": LinkedSelections, "request": AskingFolders},
    chores={"binned and expired files": sweep_due, "orphaned shelf bytes": sweep_shelves},
)
