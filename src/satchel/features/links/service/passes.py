"""Passes: the proof that a visitor has entered a link, so that they give the password once and count once.

A pass is a signed text that is not stored. It is valid for one link, while that has the same password. Whether the link
itself still works is checked at every use.
"""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta

import msgspec

from satchel.features.links.model import LinkPassOver
from satchel.features.links.records import LinkRow
from satchel.features.links.service.context import Links
from satchel.kernel.signature import BadSignature

LIFETIME = timedelta(hours=12)
_PURPOSE = "link-pass"


class _Claims(msgspec.Struct, frozen=True, array_like=True):
    token: str
    visitor_id: str
    expires: int
    # Of the password's hash: with another password it is another.
    mark: bytes
    pass_id: str


@dataclass(frozen=True, slots=True)
class Pass:
    """A signed pass, and when it expires, in seconds since 1970."""

    value: str
    expires: int


@dataclass(frozen=True, slots=True)
class Holder:
    """The holder of a pass. Its id tells two passes of one visitor apart."""

    visitor_id: str
    pass_id: str


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Claims).decode


def give(links: Links, link: LinkRow, visitor_id: str) -> Pass:
    expires = int(links.clock() + LIFETIME.total_seconds())
    claims = _Claims(link.token, visitor_id, expires, _mark(link), secrets.token_urlsafe(9))
    return Pass(links.signer.sign(_PURPOSE, _encode(claims)), expires)


def check(links: Links, link: LinkRow, shown: str) -> Holder:
    """Raises `LinkPassOver` unless the pass is valid for this link now."""
    claims = _read(links, link.token, shown)
    if claims.mark != _mark(link) or claims.expires <= links.clock():
        raise _over()
    return Holder(claims.visitor_id, claims.pass_id)


def is_valid(links: Links, link: LinkRow, shown: str) -> bool:
    try:
        check(links, link, shown)
    except LinkPassOver:
        return False
    return True


def holder_of(links: Links, token: str, shown: str) -> Holder:
    """The holder of a pass, which may have expired. `LinkPassOver` if it was never valid for this link."""
    claims = _read(links, token, shown)
    return Holder(claims.visitor_id, claims.pass_id)


def _read(links: Links, token: str, shown: str) -> _Claims:
    try:
        claims = _decode(links.signer.open(_PURPOSE, shown))
    except (BadSignature, msgspec.DecodeError):
        raise _over() from None
    if claims.token != token:
        raise _over()
    return claims


def _mark(link: LinkRow) -> bytes:
    return hashlib.blake2b(link.password.encode(), digest_size=12).digest()


def _over() -> LinkPassOver:
    return LinkPassOver("Your visit has expired. Open the link again.")
