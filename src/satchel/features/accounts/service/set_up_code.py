"""The code for the first account: the server prints it when it starts, and nobody else can know it.

It is made from the secret of the server, so that servers that share stores print the same one, and nothing is stored.
"""

import hmac

from satchel.features.accounts.model import SetUpNeeded
from satchel.features.accounts.service.context import Accounts

_CHARACTERS = 32


def set_up_code(accounts: Accounts) -> str:
    return accounts.signer.derive("set-up").hex()[:_CHARACTERS]


def is_set_up_code(accounts: Accounts, written: str | None) -> bool:
    return hmac.compare_digest((written or "").encode(), set_up_code(accounts).encode())


def needs_set_up_code(accounts: Accounts, *, is_here: bool) -> bool:
    """Behind a public address a proxy may make everybody look like somebody at this machine."""
    return accounts.is_public or not is_here


def check_set_up_code(accounts: Accounts, written: str | None) -> None:
    if not is_set_up_code(accounts, written):
        raise SetUpNeeded(
            "This server has no account yet. Open the link that it printed when it started, or sign up on its machine."
        )
