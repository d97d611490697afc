"""A person hands files to another person, to everybody in a room, or to an account by its e-mail address.

Both sides see how far each transfer has come with each receiver, look back on all of them, and can ask a room for
answers.

One request, `POST /transfers`: `routes/transfer_send.py` calls `service/transfer_send.py`, which finds out who receives
and which files go. `service/transfer_write.py` writes files, receipts and pointers, and the transfer's own row last:
that row alone makes it visible. `service/transfer_recovery.py` finishes what a crash cut off.
"""

from satchel.declaration import Platform, RouteNeeds, Slice
from satchel.edge.api.endpoints import Router
from satchel.features.transfers import events
from satchel.features.transfers.limits import (
    LIMITS,
    OFFERS_PER_PAIR,
    OFFERS_PER_SENDER,
    STRANGERS_MEBIBYTES,
    STRANGERS_TRANSFERS,
    UNKNOWN_RECEIVERS_PER_SENDER,
)
from satchel.features.transfers.model import PersonId, TransferId
from satchel.features.transfers.needs import Contacts, People, Rooms, Shelf
from satchel.features.transfers.records import EPHEMERAL_KEYS, SHAPES
from satchel.features.transfers.routes import routes
from satchel.features.transfers.service.context import Transfers
from satchel.features.transfers.service.transfer_erase import TransferHoldings
from satchel.features.transfers.service.transfer_receive import end_sending, note_folder, note_opening
from satchel.features.transfers.service.transfer_recovery import sweep_unfinished
from satchel.kernel.counted import Counted
from satchel.kernel.handed_file import HandedFileOpened, ShelfFolderUsed


def _make(platform: Platform, *, people: People, contacts: Contacts, shelf: Shelf, rooms: Rooms) -> Transfers:
    return Transfers(
        tables=platform.stores.tables,
        objects=platform.stores.objects,
        ephemeral=platform.stores.ephemeral,
        clock=platform.clock,
        pictures=platform.pictures,
        people=people,
        shelf=shelf,
        rooms=rooms,
        outbox=platform.outbox,
        contacts=contacts,
        unknown_receivers=UNKNOWN_RECEIVERS_PER_SENDER.on(platform.stores.ephemeral),
        offers=OFFERS_PER_SENDER.on(platform.stores.ephemeral),
        offers_to_one=OFFERS_PER_PAIR.on(platform.stores.ephemeral),
        from_strangers=STRANGERS_TRANSFERS.on(platform.stores.ephemeral),
        bytes_from_strangers=STRANGERS_MEBIBYTES.on(platform.stores.ephemeral),
        most_writes=platform.settings.most_writes,
    )


def _routes(transfers: Transfers, _: RouteNeeds) -> list[Router]:
    return routes(transfers)


async def _note_opening(transfers: Transfers, opened: HandedFileOpened) -> None:
    await note_opening(transfers, PersonId(opened.user_id), TransferId(opened.transfer_id))


async def _note_folder(transfers: Transfers, used: ShelfFolderUsed) -> None:
    await note_folder(transfers, PersonId(used.user_id), used.folder_id)


TRANSFERS = Slice(
    name="transfers",
    make=_make,
    routes=_routes,
    records=SHAPES,
    ephemeral_keys=EPHEMERAL_KEYS,
    limits=LIMITS,
    holdings=TransferHoldings,
    live_events=events.LIVE_EVENTS,
    states=(Counted,),
    ends=end_sending,
    hears={HandedFileOpened: _note_opening, ShelfFolderUsed: _note_folder},
    chores={"interrupted transfers": sweep_unfinished},
)
