"""Updates receipts: each update starts from the stored receipt, and is one transaction with the counts.

A step is a pure function from the current receipt to the new one. After a concurrent update the step is retried from
there. So a download that ends twice counts once, and the first of decline, withdraw and finish wins.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from satchel.features.transfers.model import (
    ENDED,
    TAKEN,
    AlreadyTaken,
    NotOffered,
    Party,
    TransferFile,
    furthest,
)
from satchel.features.transfers.records import (
    POINTER,
    RECEIPT,
    RECEIVED,
    TRANSFER,
    WAITING,
    PointerRow,
    ReceiptRow,
    TransferRow,
)
from satchel.features.transfers.service.context import Transfers
from satchel.features.transfers.service.transfer_notify import tell_changed
from satchel.kernel.counted import Counted, counted_as
from satchel.kernel.coverage import Span, with_span
from satchel.outbox import OUTBOX, OutboxRow
from satchel.stores.patterns.optimistic_update import NEW, update_from
from satchel.stores.ports.expressions import Action, add, attr
from satchel.stores.ports.table import Write

Step = Callable[[ReceiptRow], ReceiptRow]
# Of how many files at once it is known which bytes went.
MOST_GOING = 64

_replace = msgspec.structs.replace


@dataclass(frozen=True, slots=True)
class Change:
    """A receipt before and after a step, what this counts, and what to write. Without a change, nothing."""

    old: ReceiptRow
    new: ReceiptRow
    entry: OutboxRow | None = None
    writes: Sequence[Write] = ()


def planned(transfers: Transfers, transfer: TransferRow, old: ReceiptRow, step: Step) -> Change:
    """The step applied to a receipt. Its writes are on condition that this is what is stored."""
    new = step(old)
    if new == old:
        return Change(old, old)
    new = _replace(new, version=old.version + 1)
    writes, uses = _writes(transfer, old, new), _uses(transfer, old, new)
    if not uses:
        return Change(old, new, writes=writes)
    entry = transfers.outbox.entry(*uses)
    # Written together with the receipt, so that no crash loses it.
    return Change(old, new, entry, [*writes, OUTBOX.put(entry)])


async def change(
    transfers: Transfers, transfer: TransferRow, receipt: ReceiptRow, step: Step, *, beside: Sequence[Write] = ()
) -> ReceiptRow:
    """Apply the step to the stored receipt, and tell both sides. Errors of the step are raised.

    The writes `beside` are made in the same transaction, or alone if nothing changes.
    """

    async def attempt(old: ReceiptRow) -> Change:
        plan = planned(transfers, transfer, old, step)
        if writes := [*plan.writes, *beside]:
            await transfers.tables.transact(writes)
        return plan

    async def reread(old: ReceiptRow) -> ReceiptRow:
        stored = await RECEIPT.get(transfers.tables, transfer_id=old.transfer_id, person_id=old.person_id)
        if stored is None:
            await _check_not_withdrawn(transfers, transfer)
        return stored or old

    made = await update_from(receipt, attempt, reread)
    await state(transfers, transfer, made)
    return made.new


async def state(transfers: Transfers, transfer: TransferRow, made: Change) -> None:
    """Tell both sides of a change that was written, and count what it is."""
    old, new = made.old, made.new
    if new != old:
        # The sender sees the state of a receiver, not which of the files it is about.
        progress = _replace(old, going=new.going, downloaded=new.downloaded, verified=new.verified, version=new.version)
        concerned = [new.person_id] if progress == new else [new.person_id, transfer.sent_by.person_id]
        await tell_changed(transfers, concerned, transfer.transfer_id)
        if made.entry is not None:
            await transfers.outbox.deliver(made.entry)


def first_receipt(transfer: TransferRow, receiver: Party, now: str) -> ReceiptRow:
    """Not stored yet."""
    return ReceiptRow(
        transfer_id=transfer.transfer_id,
        person_id=receiver.person_id,
        name=receiver.name,
        kind=receiver.kind,
        state="offered",
        offered_at=now,
    )


def pointer_to(transfer: TransferRow, receiver: Party) -> PointerRow:
    return PointerRow(
        person_id=receiver.person_id,
        transfer_id=transfer.transfer_id,
        direction="received",
        timestamp=transfer.timestamp,
    )


def opened(now: str) -> Step:
    """Opened. Files that came to the receiver's shelf before are theirs from now on. A final state stays."""

    def step(receipt: ReceiptRow) -> ReceiptRow:
        if receipt.opened_at or receipt.state in ENDED:
            return receipt
        return _replace(receipt, state=furthest(receipt.state, "opened"), opened_at=now)

    return step


def declined(now: str) -> Step:
    def step(receipt: ReceiptRow) -> ReceiptRow:
        if receipt.state == "declined":
            return receipt
        if receipt.state == "withdrawn":
            raise NotOffered("The sender has withdrawn this. Ask them to send it again.")
        if is_received(receipt):
            raise AlreadyTaken("You have already received this. Delete the files instead.")
        return _replace(receipt, state="declined", declined_at=now)

    return step


