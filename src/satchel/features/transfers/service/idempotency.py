"""Send once, though the sender has to repeat the request because its answer was lost."""

from dataclasses import dataclass
from datetime import timedelta

from satchel.features.transfers.model import PersonId, TransferId
from satchel.features.transfers.records import BEGUN, TRANSFER
from satchel.features.transfers.service.context import Transfers
from satchel.kernel.errors import Unavailable
from satchel.stores.patterns.idempotency_key import IdempotencyKey

# Much longer than writing a transfer takes. If the server dies meanwhile, the key is free again after this.
BEGUN_WITHIN = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class SenderKey:
    """A sender's idempotency key, and the transfer that it stands for."""

    transfers: Transfers
    key: IdempotencyKey

    async def find(self) -> TransferId | None:
        """The transfer that was sent with this key before."""
        found = await self.key.find()
        transfer = None if found is None else await TRANSFER.get(self.transfers.tables, transfer_id=found)
        return None if transfer is None else transfer.transfer_id

    async def claim(self, transfer_id: TransferId) -> None:
        if await self.key.claim(transfer_id, BEGUN_WITHIN) is not None:
            raise Unavailable("This transfer is being sent. Try again in a moment.")

    async def settle(self, transfer_id: TransferId) -> None:
        """Record that the transfer exists."""
        await self.key.settle(transfer_id)


def sender_key(transfers: Transfers, sender_id: PersonId, idempotency_key: str) -> SenderKey:
    place = BEGUN(sender_id=sender_id, key=idempotency_key)
    return SenderKey(transfers, IdempotencyKey(transfers.ephemeral, place))
