"""Takes a person out of all transfers, when their account is deleted. What others sent or received stays theirs."""

from contextlib import suppress
from dataclasses import dataclass

import msgspec

from satchel.features.transfers.model import ENDED, TAKEN, NotOffered, PersonId
from satchel.features.transfers.records import (
    HIDDEN,
    KEY,
    POINTER,
    RECEIVED,
    SENT,
    TRANSFER,
    WAITING,
    PointerRow,
    ReceiptRow,
    TransferRow,
    as_person,
)
from satchel.features.transfers.service import history, receipts
from satchel.features.transfers.service.context import Transfers
from satchel.kernel.departure import DELETED_PERSON, Leaver, Tally
from satchel.stores.patterns.partition_delete import delete_partition, delete_records
from satchel.stores.ports.expressions import Action, assign, attr
from satchel.stores.ports.table import ConditionFailed

_PAGE = 500


@dataclass(frozen=True, slots=True)
class TransferHoldings:
    """What people have sent, and were given."""

    transfers: Transfers

    async def count(self, leaver: Leaver) -> Tally:
        number, cursor = 0, None
        while True:
            page = await POINTER.list(self.transfers.tables, person_id=leaver.user_id, limit=_PAGE, cursor=cursor)
            number += len(page.records)
            if (cursor := page.cursor) is None:
                return Tally(transfers=number)

    async def delete(self, leaver: Leaver) -> None:
        """A pointer goes last: by it, whoever is interrupted finds the transfer again."""
        tables, person_id = self.transfers.tables, PersonId(leaver.user_id)
        for shape in (POINTER, HIDDEN):
            while found := (await shape.list(tables, person_id=person_id, limit=_PAGE)).records:
                for pointer in found:
                    await _leave(self.transfers, pointer)
                keys = [shape.key(person_id=person_id, transfer_id=each.transfer_id) for each in found]
                await tables.write_many(shape.table, delete=keys)
        for shape in (SENT, RECEIVED, WAITING):
            await delete_records(tables, shape, person_id=person_id)
        await delete_records(tables, KEY, sender_id=person_id)


async def _leave(transfers: Transfers, pointer: PointerRow) -> None:
    transfer = await TRANSFER.get(transfers.tables, transfer_id=pointer.transfer_id)
    if transfer is None:
        return
    stored = await history.receipts_of(transfers, transfer)
    if pointer.direction == "sent":
        # First, as long as it is known that they are on their way from this person's shelf.
        stored = [await _withdraw(transfers, transfer, each) for each in stored]
        await _rename(transfers, transfer, [assign("senderName", DELETED_PERSON), assign("senderKind", "deleted")])
    else:
        stored = [await _forget_name(transfers, transfer, each, pointer.person_id) for each in stored]
        if transfer.receiver == as_person(pointer.person_id):
            await _rename(
                transfers, transfer, [assign("receiverName", DELETED_PERSON), assign("receiverDeleted", value=True)]
            )
    has_sender = pointer.direction != "sent" and transfer.sender_kind != "deleted"
    if not has_sender and all(each.kind == "deleted" for each in stored):
        await delete_partition(transfers.tables, TRANSFER.table, TRANSFER.key(transfer_id=transfer.transfer_id)["PK"])


async def _withdraw(transfers: Transfers, transfer: TransferRow, receipt: ReceiptRow) -> ReceiptRow:
    """What is not on the receiver's shelf yet goes with the shelf of its sender."""
    is_theirs = receipt.saved_at or receipt.state in (*TAKEN, *ENDED)
    if transfer.room_id or is_theirs:
        return receipt
    return await receipts.change(transfers, transfer, receipt, receipts.withdrawn(transfers.now()))


async def _forget_name(
    transfers: Transfers, transfer: TransferRow, receipt: ReceiptRow, person_id: PersonId
) -> ReceiptRow:
    if receipt.person_id != person_id:
        return receipt

    def step(old: ReceiptRow) -> ReceiptRow:
        return msgspec.structs.replace(old, name=DELETED_PERSON, kind="deleted", answer="")

    with suppress(NotOffered):
        return await receipts.change(transfers, transfer, receipt, step)
    return receipt


async def _rename(transfers: Transfers, transfer: TransferRow, actions: list[Action]) -> None:
    renamed = TRANSFER.update(actions, when=attr("PK").exists(), transfer_id=transfer.transfer_id)
    with suppress(ConditionFailed):
        await transfers.tables.update(renamed.table, renamed.key, renamed.actions, when=renamed.when)
