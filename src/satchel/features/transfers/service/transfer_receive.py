"""The receiver's use cases: open, decline, download, save to the shelf, verify."""

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress

from satchel.features.transfers.model import (
    ENDED,
    RECEIVED_FOLDER,
    FilesGone,
    HashDiffers,
    NotOffered,
    PersonId,
    TransferFile,
    TransferId,
)
from satchel.features.transfers.records import RECEIPT, ReceiptRow, TransferRow
from satchel.features.transfers.service import history, receipts, transfer_contents
from satchel.features.transfers.service.concurrency import run_concurrently
from satchel.features.transfers.service.context import Transfers
from satchel.features.transfers.service.history import Involved
from satchel.features.transfers.service.transfer_end import noted, take_from_shelf
from satchel.kernel.errors import Forbidden, Gone, NotFound, SatchelError

_log = logging.getLogger("satchel.transfers")


async def open_transfer(transfers: Transfers, person_id: PersonId, transfer_id: TransferId) -> None:
    involved, receipt = await _received(transfers, person_id, transfer_id)
    await receipts.change(transfers, involved.transfer, receipt, receipts.opened(transfers.now()))


async def decline(transfers: Transfers, person_id: PersonId, transfer_id: TransferId) -> None:
    involved, receipt = await _received(transfers, person_id, transfer_id)
    async with noted(transfers, involved.transfer):
        await receipts.change(transfers, involved.transfer, receipt, receipts.declined(transfers.now()))
        await take_from_shelf(transfers, involved.transfer, person_id)


async def note_opening(transfers: Transfers, person_id: PersonId, transfer_id: TransferId) -> None:
    """The receiver has opened one of the files on their shelf, so the transfer counts as opened."""
    with suppress(NotFound, Forbidden):
        await open_transfer(transfers, person_id, transfer_id)


async def find_content(
    transfers: Transfers, person_id: PersonId, transfer_id: TransferId, place: int
) -> tuple[Involved, TransferFile, str]:
    """A file of a transfer, and the key of its bytes."""
    involved = await history.find(transfers, person_id, transfer_id)
    file = await history.file_at(transfers, involved.transfer, place)
    if involved.receipt is not None:
        receipts.check_offered(involved.receipt)
    return involved, file, await transfer_contents.key_of(transfers, involved, file)


async def count_download(transfers: Transfers, involved: Involved, place: int) -> None:
    """Count a complete download. Downloads by the sender do not count."""
    if involved.receipt is None:
        return
    now, count = transfers.now(), involved.transfer.file_count
    step = receipts.in_order(receipts.opened(now), receipts.progressed(now, file_count=count, downloaded={place}))
    # Withdrawn during the download, from a person without a receipt: there is nothing to count.
    with suppress(NotOffered):
        await receipts.change(transfers, involved.transfer, involved.receipt, step)


async def verify(transfers: Transfers, person_id: PersonId, transfer_id: TransferId, place: int, sha256: str) -> None:
    """Compare the hash that the receiver reports with what was sent."""
    involved, receipt = await _received(transfers, person_id, transfer_id)
    file = await history.file_at(transfers, involved.transfer, place)
    receipts.check_offered(receipt)
    if sha256.lower() != file.sha256:
        raise HashDiffers("The received file differs from the one that was sent. Download it again.", field="sha256")
    now, count = transfers.now(), involved.transfer.file_count
    step = receipts.in_order(receipts.opened(now), receipts.progressed(now, file_count=count, verified={place}))
    await receipts.change(transfers, involved.transfer, receipt, step)


async def save(transfers: Transfers, person_id: PersonId, transfer_id: TransferId, folder_id: str | None) -> list[str]:
    """Copy everything to the receiver's shelf. Returns the ids there. Idempotent."""
    involved, receipt = await _received(transfers, person_id, transfer_id)
    receipts.check_offered(receipt)
    receipt = await receipts.change(transfers, involved.transfer, receipt, receipts.opened(transfers.now()))
    opened = Involved(transfer=involved.transfer, person_id=person_id, receipt=receipt)
    return await _take(transfers, opened, receipt, await history.files_of(transfers, involved.transfer), folder_id)


