"""Guests: a signed name, without an account and with nothing stored."""

from dataclasses import dataclass

from satchel.features.accounts.model import check_name
from satchel.features.accounts.needs import Issued
from satchel.features.accounts.service.context import Accounts
from satchel.kernel.ids import new_id


@dataclass(frozen=True, slots=True)
class GuestPass:
    """The guest and their signed token."""

    guest_id: str
    name: str
    token: Issued


async def enter_as_guest(accounts: Accounts, name: str, *, address: str) -> GuestPass:
    await accounts.limits.guests.count(address)
    checked = check_name(name)
    guest_id = "guest-" + new_id(accounts.clock)
    return GuestPass(guest_id, checked, accounts.access.issue_guest(guest_id=guest_id, name=checked))
