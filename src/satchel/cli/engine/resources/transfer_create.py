"""Create a transfer of what was uploaded, and follow its receipts."""

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from itertools import chain

from satchel.cli.engine.api_types.transfer_types import ReceiptView, TransferView
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.live_events import Live
from satchel.cli.engine.resources.transfer_find import with_all_files
from satchel.cli.engine.terminal.output import CommandFailed, Misused, note

MAX_FILES = 5000
_LOOK_EVERY_SECONDS = 60
# Nothing more happens to a receipt in one of these states.
FINAL_STATES = ("verified", "declined", "withdrawn")


def refuse_if_too_many(files: int) -> None:
    if files > MAX_FILES:
        raise Misused(
            f"At most {MAX_FILES:,} files can be sent at once; these are {files:,}. Send fewer, or an archive of them."
        )


def hand_over(
    client: Client,
    to: Mapping[str, str],
    file_ids: Sequence[str],
    words: str,
    key: str,
    more: Mapping[str, str | bool] | None = None,
) -> TransferView:
    """With the same key once more it is the same transfer."""
    body = {"to": to, "files": list(file_ids), "note": words, **(more or {})}
    return with_all_files(client, client.make("/transfers", TransferView, body, key=key))


def follow(
    client: Client, transfer: TransferView, tell: Callable[[ReceiptView], None], for_seconds: float | None = None
) -> TransferView:
    """Tell every step of every receipt until nothing more will happen to any of them, or for so long."""
    told: dict[str, str] = {}
    now = transfer
    until = None if for_seconds is None else time.monotonic() + for_seconds
    with closing(_versions(client, transfer.transfer_id, until)) as versions:
        # What it was when it was made, too: a quick receiver is further by the time of the first look.
        for now in chain((transfer,), versions):
            for receipt in now.receipts:
                if told.get(receipt.person_id) != receipt.state:
                    told[receipt.person_id] = receipt.state
                    tell(receipt)
            if all(receipt.state in FINAL_STATES for receipt in now.receipts):
                return now
    late = ", ".join(receipt.name for receipt in now.receipts if receipt.state not in FINAL_STATES)
    raise CommandFailed(f"Not verified yet by {late}. They can still get it.")


def _versions(client: Client, transfer_id: str, until: float | None) -> Generator[TransferView]:
    """As it is now, and whenever it has changed; without a moment until which, without end."""
    every = _LOOK_EVERY_SECONDS if until is None else 1
    with closing(Live(client, note).events(every)) as events:
        for event in events:
            if event and (event.asks_for_reload or event.transfer_id == transfer_id):
                yield client.call("GET", f"/transfers/{transfer_id}", TransferView)
            if until is not None and time.monotonic() >= until:
                return


def refuse_if_declined(transfer: TransferView) -> None:
    declined = [receipt.name for receipt in transfer.receipts if receipt.state == "declined"]
    if declined:
        raise CommandFailed(f"{', '.join(declined)} declined it.")
