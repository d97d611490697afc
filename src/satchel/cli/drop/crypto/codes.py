"""Writes and reads invitations: links, and spoken codes in any spelling that people use."""

import re
import secrets
import unicodedata
from dataclasses import dataclass
from functools import cache
from urllib.parse import urlsplit

from satchel.cli.drop.crypto.session_keys import Secret
from satchel.cli.engine.terminal.output import Misused

_DIGITS = 6
_WORDS = 3
_MOST_DIGITS_IN_A_NAME = 4
_EXAMPLE = "amber-otter-27-481902"
_NOT_A_LINK = "This is not a link to a drop session; such a link looks like https://…/drop/amber-otter-27#…."
_LINK_PATH = re.compile(r"(?P<before>.*)/drop/(?P<name>[a-z0-9-]+)/?")


@dataclass(frozen=True)
class Invitation:
    """What was given to join a session: a link with the secret, or a name with its code, which may still be missing."""

    name: str
    code: str | None
    secret: Secret | None
    server: str | None


@cache
def word_list() -> tuple[str, ...]:
    from importlib.resources import files  # rarely needed

    return tuple((files("satchel.cli.drop") / "words.txt").read_text(encoding="utf-8").split())


def new_code(words: bool) -> str:
    if words:
        return "-".join(secrets.choice(word_list()) for _ in range(_WORDS))
    return f"{secrets.randbelow(10**_DIGITS):0{_DIGITS}}"


def normalised(code: str) -> str:
    """The canonical spelling of a code. A typing error that is found here does not use up one of the three guesses."""
    return _normalised(_pieces(code))


def spoken(name: str, code: str) -> str:
    return f"{name}-{code}"


def link(base: str, secret: Secret) -> str:
    """The link for a session whose page is at `base`. Browsers do not send what follows the `#` to the server."""
    return f"{base}#{secret.fragment}"


def read_invitation(text: str) -> Invitation:
    text = text.strip()
    return _read_link(text) if "://" in text else _read_spoken(text)


def _read_link(text: str) -> Invitation:
    try:
        address = urlsplit(text)
    except ValueError as error:  # such as a missing bracket of an IPv6 address
        raise Misused(_NOT_A_LINK) from error
    path = _LINK_PATH.fullmatch(address.path)
    if address.scheme not in ("http", "https") or not address.netloc or path is None:
        raise Misused(_NOT_A_LINK)
    if not address.fragment:
        raise Misused("The link ends before its #, behind which the secret stands; copy the whole link.")
    server = f"{address.scheme}://{address.netloc}{path['before']}"
    return Invitation(name=path["name"], code=None, secret=Secret.of_fragment(address.fragment), server=server)


def _read_spoken(text: str) -> Invitation:
    pieces = _pieces(text)
    if len(pieces) < 3 or not (pieces[0].isalpha() and pieces[1].isalpha() and pieces[2].isdigit()):
        raise Misused(f"A code begins with the two words and the number of its session, as in {_EXAMPLE}.")
    number, *code = pieces[2:]
    if not code and len(number) > _MOST_DIGITS_IN_A_NAME:  # number and code typed without a separator
        number, code = number[:-_DIGITS], [number[-_DIGITS:]]
    if not 1 <= len(number) <= _MOST_DIGITS_IN_A_NAME:
        raise Misused(f"Behind the name of the session there are six digits or three words, as in {_EXAMPLE}.")
    name = "-".join([*pieces[:2], number])
    return Invitation(name=name, code=_normalised(code) if code else None, secret=None, server=None)


def _pieces(text: str) -> list[str]:
    """The words and numbers in the text, without any separators."""
    return re.findall(r"[a-z]+|[0-9]+", unicodedata.normalize("NFKC", text).lower())


def _normalised(pieces: list[str]) -> str:
    if all(piece.isdigit() for piece in pieces):
        digits = "".join(pieces)
        if len(digits) != _DIGITS:
            raise Misused(f"A code has six digits or three words; this one has {len(digits)} digits.")
        return digits
    for piece in pieces:
        if piece not in word_list():
            raise Misused(f"{piece} is not a word of any code; look at it once more.")
    if len(pieces) != _WORDS:
        raise Misused(f"A code has six digits or three words; this one has {len(pieces)} words.")
    return "-".join(pieces)
