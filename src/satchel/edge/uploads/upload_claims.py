"""What an idempotency key of an upload stands for: the upload's id, what the client said of the file, what it became.

A claim outlives its request. Whoever comes with the same key goes on under the same id, whether the earlier request
is still at work, has failed, or died with its server. A destination makes one file of an id, so none of these makes a
second one.
"""

import hashlib
from collections.abc import Mapping

import msgspec

from satchel.edge.http.callers import Guest, Member
from satchel.edge.uploads.records import BEGUN, BEGUN_BY_STRANGER
from satchel.edge.uploads.refusals import KeyReused

# Of what destinations know, what is another for another file.
_TELLING = ("relativePath", "modified", "replaces")


class Claim(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """The stored value of a key. Of a file in a bundle the bytes are known from the beginning."""

    upload_id: str
    said: str = ""
    sha256: str = ""
    became: str = ""

    def check(self, said: str, sha256: str = "") -> None:
        """Refuse a key that was used for another file."""
        is_other_file = bool(self.said) and self.said != said
        has_other_bytes = bool(self.sha256 and sha256) and self.sha256 != sha256
        if is_other_file or has_other_bytes:
            raise KeyReused("This key was used for another file. Use a new key for each file.")


def written(claim: Claim) -> str:
    return msgspec.json.encode(claim).decode()


def read_claim(stored: str) -> Claim:
    try:
        return msgspec.json.decode(stored, type=Claim)
    except msgspec.DecodeError:
        return Claim(stored)  # as servers wrote it before claims said more than an id


def said_of(destination: str, name: str, size_bytes: int, details: Mapping[str, str]) -> str:
    """A digest of what tells one file from another before its bytes are there."""
    said = (destination, name, size_bytes, *(details.get(each, "") for each in _TELLING))
    return hashlib.blake2b(msgspec.json.encode(said), digest_size=12).hexdigest()


def begun_key(owner: Member | Guest, idempotency_key: str) -> str:
    """Where it is stored which upload a client's idempotency key stands for."""
    kind, owner_id = identity_of(owner)
    proof, separator, proof_id = owner_id.partition(":")
    if separator:
        return BEGUN_BY_STRANGER(proof=proof, proof_id=proof_id, key=idempotency_key)
    return BEGUN(kind=kind, owner_id=owner_id, key=idempotency_key)


def identity_of(caller: Member | Guest) -> tuple[str, str]:
    return ("member", caller.user_id) if isinstance(caller, Member) else ("guest", caller.id)
