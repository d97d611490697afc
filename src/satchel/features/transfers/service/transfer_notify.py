"""Live events of transfers. People who are away find the transfer in their history."""

from collections.abc import Iterable

from satchel.features.transfers.events import TransferChanged, TransferOffered
from satchel.features.transfers.model import PersonId, TransferId
from satchel.features.transfers.service.context import Transfers
from satchel.live import LiveEvent, tell


async def tell_offered(transfers: Transfers, person_ids: Iterable[PersonId], transfer_id: TransferId) -> None:
    await _publish(transfers, person_ids, TransferOffered(transfer_id=transfer_id))


async def tell_changed(transfers: Transfers, person_ids: Iterable[PersonId], transfer_id: TransferId) -> None:
    await _publish(transfers, person_ids, TransferChanged(transfer_id=transfer_id))


async def _publish(transfers: Transfers, person_ids: Iterable[PersonId], event: LiveEvent) -> None:
    if messages := tell(person_ids, event):
        await transfers.ephemeral.together(*messages)
