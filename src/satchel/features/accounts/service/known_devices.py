"""Known devices: a signed proof that somebody has signed in to an account on this device before.

What others guess does not keep a known device out. The proof opens nothing: it only has attempts of its own. All proofs
of a session are one device, so that whoever has stolen one does not have attempts without end.
"""

from datetime import timedelta

import msgspec

from satchel.features.accounts.model import Email, SessionId
from satchel.features.accounts.service.context import Accounts, token_hash
from satchel.kernel.signature import BadSignature

LIFETIME = timedelta(days=365)
_PURPOSE = "known-device"


class _Claim(msgspec.Struct, frozen=True, array_like=True):
    account: str
    device_id: str


def give(accounts: Accounts, email: Email, session_id: SessionId) -> str:
    """A proof for this device. It does not show the address: it stays there after signing out."""
    return accounts.signer.sign(_PURPOSE, msgspec.msgpack.encode(_Claim(token_hash(email), session_id)))


def read(accounts: Accounts, proof: str | None, email: Email) -> str | None:
    """The id of the device, if this is a proof for this account."""
    if not proof:
        return None
    try:
        claim = msgspec.msgpack.decode(accounts.signer.open(_PURPOSE, proof), type=_Claim)
    except (BadSignature, msgspec.DecodeError):
        return None
    return claim.device_id if claim.account == token_hash(email) else None
