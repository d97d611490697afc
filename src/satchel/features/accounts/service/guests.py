"""Guests: a signed name, without an account and with nothing stored."""

from dataclasses import dataclass

from satchel.features.accounts.model import check_name
from satchel.features.accounts.needs import Issued
from satchel.features.accounts.service.context import Accounts, repeatable_token
from satchel.kernel.ids import new_id
from satchel.kernel.unfit import TextUnfit

MIN_KEY_CHARACTERS = 32
_ID_CHARACTERS = 26


@dataclass(frozen=True, slots=True)
class GuestPass:
    """The guest and their signed token."""

    guest_id: str
    name: str
    token: Issued


async def enter_as_guest(
    accounts: Accounts, name: str, *, address: str, idempotency_key: str | None = None
) -> GuestPass:
    """With a key that came before it is the same guest: the id follows from key and name, since nothing is stored."""
    await accounts.limits.guests.count(address)
    checked = check_name(name)
    guest_id = f"guest-{_id_of(accounts, checked, idempotency_key)}"
    return GuestPass(guest_id, checked, accounts.access.issue_guest(guest_id=guest_id, name=checked))


def _id_of(accounts: Accounts, name: str, idempotency_key: str | None) -> str:
    if idempotency_key is None:
        return new_id(accounts.clock)
    if len(idempotency_key) < MIN_KEY_CHARACTERS:  # whoever guessed it would be the same guest
        raise TextUnfit(
            f"Draw an idempotency key of at least {MIN_KEY_CHARACTERS} characters at random.", field="Idempotency-Key"
        )
    return repeatable_token(accounts, "guest", name, idempotency_key)[:_ID_CHARACTERS]
