"""Let whoever has to repeat a request, because its answer was lost, send once."""

from dataclasses import dataclass
from datetime import timedelta

from satchel.features.transfers.model import PersonId, TransferId
from satchel.features.transfers.records import TRANSFER
from satchel.features.transfers.service.context import Transfers
from satchel.kernel.errors import Unavailable
from satchel.stores.ports.ephemeral import Get, Put

REPEATED_WITHIN = timedelta(days=7)
# Much longer than it takes to write a transfer down; if the server dies in that, the key is free again then.
BEGUN_WITHIN = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Repetition:
    """What a sender's key stands for."""

    transfers: Transfers
    sender_id: PersonId
    key: str

    async def find(self) -> TransferId | None:
        """What was sent with this key before."""
        found = await self.transfers.ephemeral.run(Get(self._place))
        transfer = None if found is None else await TRANSFER.get(self.transfers.tables, transfer_id=found.decode())
        return None if transfer is None else transfer.transfer_id

    async def begin(self, transfer_id: TransferId) -> None:
        if not await self.transfers.ephemeral.run(self._put(transfer_id, BEGUN_WITHIN, only_if_absent=True)):
            raise Unavailable("This is being sent. Try again in a moment.")

    async def settle(self, transfer_id: TransferId) -> None:
        """The transfer is there."""
        await self.transfers.ephemeral.run(self._put(transfer_id, REPEATED_WITHIN))

    def _put(self, transfer_id: TransferId, ttl: timedelta, *, only_if_absent: bool = False) -> Put:
        return Put(self._place, transfer_id.encode(), ttl=ttl, only_if_absent=only_if_absent)

    @property
    def _place(self) -> str:
        return f"transfer-begun:{self.sender_id}:{self.key}"