def withdrawn(now: str) -> Step:
    """Withdrawn, if the receiver has not received it. Otherwise unchanged."""

    def step(receipt: ReceiptRow) -> ReceiptRow:
        if receipt.state in ENDED or is_received(receipt):
            return receipt
        return _replace(receipt, state="withdrawn", withdrawn_at=now)

    return step


def is_received(receipt: ReceiptRow) -> bool:
    """Whether the receiver has it for good: they downloaded it, or have seen what is on their shelf."""
    return receipt.state in TAKEN or bool(receipt.saved_at and receipt.opened_at)


def saved(now: str) -> Step:
    """All files are on the receiver's shelf. A final state stays."""

    def step(receipt: ReceiptRow) -> ReceiptRow:
        if receipt.state in ENDED or receipt.saved_at:
            return receipt
        return _replace(receipt, state=furthest(receipt.state, "shelved"), saved_at=now)

    return step


def went(now: str, *, file_count: int, file: TransferFile, span: Span) -> Step:
    """Some bytes of a file went to the receiver. It is downloaded once all have. A final state stays."""
    name = str(file.place)

    def step(receipt: ReceiptRow) -> ReceiptRow:
        if receipt.state in ENDED or file.place in receipt.downloaded:
            return receipt
        spans, _ = with_span(receipt.going.get(name, []), span)
        others = {place: there for place, there in receipt.going.items() if place != name}
        if spans != ([(0, file.size_bytes)] if file.size_bytes else []):
            # Of too many files at once the first are forgotten: they have to go again.
            kept = dict(list(others.items())[-MOST_GOING + 1 :])
            return _replace(receipt, going={**kept, name: spans})
        return _reached(_replace(receipt, going=others, downloaded=receipt.downloaded | {file.place}), now, file_count)

    return step


def proved(now: str, *, file_count: int, place: int) -> Step:
    """The receiver has proved that they have every byte of a file. A final state stays."""

    def step(receipt: ReceiptRow) -> ReceiptRow:
        if receipt.state in ENDED:
            return receipt
        verified = receipt.verified | {place}
        return _reached(_replace(receipt, verified=verified, downloaded=receipt.downloaded | verified), now, file_count)

    return step


def _reached(receipt: ReceiptRow, now: str, file_count: int) -> ReceiptRow:
    """With the state that all files have reached."""
    if len(receipt.downloaded) == file_count:
        state = furthest(receipt.state, "downloaded")
        receipt = _replace(receipt, state=state, downloaded_at=receipt.downloaded_at or now)
    if len(receipt.verified) == file_count:
        receipt = _replace(receipt, state="verified", verified_at=receipt.verified_at or now)
    return receipt


def answered(now: str, answer: str) -> Step:
    """The latest answer counts."""
    look = opened(now)
    return lambda receipt: _replace(look(receipt), answer=max(receipt.answer, answer))


def in_order(*steps: Step) -> Step:
    def step(receipt: ReceiptRow) -> ReceiptRow:
        for each in steps:
            receipt = each(receipt)
        return receipt

    return step


def check_offered(receipt: ReceiptRow) -> None:
    if receipt.state in ENDED:
        who = "The sender has withdrawn" if receipt.state == "withdrawn" else "You have declined"
        raise NotOffered(f"{who} this. Ask the sender to send it again.")


async def _check_not_withdrawn(transfers: Transfers, transfer: TransferRow) -> None:
    """A receipt that was never stored can be refused for ever only because there is nothing to receive any more."""
    current = await TRANSFER.get(transfers.tables, transfer_id=transfer.transfer_id)
    if current is None or current.withdrawn_at:
        raise NotOffered("The sender has withdrawn this. Ask them to send it again.")


def _uses(transfer: TransferRow, old: ReceiptRow, new: ReceiptRow) -> list[Counted]:
    """What has newly happened and is counted."""
    kinds: list[Literal["open", "download"]] = []
    if new.opened_at and not old.opened_at:
        kinds.append("open")
    if new.state in TAKEN and old.state not in TAKEN:
        kinds.append("download")
    sender = transfer.sent_by
    return [
        Counted(
            user_id=counted_as(new.person_id, new.kind),
            kind=kind,
            owner=counted_as(sender.person_id, sender.kind),
            thing=f"transfer:{transfer.transfer_id}",
        )
        for kind in kinds
    ]


def _writes(transfer: TransferRow, old: ReceiptRow, new: ReceiptRow) -> list[Write]:
    is_first = old.version == 0
    writes: list[Write] = [RECEIPT.put(new, when=NEW if is_first else attr("version") == old.version)]
    counted: list[Action] = [add(f"{new.state}Count", 1)]
    if not is_first:
        counted.append(add(f"{old.state}Count", -1))
    if is_first or new.state != old.state:
        standing = attr("PK").exists()
        when = standing & attr("withdrawnAt").absent() if is_first else standing
        writes.append(TRANSFER.update(counted, when=when, transfer_id=transfer.transfer_id))
    if is_first:
        pointer = pointer_to(transfer, Party(new.person_id, new.name, new.kind))
        writes += [POINTER.put(pointer), RECEIVED.put(pointer)]
    elif (new.opened_at and not old.opened_at) or (new.state in ENDED and old.state not in ENDED):
        writes.append(WAITING.delete(person_id=new.person_id, transfer_id=new.transfer_id))
    return writes
