"""Turns the results of use cases into what clients see, for both sides."""

import re
from collections.abc import Mapping, Sequence

from satchel.edge.http.callers import Guest, Member
from satchel.features.transfers.model import PersonId, TransferFile, TransferId
from satchel.features.transfers.records import ReceiptRow
from satchel.features.transfers.routes.views import TransferView, transfer_view
from satchel.features.transfers.service import history, transfer_contents
from satchel.features.transfers.service.context import Transfers
from satchel.features.transfers.service.history import Involved
from satchel.features.transfers.service.transfer_write import Posted
from satchel.kernel.errors import CursorInvalid
from satchel.kernel.side_by_side import side_by_side
from satchel.media.pictures import Pictured

FILES_AT_ONCE = 1000


def person_of(caller: Member | Guest) -> PersonId:
    return PersonId(caller.user_id if isinstance(caller, Member) else caller.id)


async def show(
    transfers: Transfers,
    person_id: PersonId,
    transfer_id: str,
    *,
    limit: int = FILES_AT_ONCE,
    cursor: str | None = None,
) -> TransferView:
    """One transfer with a page of its files, and everything else that this person may know of it."""
    start = _place_of(cursor)
    involved = await history.find(transfers, person_id, TransferId(transfer_id))
    return await show_part(transfers, involved, start, limit)


async def show_sent(transfers: Transfers, person_id: PersonId, sent: Posted | TransferId) -> TransferView:
    """What was just sent, for its sender, without reading it again; or what had been sent with the same key."""
    if not isinstance(sent, Posted):
        return await show(transfers, person_id, sent)
    involved = Involved(transfer=sent.transfer, person_id=person_id)
    if sent.keys is None or len(sent.files) > FILES_AT_ONCE:
        return await show_part(transfers, involved)
    return await _view(transfers, involved, sent.files, sent.receipts, sent.keys)


async def show_part(
    transfers: Transfers, involved: Involved, start: int = 0, limit: int = FILES_AT_ONCE
) -> TransferView:
    """A transfer with its files from this place on."""
    files = await history.files_from(transfers, involved.transfer, start, limit)
    receipts, found = await side_by_side(
        visible_receipts(transfers, involved), transfer_contents.keys_of(transfers, involved, files)
    )
    cursor = str(start + limit) if start + limit < involved.transfer.file_count else None
    return await _view(transfers, involved, files, receipts, found, cursor)


async def _view(
    transfers: Transfers,
    involved: Involved,
    files: Sequence[TransferFile],
    receipts: Sequence[ReceiptRow],
    found: Mapping[int, str],
    cursor: str | None = None,
) -> TransferView:
    """`found` are the objects of those files that exist, by place."""
    sources = {
        file.place: Pictured(found[file.place], file.name, file.content_type) for file in files if file.place in found
    }
    described = await transfers.pictures.describe(list(sources.values()))
    pictures = {place: described[source.key] for place, source in sources.items() if source.key in described}
    return transfer_view(
        involved,
        files,
        receipts,
        is_available=len(found) == len(files),
        pictures=pictures,
        cursor=cursor,
    )


def _place_of(cursor: str | None) -> int:
    """The place at which a page begins."""
    if cursor is None:
        return 0
    if not re.fullmatch(r"[0-9]{1,4}", cursor):
        raise CursorInvalid("This cursor is not from this transfer. Read it from the beginning.", field="cursor")
    return int(cursor)


async def visible_receipts(transfers: Transfers, involved: Involved) -> list[ReceiptRow]:
    """All receipts for the sender, their own for a receiver."""
    if involved.receipt is not None:
        return [involved.receipt]
    return await history.receipts_of(transfers, involved.transfer)


async def show_all(transfers: Transfers, page: Sequence[Involved]) -> list[TransferView]:
    """The transfers as lists show them."""
    available = await transfer_contents.are_available(transfers, page)
    return [
        transfer_view(
            each,
            each.transfer.first_files,
            [] if each.receipt is None else [each.receipt],
            is_available=is_available,
        )
        for each, is_available in zip(page, available, strict=True)
    ]