async def land(transfers: Transfers, transfer: TransferRow, receipt: ReceiptRow, files: Sequence[TransferFile]) -> None:
    """Put files sent by e-mail address on the receiver's shelf at once. If that is full, the offer stands."""
    involved = Involved(transfer=transfer, person_id=receipt.person_id, receipt=receipt)
    try:
        await _take(transfers, involved, receipt, files, None)
    except SatchelError as error:
        # The transfer exists: an error now would make the sender send it twice.
        _log.info("transfer %s waits for its receiver: %s", transfer.transfer_id, error.detail)


async def _take(
    transfers: Transfers,
    involved: Involved,
    receipt: ReceiptRow,
    files: Sequence[TransferFile],
    folder_id: str | None,
) -> list[str]:
    """Copy what is missing, verify everything, and update the receipt."""
    transfer = involved.transfer
    kept = await transfer_contents.saved_keys(transfers, involved, files)
    missing = [file for file in files if file.place not in kept]
    if missing:
        try:
            await _copy(transfers, involved, missing, folder_id)
        except SatchelError:
            current = await RECEIPT.get(
                transfers.tables, transfer_id=transfer.transfer_id, person_id=involved.person_id
            )
            await _discard_if_ended(transfers, current or receipt, missing)
            raise
        kept = await transfer_contents.saved_keys(transfers, involved, files)
    right = await _right_ones(transfers, files, kept)
    step = receipts.progressed(
        transfers.now(), file_count=transfer.file_count, downloaded=kept.keys(), verified=right, saved=True
    )
    await _discard_if_ended(transfers, await receipts.change(transfers, transfer, receipt, step), missing)
    return _saved_ids(transfer.transfer_id, files)


async def _discard_if_ended(transfers: Transfers, receipt: ReceiptRow, copied: Sequence[TransferFile]) -> None:
    """Delete the copies if the transfer has ended meanwhile, so that nothing of it is left."""
    if receipt.state in ENDED:
        await transfers.shelf.discard(receipt.person_id, _saved_ids(receipt.transfer_id, copied))
        receipts.check_offered(receipt)


async def _copy(transfers: Transfers, involved: Involved, files: Sequence[TransferFile], folder_id: str | None) -> None:
    keys = await transfer_contents.keys_of(transfers, involved, files)
    if len(keys) < len(files):
        raise FilesGone(transfer_contents.GONE)
    await transfers.shelf.admit(involved.person_id, folder_id, sum(file.size_bytes for file in files))

    async def keep(file: TransferFile) -> None:
        await transfers.shelf.keep(
            involved.person_id,
            transfer_contents.handed(file, keys[file.place]),
            file_id=transfer_contents.saved_id(involved.transfer.transfer_id, file.place),
            folder_id=folder_id,
            top=RECEIVED_FOLDER,
            came_by=involved.transfer.transfer_id,
        )

    try:
        await run_concurrently(files, keep)
    except Gone as error:
        raise FilesGone(transfer_contents.GONE) from error


async def _right_ones(transfers: Transfers, files: Sequence[TransferFile], keys: Mapping[int, str]) -> set[int]:
    """The places of the files whose stored bytes match what was sent. Reads them."""

    async def is_right(file: TransferFile) -> bool:
        return file.place in keys and await transfer_contents.holds(transfers, keys[file.place], file.sha256)

    answers = await run_concurrently(files, is_right)
    return {file.place for file, is_so in zip(files, answers, strict=True) if is_so}


async def _received(transfers: Transfers, person_id: PersonId, transfer_id: TransferId) -> tuple[Involved, ReceiptRow]:
    involved = await history.find(transfers, person_id, transfer_id)
    if involved.receipt is None:
        raise Forbidden("You sent this. Only its receivers can do this.")
    return involved, involved.receipt


def _saved_ids(transfer_id: TransferId, files: Sequence[TransferFile]) -> list[str]:
    return [transfer_contents.saved_id(transfer_id, file.place) for file in files]
