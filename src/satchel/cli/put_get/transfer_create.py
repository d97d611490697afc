"""Create a transfer of what was uploaded, and follow its receipts."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing

from satchel.cli.engine.api_types.transfer_types import ReceiptView, TransferView
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.live_events import Live
from satchel.cli.engine.terminal.output import CommandFailed, Misused, note

MAX_FILES = 5000
# Nothing more happens to a receipt in one of these states.
FINAL_STATES = ("verified", "declined", "withdrawn")


def refuse_if_too_many(files: int) -> None:
    if files > MAX_FILES:
        raise Misused(
            f"At most {MAX_FILES:,} files can be sent at once; these are {files:,}. Send fewer, or an archive of them."
        )


def hand_over(client: Client, to: Mapping[str, str], file_ids: Sequence[str], words: str, key: str) -> TransferView:
    """With the same key once more it is the same transfer."""
    body = {"to": to, "files": list(file_ids), "note": words}
    return client.make("/transfers", TransferView, body, key=key)


def follow(client: Client, transfer: TransferView, tell: Callable[[ReceiptView], None]) -> TransferView:
    """Tell every step of every receipt until nothing more will happen to any of them."""
    told: dict[str, str] = {}
    with closing(_versions(client, transfer.transfer_id)) as versions:
        for now in versions:
            for receipt in now.receipts:
                if told.get(receipt.person_id) != receipt.state:
                    told[receipt.person_id] = receipt.state
                    tell(receipt)
            if all(receipt.state in FINAL_STATES for receipt in now.receipts):
                return now
    raise AssertionError("what happens on a server never ends")


def _versions(client: Client, transfer_id: str) -> Generator[TransferView]:
    with closing(Live(client, note).events()) as events:
        for event in events:
            if event and (event.asks_for_reload or event.transfer_id == transfer_id):
                yield client.call("GET", f"/transfers/{transfer_id}", TransferView)


def refuse_if_declined(transfer: TransferView) -> None:
    declined = [receipt.name for receipt in transfer.receipts if receipt.state == "declined"]
    if declined:
        raise CommandFailed(f"{', '.join(declined)} declined it.")
