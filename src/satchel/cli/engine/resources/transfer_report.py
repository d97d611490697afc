"""Tell what was handed over to somebody, and follow its receipts."""

import json
import sys
from dataclasses import dataclass

from msgspec import to_builtins

from satchel.cli.engine.api_types.transfer_types import ReceiptView, TransferView
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.resources.transfer_create import FINAL_STATES, follow, refuse_if_declined
from satchel.cli.engine.resources.transfer_text import moment_of, short_id, state_word
from satchel.cli.engine.terminal.output import note, printable
from satchel.cli.engine.terminal.sizes import shown_moment


@dataclass(frozen=True, slots=True)
class TransferReport:
    """How one command speaks of its transfer."""

    client: Client
    receiver_name: str
    as_json: bool
    quiet: bool

    def tell_handed(self, transfer: TransferView) -> None:
        if self.as_json:
            print_object("handed over", transfer=to_builtins(transfer))
        elif not self.quiet:
            print(printable(f"Sent to {self.receiver_name}: transfer {short_id(transfer)}."))

    def wait_for_receipts(self, transfer: TransferView, for_seconds: float | None = None) -> None:
        """They may be away for days, so that it says for whom it waits and that nothing is lost by going."""
        names = ", ".join(receipt.name for receipt in transfer.receipts if receipt.state not in FINAL_STATES)
        if names and not self.quiet:
            note(f"Waiting for {names}. Ctrl-C stops waiting; they can still get it.")
        try:
            refuse_if_declined(follow(self.client, transfer, self._tell_receipt, for_seconds))
        except KeyboardInterrupt:
            note(f"Nothing is lost. `satchel transfers show {short_id(transfer)}` tells who has received it.")
            raise

    def _tell_receipt(self, receipt: ReceiptView) -> None:
        if self.as_json:
            print_object("receipt", receipt=to_builtins(receipt))
        elif not self.quiet:
            moment = moment_of(receipt)
            print(
                printable(
                    f"{receipt.name}: {state_word(receipt.state)}" + (f" at {shown_moment(moment)}" if moment else "")
                )
            )
        sys.stdout.flush()


def print_object(result: str, **facts: object) -> None:
    """One line for machines."""
    print(json.dumps({"result": result, **facts}))
    sys.stdout.flush()
