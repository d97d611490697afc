"""Whether what goes by e-mail comes to the receiver's shelf at once, waits for their consent, or is never shown."""

from dataclasses import dataclass

from satchel.features.transfers.limits import STRANGERS_MEBIBYTES, STRANGERS_TRANSFERS
from satchel.features.transfers.needs import Manner
from satchel.features.transfers.service.context import Transfers
from satchel.stores.patterns.throttle import refusal


@dataclass(frozen=True, slots=True)
class Consent:
    """An offer that is hidden looks to its sender like one that nobody answers."""

    asks_first: bool
    hidden: bool


async def consent_of(
    transfers: Transfers, manner: Manner, receiver_id: str, sender_id: str, size_bytes: int
) -> Consent:
    """By the receiver's settings; counts. Raises `TooMany` for too many offers, of whoever is blocked, too."""
    pair = f"{sender_id} {receiver_id}"
    if manner == "takes-some" and not await _fits(transfers, receiver_id, pair, size_bytes):
        manner = "asks"
    if manner in ("takes", "takes-some"):
        return Consent(asks_first=False, hidden=False)
    with refusal("You have offered them much today. Wait until they answer.", limit="offers-to-one"):
        await transfers.offers_to_one.count(pair)
    with refusal("You have offered much today.", limit="offers"):
        await transfers.offers.count(sender_id)
    return Consent(asks_first=True, hidden=manner == "hides")


async def _fits(transfers: Transfers, receiver_id: str, pair: str, size_bytes: int) -> bool:
    """Whether this is within what strangers may put on a shelf in a day. What does not fit takes nothing of it."""
    if await transfers.from_strangers.add(pair) > STRANGERS_TRANSFERS.times:
        return False
    mebibytes = max(1, -(-size_bytes // 1024**2))
    if await transfers.bytes_from_strangers.add(receiver_id, mebibytes) <= STRANGERS_MEBIBYTES.times:
        return True
    await transfers.bytes_from_strangers.add(receiver_id, -mebibytes)
    return False
