"""Signatures of this server: access tokens, guest identities and links are payloads that it has signed.

Every purpose has a key of its own, so that a payload signed for one purpose is never valid for another.
"""

import base64
import binascii
import hashlib
import hmac


class BadSignature(Exception):
    """Not signed by this server for this purpose, or changed since."""


MIN_SECRET_BYTES = 32
_DIGEST_BYTES = 32


class Signer:
    """Signs payloads and verifies them. They stay readable to everybody, so sign nothing that is secret."""

    def __init__(self, secret: bytes) -> None:
        if len(secret) < MIN_SECRET_BYTES:
            raise ValueError(f"a signing secret needs at least {MIN_SECRET_BYTES} bytes")
        self._secret = secret
        self._keys: dict[str, bytes] = {}

    def derive(self, purpose: str) -> bytes:
        """A key of 32 bytes that only this purpose has."""
        key = self._keys.get(purpose)
        if key is None:
            key = self._keys[purpose] = hmac.digest(self._secret, b"satchel:" + purpose.encode(), hashlib.sha256)
        return key

    def sign(self, purpose: str, payload: bytes) -> str:
        """A token of URL-safe characters that `open` turns back into the payload."""
        proof = hmac.digest(self.derive(purpose), payload, hashlib.sha256)
        return _text(proof + payload)

    def open(self, purpose: str, token: str) -> bytes:
        try:
            raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        except (ValueError, binascii.Error) as error:
            raise BadSignature from error
        # Base 64 has several spellings for some texts; a token has one.
        if _text(raw) != token:
            raise BadSignature
        proof, payload = raw[:_DIGEST_BYTES], raw[_DIGEST_BYTES:]
        if not hmac.compare_digest(proof, hmac.digest(self.derive(purpose), payload, hashlib.sha256)):
            raise BadSignature
        return payload


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")
