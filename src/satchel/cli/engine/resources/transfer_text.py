"""A transfer in a few words, as several verbs show it."""

from satchel.cli.engine.api_types.transfer_types import ReceiptView, TransferView
from satchel.cli.engine.terminal.output import printable
from satchel.cli.engine.terminal.sizes import shown_bytes

# Ids begin with the time, so that those of one day differ only towards the end.
SHORT_ID = 8


def summary(transfer: TransferView) -> str:
    """What it is in a few words."""
    return f"{first_names(transfer)}, {shown_bytes(transfer.size_bytes)}"


def short_id(transfer: TransferView) -> str:
    """As much of the id as it takes to name the transfer; see `transfer_find.find`."""
    return transfer.transfer_id[-SHORT_ID:]


def moment_of(receipt: ReceiptView) -> str | None:
    """When the receipt came to be in its state; of a withdrawn one that is not kept."""
    return {
        "offered": receipt.offered_at,
        "shelved": receipt.shelved_at,
        "opened": receipt.opened_at,
        "downloaded": receipt.downloaded_at,
        "verified": receipt.verified_at,
        "declined": receipt.declined_at,
    }.get(receipt.state)


def state_word(state: str) -> str:
    """What people call a state."""
    return "on shelf" if state == "shelved" else state


def shown_count(files: int) -> str:
    return f"{files:,} {'file' if files == 1 else 'files'}"


def first_names(transfer: TransferView) -> str:
    if not transfer.files:
        return shown_count(transfer.file_count)
    more = transfer.file_count - 1
    return printable(transfer.files[0].name) + (f" and {more:,} more" if more else "")
