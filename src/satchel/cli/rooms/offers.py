"""Transfers while a room is watched: those offered to us, and the receipts of those that we sent."""

from dataclasses import dataclass, field

from msgspec import to_builtins

from satchel.cli.engine.api_types.event_types import LiveEvent
from satchel.cli.engine.api_types.transfer_types import TransferView, WaitingList
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.resources.transfer_text import short_id, summary, whereabouts
from satchel.cli.rooms.narrator import Narrator
from satchel.cli.rooms.room_save import Saver


@dataclass(slots=True)
class Offers:
    """Those that were told of already, so that none is told of twice."""

    client: Client
    narrator: Narrator
    saver: Saver | None
    _told: set[str] = field(default_factory=set[str])
    _receipts: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def read_waiting(self) -> None:
        for offer in self.client.call("GET", "/transfers/waiting", WaitingList).transfers:
            self._see(offer)

    def hear(self, told: LiveEvent) -> None:
        transfer = self.client.call("GET", f"/transfers/{told.transfer_id}", TransferView)
        if transfer.direction == "sent":
            self._see_receipts(transfer)
        elif told.type == "transfer.offered":
            self._see(transfer)
        elif transfer.state == "withdrawn" and transfer.transfer_id in self._told:
            self._told.remove(transfer.transfer_id)
            sentence = f"{transfer.sender.name} withdrew {summary(transfer)}."
            self.narrator.tell("withdrawn", sentence, transfer_id=transfer.transfer_id)

    def _see(self, offer: TransferView) -> None:
        if offer.transfer_id in self._told or offer.state in ("declined", "withdrawn"):
            return
        self._told.add(offer.transfer_id)
        # What came by e-mail was put there by the server itself, though nobody has looked at it yet.
        is_on_shelf = any(receipt.shelved_at for receipt in offer.receipts)
        whom = "the room" if offer.receiver.kind == "room" else "you"
        words = f": “{offer.note}”" if offer.note else ""
        if is_on_shelf:
            hint = f" {whereabouts(offer)}"
        else:
            hint = "" if self.saver else f" Get it with `satchel get --transfer {short_id(offer)}`."
        sentence = f"{offer.sender.name} offers {whom} {summary(offer)}{words}.{hint}"
        self.narrator.tell("offer", sentence, transfer=to_builtins(offer))
        if self.saver and not is_on_shelf:
            self.saver.save_offer(offer)

    def _see_receipts(self, transfer: TransferView) -> None:
        for receipt in transfer.receipts:
            key = (transfer.transfer_id, receipt.person_id)
            if self._receipts.get(key) == receipt.state:
                continue
            self._receipts[key] = receipt.state
            if receipt.state in ("verified", "declined"):
                verb = "received and verified" if receipt.state == "verified" else "declined"
                facts = {"transfer_id": transfer.transfer_id, "receipt": to_builtins(receipt)}
                self.narrator.tell("receipt", f"{receipt.name} {verb} {summary(transfer)}.", **facts)
