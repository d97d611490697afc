"""Tell people who are looking that a transfer came or went on; whoever is away finds it in their history."""

from collections.abc import Iterable

from satchel.features.transfers.model import PersonId, TransferId
from satchel.features.transfers.service.context import Transfers
from satchel.live import LiveEvent, tell


class TransferOffered(LiveEvent, tag="transfer.offered", frozen=True, kw_only=True):
    """Somebody has handed you something."""

    transfer_id: str


class TransferChanged(LiveEvent, tag="transfer.changed", frozen=True, kw_only=True):
    """A transfer that you sent or received has gone on: read it again."""

    transfer_id: str


async def tell_offered(transfers: Transfers, person_ids: Iterable[PersonId], transfer_id: TransferId) -> None:
    await _publish(transfers, person_ids, TransferOffered(transfer_id=transfer_id))


async def tell_changed(transfers: Transfers, person_ids: Iterable[PersonId], transfer_id: TransferId) -> None:
    await _publish(transfers, person_ids, TransferChanged(transfer_id=transfer_id))


async def _publish(transfers: Transfers, person_ids: Iterable[PersonId], event: LiveEvent) -> None:
    if messages := tell(person_ids, event):
        await transfers.ephemeral.together(*messages)
