"""Password-authenticated key exchange: six spoken digits lead to a strong secret that the server cannot learn.

CPACE-X25519-SHA512 of draft-irtf-cfrg-cpace-21, with the guest as initiator and the door as responder, and explicit
confirmation. By the order of its messages nobody can test a guess without using it up:

    guest = Guest(code, name, session_id, knock_id)           -> guest.share
    door = Door(code, name, session_id, knock_id, secret, guest.share)   -> door.share
    tag = guest.tag(door.share)
    tag_back, box = door.verdict(tag)                         # WrongTag: a wrong guess, which the caller counts
    secret = guest.open(tag_back, box)                        # WrongDoor: who answered does not know the code

The map to the curve runs on Python's integers, in a time that depends on the code. A code lives for minutes and three
guesses, so nobody can measure enough in that time.
"""

import hashlib
import hmac
import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from satchel.cli.drop.crypto.codes import normalised
from satchel.cli.drop.crypto.session_keys import Draw, Secret, hkdf, id_bytes
from satchel.cli.engine.terminal.output import CommandFailed

_DSI = b"CPace255"
_SHA512_BLOCK = 128
_PRIME = 2**255 - 19
_A = 486662
_GUEST, _DOOR = b"guest", b"door"
_BOX = b"drop/1 box"
_NONCE_BYTES = 12


class BadShare(CommandFailed):
    """A public value of low order, for which every result is zero. No honest program sends one."""


class WrongTag(CommandFailed):
    """The guest does not know the code."""


class WrongDoor(CommandFailed):
    """Whoever answered the guest does not know the code, or the code was mistyped."""


def leb128(number: int) -> bytes:
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    return bytes([*encoded, number])


def lv_cat(*parts: bytes) -> bytes:
    return b"".join(leb128(len(part)) + part for part in parts)


def generator_string(prs: bytes, ci: bytes, sid: bytes) -> bytes:
    padding = max(0, _SHA512_BLOCK - len(lv_cat(prs)) - len(lv_cat(_DSI)) - 1)
    return lv_cat(_DSI, prs, bytes(padding), ci, sid)


def generator(prs: bytes, ci: bytes, sid: bytes) -> bytes:
    digest = hashlib.sha512(generator_string(prs, ci, sid)).digest()[:32]
    return _elligator2(int.from_bytes(digest, "little") % 2**255).to_bytes(32, "little")


def scalar_mult(scalar: bytes, point: bytes) -> bytes:
    """X25519. Raises `BadShare` if the result is zero."""
    try:
        return X25519PrivateKey.from_private_bytes(scalar).exchange(X25519PublicKey.from_public_bytes(point))
    except ValueError as error:
        raise BadShare("The other side sent a value that no honest program sends.") from error


def transcript_ir(ya: bytes, ada: bytes, yb: bytes, adb: bytes) -> bytes:
    return lv_cat(ya, ada) + lv_cat(yb, adb)


def session_key(sid: bytes, shared: bytes, transcript: bytes) -> bytes:
    """The draft's ISK."""
    return hashlib.sha512(lv_cat(_DSI + b"_ISK", sid, shared) + transcript).digest()


def confirmation(sid: bytes, isk: bytes, share: bytes, associated: bytes) -> bytes:
    """The tag that proves that the sender of this share has derived the same key."""
    mac_key = hashlib.sha512(b"CPaceMac" + sid + isk).digest()
    return hmac.digest(mac_key, lv_cat(share, associated), "sha512")


class _Side:
    """The state that both sides begin with."""

    def __init__(self, code: str, name: str, session_id: str, knock_id: str, draw: Draw) -> None:
        self.sid = id_bytes(session_id, knock_id)
        self.scalar = draw(32)
        self.generator = generator(normalised(code).encode(), lv_cat(b"drop/1", name.encode()), self.sid)
        self.share = scalar_mult(self.scalar, self.generator)

    def box_key(self, isk: bytes) -> bytes:
        return hkdf(isk, self.sid, _BOX, 32)


class Guest(_Side):
    """The side that was told a code and asks for the secret."""

    def __init__(self, code: str, name: str, session_id: str, knock_id: str, draw: Draw = secrets.token_bytes) -> None:
        super().__init__(code, name, session_id, knock_id, draw)
        self._isk = b""
        self._door_share = b""

    def tag(self, yb: bytes) -> bytes:
        """The tag for the door's share. Sending it uses up one guess."""
        shared = scalar_mult(self.scalar, yb)
        self._door_share = yb
        self._isk = session_key(self.sid, shared, transcript_ir(self.share, _GUEST, yb, _DOOR))
        return confirmation(self.sid, self._isk, self.share, _GUEST)

    def open(self, tb: bytes, box: bytes) -> Secret:
        if not self._isk:
            raise ValueError("a guest sends its tag before it opens anything")
        expected = confirmation(self.sid, self._isk, self._door_share, _DOOR)
        if not hmac.compare_digest(tb, expected):
            raise WrongDoor("The code is not the one that the other side shows.")
        try:
            packed = AESGCM(self.box_key(self._isk)).decrypt(box[:_NONCE_BYTES], box[_NONCE_BYTES:], _BOX)
        except (InvalidTag, ValueError) as error:  # a ValueError if it is too short
            raise WrongDoor("What the other side handed over was changed on its way.") from error
        return Secret.of_packed(packed)


class Door(_Side):
    """The side that shows the code, and sends the secret to whoever knows it. One object serves one knock."""

    def __init__(
        self,
        code: str,
        name: str,
        session_id: str,
        knock_id: str,
        secret: Secret,
        ya: bytes,
        draw: Draw = secrets.token_bytes,
    ) -> None:
        super().__init__(code, name, session_id, knock_id, draw)
        self._secret = secret
        self._draw = draw
        self._guest_share = ya
        shared = scalar_mult(self.scalar, ya)
        self.isk = session_key(self.sid, shared, transcript_ir(ya, _GUEST, self.share, _DOOR))

    def verdict(self, ta: bytes) -> tuple[bytes, bytes]:
        """The door's own tag and the encrypted secret, for a guest who guessed right."""
        expected = confirmation(self.sid, self.isk, self._guest_share, _GUEST)
        if not hmac.compare_digest(ta, expected):
            raise WrongTag("Somebody tried a wrong code.")
        nonce = self._draw(_NONCE_BYTES)
        box = nonce + AESGCM(self.box_key(self.isk)).encrypt(nonce, self._secret.packed, _BOX)
        return confirmation(self.sid, self.isk, self.share, _DOOR), box


def _elligator2(u: int) -> int:
    """The u-coordinate of the point of Curve25519 that belongs to a field element (RFC 9380, with Z = 2)."""
    # 1 + 2u² is never zero, because −1/2 has no root in this field.
    x = -_A * pow(1 + 2 * u * u, -1, _PRIME) % _PRIME
    y_squared = (x * x * x + _A * x * x + x) % _PRIME
    is_on_curve = pow(y_squared, (_PRIME - 1) // 2, _PRIME) in (0, 1)
    return x if is_on_curve else (-x - _A) % _PRIME
