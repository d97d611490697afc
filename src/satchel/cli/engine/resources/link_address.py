"""Read the address of a link, as it stands in a mail or a chat."""

import re
from dataclasses import dataclass

from satchel.cli.engine.terminal.output import Misused

_TOKEN = re.compile(r"(?P<token>[A-Za-z0-9_-]{22})")
# In an address, a word of its owner may stand in place of the token.
_NAME = r"(?P<token>[A-Za-z0-9_-]{3,22})"
_ADDRESS = re.compile(rf"(?P<server>https?://[^/?#\s]+(?:/[^?#\s]*)?)/l/{_NAME}/?(?:[?#]\S*)?", re.IGNORECASE)

# As some programs copy it.
_WITHOUT_SCHEME = re.compile(rf"[^/\s]+\.[^/\s]+(?:/\S*)?/l/{_NAME}/?")


@dataclass(frozen=True, slots=True)
class LinkAddress:
    """A link's token, and the server that has it; None if only the token was typed."""

    token: str
    server: str | None = None

    @classmethod
    def read(cls, written: str) -> "LinkAddress":
        written = written.strip()
        if found := _ADDRESS.fullmatch(written):
            return cls(found["token"], found["server"])
        if _TOKEN.fullmatch(written):
            return cls(written)
        raise Misused(f"The address of a link looks like https://satchel.example.org/l/…, not like {written!r}.")


def is_address(written: str) -> bool:
    """Whether it can only be meant as an address, and not as the name of a file."""
    return "://" in written or bool(_WITHOUT_SCHEME.fullmatch(written.strip()))
