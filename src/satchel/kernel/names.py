"""Which names files and folders may have, and how two with the same name are told apart."""

import re
import unicodedata
from typing import NewType

# A name as `clean_name` leaves it; everything stored is of this type.
FileName = NewType("FileName", str)

MAX_NAME_BYTES = 255
NAMELESS = FileName("file")

# Joiners hold emoji together and shape Persian; the tags spell the flags of Scotland and Wales.
_SEEN_THOUGH_FORMAT = re.compile("[\u200c\u200d\U000e0020-\U000e007f]")
# Control characters, marks that turn the reading direction around, halves of characters, line ends.
_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
# What joins or varies a character means nothing without one before it.
_EDGES = re.compile("^[.\\s\u200c\u200d\ufe00-\ufe0f\U000e0020-\U000e007f]+|[.\\s\u200c\u200d]+$")
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)\s*(\.|$)", re.IGNORECASE)
_EXTENSION = re.compile(r"(?<=.)((\.tar)?\.[^.\s]{1,16})$", re.IGNORECASE | re.DOTALL)


def clean_path(written: str) -> list[FileName]:
    """The parts of a path as names, from the top down. Parts that lead upwards, to the root or nowhere are dropped."""
    return [name for part in re.split(r"[/\\]", written) if (name := clean_name(part)) is not None]


def folded(text: str) -> str:
    """Equal for texts that differ only in case or accents, which is how people search."""
    if text.isascii():
        return text.lower()
    # Taking a letter apart can leave a capital, and folding one can leave something to take apart.
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter)).casefold()


def clean_name(written: str) -> FileName | None:
    """The last part of a path as a name that every system can store. None if nothing is left.

    Folders before it, unseen characters, dots in front, dots and spaces behind are dropped; what Windows reserves for
    devices gets a `_` in front; a name that is too long loses the end of its stem. Emoji, quotes and the like stay.
    """
    seen = "".join(letter for letter in written if _is_seen(letter))
    composed = unicodedata.normalize("NFC", seen)
    parts = [part for part in map(_without_edges, re.split(r"[/\\]", composed)) if part]
    if not parts:
        return None
    name = _fitting(parts[-1], "")
    return _fitting(f"_{name}", "") if _RESERVED.match(name) else name


def numbered(name: FileName, number: int) -> FileName:
    """`name (2).ext`, for the file that came when `name.ext` and `name (1).ext` were there."""
    return _fitting(name, f" ({number})")


def sameness(name: FileName) -> str:
    """Equal for names that some systems cannot tell apart: case does not count."""
    return unicodedata.normalize("NFC", name.casefold())


def _is_seen(letter: str) -> bool:
    if _SEEN_THOUGH_FORMAT.match(letter):
        return True
    # The last two code points of every plane, and 32 more, are guaranteed never to be characters.
    is_character = ord(letter) & 0xFFFE != 0xFFFE and not 0xFDD0 <= ord(letter) <= 0xFDEF
    return is_character and unicodedata.category(letter) not in _UNSEEN


def _without_edges(part: str) -> str:
    return _EDGES.sub("", part)


def _fitting(name: str, addition: str) -> FileName:
    """The name with the addition before its extension, its stem cut so that the whole stays within the limit."""
    found = _EXTENSION.search(name)
    extension = found[0] if found else ""
    stem = name[: len(name) - len(extension)]
    room = MAX_NAME_BYTES - len((addition + extension).encode())
    if len(stem.encode()) > room:
        stem = _without_edges(stem.encode()[:room].decode(errors="ignore"))
    return FileName(stem + addition + extension)
