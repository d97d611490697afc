"""Identifiers that sort by the time they were made, and secrets that nobody can guess."""

import hashlib
import secrets

from satchel.kernel.clock import Clock

# Crockford's base 32 in lower case: no i, l, o, u, so that an id read aloud is not misheard.
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(clock: Clock) -> str:
    """26 characters: 48 bits of milliseconds, then 80 random bits."""
    number = (int(clock() * 1000) << 80) | secrets.randbits(80)
    return "".join(_ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5))


def new_secret() -> str:
    """43 URL-safe characters holding 256 random bits."""
    return secrets.token_urlsafe(32)


def derived_id(parent: str, part: str) -> str:
    """The id of a part of something. It is always the same, and as old as the id that it is derived from."""
    number = int.from_bytes(hashlib.sha256(f"{parent}/{part}".encode()).digest()[:10])
    return parent[:10] + "".join(_ALPHABET[(number >> shift) & 31] for shift in range(75, -1, -5))
