"""Send once, though the sender has to repeat the request because its answer was lost.

The key is written in the transaction that makes the transfer visible. So it leads to a transfer if and only if there is
one, whenever the server died and however late the request is repeated.
"""

import hashlib
from dataclasses import dataclass

import msgspec

from satchel.features.transfers.model import KeyReused, PersonId, TransferId
from satchel.features.transfers.records import KEY, KeyRow
from satchel.stores.ports.table import Tables


@dataclass(frozen=True, slots=True)
class SenderKey:
    """A sender's idempotency key, and the digest of what it was sent with."""

    tables: Tables
    sender_id: PersonId
    key: str
    order: str

    async def find(self) -> TransferId | None:
        """The transfer that the key became. Raises `KeyReused` if it came with another order."""
        found = await KEY.get(self.tables, sender_id=self.sender_id, key=self.key)
        if found is not None and found.order != self.order:
            raise KeyReused("This idempotency key was used for another transfer. Use a new key.")
        return None if found is None else found.transfer_id

    def row(self, transfer_id: TransferId) -> KeyRow:
        return KeyRow(sender_id=self.sender_id, key=self.key, transfer_id=transfer_id, order=self.order)


def sender_key(tables: Tables, sender_id: PersonId, key: str, *order: object) -> SenderKey:
    return SenderKey(tables, sender_id, key, hashlib.sha256(msgspec.json.encode(order)).hexdigest())
