"""A proof of work: the way on for whoever is behind an address from which others have guessed too often."""

import hashlib
import itertools

HEADER = "satchel-work"


def solve(challenge: str, bits: int) -> str:
    """What the header has to say."""
    begun = hashlib.sha256(f"{challenge}.".encode())
    for number in itertools.count():
        tried = begun.copy()
        tried.update(b"%d" % number)
        if not int.from_bytes(tried.digest()[:8]) >> 64 - bits:
            return f"{challenge}.{number}"
    raise AssertionError("numbers do not end")
