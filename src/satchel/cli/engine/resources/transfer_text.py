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


def whereabouts(transfer: TransferView) -> str:
    """Where the files of one receiver are: on a shelf, or still in the room. Empty if there is nothing to say."""
    if len(transfer.receipts) != 1:
        return ""
    receipt, is_received = transfer.receipts[0], transfer.direction == "received"
    whose = "your" if is_received else f"{receipt.name}'s"
    if receipt.shelved_at:
        has_landed = receipt.opened_at is None or receipt.shelved_at < receipt.opened_at
        # Into which folder somebody saved it themselves is not known here.
        return f"On {whose} shelf" + (f", in “{transfer.shelf_folder}”." if has_landed else ".")
    if transfer.answers and transfer.shelf_folder and receipt.state in ("offered", "opened"):
        how = f" Get it with `satchel get --transfer {short_id(transfer)}`." if is_received else ""
        return f"Not on {whose} shelf, which had no space. The files stay in the room until it ends.{how}"
    return ""


def where_answers_go(transfer: TransferView) -> str:
    if not transfer.wants_answers:
        return ""
    whose = "your" if transfer.direction == "sent" else f"{transfer.sender.name}'s"
    if transfer.answers_folder:
        return f"Answers go to {whose} shelf, into “{transfer.answers_folder}”."
    return "Answers stay in the room, and are deleted when it ends."


def shown_count(files: int) -> str:
    return f"{files:,} {'file' if files == 1 else 'files'}"


def first_names(transfer: TransferView) -> str:
    if not transfer.files:
        return shown_count(transfer.file_count)
    more = transfer.file_count - 1
    return printable(transfer.files[0].name) + (f" and {more:,} more" if more else "")
