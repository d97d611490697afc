"""What the parties of a transfer are told while they look."""

from satchel.live import LiveEvent


class TransferOffered(LiveEvent, tag="transfer.offered", frozen=True, kw_only=True):
    """Somebody has sent you files."""

    transfer_id: str


class TransferChanged(LiveEvent, tag="transfer.changed", frozen=True, kw_only=True):
    """A transfer that you sent or received has changed. Read it again."""

    transfer_id: str


LIVE_EVENTS = (TransferOffered, TransferChanged)
